//! A node that waits adaptively polls for its time budget after the last frame, then sleeps until it is woken. One that
//! naps sleeps by the clock before that.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use journal::{Clock, Frame, Journal, JournalFiles, JournalShape, Reader, Registry, Writer};
use topology::NodeKind;
use topology::config::{Mode, Wake};

use crate::error::RunError;
use crate::handle::NodeHandle;
use crate::input::{Input, InputId, Told};
use crate::instance::InstanceDir;
use crate::node::Node;
use crate::protocol::Assignment;
use crate::run::{Component, Context};
use crate::state::Counter;
use crate::stop::StopFlag;

pub(super) const SEAT: u32 = 3;
/// Anything that takes longer hangs.
pub(super) const WATCHDOG: Duration = Duration::from_secs(60);

/// Counts turns, and ends the run when `is_enough`.
struct Witness<E> {
    turn_takes: Duration,
    is_enough: E,
    seen: Seen,
    hangs_at: Instant,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    frames: usize,
    turns: u64,
    /// Turns since the last frame.
    idle_turns: u64,
    /// Those before each first sleep after a frame.
    before_sleep: Vec<u64>,
    parks: u64,
    wakes: u64,
    missed: u64,
}

impl<E: FnMut(&Seen) -> bool> Component for Witness<E> {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        let parks = context.handle().counter(Counter::Parks);
        if parks > self.seen.parks && self.seen.idle_turns > 0 {
            self.seen.before_sleep.push(std::mem::take(&mut self.seen.idle_turns));
        }
        // Later sleeps without a frame in between do not matter.
        self.seen.idle_turns += u64::from(parks == self.seen.parks);
        self.seen.parks = parks;
        self.seen.turns += 1;
        if (self.is_enough)(&self.seen) {
            context.request_stop();
        }
        if !self.turn_takes.is_zero() {
            std::thread::sleep(self.turn_takes);
        }
        match Instant::now() > self.hangs_at {
            true => Err(RunError::failed(format!("hangs: {:?}", self.seen))),
            false => Ok(()),
        }
    }

    fn frame(&mut self, _: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        self.seen.frames += 1;
        self.seen.idle_turns = 0;
        Ok(())
    }
}

pub(super) fn node(mode: Mode) -> (Node, Writer, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = || JournalFiles::new(folder.path(), folder.path(), "news");
    let shape =
        JournalShape { id: 1, name: "news".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::create(files(), shape, 1).expect("a journal");
    let clock = Clock::monotonic();
    let registry = Arc::new(Registry::in_memory(64, clock).expect("a registry"));
    let mut writer = journal.writer(0, clock).expect("a writer");
    writer.wake_through(Arc::clone(&registry));
    let mut input = Input {
        reader: Reader::Gated(journal.gated(SEAT).expect("a reader")),
        journal: Journal::open(files()).expect("the journal"),
        role: "news".into(),
        peer: String::new(),
        peer_seat: 0,
        seat: SEAT,
        told: Told::Wanted,
        wake_within: Duration::ZERO,
        durable: false,
    };
    input.narrow(None).expect("an interest");
    journal::wait::announce(&registry);
    let assignment = Assignment {
        node: "test-1".into(),
        kind: NodeKind::Strategy,
        seat: SEAT,
        generation: 1,
        mode,
        wake: Wake::Targeted,
        placement: None,
        deterministic: false,
        drain: std::time::Duration::from_secs(2),
        recorded_clock: false,
        lock_memory: false,
        section: serde_json::Value::Null,
        writes: Vec::new(),
        reads: Vec::new(),
    };
    let instance = InstanceDir::new("test").expect("a name");
    let stop = StopFlag::install().expect("signals");
    (Node::for_test(assignment, instance, registry, clock, vec![input], stop), writer, folder)
}

/// Writes a frame after each `pause`, until the receiver is done.
pub(super) fn write(mut writer: Writer, pause: Duration, ended: &Receiver<()>) {
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        writer.write(1, 0, b"").expect("it is read");
    }
}

