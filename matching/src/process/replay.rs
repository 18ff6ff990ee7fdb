//! Brings an exchange from the state that its predecessor left to where that one was killed.
//!
//! The requests behind the state are carried out again. What is answered must be what the predecessor had written, in
//! `matching.executions` and in `matching.market`; what it had not written any more is handed over to be written. Requests
//! of which nothing was written are left to be read as usual.

use node::{InstanceDir, OpenError, read_held};
use wire::{
    BookEvent, EndOfStream, Execution, InstrumentId, MarketPhase, Message, Nanos, Request, StateEnd,
    TradePrint, WireError,
};

use super::feed::MarketMessage;
use super::images::SavedError;
use super::keeper::Places;
use super::participants::{Listed, Participants};
use super::saved::Saved;
use crate::engine;
use crate::exchange::{Counts, ImageError, MarketState};

/// The journals, by name.
#[derive(Clone, Debug)]
pub(super) struct Journals {
    pub(super) state: String,
    pub(super) orders: String,
    pub(super) executions: String,
    /// An exchange's market data, or the recorded or quoted market that is read.
    pub(super) market: String,
}

/// Why an exchange cannot go on where its predecessor was.
#[derive(Debug, thiserror::Error)]
pub(super) enum RestoreError {
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("{found} instruments are listed, and {expected} were")]
    Instruments { found: usize, expected: u32 },
    #[error("the state says nothing of the market of {0}")]
    Phase(InstrumentId),
    #[error("the state says nothing of the book of {0}, or what cannot be")]
    Book(InstrumentId),
    #[error("the market's messages behind position {after} in `{journal}` are overwritten")]
    Market { journal: String, after: u64 },
    #[error(transparent)]
    Records(#[from] engine::ImageError),
    #[error("requests behind position {0} in `td.orders` are overwritten")]
    Requests(u64),
    #[error("`{journal}` has {found} frames, and the state is from when it had {expected}")]
    Frames { journal: String, found: u64, expected: u64 },
    #[error("the requests since then have other answers than `{journal}` holds: {found}, and not {expected}")]
    Differs { journal: String, found: String, expected: String },
    #[error("`{0}` holds more than the requests since then have caused")]
    More(String),
}

/// What a journal holds behind the state, compared with what comes of the same requests.
pub(super) struct Tail<M> {
    journal: String,
    held: Vec<M>,
    at: usize,
    /// What is not compared, because it is overwritten: so many, or with `None` all before the first that is held.
    skip: Option<u64>,
    missing: Vec<M>,
}

/// A message in the words of a log.
pub(super) trait Words {
    fn words(&self) -> String;
}

impl Words for Execution {
    fn words(&self) -> String {
        match self {
            Execution::Fill(fill) => {
                format!("order {}: {} filled at {}", fill.order_id, fill.quantity, fill.price)
            }
            Execution::Update(update) => {
                format!("order {}: {}, {} left", update.order_id, update.status, update.remaining)
            }
        }
    }
}

impl Words for MarketMessage {
    fn words(&self) -> String {
        let name = match self {
            MarketMessage::Book(event) => format!("event {}, {}", event.sequence, event.action),
            MarketMessage::Trade(trade) => format!("trade {} of {}", trade.trade_id, trade.quantity),
            MarketMessage::Phase(phase) => format!("event {}, phase {}", phase.sequence, phase.phase),
            MarketMessage::Indicative(_) => "an indicative price".to_owned(),
            MarketMessage::Statistics(_) => "statistics".to_owned(),
            MarketMessage::End(_) => "the end of the day".to_owned(),
        };
        format!("instrument {}: {name}", self.instrument())
    }
}

impl<M: PartialEq + Words + Copy> Tail<M> {
    /// The last that is held.
    pub(super) fn last(&self) -> Option<&M> {
        self.held.last()
    }

