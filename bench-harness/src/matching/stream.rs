//! The exchange writes its events into a journal, another process reads them.

use std::hint::black_box;
use std::time::Duration;

use bench_kit::Spread;
use bench_kit::flow::{Flow, Operation};
use journal::{Clock, Records, WriteError, Writer};
use matching::exchange::{Discard, Event, Sink};

use super::record::{self, BYTES};
use super::share::{Share, state, word};
use super::venue::Venue;
use crate::ipc::IpcError;
use crate::ipc::watch::Watch;

/// Events of one frame.
const FRAME: usize = 256;
/// With less room than this left in a frame, the next operation begins a new one.
const MARGIN: usize = 8;

/// What one flow came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streamed {
    /// Events of one pass.
    pub(super) events: u64,
    /// Events a second, from the first operation to when the reader had all of them.
    pub(super) events_per_s: Spread,
    /// Operations a second, in the same time.
    pub(super) ops_per_s: Spread,
}

/// The writing side.
pub(super) struct Stream<'a> {
    pub(super) share: &'a Share,
    pub(super) writer: Writer,
    pub(super) clock: Clock,
    /// What the reader should have counted by now.
    sent: Sent,
    /// Events that found no room in their frame.
    waiting: Vec<[u8; BYTES]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    events: u64,
    trades: u64,
    traded: u64,
    cancels: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(share: &'a Share, clock: Clock) -> Result<Stream<'a>, IpcError> {
        let writer = share.journal.writer(0, clock)?;
        Ok(Stream { share, writer, clock, sent: Sent::default(), waiting: Vec::with_capacity(1 << 12) })
    }

    /// Puts the flow through the exchange `turns` times, and once before that does not count.
    pub(super) fn measure(
        &mut self,
        flow: &Flow,
        venue: &mut Venue,
        turns: usize,
        mut go_on: impl FnMut() -> Result<(), IpcError>,
    ) -> Result<Option<Streamed>, IpcError> {
        let (mut rates, mut operations, mut events) = (Vec::new(), Vec::new(), 0);
        for turn in 0..=turns {
            go_on()?;
            flow.fill.iter().for_each(|operation| venue.apply(operation, &mut Discard));
            let before = self.sent.events;
            let nanos = self.pass(flow, venue)?.max(1) as f64;
            flow.drain.iter().for_each(|operation| venue.apply(operation, &mut Discard));
            events = self.sent.events - before;
            if turn > 0 {
                rates.push(events as f64 * 1e9 / nanos);
                operations.push(flow.run.len() as f64 * 1e9 / nanos);
            }
        }
        let (rates, operations) = (Spread::of(rates), Spread::of(operations));
        Ok(rates.zip(operations).map(|(events_per_s, ops_per_s)| Streamed {
            events,
            events_per_s,
            ops_per_s,
        }))
    }

    fn pass(&mut self, flow: &Flow, venue: &mut Venue) -> Result<u64, IpcError> {
        let mut watch = Watch::default();
        let begin = self.clock.now();
        let mut rest = flow.run.as_slice();
        while !rest.is_empty() || !self.waiting.is_empty() {
            rest = self.frame(rest, venue, &mut watch)?;
        }
        let words = &self.share.words;
        while words.get(word::READ) < self.sent.events {
            watch.idle()?;
        }
        let nanos = self.clock.now() - begin;
        self.sent.trades += flow.expected.trades;
        self.sent.traded += flow.expected.traded;
        self.sent.cancels += flow.expected.cancelled;
        let expected = [
            (word::READ, self.sent.events),
            (word::TRADES, self.sent.trades),
            (word::TRADED, self.sent.traded),
            (word::CANCELS, self.sent.cancels),
        ];
        if expected.iter().any(|&(word, expected)| words.get(word) != expected) {
            let (sent, received) = (self.sent.events, words.get(word::READ));
            return Err(IpcError::Events { sent, received });
        }
        Ok(nanos)
    }

    /// Writes one frame; returns the operations that are left.
    fn frame<'o>(
        &mut self,
        operations: &'o [Operation],
        venue: &mut Venue,
        watch: &mut Watch,
    ) -> Result<&'o [Operation], IpcError> {
        let mut records = match self.writer.claim_records(1, 0, BYTES, FRAME) {
            Ok(records) => records,
            Err(WriteError::Full { .. }) => {
                // Does not touch the reader's line for a moment.
                (0..32).for_each(|_| std::hint::spin_loop());
                watch.idle()?;
                return Ok(operations);
            }
            Err(error) => return Err(error.into()),
        };
        watch.news();
        let kept = self.waiting.iter().position(|event| records.push(event).is_err());
        self.sent.events += kept.unwrap_or(self.waiting.len()) as u64;
        self.waiting.drain(..kept.unwrap_or(self.waiting.len()));
        let mut frame = Frame { records, written: 0, waiting: &mut self.waiting };
        let mut done = 0;
        if frame.waiting.is_empty() {
            for operation in operations {
                venue.apply(operation, &mut frame);
                done += 1;
                if frame.written >= FRAME - MARGIN || !frame.waiting.is_empty() {
                    break;
                }
            }
        }
        self.sent.events += frame.written as u64;
        frame.records.commit();
        Ok(&operations[done..])
    }
}

/// A frame that is being filled.
struct Frame<'w, 'v> {
    records: Records<'w>,
    written: usize,
    waiting: &'v mut Vec<[u8; BYTES]>,
}

impl Sink for Frame<'_, '_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        let record = record::encode(&event);
        // An event that comes after one that waits must wait too.
        if self.waiting.is_empty() && self.records.push(&record).is_ok() {
            self.written += 1;
        } else {
            self.waiting.push(record);
        }
    }
}

/// The other process: reads until it may end, copies every event, and publishes what it has counted.
pub(super) fn read(share: &Share, parent: u32) -> Result<(), IpcError> {
    let mut reader = share.journal.gated(1)?;
    let words = &share.words;
    let mut watch = Watch::of_peer(parent);
    let mut count = Sent::default();
    // A core that spins beside the other measurements would affect them.
    while words.get(word::STATE) == state::WAIT {
        words.sleep(word::STATE, state::WAIT as u32, Duration::from_millis(100));
        watch.parent_lives()?;
    }
    words.set(word::READY, 1);
    while words.get(word::STATE) == state::READ {
        let before = count.events;
        reader.read_batch(FRAME, |frame| {
            frame.records().for_each(|(_, event)| count.take(event));
        })?;
        if count.events == before {
            std::hint::spin_loop();
            watch.idle()?;
        } else {
            watch.news();
            words.set(word::TRADES, count.trades);
            words.set(word::TRADED, count.traded);
            words.set(word::CANCELS, count.cancels);
            words.set(word::READ, count.events);
        }
    }
    Ok(())
}

impl Sent {
    #[inline(always)]
    fn take(&mut self, event: &[u8]) {
        let Some(event) = event.first_chunk::<BYTES>() else { return };
        let copy = black_box(*event);
        self.events += 1;
        match record::traded(&copy) {
            Some(quantity) => {
                self.trades += 1;
                self.traded += quantity;
            }
            None => self.cancels += u64::from(record::is_cancel(&copy)),
        }
    }
}
