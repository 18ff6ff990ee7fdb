//! The ledger process: executions and quotes in, snapshots out.
//!
//! ```text
//!  matching.executions ─► positions, working orders ─┐     a strategy joined ─► snapshot for it
//!  md.quotes or md.best ─► marks ────────────────────┴──►  something changed ─► snapshot of everything, now and then
//!  master.events ─► who joined, who died                   stop ──────────────► the last snapshot of everything
//! ```
//!
//! A kill loses nothing: the successor starts from the last whole snapshot in `ledger.state`, reads the executions since
//! then again, and continues at its cursor. Each execution counts once, by its position. The last snapshot stays whole until
//! the next one is, and the executions behind it are kept from being overwritten; so a snapshot is also due after a quarter
//! of their ring.
//!
//! A strategy that has joined asks for its state, and is answered once all executions are booked that were committed when
//! it asked: all that was reported to its predecessor is in its snapshot. A restarted ledger finds the open questions in the
//! strategies' seats, and answers no others. The gateway asks in the same way, whenever it has lost reports.
//!
//! Where accounts are kept, it follows the drop copy too: see [`desk`](crate::desk).

use std::time::Duration;

use node::{
    Component, Context, Counter, Frame, Input, InputId, Node, NodeHandle, Output, Quiescence, RunError,
    Runner, Service, Stepwise, ToItsEnd, WriteError,
};
use topology::{LedgerSection, NodeKind};
use wire::{
    Best, EndOfStream, Fill, Instrument, InstrumentId, MarketPhase, MarketTime, Message, NodeChange,
    NodeEvent, Quote, SnapshotBegin, StrategyId, TradePrint,
};

use crate::askers::Askers;
use crate::book::Book;
use crate::desk::Keeper;
use crate::limits::{LINE, MOST_OF_RING, RETRY, needed, stays_whole};
use crate::snapshot::SnapshotMessage;

/// Quotes in a snapshot; with more instruments than this they are left out, so that a snapshot always fits the ring
/// many times over. A strategy that joins receives the next quotes soon.
const MOST_QUOTES: usize = 256;

/// A full journal is tried again so often at the end.
const LAST_TRIES: u32 = 40_000;

/// The ledger.
pub const SERVICE: Service = Service {
    kind: NodeKind::Ledger,
    about: "Positions, working orders, latest quotes",
    flags: &[],
    run: |node, _| run(node, ToItsEnd),
    steps: Some(|node| run(node, Stepwise)),
};

fn run<R: Runner>(mut node: Node, runner: R) -> Result<R::Outcome, RunError> {
    let LedgerSection { config, desk } = node.section()?;
    let interval = config.snapshot.as_nanos() as u64;
    let executions = node.input("executions")?;
    let (mut book, mut listed) = (Book::new(), Vec::new());
    if node.assignment().generation > 1 {
        listed = listing(&node)?;
        book = recall(&node, executions, &listed)?;
    }
    let input = node.inputs().get(executions.0);
    let market = input.map_or("", Input::name).to_owned();
    let (read, most_read_again) =
        (input.map_or(0, Input::position), input.map_or(u64::MAX, |input| input.capacity() / 4));
    let state = node.take_output("state")?;
    // The depth, or where nobody wants that the best.
    let quotes = node.input("quotes").or_else(|_| node.input("best"))?;
    let market_at_start =
        node.inputs().get(quotes.0).filter(|input| input.position() < input.head()).map(Input::head);
    let desk = match desk {
        // Its topics are everybody and the seats.
        Some(section) => {
            let mut keeper = Keeper::new(&mut node, &section, interval, state.topics)?;
            // Before its first look at the accounts.
            listed.iter().for_each(|instrument| keeper.listed(instrument));
            if let Some(head) = market_at_start.filter(|_| !node.assignment().deterministic) {
                keeper.market_at_start(head);
            }
            Some(Box::new(keeper))
        }
        None => None,
    };
    // Predecessors' needs.
    [Counter::StateNeeds, Counter::DeskNeeds].iter().for_each(|counter| node.handle().set(*counter, 0));
    let ledger = Ledger {
        instruments: node.input("instruments")?,
        events: node.input("events")?,
        quotes,
        executions,
        market: Quiescence::watch(node.instance(), |name| name == market)
            .map_err(|error| RunError::failed(format!("journal `{market}`: {error}")))?,
        read,
        kept: 0,
        kept_next: None,
        most_read_again,
        askers: Askers::default(),
        whole_from: 0,
        needs: 0,
        state,
        handle: node.handle(),
        interval,
        book,
        desk,
        lock_step: node.assignment().deterministic,
        changed: false,
        next_snapshot: 0,
    };
    runner.run(node, ledger)
}

fn failed(error: &dyn std::fmt::Display) -> RunError {
    RunError::failed(format!("cannot take up where the ledger was: {error}"))
}

