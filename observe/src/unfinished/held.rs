//! What the rings still hold of requests, of what was made of them, and of their answers.

use std::collections::{BTreeMap, HashSet};

use journal::layout::LINE_BYTES;
use journal::{Frame, Journal, OpenError};
use topology::{Stream, Topology};
use wire::{
    CancelOrder, DROP_TAKEN, DeskPart, EntryResult, Execution, Message, OrderId, Request, StrategyId,
};

use super::lives::Lives;
use crate::view::InstanceView;

/// A request as its effect names it: the order, and where the request of a change stood.
type Key = (OrderId, Option<u32>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Executed {
    pub(super) position: u64,
    pub(super) owner: StrategyId,
    pub(super) is_fill: bool,
}

/// Read once for all that is counted.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Of `td.orders`, with their positions.
    sent: Vec<(u64, Request)>,
    sent_keys: HashSet<Key>,
    executions: Vec<Executed>,
    /// Orders that the executions speak of.
    answered: HashSet<OrderId>,
    /// The market has answered all requests up to this position of `td.orders`.
    answered_up_to: u64,
    /// It answers in any order.
    is_external: bool,
    lives: Lives,
    /// By journal of reports: the last execution that is reported.
    reported: BTreeMap<String, u64>,
    /// Requests that td has refused, by sender and position.
    refused: HashSet<(StrategyId, u64)>,
    /// Of the drop copy: its last execution, its last request, the orders and entries in it, and the positions of its frames.
    copied_up_to: u64,
    last_copied: Option<Request>,
    copied: HashSet<OrderId>,
    entered: HashSet<u64>,
    copies: Vec<u64>,
}

impl Held {
    pub(super) fn read(view: &InstanceView, topology: &Topology) -> Held {
        let mut held = Held { is_external: topology.trades_elsewhere(), ..Held::default() };
        for spec in topology.carrying(Stream::Orders) {
            read(view, &spec.name, None, |frame| {
                if let Ok(request) = Request::decode(frame.message_id, frame.payload) {
                    held.sent_keys.insert(key(&request));
                    held.sent.push((frame.position, request));
                }
            });
        }
        for spec in topology.carrying(Stream::Executions) {
            read(view, &spec.name, None, |frame| held.executed(frame));
        }
        for spec in topology.carrying(Stream::Reports) {
            let mut last = 0;
            read(view, &spec.name, None, |frame| last = held.reported(frame).unwrap_or(last));
            held.reported.insert(spec.name.clone(), last);
        }
        for spec in topology.carrying(Stream::Drops) {
            read(view, &spec.name, None, |frame| held.dropped(frame));
        }
        held
    }

    fn executed(&mut self, frame: &Frame<'_>) {
        let Ok(execution) = Execution::decode(frame.message_id, frame.payload) else { return };
        let order = execution.order_id();
        self.answered.insert(order);
        self.lives.take(frame.position, &execution);
        self.answered_up_to = execution.answered_up_to();
        let (owner, is_fill) = (order.strategy(), matches!(execution, Execution::Fill(_)));
        self.executions.push(Executed { position: frame.position, owner, is_fill });
    }

    /// The last execution that is reported with this frame.
    fn reported(&mut self, frame: &Frame<'_>) -> Option<u64> {
        match Execution::decode(frame.message_id, frame.payload).ok()? {
            Execution::Update(update) if update.execution == 0 => {
                self.refused.insert((update.order_id.strategy(), update.refused_request));
                Some(update.reported_up_to)
            }
            execution => execution.position(),
        }
    }

    fn dropped(&mut self, frame: &Frame<'_>) {
        self.copies.push(frame.position);
        if let Ok(request) = Request::decode(frame.message_id, frame.payload) {
            self.copied.insert(request.order_id());
            if frame.topic == DROP_TAKEN {
                self.last_copied = Some(request);
            }
        } else if let Ok(execution) = Execution::decode(frame.message_id, frame.payload) {
            self.copied_up_to = execution.position().unwrap_or(self.copied_up_to);
        } else if frame.message_id == EntryResult::ID
            && let Ok(result) = EntryResult::decode(frame.payload)
        {
            self.entered.insert(result.entry);
        }
    }

    /// Whether the request at this position of its sender's journal was sent on or refused.
    pub(super) fn is_handled(&self, from: StrategyId, position: u64, request: &Request) -> bool {
        let sent = key(&request.with_source(line(position)));
        self.sent_keys.contains(&sent) || self.refused.contains(&(from, position))
    }

    /// Whether this order of the ledger was taken.
    pub(super) fn is_taken(&self, order: &Request) -> bool {
        self.sent_keys.contains(&key(order)) || self.copied.contains(&order.order_id())
    }

    /// Whether the entry at this position was taken or refused.
    pub(super) fn is_entered(&self, position: u64) -> bool {
        self.entered.contains(&position)
    }