    /// All that is held was caused.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.held.len() && self.skip == Some(0)
    }

    /// This was caused.
    pub(super) fn take(&mut self, message: M) -> Result<(), RestoreError> {
        match (self.skip, self.held.get(self.at)) {
            (Some(skip @ 1..), _) => self.skip = Some(skip - 1),
            (None, Some(held)) if *held != message => {}
            (_, Some(held)) if *held == message => {
                self.skip = Some(0);
                self.at += 1;
            }
            (_, Some(held)) => {
                return Err(RestoreError::Differs {
                    journal: self.journal.clone(),
                    found: message.words(),
                    expected: held.words(),
                });
            }
            (_, None) => self.missing.push(message),
        }
        Ok(())
    }

    /// What is not held.
    pub(super) fn end(self) -> Result<Vec<M>, RestoreError> {
        if self.is_done() { Ok(self.missing) } else { Err(RestoreError::More(self.journal)) }
    }
}

/// Where the exchange is now, and what is to be written.
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) request: u64,
    pub(super) answers: Vec<Execution>,
    pub(super) market: Vec<MarketMessage>,
    /// What the state has images of, and where.
    pub(super) places: Places,
    /// Requests that were carried out again.
    pub(super) requests: usize,
}

/// Puts an exchange that has its instruments, and nothing else, where its predecessor was. The day began at `start`;
/// `executions` is how many frames that journal has.
pub(super) fn restore(
    exchange: &mut Participants,
    instance: &InstanceDir,
    journals: &Journals,
    start: Nanos,
    executions: u64,
) -> Result<Restored, RestoreError> {
    let mut saved = Saved::read(instance, &journals.state)?;
    let end = saved.end;
    if end.executions > executions {
        let journal = journals.executions.clone();
        return Err(RestoreError::Frames { journal, found: executions, expected: end.executions });
    }
    let (due, places) = (std::mem::take(&mut saved.due), std::mem::take(&mut saved.places));
    put(exchange, saved, start)?;
    let mut answers = held_executions(instance, journals, &end, executions)?;
    let (mut market, is_ended) = held_market(instance, journals, &end)?;
    exchange.ended |= is_ended;
    let requests = requests(instance, journals, end.request)?;

    let mut at = end.request;
    let (mut due, mut count) = (due.into_iter().peekable(), 0);
    let mut new = Vec::new();
    let mut take = |exchange: &mut Participants, at: u64, new: &mut Vec<Execution>| {
        new.iter_mut().for_each(|answer| answer.set_answered_up_to(at));
        new.drain(..).try_for_each(|answer| answers.take(answer))?;
        exchange.feed.messages().iter().try_for_each(|message| market.take(*message))?;
        exchange.feed.clear();
        Ok::<bool, RestoreError>(answers.is_done() && market.is_done())
    };
    let mut is_done = take(exchange, at, &mut new)?;
    for (position, time, request) in requests {
        while let Some(time) = due.next_if(|due| due.request < position) {
            exchange.pass(Nanos(time.time), &mut new);
            is_done = take(exchange, at, &mut new)?;
        }
        if is_done && due.peek().is_none() {
            break;
        }
        (at, count) = (position, count + 1);
        if let Ok(request) = request {
            exchange.request(&request, Nanos(time), &mut new);
            is_done = take(exchange, at, &mut new)?;
        }
    }
    for time in due {
        exchange.pass(Nanos(time.time), &mut new);
        take(exchange, at, &mut new)?;
    }
    Ok(Restored { request: at, answers: answers.end()?, market: market.end()?, places, requests: count })
}

/// The state, without what followed.
fn put(exchange: &mut Participants, saved: Saved, start: Nanos) -> Result<(), RestoreError> {
    let (found, expected) = (exchange.listed.len(), saved.end.instruments);
    if found != expected as usize {
        return Err(RestoreError::Instruments { found, expected });
    }
    let now = Nanos(saved.end.time);
    for index in 0..found {
        let Listed { instrument, symbol, .. } = exchange.listed[index];
        let image = saved.markets.get(&instrument).ok_or(RestoreError::Phase(instrument))?;
        let mut schedule = exchange.schedule(symbol, start);
        schedule.retain(|(time, _)| *time > now);
        let auction_ends = (image.auction_ends != u64::MAX).then_some(Nanos(image.auction_ends));
        let (phase, last) = (image.phase, image.last_price);
        exchange.exchange.restore_market(instrument, MarketState { phase, last, auction_ends, schedule });
        exchange.feed.restore(instrument, image.sequence, phase);
    }
    saved.statistics.into_values().for_each(|statistics| exchange.statistics.take_over(statistics));
    for newest in saved.newest.into_values() {
        exchange.used.claim(newest.order_id);
    }
    exchange.ended = saved.end.ended == 1;
    let counts = Counts { now, trades: saved.end.trade, sequence: saved.end.age_number };
    Ok(exchange.exchange.restore_orders(counts, &saved.orders)?)
}

