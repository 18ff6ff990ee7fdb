//! What was begun and not finished when the last node had stopped: what a node that died, and had no successor, would have done.
//!
//! It is counted from the journals alone: their frames, and how far each was handled. Nothing of it is what a process says of
//! itself.

mod held;
mod lives;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use topology::config::ReaderKind;
use topology::{GatewaySection, JournalSpec, NodeKind, Stream, Topology};
use wire::{OrderId, Request, StrategyId};

use crate::view::{InstanceView, SeatView};
use held::Held;

/// The streams from which unfinished work is counted.
const ON_THE_WAY: [Stream; 6] =
    [Stream::Requests, Stream::Orders, Stream::Executions, Stream::Reports, Stream::Drops, Stream::State];

/// What is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Requests that were neither sent on nor refused.
    Send,
    /// Requests that have no answer.
    Answer,
    /// Executions that were not reported to who sent the order.
    Report,
    /// Requests and executions that are missing in the drop copy.
    Copy,
    /// Messages that are not in the last state of the books.
    Book,
    /// Orders that may still work at a market outside.
    End,
    /// Messages that an added service or the gateway, which died, has not read.
    Read,
    /// Unknown: the journal is damaged, so its messages cannot be counted.
    Check,
}

/// Messages of one journal that one node was to handle, and did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// What is not finished.
    pub work: Work,
    /// Who was to do it.
    pub node: String,
    /// Where the messages are.
    pub journal: String,
    /// Whose orders they are about; `None`: several nodes', or none's.
    pub of: Option<String>,
    /// How many messages.
    pub count: u64,
    /// Of those: new orders.
    pub orders: u64,
    /// Of those: fills.
    pub fills: u64,
    /// Some were overwritten: there are more.
    pub is_partial: bool,
}

impl Unfinished {
    /// All of it, once everybody has stopped.
    pub fn read(view: &InstanceView, topology: &Topology, seats: &[SeatView]) -> Vec<Unfinished> {
        let look = Look { view, topology, held: Held::read(view, topology) };
        let mut found = look.unknown();
        found.extend(look.unsent());
        found.extend(look.unanswered());
        found.extend(look.at_market());
        found.extend(look.unreported());
        found.extend(look.uncopied());
        found.extend(look.unbooked());
        found.extend(seats.iter().flat_map(|seat| look.unread(seat)));
        found.retain(|row| row.count > 0 || row.is_partial);
        found
    }

    /// Whether these orders go on at a market outside because the platform file says so: a gateway without `cancel_on_stop` has
    /// stopped in good order.
    pub(crate) fn is_intended(&self, topology: &Topology, seats: &[SeatView]) -> bool {
        let is_of = |seat: &&SeatView| Some(&seat.name) == self.of.as_ref();
        let Some(seat) = seats.iter().find(is_of).filter(|_| self.work == Work::End) else { return false };
        let section = topology.node(&seat.name).map(|node| node.section.clone()).unwrap_or_default();
        let config = serde_json::from_value::<GatewaySection>(section).map(|section| section.config);
        seat.kind == NodeKind::Gateway
            && seat.exit == Some(0)
            && self.orders == 0
            && !self.is_partial
            && config.is_ok_and(|config| !config.cancel_on_stop)
    }
}

impl std::fmt::Display for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unfinished { work, node, journal, of, count, orders, fills, is_partial } = self;
        if *work == Work::Check {
            return write!(
                f,
                "journal {journal} is damaged: the messages that were not handled cannot be counted"
            );
        }
        if *is_partial {
            f.write_str("at least ")?;
        }
        if *work == Work::End {
            let of = of.as_ref().map_or(String::new(), |of| format!(" of {of}"));
            let new = if *orders > 0 { format!(" ({orders} without an answer)") } else { String::new() };
            return write!(
                f,
                "{count} orders{of}{new} may still work at the market outside: {node} has reported no end. \
                 Look there, and cancel them there"
            );
        }
        let parts = [(*orders, "new orders"), (*fills, "fills")];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        let of = of.as_ref().map_or(String::new(), |of| format!(" of {of}"));
        let what = match work {
            Work::Send => "requests{of}{parts} were neither sent on nor refused",
            Work::Answer => "requests{of}{parts} have no answer",
            Work::Report => "executions of orders{of}{parts} were not reported",
            Work::Copy => "messages{parts} are missing in the drop copy",
            Work::Book => "messages{parts} are not in the last state of the books",
            Work::Read | Work::Check | Work::End => "messages{parts} were not read",
        };
        let what = what.replace("{of}", &of).replace("{parts}", &parts);
        write!(f, "{count} {what}: {node} has not handled the end of {journal}")
    }
}

