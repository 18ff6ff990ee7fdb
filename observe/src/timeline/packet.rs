//! The packets of a trace. The numbers are those of `protos/perfetto/trace/perfetto_trace.proto`, which never gives one out
//! again.

use super::encode::Message;
use super::event::{Argument, Event, Shape};

/// `Trace.packet`, and what stands in each packet.
const PACKET: u64 = 1;
mod field {
    pub(super) const CLOCK_SNAPSHOT: u64 = 6;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const CLOCK: u64 = 58;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
}

mod track {
    pub(super) const UUID: u64 = 1;
    pub(super) const NAME: u64 = 2;
    pub(super) const PROCESS: u64 = 3;
    pub(super) const THREAD: u64 = 4;
    pub(super) const PARENT: u64 = 5;
    pub(super) const COUNTER: u64 = 8;
}

mod event {
    pub(super) const ANNOTATION: u64 = 4;
    pub(super) const TYPE: u64 = 9;
    pub(super) const TRACK: u64 = 11;
    pub(super) const CATEGORY: u64 = 22;
    pub(super) const NAME: u64 = 23;
    pub(super) const COUNTER_VALUE: u64 = 30;
    pub(super) const FLOW: u64 = 47;
}

/// `BuiltinClock`.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;

/// Everything comes from one writer.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: nothing that follows needs what came before this packet.
const CLEARED: u64 = 1;

/// What a counter counts: `CounterDescriptor.Unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Count = 2,
    Bytes = 3,
}

/// A packet as it stands in the file.
fn framed(body: Message) -> Vec<u8> {
    Message::default().message(PACKET, &body.number(field::SEQUENCE, SEQUENCE)).finished().to_vec()
}

/// The first packet: the trace's time is the journals' clock, which is the wall clock as it was when the platform was made.
/// `monotonic`: what the kernel's monotonic clock says at `time`.
pub(super) fn clocks(time: u64, monotonic: Option<u64>) -> Vec<u8> {
    let clock = |id: u64, time: u64| Message::default().number(1, id).number(2, time);
    let mut snapshot = Message::default().message(1, &clock(REALTIME, time));
    if let Some(monotonic) = monotonic {
        snapshot = snapshot.message(1, &clock(MONOTONIC, monotonic));
    }
    let snapshot = snapshot.number(2, REALTIME);
    let body = Message::default()
        .number(field::TIMESTAMP, time)
        .number(field::CLOCK, REALTIME)
        .number(field::SEQUENCE_FLAGS, CLEARED);
    framed(body.message(field::CLOCK_SNAPSHOT, &snapshot))
}

fn described(track: &Message) -> Vec<u8> {
    framed(Message::default().message(field::TRACK_DESCRIPTOR, track))
}

/// A process.
pub(super) fn process(uuid: u64, pid: u32, name: &str) -> Vec<u8> {
    let process = Message::default().signed(1, i64::from(pid)).text(6, name);
    described(&Message::default().number(track::UUID, uuid).message(track::PROCESS, &process))
}

/// The thread of a process that has its pid: the one that polls.
pub(super) fn thread(uuid: u64, parent: u64, pid: u32, name: &str) -> Vec<u8> {
    let pid = i64::from(pid);
    let thread = Message::default().signed(1, pid).signed(2, pid).text(5, name);
    let track = Message::default().number(track::UUID, uuid).number(track::PARENT, parent);
    described(&track.message(track::THREAD, &thread))
}

/// A track with a name alone. A parent of 0: none.
pub(super) fn named(uuid: u64, parent: u64, name: &str) -> Vec<u8> {
    described(&plain(uuid, parent, name))
}

pub(super) fn counter(uuid: u64, parent: u64, name: &str, unit: Unit) -> Vec<u8> {
    let counter = Message::default().number(3, unit as u64);
    described(&plain(uuid, parent, name).message(track::COUNTER, &counter))
}

fn plain(uuid: u64, parent: u64, name: &str) -> Message {
    let track = Message::default().number(track::UUID, uuid).text(track::NAME, name);
    if parent == 0 { track } else { track.number(track::PARENT, parent) }
}

/// An event at a time.
pub(super) fn event(time: u64, event: &Event) -> Vec<u8> {
    let (kind, value) = match event.shape {
        Shape::Begin => (1, None),
        Shape::End => (2, None),
        Shape::Instant => (3, None),
        Shape::Counter(value) => (4, Some(value)),
    };
    let mut body = Message::default().number(event::TYPE, kind).number(event::TRACK, event.track);
    if !event.category.is_empty() {
        body = body.text(event::CATEGORY, event.category);
    }
    if !event.name.is_empty() {
        body = body.text(event::NAME, &event.name);
    }
    if let Some(value) = value {
        body = body.signed(event::COUNTER_VALUE, value);
    }
    for flow in &event.flows {
        body = body.fixed(event::FLOW, *flow);
    }
    for (name, argument) in &event.arguments {
        let annotation = Message::default().text(10, name);
        let annotation = match argument {
            Argument::Number(number) => annotation.number(3, *number),
            Argument::Signed(number) => annotation.signed(4, *number),
            Argument::Text(text) => annotation.text(6, text),
        };
        body = body.message(event::ANNOTATION, &annotation);
    }
    let packet = Message::default().number(field::TIMESTAMP, time).number(field::CLOCK, REALTIME);
    framed(packet.message(field::TRACK_EVENT, &body))
}