pub(super) type Requests = Vec<(u64, u64, Result<Request, WireError>)>;

/// The requests behind a position, with their positions and times.
pub(super) fn requests(
    instance: &InstanceDir,
    journals: &Journals,
    after: u64,
) -> Result<Requests, RestoreError> {
    let mut requests = Vec::new();
    let from = Some(after).filter(|after| *after > 0);
    let is_whole = read_held(instance, &journals.orders, from, |frame| {
        if frame.position > after {
            requests.push((frame.position, frame.time, Request::decode(frame.message_id, frame.payload)));
        }
    })?;
    is_whole.then_some(requests).ok_or(RestoreError::Requests(after))
}

/// The executions behind the state.
pub(super) fn held_executions(
    instance: &InstanceDir,
    journals: &Journals,
    end: &StateEnd,
    frames: u64,
) -> Result<Tail<Execution>, RestoreError> {
    let journal = journals.executions.clone();
    let mut held = Vec::new();
    let read = |from, held: &mut Vec<Execution>| {
        held.clear();
        read_held(instance, &journals.executions, from, |frame| {
            if frame.position >= end.execution {
                held.extend(Execution::decode(frame.message_id, frame.payload));
            }
        })
    };
    // Frames, and none of them from the last process, may be overwritten.
    if !read(Some(end.execution), &mut held)? {
        read(None, &mut held)?;
    }
    let since = frames - end.executions;
    let skip = since.checked_sub(held.len() as u64).ok_or(RestoreError::More(journal.clone()))?;
    Ok(Tail { journal, held, at: 0, skip: Some(skip), missing: Vec::new() })
}

/// The changes of the books behind the state, and whether the end of the day is among them.
fn held_market(
    instance: &InstanceDir,
    journals: &Journals,
    end: &StateEnd,
) -> Result<(Tail<MarketMessage>, bool), RestoreError> {
    let journal = journals.market.clone();
    let mut changes = MarketChanges::default();
    let read = |from, changes: &mut MarketChanges| {
        read_held(instance, &journals.market, from, |frame| {
            if frame.position >= end.market {
                changes.take(frame.message_id, frame.payload);
            }
        })
    };
    let is_whole = read(Some(end.market), &mut changes)?;
    if !is_whole {
        changes = MarketChanges { is_behind_gap: true, ..MarketChanges::default() };
        read(None, &mut changes)?;
    }
    let skip = is_whole.then_some(0);
    let tail = Tail { journal, held: changes.held, at: 0, skip, missing: Vec::new() };
    Ok((tail, changes.is_ended))
}

/// Of market data, the changes: without snapshots and what goes with them, and without what is published now and then.
#[derive(Default)]
struct MarketChanges {
    held: Vec<MarketMessage>,
    /// Number of the last snapshot, by instrument.
    snapshots: Vec<u64>,
    /// A phase may belong to a snapshot that is overwritten.
    is_behind_gap: bool,
    /// The end of the day was said.
    is_ended: bool,
}