/// The instruments that md has listed so far.
fn listing(node: &Node) -> Result<Vec<Instrument>, RunError> {
    let mut listed = Vec::new();
    if let Some(input) = node.input("instruments").ok().and_then(|input| node.inputs().get(input.0)) {
        node::read_held(node.instance(), input.name(), None, |frame| {
            if frame.message_id == Instrument::ID {
                listed.extend(Instrument::decode(frame.payload));
            }
        })
        .map_err(|error| failed(&error))?;
    }
    Ok(listed)
}

/// The book of this ledger's predecessor.
fn recall(node: &Node, executions: InputId, listed: &[Instrument]) -> Result<Book, RunError> {
    let snapshot = node::last_snapshot(node.instance()).map_err(|error| failed(&error))?;
    let mut book = match snapshot {
        Some(snapshot) => Book::restore(&snapshot, listed).map_err(|error| failed(&error))?,
        None => Book::new(),
    };
    listed.iter().for_each(|instrument| book.list(instrument));
    if let Some(input) = node.inputs().get(executions.0) {
        let end = input.position();
        let from = (book.next_execution() != 0).then(|| book.next_execution());
        let mut again = 0_u64;
        let whole = node::read_whole(node.instance(), input.name(), from, |frame| {
            if frame.position < end {
                again += 1;
                book.on_execution(frame.position, frame.message_id, frame.payload);
            }
        })
        .map_err(|error| failed(&error))?;
        if !whole {
            return Err(RunError::failed(format!(
                "positions are lost: `{}` goes back neither to the last whole snapshot in `ledger.state` nor to its begin; \
                 `colo up --recover` finds them in a recording; set `capacity` of [journal.ledger.state] and \
                 [journal.matching.executions] higher",
                input.name()
            )));
        }
        log::info!("taken up where the ledger before was: {again} executions read again");
    }
    Ok(book)
}

struct Ledger {
    book: Book,
    instruments: InputId,
    events: InputId,
    quotes: InputId,
    executions: InputId,
    /// The executions' journal, for its head.
    market: Quiescence,
    /// Executions before this position are booked.
    read: u64,
    /// Executions from here on would have to be read again.
    kept: u64,
    /// The same, once the last snapshot has found room.
    kept_next: Option<u64>,
    /// Bytes of executions after which a snapshot is due.
    most_read_again: u64,
    /// Strategies that joined, and have not confirmed their state.
    askers: Askers,
    /// Where the last whole snapshot of everybody begins in `ledger.state`.
    whole_from: u64,
    /// Bytes that `ledger.state` needs, where a snapshot of everybody takes too much of it.
    needs: u64,
    state: Output,
    handle: NodeHandle,
    /// Nanoseconds between two snapshots of everything; zero: none but the last.
    interval: u64,
    changed: bool,
    next_snapshot: u64,
    /// The accounts, where they are kept.
    desk: Option<Box<Keeper>>,
    lock_step: bool,
}

impl Ledger {
    /// A snapshot, and the bytes that it takes.
    fn compose(&mut self, strategy: StrategyId) -> (Vec<SnapshotMessage>, u64) {
        let messages: Vec<SnapshotMessage> = self.book.snapshot(strategy).collect();
        let is_quote = |message: &&SnapshotMessage| matches!(message, SnapshotMessage::Quote(_));
        let quotes = messages.iter().filter(is_quote).count();
        let bytes: u64 = messages.iter().map(|message| node::frame_bytes(message.bytes().len() as u64)).sum();
        if quotes <= MOST_QUOTES && bytes <= self.state.capacity / MOST_OF_RING {
            return (messages, bytes);
        }
        let without_quotes = |message| match message {
            SnapshotMessage::Quote(_) => None,
            SnapshotMessage::End(mut end) => {
                end.frames -= quotes as u64;
                Some(SnapshotMessage::End(end))
            }
            message => Some(message),
        };
        let messages: Vec<SnapshotMessage> = messages.into_iter().filter_map(without_quotes).collect();
        let bytes = messages.iter().map(|message| node::frame_bytes(message.bytes().len() as u64)).sum();
        (messages, bytes)
    }

    fn post(&mut self, strategy: StrategyId, messages: &[SnapshotMessage]) -> Result<(), RunError> {
        let topic = SnapshotBegin::topic_of(strategy);
        let mut all = messages.iter();
        all.try_for_each(|message| self.state.post_bytes(message.message_id(), topic, message.bytes()))
            .map_err(|source| RunError::Write { journal: self.state.journal.clone(), source })
    }

