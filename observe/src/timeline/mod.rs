//! A platform's frames as a trace for Perfetto: what each node did when, and how orders went from node to node.
//!
//! ```text
//!   frames, in order of time ──► events ──► held for a while ──► packets ──► a file
//!   looks at seats and readers ──►  ▲            ▲ what a later frame says of an earlier time
//! ```
//!
//! `docs/trace.md` says what each track, slice and flow is, and what it is not.

mod encode;
mod event;
mod held;
mod look;
mod message;
mod orders;
mod packet;
mod sink;
mod tracks;

use std::collections::HashMap;
use std::io::{self, Write};

use journal::Frame;
use serde::Serialize;
use topology::{NodeKind, Stream};
use wire::{AnyMessage, OrderId};

use event::{Event, Shape};
use held::{Held, Key};
use look::Looks;
pub use look::{Lag, Look, SeatLook};
use orders::{Flow, Orders, STAGES};
use packet::Unit;
use sink::Sink;
use tracks::Tracks;

/// How long events wait for what is still said of them, in nanoseconds of the platform's time. A sample names times before
/// its order, and an order names the quote that it answers.
const HOLD: u64 = 1_000_000_000;
/// How long matching's word may be the last one of an order before it is taken for the end.
const PATIENCE: u64 = HOLD / 2;
/// Frames of a journal are counted over so many nanoseconds.
const BUCKET: u64 = 100_000_000;

/// A node that has a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedNode {
    /// Its seat.
    pub seat: u32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Its process, if that is known.
    pub pid: Option<u32>,
}

/// A journal whose frames are shown.
#[derive(Clone, Debug)]
pub struct TracedJournal {
    id: u32,
    name: String,
    writer: String,
    stream: Option<Stream>,
}

impl TracedJournal {
    /// With its number in the instance and the node that writes it.
    pub fn new(id: u32, name: &str, writer: &str) -> TracedJournal {
        let stream = Stream::of(name);
        TracedJournal { id, name: name.to_owned(), writer: writer.to_owned(), stream }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.id
    }
}

/// What is in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimelineTotals {
    /// Frames that were shown or understood.
    pub frames: u64,
    /// Orders, each with a slice of its own.
    pub orders: u64,
    /// Of these: led through at least two events, so that arrows connect them.
    pub flows: u64,
    /// Slices.
    pub slices: u64,
    /// Events without a length.
    pub instants: u64,
    /// Packets in the file.
    pub packets: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Times that frames were overwritten before they were read, or are missing in a recording.
    pub gaps: u64,
    /// Bytes of journals lost that way.
    pub lost_bytes: u64,
    /// Events of a time that was written already: left out.
    pub late: u64,
    /// Slices that begin later than they should, for the same reason; each names its begin.
    pub cut: u64,
    /// There was no room for all.
    pub is_full: bool,
    /// Time of the first frame.
    pub begins_ns: Option<u64>,
    /// Of the last.
    pub ends_ns: Option<u64>,
}

/// A trace that is being written.
#[derive(Debug)]
pub struct Timeline<W> {
    sink: Sink<W>,
    held: Held,
    tracks: Tracks,
    orders: Orders,
    looks: Looks,
    symbols: HashMap<u32, String>,
    /// Of held events that show a frame.
    frames: HashMap<(u32, u64), Key>,
    rates: HashMap<u32, Rate>,
    /// Begins of the ledger's snapshots, by journal and number.
    snapshots: HashMap<(u32, u64), u64>,
    totals: TimelineTotals,
    /// Time of the newest frame.
    newest: u64,
    /// Frames that were missing before there was any: they get the time of the first.
    early: Vec<Event>,
}

/// How many frames a journal had since the bucket began.
#[derive(Debug)]
struct Rate {
    track: u64,
    bucket: u64,
    frames: u64,
    /// What was shown last.
    shown: i64,
}