impl MarketChanges {
    fn take(&mut self, message_id: u16, payload: &[u8]) {
        let is_behind_gap = std::mem::take(&mut self.is_behind_gap);
        match message_id {
            BookEvent::ID => {
                let Ok(event) = BookEvent::decode(payload) else { return };
                if event.flags & BookEvent::SNAPSHOT == 0 {
                    return self.held.push(MarketMessage::Book(event));
                }
                let index = event.instrument.0 as usize;
                if self.snapshots.len() <= index && event.instrument.0 < wire::MAX_INSTRUMENTS {
                    self.snapshots.resize(index + 1, u64::MAX);
                }
                if let Some(snapshot) = self.snapshots.get_mut(index) {
                    *snapshot = event.sequence;
                }
                self.is_behind_gap = is_behind_gap;
            }
            TradePrint::ID => self.held.extend(TradePrint::decode(payload).map(MarketMessage::Trade)),
            MarketPhase::ID => {
                let Ok(phase) = MarketPhase::decode(payload) else { return };
                let repeats = self.snapshots.get(phase.instrument.0 as usize) == Some(&phase.sequence);
                if !(repeats || is_behind_gap) {
                    self.held.push(MarketMessage::Phase(phase));
                }
            }
            EndOfStream::ID => self.is_ended = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{BookAction, Nanos, Price, Quantity, Side, TradingPhase};

    impl Words for u32 {
        fn words(&self) -> String {
            self.to_string()
        }
    }

    fn tail(held: &[u32], skip: Option<u64>) -> Tail<u32> {
        Tail { journal: "t".into(), held: held.to_vec(), at: 0, skip, missing: Vec::new() }
    }

    fn missing(mut tail: Tail<u32>, caused: &[u32]) -> Result<Vec<u32>, String> {
        caused.iter().try_for_each(|message| tail.take(*message)).map_err(|error| error.to_string())?;
        tail.end().map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_held_must_be_what_is_caused_and_the_rest_is_missing() {
        assert_eq!(missing(tail(&[1, 2], Some(0)), &[1, 2, 3, 4]), Ok(vec![3, 4]));
        assert_eq!(missing(tail(&[], Some(0)), &[1]), Ok(vec![1]));
        assert!(missing(tail(&[1, 9], Some(0)), &[1, 2, 3]).unwrap_err().contains("2, and not 9"));
        assert!(missing(tail(&[1, 2], Some(0)), &[1]).unwrap_err().contains("more than"));
    }

    #[test]
    fn what_is_overwritten_is_counted_or_looked_for() {
        assert_eq!(missing(tail(&[3], Some(2)), &[1, 2, 3, 4]), Ok(vec![4]));
        assert_eq!(missing(tail(&[3], None), &[1, 2, 3, 4]), Ok(vec![4]));
        assert!(missing(tail(&[3], Some(2)), &[1, 2]).is_err());
        assert!(missing(tail(&[5], None), &[1, 2, 3]).is_err());
        assert!(missing(tail(&[], None), &[]).is_err(), "nothing says how much of it was written");
    }

    #[test]
    fn snapshots_are_no_changes_and_the_phase_behind_one_is_not() {
        let event = |action, flags, sequence| BookEvent {
            instrument: InstrumentId(2),
            action,
            side: Side::Buy,
            flags,
            order_ref: 7,
            price: Price(10),
            quantity: Quantity(1),
            event_time: Nanos(0),
            sequence,
            reserved: 0,
        };
        let phase = |sequence| MarketPhase {
            instrument: InstrumentId(2),
            phase: TradingPhase::Halt,
            reserved: [0; 3],
            event_time: Nanos(0),
            sequence,
        };
        let mut changes = MarketChanges::default();
        changes.take(MarketPhase::ID, phase(4).bytes());
        changes.take(BookEvent::ID, event(BookAction::Clear, BookEvent::SNAPSHOT, 4).bytes());
        changes.take(BookEvent::ID, event(BookAction::Add, BookEvent::SNAPSHOT, 4).bytes());
        // One that a kill cut short has no phase behind it.
        changes.take(MarketPhase::ID, phase(5).bytes());
        changes.take(BookEvent::ID, event(BookAction::Clear, BookEvent::SNAPSHOT, 5).bytes());
        changes.take(MarketPhase::ID, phase(5).bytes());
        changes.take(BookEvent::ID, event(BookAction::Add, 0, 6).bytes());
        let expected = [
            MarketMessage::Phase(phase(4)),
            MarketMessage::Phase(phase(5)),
            MarketMessage::Book(event(BookAction::Add, 0, 6)),
        ];
        assert_eq!(changes.held, expected);
    }
}