fn run(spin: Duration, turn_takes: Duration, pause: Duration, is_enough: impl FnMut(&Seen) -> bool) -> Seen {
    let (node, mut writer, _folder) = node(Mode::Adaptive { spin });
    // Before its first news it has no budget.
    writer.write(1, 0, b"").expect("room");
    let handle: NodeHandle = node.handle();
    let hangs_at = Instant::now() + WATCHDOG;
    let mut witness = Witness { turn_takes, is_enough, seen: Seen::default(), hangs_at };
    std::thread::scope(|scope| {
        let (end, ended) = channel();
        scope.spawn(move || write(writer, pause, &ended));
        let outcome = node.run(&mut witness);
        drop(end);
        outcome.expect("a run to the end");
    });
    Seen {
        wakes: handle.counter(Counter::Wakes),
        missed: handle.counter(Counter::WaitTimeoutsWithData),
        ..witness.seen
    }
}

/// A run of a napping node over this many frames: how often it was woken, and how often it napped.
fn nap(within: Duration, pause: Duration, frames: usize) -> (Seen, u64) {
    let (node, mut writer, _folder) = node(Mode::Napping { within });
    writer.write(1, 0, b"").expect("room");
    let handle: NodeHandle = node.handle();
    let hangs_at = Instant::now() + WATCHDOG;
    let is_enough = |seen: &Seen| seen.frames >= frames;
    let mut witness = Witness { turn_takes: Duration::ZERO, is_enough, seen: Seen::default(), hangs_at };
    std::thread::scope(|scope| {
        let (end, ended) = channel();
        scope.spawn(move || write(writer, pause, &ended));
        let outcome = node.run(&mut witness);
        drop(end);
        outcome.expect("a run to the end");
    });
    let (wakes, missed) = (handle.counter(Counter::Wakes), handle.counter(Counter::WaitTimeoutsWithData));
    (Seen { wakes, missed, ..witness.seen }, handle.counter(Counter::Naps))
}

#[test]
fn while_news_is_frequent_a_napping_node_is_woken_by_nobody() {
    let (seen, naps) = nap(Duration::from_millis(2), Duration::from_millis(3), 60);
    // A writer that the host holds up for longer than the quiet time finds the node parked.
    assert!(seen.wakes < 20, "{seen:?}");
    assert!(naps >= 20, "{naps} naps, {seen:?}");
    assert_eq!(seen.missed, 0, "{seen:?}");
}

#[test]
fn when_it_is_quiet_a_napping_node_parks_and_is_woken() {
    let (seen, naps) = nap(Duration::from_micros(100), Duration::from_millis(40), 10);
    assert!(seen.wakes >= 5, "{seen:?}");
    assert!(naps >= 20, "{naps} naps, {seen:?}");
    assert_eq!(seen.missed, 0, "{seen:?}");
}

#[test]
fn within_its_budget_it_polls_and_never_sleeps() {
    let seen = run(WATCHDOG * 2, Duration::ZERO, Duration::from_millis(2), |seen| seen.frames >= 40);
    assert_eq!((seen.parks, seen.wakes), (0, 0), "{seen:?}");
    assert!(seen.turns > 40 * seen.frames as u64, "it polls between two frames: {seen:?}");
}

#[test]
fn beyond_its_budget_it_sleeps_and_is_woken_by_the_next_frame() {
    let pause = Duration::from_millis(30);
    let seen = run(Duration::from_millis(2), Duration::ZERO, pause, |seen| seen.before_sleep.len() >= 8);
    assert!(seen.parks >= 8 && seen.wakes > 0, "{seen:?}");
    // The host may take its CPU away for as long as a budget, but not every time.
    assert!(seen.before_sleep.iter().any(|turns| *turns > 1), "it polled first: {seen:?}");
    assert_eq!(seen.missed, 0, "{seen:?}");
}

/// Sleeping turns take at least their time, so that a budget in time bounds how many there can be.
#[test]
fn its_budget_is_time_and_not_a_number_of_turns() {
    let (spin, pause) = (Duration::from_millis(100), Duration::from_millis(400));
    let slow = run(spin, Duration::from_millis(10), pause, |seen| seen.before_sleep.len() >= 3);
    assert!(slow.before_sleep.iter().all(|turns| (1..=11).contains(turns)), "{slow:?}");
    let quick = run(spin, Duration::ZERO, pause, |seen| seen.before_sleep.len() >= 3);
    assert!(quick.before_sleep.iter().any(|turns| *turns > 100), "{quick:?}");
    assert_eq!((slow.missed, quick.missed), (0, 0), "{slow:?} {quick:?}");
}
