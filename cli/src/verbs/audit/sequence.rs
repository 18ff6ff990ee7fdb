//! The drop copy against the journals that it is made from: each request, execution and entry once, in order, unchanged.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use wire::{
    AccountAction, AccountChange, AnyMessage, ContractTerms, CurrencyRate, DROP_REFUSED, DROP_TAKEN,
    EntryResult, Execution, Fill, Message, NewOrder, OrderId, OrderStatus, OrderUpdate,
};

use super::Stop;
use super::align::align;
use super::findings::Findings;
use super::frames::{is_entry, is_request, order_of, said, same, who};
use super::reach::Reach;
use crate::desk::{DROPS, ENTRIES, EXECUTIONS, Fault, ORDERS, Seen, Source, Stream};
use crate::message::brief;
use crate::output;

/// How far ahead a request is looked for where another one stands.
const WINDOW: usize = 64;
/// So long td has to write to a journal what stands in another one.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Sequence<'a> {
    pub(super) findings: Findings,
    reach: Reach,
    orders: Stream<'a>,
    /// Requests of `td.orders` that were looked at and not found in the drop copy yet.
    window: VecDeque<Seen>,
    executions: Stream<'a>,
    entries: Stream<'a>,
    /// Requests before this position of the drop copy are older than what `td.orders` still has.
    compare_from: u64,
    /// The drop copy is there from its begin.
    is_begin: bool,
    /// `matching.executions` is there from its begin.
    executions_begin: bool,
    /// The last execution that was found in both.
    passed: u64,
    has_executions: bool,
    has_entries: bool,
    /// An entry whose result comes next.
    copy: Option<Seen>,
    /// A refused request, whose refusal comes next.
    refused: Option<(u64, OrderId)>,
    /// Only entries were seen, of the platform file.
    is_opening: bool,
    /// The entries of the platform file that are yet to come; `None` where they cannot be made again.
    opening: Option<VecDeque<AnyMessage>>,
    /// An entry that td refused, with its result, until it is taken.
    pub(super) refused_entry: Option<(Seen, EntryResult)>,
}