    /// Writes what waits for room, which only a recorder leaves to be desired. False while something still waits.
    fn write_waiting(&mut self, context: &mut Context) -> Result<bool, RunError> {
        match self.state.flush() {
            Ok(()) => {
                if let Some(kept) = self.kept_next.take() {
                    self.kept = kept;
                    context.keep(self.executions, kept);
                }
                Ok(true)
            }
            Err(WriteError::Full { .. }) => {
                context.wake_at(context.now() + RETRY);
                Ok(false)
            }
            Err(source) => Err(RunError::Write { journal: self.state.journal.clone(), source }),
        }
    }

    /// A snapshot of everybody; none while the one before still waits for room. One that could not be read whole is not
    /// written, so that the last one stays.
    fn everybody(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.write_waiting(context)? {
            return Ok(());
        }
        self.changed = false;
        let (messages, bytes) = self.compose(SnapshotBegin::EVERYBODY);
        self.demand_room(bytes);
        // The last execution that it contains is kept too: its `answered_up_to` says how far matching was.
        let kept = self.book.next_execution() / LINE * LINE;
        // Only once the snapshot is there.
        self.kept_next = Some(if kept == 0 { self.read } else { kept });
        if stays_whole(bytes, self.state.capacity) {
            self.whole_from = self.state.position();
            self.post(SnapshotBegin::EVERYBODY, &messages)?;
        }
        self.write_waiting(context)?;
        Ok(())
    }

    /// Reports that a snapshot of everybody takes too much of the ring, or no longer does: the next one must not overwrite it
    /// before it is whole.
    fn demand_room(&mut self, bytes: u64) {
        let needs = needed(bytes, self.state.capacity);
        if needs > self.needs {
            let outcome = if stays_whole(bytes, self.state.capacity) {
                "a ledger that is killed may find no whole snapshot and not start again"
            } else {
                "it is not written: a ledger that is killed does not start again once executions behind the last one are overwritten"
            };
            log::error!(
                "a snapshot takes {bytes} bytes, more than a quarter of `{}`: {outcome}, and a strategy that starts again may \
                 not get its state; set `capacity` of [journal.{}] to at least {} KiB",
                self.state.journal,
                self.state.journal,
                needs / 1_024
            );
        }
        if needs != self.needs {
            self.handle.set(Counter::StateNeeds, needs);
            self.needs = needs;
        }
    }

    /// Answers the strategies that ask, once all executions before the question are booked, and no faster than they confirm.
    fn answer_askers(&mut self, context: &mut Context) -> Result<(), RunError> {
        let handle = &self.handle;
        let head = || self.market.journals().first().map_or(0, |journal| journal.head());
        self.askers.update(|strategy| handle.asked_by(u32::from(strategy.0)), head);
        let room = self.state.capacity / MOST_OF_RING;
        while self.write_waiting(context)? {
            let now = context.now();
            let Some(strategy) = self.askers.next(self.read, now, room) else { break };
            if self.state.position() - self.whole_from > room {
                self.everybody(context)?;
            }
            let (messages, mut bytes) = self.compose(strategy);
            if stays_whole(bytes, self.state.capacity) {
                self.post(strategy, &messages)?;
            } else {
                // It would overwrite its own begin, and the last snapshot of everybody.
                log::error!(
                    "the state of strategy in seat {} takes {bytes} bytes, too many for `{}`, and is not written: set `capacity` \
                     of [journal.{}] to at least {} KiB",
                    strategy.0,
                    self.state.journal,
                    self.state.journal,
                    needed(bytes, self.state.capacity) / 1_024
                );
                bytes = 0;
            }
            self.askers.answered(strategy, now, bytes);
        }
        if let Some(deadline) = self.askers.deadline() {
            context.wake_at(deadline);
        }
        Ok(())
    }

    /// Writes what waits for room in any journal. False while something still waits.
    fn write_all_waiting(&mut self, context: &mut Context) -> Result<bool, RunError> {
        let desk = match &mut self.desk {
            Some(desk) => desk.write_waiting(context)?,
            None => true,
        };
        Ok(self.write_waiting(context)? && desk)
    }

    /// Tries for a while: a recorder stops behind us, and makes room.
    fn write_last(&mut self, context: &mut Context, patience: &mut u32) -> Result<bool, RunError> {
        while !self.write_all_waiting(context)? {
            if *patience == 0 {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_nanos(RETRY));
            *patience -= 1;
        }
        Ok(true)
    }

    fn event(&mut self, event: &NodeEvent) {
        if let Some(strategy) = self.book.on_node_event(event) {
            self.askers.joined(strategy);
        } else if event.change == NodeChange::Joined {
            if self.handle.name_of(u32::from(event.seat)) == NodeKind::Gateway.as_str() {
                self.askers.standing_joined(StrategyId(event.seat));
            }
        } else {
            self.askers.left(StrategyId(event.seat));
        }
    }
}

impl Component for Ledger {
    /// Begins with a snapshot, so that there is one, and what follows it is kept.
    fn start(&mut self, context: &mut Context) -> Result<(), RunError> {
        if let Some(desk) = &mut self.desk {
            desk.start(context)?;
        }
        self.everybody(context)
    }