/// The journals, and who writes and reads them.
struct Look<'a> {
    view: &'a InstanceView,
    topology: &'a Topology,
    held: Held,
}

impl Look<'_> {
    fn journal(&self, stream: Stream) -> Option<&JournalSpec> {
        self.topology.carrying(stream).next()
    }

    fn writer_of(&self, stream: Stream) -> Option<(String, u32)> {
        let node = self.topology.node(&self.journal(stream)?.writer)?;
        Some((node.name.clone(), u32::from(node.seat)))
    }

    /// Damaged journals on the way of orders.
    fn unknown(&self) -> Vec<Unfinished> {
        let of_journal = |spec: &JournalSpec| {
            let node = self.topology.node(&spec.writer).map_or("", |node| node.name.as_str());
            Unfinished { is_partial: true, ..row(Work::Check, node, &spec.name, None) }
        };
        ON_THE_WAY
            .iter()
            .flat_map(|stream| self.topology.carrying(*stream))
            .filter(|spec| self.view.journal(&spec.name).is_err())
            .map(of_journal)
            .collect()
    }

    /// Requests that td has not handled. Those before its cursor are, and of those behind it the ones whose effect is there.
    fn unsent(&self) -> Vec<Unfinished> {
        let Some((td, seat)) = self.writer_of(Stream::Orders) else { return Vec::new() };
        let mut found = Vec::new();
        for spec in self.topology.carrying(Stream::Requests) {
            let Some(writer) = self.topology.node(&spec.writer) else { continue };
            let from = StrategyId(writer.seat);
            let mut row = row(Work::Send, &td, &spec.name, Some(&spec.writer));
            row.is_partial = held::behind(self.view, &spec.name, seat, |frame| {
                let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return };
                if !self.held.is_handled(from, frame.position, &request) {
                    row.count += 1;
                    row.orders += u64::from(matches!(request, Request::New(_)));
                }
            });
            found.push(row);
        }
        found.extend(self.unsent_of_desk(&td, seat));
        found
    }

    /// Entries about accounts, and the orders by which the ledger closes positions.
    fn unsent_of_desk(&self, td: &str, seat: u32) -> Vec<Unfinished> {
        let streams = self.topology.carrying(Stream::Entries).chain(self.topology.carrying(Stream::Risk));
        let of_journal = |spec: &JournalSpec| {
            let is_entries = Stream::of(&spec.name) == Some(Stream::Entries);
            let mut row = row(Work::Send, td, &spec.name, None);
            row.is_partial = held::behind(self.view, &spec.name, seat, |frame| {
                let order = Request::decode(frame.message_id, frame.payload).ok();
                let is_open = match order {
                    _ if is_entries => !self.held.is_entered(frame.position),
                    Some(order @ Request::New(_)) => !self.held.is_taken(&order),
                    // Marks and switches follow from what is booked.
                    _ => false,
                };
                row.count += u64::from(is_open);
                row.orders += u64::from(is_open && !is_entries);
            });
            row
        };
        streams.map(of_journal).collect()
    }

    /// Requests to the market that it has not answered.
    fn unanswered(&self) -> Option<Unfinished> {
        let (matching, _) = self.writer_of(Stream::Executions)?;
        let mut row = row(Work::Answer, &matching, &self.journal(Stream::Orders)?.name, None);
        for request in self.held.unanswered() {
            row.count += 1;
            row.orders += u64::from(matches!(request, Request::New(_)));
        }
        Some(row)
    }

    /// Orders that may still work at a market outside: a row for each sender.
    pub(super) fn at_market(&self) -> Vec<Unfinished> {
        let (Some((matching, _)), Some(spec)) =
            (self.writer_of(Stream::Executions), self.journal(Stream::Executions))
        else {
            return Vec::new();
        };
        if !self.held.is_external() {
            return Vec::new();
        }
        let (working, is_partial) = self.held.lives().working(self.view, &spec.name);
        let sent = self.held.unanswered().filter_map(|request| match request {
            Request::New(order) => Some(order.order_id),
            _ => None,
        });
        let mut rows: BTreeMap<StrategyId, Unfinished> = BTreeMap::new();
        let mut count = |order: OrderId, is_new: bool| {
            let owner = order.strategy();
            let name = || self.topology.nodes.iter().find(|node| node.seat == owner.0);
            let row = rows.entry(owner).or_insert_with(|| {
                row(Work::End, &matching, &spec.name, name().map(|node| node.name.as_str()))
            });
            row.count += 1;
            row.orders += u64::from(is_new);
        };
        working.iter().for_each(|order| count(*order, false));
        sent.filter(|order| !working.contains(order)).for_each(|order| count(order, true));
        let mut found: Vec<Unfinished> = rows.into_values().collect();
        if is_partial && found.is_empty() {
            found.push(row(Work::End, &matching, &spec.name, None));
        }
        found.iter_mut().for_each(|row| row.is_partial = is_partial);
        found
    }

    /// Executions behind the last one that is in the reports of who sent the order.
    fn unreported(&self) -> Vec<Unfinished> {
        let Some((td, seat)) = self.writer_of(Stream::Orders) else { return Vec::new() };
        let Some(executions) = self.journal(Stream::Executions) else { return Vec::new() };
        let mut found: Vec<Unfinished> = Vec::new();
        for spec in self.topology.carrying(Stream::Requests) {
            let Some(writer) = self.topology.node(&spec.writer) else { continue };
            let Some(reports) = self.topology.reports_of(writer) else { continue };
            if self.view.journal(&reports.name).is_err() {
                continue;
            }
            let mut row = row(Work::Report, &td, &executions.name, Some(&spec.writer));
            let reported = self.held.reported_up_to(&reports.name);
            for execution in self.held.executions_behind(reported) {
                if execution.owner == StrategyId(writer.seat) {
                    row.count += 1;
                    row.fills += u64::from(execution.is_fill);
                }
            }
            found.push(row);
        }
        if let Some(row) = found.first_mut() {
            row.is_partial = held::is_overwritten_behind(self.view, &executions.name, seat);
        }
        found
    }

    /// Requests and executions behind the last ones in the drop copy.
    fn uncopied(&self) -> Vec<Unfinished> {
        let Some((td, _)) = self.writer_of(Stream::Drops) else { return Vec::new() };
        let (Some(orders), Some(executions)) =
            (self.journal(Stream::Orders), self.journal(Stream::Executions))
        else {
            return Vec::new();
        };
        let mut requests = row(Work::Copy, &td, &orders.name, None);
        for request in self.held.uncopied_requests() {
            requests.count += 1;
            requests.orders += u64::from(matches!(request, Request::New(_)));
        }
        let mut answers = row(Work::Copy, &td, &executions.name, None);
        for execution in self.held.executions_behind(self.held.copied_up_to()) {
            answers.count += 1;
            answers.fills += u64::from(execution.is_fill);
        }
        vec![requests, answers]
    }

    /// Executions, and messages of the drop copy, that are not in the ledger's last snapshots.
    fn unbooked(&self) -> Vec<Unfinished> {
        let Some((ledger, _)) = self.writer_of(Stream::State) else { return Vec::new() };
        let mut found = Vec::new();
        if let Some(spec) = self.journal(Stream::Executions) {
            let mut row = row(Work::Book, &ledger, &spec.name, None);
            let booked = self.held.booked_before(self.view);
            for execution in self.held.executions_behind(booked.saturating_sub(1)) {
                row.count += 1;
                row.fills += u64::from(execution.is_fill);
            }
            found.push(row);
        }
        if let (Some(spec), Some(desk)) = (self.journal(Stream::Drops), self.journal(Stream::Desk)) {
            let mut row = row(Work::Book, &ledger, &spec.name, None);
            let booked = held::kept_before(self.view, &desk.name);
            row.count = self.held.copies_from(booked);
            found.push(row);
        }
        found
    }

    /// What a node outside of the way of orders has not read, if it died.
    fn unread(&self, seat: &SeatView) -> Vec<Unfinished> {
        let handles = matches!(seat.kind, NodeKind::Gateway | NodeKind::Observer | NodeKind::Service);
        let has_died = seat.generation > 0 && seat.exit != Some(0) && !seat.by_a_person;
        let Some(node) = self.topology.node(&seat.name).filter(|_| handles && has_died) else {
            return Vec::new();
        };
        let gated = node.reads.iter().filter(|read| read.kind == ReaderKind::Gated);
        let of_journal = |read: &topology::ReadBinding| {
            let mut row = row(Work::Read, &seat.name, &read.journal, None);
            let mut count = 0;
            row.is_partial = held::behind(self.view, &read.journal, seat.seat, |_| count += 1);
            Unfinished { count, ..row }
        };
        gated.map(of_journal).collect()
    }
}

fn row(work: Work, node: &str, journal: &str, of: Option<&str>) -> Unfinished {
    Unfinished {
        work,
        node: node.to_owned(),
        journal: journal.to_owned(),
        of: of.map(str::to_owned),
        count: 0,
        orders: 0,
        fills: 0,
        is_partial: false,
    }
}

#[cfg(test)]
mod tests;