impl<'a> Sequence<'a> {
    /// `opening`: the entries of the platform file.
    pub(super) fn new(
        source: &'a Source,
        is_begin: bool,
        reach: Reach,
        opening: Result<Vec<AnyMessage>, String>,
    ) -> Result<Sequence<'a>, Stop> {
        let mut findings = Findings::new(
            "sequence",
            "the drop copy has each request, execution and entry once, in order, unchanged",
        );
        if let (Err(why), true) = (&opening, is_begin) {
            findings.lacks(format!("the entries of the platform file are not compared with it: {why}"));
        }
        let (orders, compare_from) = align(source, is_begin, &mut findings)?;
        let mut executions = super::stream(source, EXECUTIONS, 0)?;
        let mut entries = super::stream(source, ENTRIES, 0)?;
        let cut = [
            (ORDERS, compare_from > 0),
            (EXECUTIONS, !executions.is_at_begin()?),
            (ENTRIES, !entries.is_at_begin()?),
        ];
        for (journal, _) in cut.into_iter().filter(|(_, is_cut)| *is_cut && is_begin) {
            findings
                .lacks(format!("{journal} does not reach back to its begin: older frames are not compared"));
        }
        Ok(Sequence {
            orders,
            compare_from,
            findings,
            reach,
            window: VecDeque::new(),
            executions_begin: executions.is_at_begin()?,
            executions,
            passed: 0,
            entries,
            is_begin,
            has_executions: false,
            has_entries: false,
            copy: None,
            refused: None,
            is_opening: is_begin,
            opening: opening.ok().filter(|_| is_begin).map(VecDeque::from),
            refused_entry: None,
        })
    }

    /// The next frame of the drop copy.
    pub(super) fn take(&mut self, seen: &Seen) -> Result<(), Stop> {
        self.follows_entry(seen);
        self.follows_refusal(seen);
        match seen.id {
            id if seen.topic == DROP_REFUSED => {
                self.refused =
                    order_of(seen).filter(|_| id == NewOrder::ID).map(|order| (seen.position, order));
                if self.refused.is_none() {
                    self.findings.differs(DROPS, seen.position, said(seen), "a refused new order");
                }
            }
            id if is_request(id) => {
                self.is_opening = false;
                self.request(seen)?;
            }
            Fill::ID | OrderUpdate::ID => self.execution(seen)?,
            EntryResult::ID => self.result(seen)?,
            id if is_entry(id) => {
                self.opens(seen);
                self.copy = Some(seen.clone());
            }
            _ => {}
        }
        Ok(())
    }

    /// What the platform file opens is what it says.
    fn opens(&mut self, seen: &Seen) {
        let Some(opening) = self.opening.as_mut().filter(|_| self.is_opening) else { return };
        self.findings.checked += 1;
        let expected = opening.pop_front();
        let is_it =
            expected.as_ref().is_some_and(|entry| (entry.id(), entry.bytes()) == (seen.id, &seen.payload));
        if !is_it {
            let expected =
                expected.map_or("no more entries of the platform file".to_owned(), |entry| brief(&entry));
            self.findings.differs(DROPS, seen.position, said(seen), expected);
        }
    }

    /// What was seen before was an entry: its result comes now, or it needs none.
    fn follows_entry(&mut self, seen: &Seen) {
        let is_taken = seen.id == EntryResult::ID
            && EntryResult::decode(&seen.payload).is_ok_and(|result| result.refusal == 0);
        if is_taken {
            return;
        }
        if let Some(copy) = self.copy.take()
            && !self.needs_no_result(&copy)
        {
            self.findings.differs(
                DROPS,
                copy.position,
                format!("{} took effect, and no entry of {ENTRIES} says so", said(&copy)),
                "an EntryResult behind it",
            );
        }
    }

    /// Terms of instruments that md lists, switches that fall by themselves, and what the platform file opens.
    fn needs_no_result(&self, copy: &Seen) -> bool {
        let by = who(copy);
        let is_kill = AccountChange::decode(&copy.payload)
            .is_ok_and(|change| copy.id == AccountChange::ID && change.action == AccountAction::Kill);
        // While the ledger closes an account by force.
        let is_freeze = AccountChange::decode(&copy.payload).is_ok_and(|change| {
            copy.id == AccountChange::ID
                && matches!(change.action, AccountAction::Freeze | AccountAction::Unfreeze)
        });
        match by.as_deref() {
            None => copy.id == ContractTerms::ID || (copy.id == CurrencyRate::ID && self.is_opening),
            Some("ledger") => is_kill || is_freeze,
            Some("td") => is_kill,
            Some("platform file") => self.is_opening,
            Some(_) => false,
        }
    }

    fn follows_refusal(&mut self, seen: &Seen) {
        let Some((position, order)) = self.refused.take() else { return };
        let is_its = seen.topic == DROP_TAKEN
            && seen.id == OrderUpdate::ID
            && OrderUpdate::decode(&seen.payload).is_ok_and(|update| {
                update.order_id == order && update.status == OrderStatus::Rejected && update.execution == 0
            });
        self.findings.checked += 1;
        if !is_its {
            let expected = format!("the rejection of {order}, which was refused at position {position}");
            self.findings.differs(DROPS, seen.position, said(seen), expected);
        }
    }

    fn request(&mut self, seen: &Seen) -> Result<(), Stop> {
        if seen.position < self.compare_from {
            return Ok(());
        }
        self.findings.checked += 1;
        if self.window.is_empty() && !self.wait_for_order()? {
            if self.reach.is_due(seen) {
                self.findings.differs(
                    DROPS,
                    seen.position,
                    said(seen),
                    format!("nothing: {ORDERS} has no such request"),
                );
            }
            return Ok(());
        }
        if self.window.front().is_some_and(|order| same(order, seen)) {
            self.window.pop_front();
            return Ok(());
        }
        while self.window.len() < WINDOW
            && let Some(order) = self.orders.next()?
        {
            self.window.push_back(order);
        }
        if let Some(place) = self.window.iter().position(|order| same(order, seen)) {
            for missing in self.window.drain(..=place).take(place) {
                self.findings.differs(
                    ORDERS,
                    missing.position,
                    said(&missing),
                    format!("the same in {DROPS}, where it is missing"),
                );
            }
            return Ok(());
        }
        let front =
            self.window.front().filter(|front| (front.id, order_of(front)) == (seen.id, order_of(seen)));
        match front {
            Some(_) => {
                let front = self.window.pop_front().unwrap_or_default();
                let found = format!("{} with other bytes than at {ORDERS}@{}", said(seen), front.position);
                self.findings.differs(DROPS, seen.position, found, said(&front));
            }
            None => {
                let found = format!("{}, which {ORDERS} does not have here", said(seen));
                let expected = self.window.front().map_or_else(String::new, said);
                self.findings.differs(DROPS, seen.position, found, expected);
            }
        }
        Ok(())
    }

    /// Whether there is another request in `td.orders`; td may be about to write it.
    fn wait_for_order(&mut self) -> Result<bool, Fault> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(order) = self.orders.next()? {
                self.window.push_back(order);
                return Ok(true);
            }
            if !self.reach.grows() || Instant::now() >= end {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn execution(&mut self, seen: &Seen) -> Result<(), Stop> {
        let Ok(execution) = Execution::decode(seen.id, &seen.payload) else {
            self.findings.differs(DROPS, seen.position, said(seen), "an execution");
            return Ok(());
        };
        // A refusal by td passes nothing on.
        let Some(position) = execution.position() else { return Ok(()) };
        if !std::mem::replace(&mut self.has_executions, true) && !self.is_begin {
            while self.executions.peek()?.is_some_and(|first| first.position < position) {
                self.executions.next()?;
            }
        }
        self.findings.checked += 1;
        loop {
            let Some(next) = self.executions.peek()? else {
                if self.reach.is_due(seen) {
                    self.findings.differs(
                        DROPS,
                        seen.position,
                        said(seen),
                        format!("a position of {EXECUTIONS}, not {position}"),
                    );
                }
                return Ok(());
            };
            if next.position > position {
                // Older than what is still there, or one that was there before.
                if position > self.passed && self.passed == 0 && !self.executions_begin {
                    self.findings.checked -= 1;
                } else {
                    let expected = format!("no execution twice, and none of position {position}");
                    self.findings.differs(DROPS, seen.position, said(seen), expected);
                }
                return Ok(());
            }
            let Some(next) = self.executions.next()? else { return Ok(()) };
            if next.position < position {
                self.findings.differs(
                    EXECUTIONS,
                    next.position,
                    said(&next),
                    format!("the same in {DROPS}, where it is missing"),
                );
                continue;
            }
            let passed =
                Execution::decode(next.id, &next.payload).ok().map(|passed| passed.passed_on(position));
            if passed != Some(execution) {
                self.findings.differs(DROPS, seen.position, said(seen), said(&next));
            }
            let passes_on = Execution::decode(next.id, &next.payload).ok().and_then(|of| of.position());
            if let Some(other) = passes_on {
                let found = format!("{}, which passes on {other}", said(&next));
                self.findings.differs(EXECUTIONS, next.position, found, "what passes on nothing");
            }
            self.passed = position;
            return Ok(());
        }
    }

    fn result(&mut self, seen: &Seen) -> Result<(), Stop> {
        let Ok(result) = EntryResult::decode(&seen.payload) else {
            self.findings.differs(DROPS, seen.position, said(seen), "the result of an entry");
            return Ok(());
        };
        let copy = self.copy.take();
        if result.entry == 0 {
            // What the platform file opens is complete.
            if let Some(copy) = copy.filter(|copy| !self.needs_no_result(copy)) {
                self.findings.differs(DROPS, copy.position, said(&copy), "an entry of the platform file");
            }
            self.is_opening = false;
            if let Some(left) = self.opening.take().filter(|left| !left.is_empty()) {
                let found = format!("{} entries of the platform file are missing", left.len());
                self.findings.differs(DROPS, seen.position, found, "all of them");
            }
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_entries, true) && !self.is_begin {
            while self.entries.peek()?.is_some_and(|first| first.position < result.entry) {
                self.entries.next()?;
            }
        }
        self.findings.checked += 1;
        while let Some(next) = self.entries.peek()? {
            if next.position > result.entry {
                self.findings.differs(
                    DROPS,
                    seen.position,
                    said(seen),
                    format!("no result twice, and none of position {}", result.entry),
                );
                return Ok(());
            }
            let Some(next) = self.entries.next()? else { break };
            if next.position < result.entry {
                self.findings.differs(
                    ENTRIES,
                    next.position,
                    said(&next),
                    format!("its result in {DROPS}, where it is missing"),
                );
                continue;
            }
            if result.refusal == 0 && result.about != 0 {
                let found = format!("an entry that was taken, about {}", result.about);
                self.findings.differs(DROPS, seen.position, found, "zero: only a refusal is about something");
            }
            if result.refusal != 0 {
                self.refused_entry = Some((next.clone(), result));
            }
            if result.refusal == 0 && !copy.as_ref().is_some_and(|copy| same(copy, &next)) {
                let found =
                    copy.as_ref().map_or_else(|| "no copy of the entry before its result".to_owned(), said);
                self.findings.differs(DROPS, seen.position, found, said(&next));
            }
            return Ok(());
        }
        if self.reach.is_due(seen) {
            let expected = format!("an entry at {ENTRIES}@{}", result.entry);
            self.findings.differs(DROPS, seen.position, said(seen), expected);
        }
        Ok(())
    }

    /// What is left in the other journals is yet to come: only what the drop copy has passed over is missing.
    pub(super) fn finish(self) -> Result<Findings, Stop> {
        let Sequence { mut findings, reach, orders, window, executions, entries, is_begin, .. } = self;
        let sources = [
            (ORDERS, window, orders, self.compare_from == u64::MAX),
            (EXECUTIONS, VecDeque::new(), executions, !is_begin && !self.has_executions),
            (ENTRIES, VecDeque::new(), entries, !is_begin && !self.has_entries),
        ];
        for (journal, mut window, mut stream, starts_later) in sources {
            // Without anything in common it cannot be told where the drop copy stands in it.
            if starts_later {
                continue;
            }
            let (mut count, mut first) = (0, None);
            while let Some(seen) = window.pop_front().map_or_else(|| stream.next(), |seen| Ok(Some(seen)))? {
                if !reach.has(journal, &seen) {
                    break;
                }
                count += 1;
                first.get_or_insert(seen);
            }
            if let Some(first) = first {
                // What a person entered waits for a td; orders that went out, and what the market says, are lost.
                if matches!(reach, Reach::Ended) && journal != ENTRIES {
                    let found = format!("{count} frames from here on are not in {DROPS}: {}", said(&first));
                    findings.differs(journal, first.position, found, "td finishes them before it ends");
                    continue;
                }
                findings.notes.push(format!(
                    "{} of {journal} not in {DROPS} yet, from position {} on ({}): {}",
                    output::count(count, "frame"),
                    first.position,
                    said(&first),
                    reach.why_not_yet()
                ));
            }
        }
        Ok(findings)
    }
}