    /// In lock-step marks go out as they come, and must not depend on which journal is looked at first.
    fn in_time_order(&self) -> bool {
        self.lock_step && self.desk.is_some()
    }

    fn is_wanted(&self) -> bool {
        // What waits for room is tried again by the clock, and no question is answered before.
        self.state.backlog() == 0
            && self.askers.has_news(|strategy| self.handle.asked_by(u32::from(strategy.0)))
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if input == self.executions {
            self.read = position;
        }
        if let Some(desk) = self.desk.as_mut().filter(|desk| desk.drops == input) {
            desk.reads(position);
        }
        true
    }

    fn looks_ahead(&self, input: InputId) -> u32 {
        self.desk.as_ref().filter(|desk| desk.drops == input).map_or(0, |desk| desk.looks_ahead())
    }

    fn ahead(&self, _input: InputId, step: u32, frame: &Frame<'_>) {
        if let Some(desk) = &self.desk {
            desk.ahead(step, frame);
        }
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if let Some(desk) = &mut self.desk {
            desk.turn(context)?;
        }
        if !self.write_waiting(context)? {
            return Ok(());
        }
        if !self.askers.is_empty() {
            self.answer_askers(context)?;
        }
        if self.interval == 0 || !self.changed {
            return Ok(());
        }
        let now = context.now();
        if now >= self.next_snapshot {
            self.next_snapshot = now + self.interval;
            self.everybody(context)?;
        } else {
            context.wake_at(self.next_snapshot);
        }
        Ok(())
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let anomaly = if input == self.executions {
            context.add(Counter::Fills, u64::from(frame.message_id == Fill::ID));
            self.changed = true;
            let anomaly = self.book.on_execution(frame.position, frame.message_id, frame.payload);
            // After a recovery from a recording, executions before the last snapshot may be read again.
            if frame.position.saturating_sub(self.kept) > self.most_read_again {
                self.everybody(context)?;
            }
            anomaly
        } else if input == self.quotes {
            if let Some(desk) = &mut self.desk {
                desk.market_read(frame.position + node::frame_bytes(frame.payload.len() as u64));
            }
            match frame.message_id {
                Quote::ID | Best::ID => context.add(Counter::Quotes, 1),
                TradePrint::ID => context.add(Counter::Trades, 1),
                EndOfStream::ID | MarketTime::ID | MarketPhase::ID => return Ok(()),
                _ => {}
            }
            self.changed = true;
            let wide = self.book.wide_books();
            let anomaly = self.book.on_market(frame.topic, frame.message_id, frame.payload);
            match self.book.wide_books() - wide {
                0 => {}
                more => context.add(Counter::WideBooks, more),
            }
            if let Some(desk) = &mut self.desk {
                let instrument = InstrumentId(frame.topic);
                desk.price(context, instrument, self.book.mark(instrument))?;
            }
            anomaly
        } else if input == self.events {
            return match NodeEvent::decode(frame.payload) {
                Ok(event) => {
                    self.event(&event);
                    Ok(())
                }
                Err(error) => {
                    context.add(Counter::Malformed, 1);
                    log::error!("events at position {}: {error}; passed over", frame.position);
                    Ok(())
                }
            };
        } else if let Some(desk) = self.desk.as_mut().filter(|desk| desk.drops == input) {
            return desk.frame(context, frame);
        } else {
            debug_assert_eq!(input, self.instruments);
            if frame.message_id == Instrument::ID
                && let Ok(instrument) = Instrument::decode(frame.payload)
            {
                self.book.list(&instrument);
                if let Some(desk) = &mut self.desk {
                    desk.listed(&instrument);
                }
            }
            let known = matches!(frame.message_id, Instrument::ID | EndOfStream::ID);
            context.add(Counter::Malformed, u64::from(!known));
            None
        };
        if let Some(anomaly) = anomaly {
            context.add(Counter::Anomalies, 1);
            log::debug!("at position {} of input {}: {anomaly:?}", frame.position, input.0);
        }
        Ok(())
    }

    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
        self.write_all_waiting(context)
    }

    fn stop(&mut self, context: &mut Context) -> Result<(), RunError> {
        let mut patience = LAST_TRIES;
        self.write_last(context, &mut patience)?;
        self.everybody(context)?;
        if let Some(desk) = &mut self.desk {
            desk.stop(context)?;
        }
        if !self.write_last(context, &mut patience)? {
            let journal = &self.state.journal;
            return Err(RunError::failed(format!(
                "`{journal}` stays full: the last snapshot is not written"
            )));
        }
        let anomalies = self.handle.counter(Counter::Anomalies);
        if anomalies > 0 {
            log::warn!("{anomalies} messages contradicted what was known");
        }
        Ok(())
    }
}
