//! The cases: each holds one property between a producer and a consumer.

mod bench;
mod damage;
mod flow;
mod kills;
mod refusals;
mod room;

pub(crate) use bench::Bench;

/// What a driver must be able to do: all of the first, and for a reader one of these ways.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Of the producer.
    pub producer: &'static [&'static str],
    /// Of the consumer, beside a way to read.
    pub consumer: &'static [&'static str],
    /// Ways to read: each that the consumer can is held, and it must be one.
    pub ways: &'static [&'static str],
    pub(crate) run: fn(&Bench<'_>) -> Result<(), String>,
}

const BOTH: &[&str] = &["loose", "gate"];
const GATED: &[&str] = &["gate"];
const LOOSE: &[&str] = &["loose"];

macro_rules! case {
    ($name:literal, $producer:expr, $consumer:expr, $ways:expr, $run:path) => {
        Case { name: $name, producer: &$producer, consumer: &$consumer, ways: $ways, run: $run }
    };
}

/// All of them.
pub const CASES: &[Case] = &[
    case!("wrap", ["write"], [], BOTH, flow::wrap),
    case!("stream", ["write"], [], GATED, flow::stream),
    case!("batch", ["write", "batch"], [], BOTH, flow::batch),
    case!("records", ["write", "records"], [], BOTH, flow::records),
    case!("skip", ["write", "skip"], [], BOTH, flow::skip),
    case!("appended", ["write"], [], BOTH, flow::appended),
    case!("lap", ["write"], [], LOOSE, flow::lap),
    case!("gate", ["write"], [], GATED, room::gate),
    case!("kept", ["write"], ["keep"], GATED, room::kept),
    case!("epoch", ["write"], [], BOTH, kills::epoch),
    case!("killed-frame", ["write", "half"], [], BOTH, kills::killed_frame),
    case!("killed-batch", ["write", "half", "batch"], [], BOTH, kills::killed_batch),
    case!("killed-reader", ["write"], [], GATED, kills::killed_reader),
    case!("park", ["write"], ["park"], BOTH, room::park),
    case!("taken", ["write"], [], GATED, refusals::taken),
    case!("damaged", ["write"], [], BOTH, damage::damaged),
];
