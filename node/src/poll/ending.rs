//! A node that cannot keep up: how it stops, and that it updates its heartbeat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::{Clock, Frame, Journal, JournalShape, Reader, Registry, Writer};
use topology::NodeKind;
use topology::config::{Mode, Wake};

use crate::error::RunError;
use crate::input::{Input, InputId, Told};
use crate::instance::InstanceDir;
use crate::node::Node;
use crate::protocol::Assignment;
use crate::run::{Component, Context};
use crate::state::Counter;
use crate::stop::StopFlag;

const SEAT: u32 = 3;
/// Anything that takes longer hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

fn node(input: Journal, registry: &Arc<Registry>, clock: Clock) -> Node {
    let input = Input {
        reader: Reader::Loose(input.loose(SEAT).expect("a reader")),
        journal: input,
        role: "news".into(),
        peer: String::new(),
        peer_seat: 0,
        seat: SEAT,
        told: Told::Wanted,
        wake_within: Duration::ZERO,
        durable: false,
    };
    let assignment = Assignment {
        node: "test-1".into(),
        kind: NodeKind::Strategy,
        seat: SEAT,
        generation: 1,
        mode: Mode::Parked,
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
    Node::for_test(assignment, instance, Arc::clone(registry), clock, vec![input], stop)
}

fn registry(clock: Clock) -> Arc<Registry> {
    Arc::new(Registry::in_memory(64, clock).expect("a registry"))
}

fn journal(clock: Clock) -> (Journal, Writer) {
    let shape =
        JournalShape { id: 1, name: "news".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::in_memory(shape).expect("a journal");
    let writer = journal.writer(0, clock).expect("a writer");
    (journal, writer)
}

/// Every frame that it reads causes the next one: its input is never empty.
struct Overloaded {
    writer: Writer,
    /// Requests the stop with the frame of this number.
    stop_at: u64,
    frames: u64,
    takes: Duration,
    stopped: bool,
    hangs_at: Instant,
}

impl Component for Overloaded {
    fn frame(&mut self, context: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        self.frames += 1;
        self.writer.write(1, 0, b"").expect("nobody holds it up");
        if self.frames == self.stop_at {
            context.request_stop();
        }
        std::thread::sleep(self.takes);
        match Instant::now() > self.hangs_at {
            true => Err(RunError::failed(format!("drains for ever: {} frames", self.frames))),
            false => Ok(()),
        }
    }

    fn stop(&mut self, _: &mut Context) -> Result<(), RunError> {
        self.stopped = true;
        Ok(())
    }
}

fn overloaded(writer: Writer, stop_at: u64) -> Overloaded {
    Overloaded {
        writer,
        stop_at,
        frames: 0,
        takes: Duration::ZERO,
        stopped: false,
        hangs_at: Instant::now() + WATCHDOG,
    }
}

#[test]
fn a_stop_takes_what_was_there_and_not_what_still_comes() {
    let clock = Clock::monotonic();
    let (journal, mut writer) = journal(clock);
    let node = node(journal, &registry(clock), clock);
    for _ in 0..5 {
        writer.write(1, 0, b"").expect("room");
    }
    let mut component = overloaded(writer, 100);
    node.run(&mut component).expect("an end");
    assert!(component.stopped, "it was told to stop");
    // The rest of the round in which the stop was requested, and the five frames that were there then.
    assert!((105..=105 + 64).contains(&component.frames), "{} frames", component.frames);
}

#[test]
fn a_stop_ends_although_what_was_there_takes_too_long() {
    let clock = Clock::monotonic();
    let (journal, mut writer) = journal(clock);
    let node = node(journal, &registry(clock), clock);
    for _ in 0..500 {
        writer.write(1, 0, b"").expect("room");
    }
    let mut component = Overloaded { takes: Duration::from_millis(20), ..overloaded(writer, 1) };
    node.run(&mut component).expect("an end");
    assert!(component.stopped, "it was told to stop");
    // Five hundred take at least ten seconds, and its patience is two.
    assert!(component.frames < 400, "{} frames", component.frames);
}

/// A saturated node never sleeps, and its rounds are never empty.
#[test]
fn a_saturated_parked_node_shows_signs_of_life() {
    let clock = Clock::monotonic();
    let (journal, mut writer) = journal(clock);
    let registry = registry(clock);
    let node = node(journal, &registry, clock);
    let handle = node.handle();
    writer.write(1, 0, b"").expect("room");
    let mut component = Overloaded { takes: Duration::from_millis(1), ..overloaded(writer, 64 * 6) };
    let began = clock.now();
    node.run(&mut component).expect("an end");
    let beat = registry.seat(SEAT).expect("the seat").heartbeat();
    assert_eq!(handle.counter(Counter::Parks), 0, "it never slept");
    // Six rounds of at least 64 ms each; its first heartbeat came before them.
    assert!(beat > began + 64_000_000 * 3, "the last after {} ms", beat.saturating_sub(began) / 1_000_000);
}

/// Sets a timer at every turn, and receives nothing.
struct Ticking {
    every: u64,
    ticks: u64,
    next: u64,
    is_enough: Box<dyn FnMut(u64) -> bool>,
    hangs_at: Instant,
}

impl Component for Ticking {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        let now = context.now();
        if now >= self.next {
            self.next = now + self.every;
            self.ticks += 1;
            if (self.is_enough)(self.ticks) {
                context.request_stop();
            }
        }
        context.wake_at(self.next);
        match Instant::now() > self.hangs_at {
            true => Err(RunError::failed(format!("hangs after {} ticks", self.ticks))),
            false => Ok(()),
        }
    }

    fn frame(&mut self, _: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

#[test]
fn a_node_with_short_timers_leaves_a_relay_that_is_silent() {
    const RELAY: u32 = 5;
    let clock = Clock::monotonic();
    let (journal, _writer) = journal(clock);
    let registry = registry(clock);
    let node = node(journal, &registry, clock);
    let relay = journal::wait::Relay::new(Arc::clone(&registry), RELAY, &[SEAT]).expect("a relay");
    registry.occupy(RELAY).expect("a seat").set_heartbeat(clock.now());
    relay.take_over();
    assert!(registry.is_relayed(SEAT));
    let seen = Arc::clone(&registry);
    let is_enough = Box::new(move |ticks| !seen.is_relayed(SEAT) || ticks > 500);
    let hangs_at = Instant::now() + WATCHDOG;
    let mut ticking = Ticking { every: 20_000_000, ticks: 0, next: 0, is_enough, hangs_at };
    node.run(&mut ticking).expect("an end");
    assert!(!registry.is_relayed(SEAT), "it waits for a relay that is gone, after {} ticks", ticking.ticks);
}

#[test]
fn a_late_message_is_counted_although_a_timer_found_it() {
    let clock = Clock::monotonic();
    let (journal, mut writer) = journal(clock);
    let node = node(journal, &registry(clock), clock);
    let handle = node.handle();
    // This writer wakes no reader, like one that is killed behind its commit.
    let is_enough = Box::new(|ticks| ticks > 8);
    let late = std::thread::spawn(move || {
        for _ in 0..6 {
            std::thread::sleep(Duration::from_millis(50));
            writer.write(1, 0, b"").expect("room");
        }
    });
    let hangs_at = Instant::now() + WATCHDOG;
    let mut ticking = Ticking { every: 60_000_000, ticks: 0, next: 0, is_enough, hangs_at };
    node.run(&mut ticking).expect("an end");
    late.join().expect("no panic");
    assert!(handle.counter(Counter::WaitTimeoutsWithData) > 0, "none counted");
}