impl<W: Write> Timeline<W> {
    /// Begins a trace of these nodes, of at most so many bytes. `clocks`: a time of the platform's clock, and what the kernel's
    /// monotonic clock said then, where that is known.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(
        out: W,
        most: Option<u64>,
        clocks: (u64, Option<u64>),
        nodes: &[TracedNode],
    ) -> io::Result<Timeline<W>> {
        let mut sink = Sink::new(out, most);
        sink.packet(&packet::clocks(clocks.0, clocks.1))?;
        let mut tracks = Tracks::default();
        tracks.describe(nodes, &mut sink)?;
        Ok(Timeline {
            sink,
            held: Held::default(),
            tracks,
            orders: Orders::default(),
            looks: Looks::default(),
            symbols: HashMap::new(),
            frames: HashMap::new(),
            rates: HashMap::new(),
            snapshots: HashMap::new(),
            totals: TimelineTotals::default(),
            newest: 0,
            early: Vec::new(),
        })
    }

    /// Nodes that have come meanwhile, or run in another process than before: each gets a track of its own.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn join(&mut self, nodes: &[TracedNode]) -> io::Result<()> {
        self.tracks.describe(nodes, &mut self.sink)
    }

    /// Shows a frame. Frames come in the order of their times, over all journals.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn frame(&mut self, journal: &TracedJournal, frame: &Frame<'_>) -> io::Result<()> {
        self.newest = self.newest.max(frame.time);
        for event in self.early.drain(..) {
            self.held.push(frame.time.max(self.held.settled()), 0, event);
        }
        self.totals.frames += 1;
        self.totals.begins_ns.get_or_insert(frame.time);
        self.totals.ends_ns = Some(self.newest);
        self.count(journal, frame.time)?;
        for (position, payload) in frame.records() {
            match AnyMessage::decode(frame.message_id, payload) {
                Ok(message) => self.message(journal, position, frame, &message)?,
                Err(_) => self.stranger(journal, position, frame)?,
            }
        }
        // Not at each: that would look at all rates each time.
        if self.totals.frames.is_multiple_of(64) {
            self.settle(self.newest.saturating_sub(HOLD))?;
        }
        Ok(())
    }

    /// A name of an instrument, for what follows.
    pub fn instrument(&mut self, id: u32, symbol: &str) {
        self.symbols.insert(id, symbol.to_owned());
    }

    /// Marks frames that are missing, at the time of the next one that is there, or of the newest.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn gap(&mut self, journal: &TracedJournal, bytes: u64, why: &'static str) -> io::Result<()> {
        self.totals.gaps += 1;
        self.totals.lost_bytes = self.totals.lost_bytes.saturating_add(bytes);
        let track = self.tracks.node(&journal.writer, &mut self.sink)?.track;
        let event = Event::new(track, Shape::Instant, "frames missing").of("gap");
        let event = event.with("journal", journal.name.as_str()).with("bytes", bytes).with("why", why);
        // Its own time is not known; it is never before what is already there.
        match self.newest.max(self.held.settled()) {
            0 => self.early.push(event),
            time => drop(self.held.push(time, 0, event)),
        }
        Ok(())
    }

    /// The file has reached its limit: nothing more goes into it.
    pub fn is_full(&self) -> bool {
        self.sink.is_full
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.sink.bytes
    }

    /// What is in it so far.
    pub fn totals(&self) -> TimelineTotals {
        TimelineTotals {
            slices: self.sink.slices,
            instants: self.sink.instants,
            packets: self.sink.packets,
            bytes: self.sink.bytes,
            is_full: self.sink.is_full,
            ..self.totals
        }
    }

    /// The present has come so far, also if no frame says so: what is old enough is written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn now(&mut self, time: u64) -> io::Result<()> {
        self.settle(time.saturating_sub(HOLD))
    }

    /// Writes what is left, and ends what has not ended.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<(W, TimelineTotals)> {
        self.end_those_of_matching(u64::MAX)?;
        let newest = self.newest;
        for order in self.orders.working() {
            self.end_order(order, newest, Some("no frame in the trace ends it"));
        }
        self.end_looks();
        self.close_rates(u64::MAX);
        self.write_until(u64::MAX)?;
        let totals = self.totals();
        Ok((self.sink.finish()?, totals))
    }

    fn settle(&mut self, until: u64) -> io::Result<()> {
        if until <= self.held.settled() {
            return Ok(());
        }
        self.end_those_of_matching(until.saturating_add(HOLD - PATIENCE))?;
        self.close_rates(until);
        self.write_until(until)?;
        self.orders.forget(until);
        Ok(())
    }

    fn write_until(&mut self, until: u64) -> io::Result<()> {
        while let Some((time, event)) = self.held.next_before(until) {
            if let Some(frame) = event.frame {
                self.frames.remove(&frame);
            }
            self.sink.event(time, &event)?;
        }
        self.held.settle(until);
        Ok(())
    }

    /// An order that has ended in matching, and whose report nobody has seen.
    fn end_those_of_matching(&mut self, until: u64) -> io::Result<()> {
        while let Some((time, order)) = self.orders.next_final(until) {
            self.end_order(order, time, None);
        }
        Ok(())
    }

    fn end_order(&mut self, order: OrderId, time: u64, why: Option<&'static str>) {
        let time = time.max(self.held.settled());
        let Some((track, end)) = self.orders.end(order, time) else { return };
        let mut event = Event::end(track);
        if let Some(why) = why {
            event = event.with("open", why);
        }
        self.held.push(end, u32::MAX, event);
    }

    /// An event at a time; `None`, and counted: that time is written.
    fn push(&mut self, time: u64, event: Event) -> Option<Key> {
        let frame = event.frame;
        let key = self.held.push(time, 0, event);
        match (key, frame) {
            (None, _) => self.totals.late += 1,
            (Some(key), Some(frame)) => drop(self.frames.insert(frame, key)),
            (Some(_), None) => {}
        }
        key
    }

    /// A slice on a track whose slices come one after the other: it begins where the last one has ended, or later.
    fn slice(&mut self, begin: u64, end: u64, mut event: Event) -> Option<Key> {
        let track = event.track;
        if end < self.held.settled() {
            self.totals.late += 1;
            return None;
        }
        let start = self.tracks.reach(track, begin, end).min(end);
        let start = self.not_before_settled(start, begin, &mut event);
        let key = self.push(start, event);
        self.held.push(end, 0, Event::end(track));
        key
    }

    /// The begin of a slice, or the first time that is not written yet.
    fn not_before_settled(&mut self, start: u64, begin: u64, event: &mut Event) -> u64 {
        let settled = self.held.settled();
        if start >= settled {
            return start;
        }
        self.totals.cut += 1;
        event.arguments.push(("begins_ns", begin.into()));
        settled
    }

    /// The order's way leads through this event, after those before.
    fn hop(&mut self, order: OrderId, key: Option<Key>) {
        let (Some(key), Some(known)) = (key, self.orders.get(order)) else { return };
        let known_flow = known.flow;
        let mut tag = |key| match self.held.get(key) {
            Some(event) => {
                if !event.flows.contains(&order.0) {
                    event.flows.push(order.0);
                }
                true
            }
            None => false,
        };
        let flow = match known_flow {
            Flow::Begun => {
                tag(key);
                Flow::Begun
            }
            // The first may be written: then this one is the first.
            Flow::One(first) if first != key && tag(first) => {
                tag(key);
                Flow::Begun
            }
            Flow::One(_) | Flow::None => Flow::One(key),
        };
        self.totals.flows += u64::from(flow == Flow::Begun && known_flow != Flow::Begun);
        if let Some(known) = self.orders.get(order) {
            known.flow = flow;
        }
    }

    /// Draws the stages of an order that are known by now.
    fn stages(&mut self, order: OrderId) {
        let Some(known) = self.orders.get(order) else { return };
        let (track, stages) = (known.track, known.stages());
        for (stage, from, to) in stages {
            if to < self.held.settled() {
                self.totals.late += 1;
                continue;
            }
            let mut event = Event::new(track, Shape::Begin, STAGES[stage]).of("stage");
            let start = self.not_before_settled(from, from, &mut event);
            let rank = 2 * stage as u32 + 1;
            self.held.push(start, rank, event);
            self.held.push(to, rank + 1, Event::end(track));
        }
    }

    fn count(&mut self, journal: &TracedJournal, time: u64) -> io::Result<()> {
        let bucket = time / BUCKET;
        if !self.rates.contains_key(&journal.id) {
            let name = format!("{} frames/s", journal.name);
            let track = self.tracks.grouped("journals", &name, Some(Unit::Count), &mut self.sink)?;
            self.rates.insert(journal.id, Rate { track, bucket, frames: 0, shown: 0 });
        }
        let Some(rate) = self.rates.get_mut(&journal.id) else { return Ok(()) };
        if bucket > rate.bucket {
            let shown = rate.close();
            let zero = (bucket > rate.bucket + 1).then_some(rate.bucket + 1);
            let (track, closed) = (rate.track, rate.bucket);
            rate.bucket = bucket;
            self.show_rate(track, closed, shown);
            if let Some(bucket) = zero {
                let silence = self.zero(journal.id);
                self.show_rate(track, bucket, silence);
            }
        }
        if let Some(rate) = self.rates.get_mut(&journal.id) {
            rate.frames += 1;
        }
        Ok(())
    }

    /// Silence is shown as such, if it was not already.
    fn zero(&mut self, journal: u32) -> Option<i64> {
        let rate = self.rates.get_mut(&journal)?;
        (std::mem::replace(&mut rate.shown, 0) != 0).then_some(0)
    }

    fn show_rate(&mut self, track: u64, bucket: u64, value: Option<i64>) {
        if let Some(value) = value {
            let time = (bucket * BUCKET).max(self.held.settled());
            self.held.push(time, 0, Event::new(track, Shape::Counter(value), ""));
        }
    }

    /// Rates of journals whose time has passed without another frame.
    fn close_rates(&mut self, until: u64) {
        let mut shown = Vec::new();
        for rate in self.rates.values_mut() {
            if (rate.bucket + 1).saturating_mul(BUCKET) <= until {
                shown.push((rate.track, rate.bucket, rate.close()));
                let silence = (std::mem::replace(&mut rate.shown, 0) != 0).then_some(0);
                shown.push((rate.track, rate.bucket + 1, silence));
                rate.bucket += 1;
            }
        }
        for (track, bucket, value) in shown {
            self.show_rate(track, bucket, value);
        }
    }
}

impl Rate {
    /// Frames a second in the bucket that has ended, if that differs from what is shown.
    fn close(&mut self) -> Option<i64> {
        let rate = (self.frames * (1_000_000_000 / BUCKET)) as i64;
        self.frames = 0;
        (std::mem::replace(&mut self.shown, rate) != rate).then_some(rate)
    }
}