    /// Requests in `td.orders` without an answer.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = &Request> {
        let is_open = |request: &Request| match request {
            Request::New(order) => !self.is_external || !self.answered.contains(&order.order_id),
            // Where answers come in any order they do not say which change they answer.
            _ => !self.is_external,
        };
        let behind = self.sent.iter().filter(|(position, _)| *position > self.answered_up_to);
        behind.map(|(_, request)| request).filter(move |request| is_open(request))
    }

    /// Whether orders go to a market outside.
    pub(super) fn is_external(&self) -> bool {
        self.is_external
    }

    pub(super) fn lives(&self) -> &Lives {
        &self.lives
    }

    pub(super) fn executions_behind(&self, position: u64) -> impl Iterator<Item = &Executed> {
        self.executions.iter().filter(move |execution| execution.position > position)
    }

    pub(super) fn reported_up_to(&self, reports: &str) -> u64 {
        self.reported.get(reports).copied().unwrap_or(0)
    }

    pub(super) fn copied_up_to(&self) -> u64 {
        self.copied_up_to
    }

    /// Requests in `td.orders` behind the last one in the drop copy.
    pub(super) fn uncopied_requests(&self) -> impl Iterator<Item = &Request> {
        let last = self.last_copied.as_ref().map(key);
        let copied = self.sent.iter().rposition(|(_, request)| Some(key(request)) == last);
        // With none of both in what is left, nothing says that one is missing.
        let from = copied.map_or(if last.is_some() { self.sent.len() } else { 0 }, |copied| copied + 1);
        self.sent[from..].iter().map(|(_, request)| request)
    }

    /// How many frames of the drop copy begin at this position or behind it.
    pub(super) fn copies_from(&self, position: u64) -> u64 {
        self.copies.iter().filter(|copy| **copy >= position).count() as u64
    }

    /// Executions before this position are in the ledger's last snapshot.
    pub(super) fn booked_before(&self, view: &InstanceView) -> u64 {
        let snapshot = node::last_snapshot(view.instance()).unwrap_or_else(|error| {
            log::warn!("the ledger's last snapshot is not read: {error}");
            None
        });
        snapshot.map_or(0, |snapshot| snapshot.begin.execution)
    }
}

/// Frames of the drop copy before this position are in the last snapshot of the accounts that was written to its end. It may be
/// larger than its ring.
pub(super) fn kept_before(view: &InstanceView, desk: &str) -> u64 {
    let mut drops = 0;
    read(view, desk, None, |frame| {
        let part = (frame.message_id == DeskPart::ID).then(|| DeskPart::decode(frame.payload));
        if let Some(Ok(part)) = part
            && part.part.checked_add(1) == Some(part.parts)
        {
            drops = part.drops;
        }
    });
    drops
}

/// Passes the frames that the reader in `seat` has not handled to `visit`. True when some of them are overwritten.
pub(super) fn behind(
    view: &InstanceView,
    journal: &str,
    seat: u32,
    mut visit: impl FnMut(&Frame<'_>),
) -> bool {
    let Ok((opened, _)) = view.journal(journal) else { return false };
    let from = opened.finished_by(seat);
    if from >= opened.head() {
        return false;
    }
    let mut first = None;
    read(view, journal, Some(from), |frame| {
        first.get_or_insert(frame.position);
        if frame.position >= from {
            visit(frame);
        }
    });
    first.is_none_or(|first| first > from)
}

/// Whether frames that the reader in `seat` has not handled are overwritten.
pub(super) fn is_overwritten_behind(view: &InstanceView, journal: &str, seat: u32) -> bool {
    behind(view, journal, seat, |_| {})
}

/// All frames that are still there; from a position on if it is one that a reader stood at, and the frame there is.
fn read(view: &InstanceView, journal: &str, from: Option<u64>, mut visit: impl FnMut(&Frame<'_>)) {
    let mut read = || -> Result<bool, OpenError> {
        let opened = Journal::open_read_only(view.instance().find_journal(journal))?;
        // The writer's marks leave out up to a quarter of the ring; where readers stood, frames start too.
        let readers = (0..opened.shape().seats).map(|seat| opened.finished_by(seat));
        let mut starts: Vec<u64> = from.into_iter().chain(readers.filter(|_| from.is_none())).collect();
        let oldest = opened.oldest_frame()?;
        starts.iter_mut().for_each(|start| *start -= *start % LINE_BYTES);
        starts.retain(|start| *start < oldest || from.is_some());
        starts.sort_unstable();
        starts.dedup();
        for start in starts.into_iter().chain([oldest]) {
            let Ok(mut reader) = opened.observe(start) else { continue };
            let mut is_first = true;
            loop {
                match reader.read() {
                    Ok(Some(frame)) if is_first && frame.position != start => break,
                    Ok(Some(frame)) => visit(&frame),
                    Ok(None) if is_first && start < oldest => break,
                    Ok(None) => return Ok(true),
                    Err(_) if is_first => break,
                    Err(_) => return Ok(false),
                }
                is_first = false;
            }
        }
        Ok(true)
    };
    match read() {
        Ok(true) => {}
        Ok(false) => log::warn!("journal {journal} is not read to its end"),
        Err(error) => log::warn!("journal {journal} is not read: {error}"),
    }
}

fn key(request: &Request) -> Key {
    (request.order_id(), request.source())
}

/// The line of a request, as td notes it in the requests that it sends on: 31 bits.
fn line(position: u64) -> u32 {
    ((position / LINE_BYTES) as u32 & !CancelOrder::OF_TD).max(1)
}
