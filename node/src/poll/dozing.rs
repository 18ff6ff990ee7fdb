//! A node with an input that may wait: by whom it is woken, and that it misses nothing.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use journal::{Frame, Journal, JournalShape, Reader, Writer};
use topology::config::Mode;

use super::adaptive::{SEAT, WATCHDOG, node, write};
use crate::error::RunError;
use crate::input::{Input, InputId, Told};
use crate::node::Node;
use crate::run::{Component, Context};
use crate::state::Counter;

/// Counts frames up to a number, and asks a question with each frame of the input that may not wait.
struct Asking {
    frames: usize,
    enough: usize,
    asked: u64,
    hangs_at: Instant,
}

impl Component for Asking {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if self.frames >= self.enough {
            context.request_stop();
        }
        match Instant::now() > self.hangs_at {
            true => Err(RunError::failed(format!("hangs after {} frames", self.frames))),
            false => Ok(()),
        }
    }

    fn questions(&self) -> u64 {
        self.asked
    }

    fn frame(&mut self, _: &mut Context, input: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        self.frames += 1;
        self.asked += u64::from(input.0 > 0);
        Ok(())
    }
}

#[derive(Debug)]
struct Seen {
    wakes: u64,
    parks: u64,
    naps: u64,
    missed: u64,
}

fn run(node: Node, writer: Writer, pause: Duration, enough: usize) -> Seen {
    let handle = node.handle();
    let mut asking = Asking { frames: 0, enough, asked: 0, hangs_at: Instant::now() + WATCHDOG };
    std::thread::scope(|scope| {
        let (end, ended) = channel();
        scope.spawn(move || write(writer, pause, &ended));
        let outcome = node.run(&mut asking);
        drop(end);
        outcome.expect("a run to the end");
    });
    let counted = |counter| handle.counter(counter);
    Seen {
        wakes: counted(Counter::Wakes),
        parks: counted(Counter::Parks),
        naps: counted(Counter::Naps),
        missed: counted(Counter::WaitTimeoutsWithData),
    }
}

/// A node whose first input may wait for so long.
fn patient(within: Duration) -> (Node, Writer, tempfile::TempDir) {
    let (mut node, writer, folder) = node(Mode::Parked);
    node.inputs[0].wake_within = within;
    (node, writer, folder)
}

/// Adds an input that may not wait.
fn urgent(node: &mut Node) -> Writer {
    let shape =
        JournalShape { id: 2, name: "urgent".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::in_memory(shape).expect("a journal");
    let mut writer = journal.writer(0, node.clock).expect("a writer");
    writer.wake_through(Arc::clone(&node.registry));
    let mut input = Input {
        reader: Reader::Gated(journal.gated(SEAT).expect("a reader")),
        journal,
        role: "urgent".into(),
        peer: String::new(),
        peer_seat: 0,
        seat: SEAT,
        told: Told::Wanted,
        wake_within: Duration::ZERO,
        durable: false,
    };
    input.narrow(None).expect("an interest");
    journal::wait::announce(&node.registry);
    node.inputs.push(input);
    writer
}

#[test]
fn what_may_wait_wakes_nobody_while_it_is_frequent() {
    let (node, writer, _folder) = patient(Duration::from_millis(20));
    let seen = run(node, writer, Duration::from_millis(3), 60);
    // The first wakes it, and a writer that the host holds up for longer than a doze finds it parked.
    assert!(seen.wakes < 20 && seen.naps >= 5, "{seen:?}");
    assert_eq!(seen.missed, 0, "{seen:?}");
}

#[test]
fn what_may_wait_wakes_a_node_that_has_become_quiet() {
    let (node, writer, _folder) = patient(Duration::from_millis(1));
    let seen = run(node, writer, Duration::from_millis(40), 10);
    // Each frame ends a sleep, and the doze behind it ends by the clock with nothing new.
    assert!(seen.wakes >= 5 && seen.parks >= 5, "{seen:?}");
    assert!((5..=60).contains(&seen.naps), "one doze a frame, or a few: {seen:?}");
    assert_eq!(seen.missed, 0, "{seen:?}");
}

#[test]
fn a_node_that_dozes_is_woken_by_what_may_not_wait() {
    let (mut node, _quiet, _folder) = patient(Duration::from_millis(100));
    let writer = urgent(&mut node);
    let seen = run(node, writer, Duration::from_millis(30), 12);
    // After the first frame an answer is expected: it dozes, far beyond the next frame.
    assert!(seen.naps >= 6 && seen.wakes >= 6, "{seen:?}");
    assert_eq!(seen.missed, 0, "a frame that found it dozing waited for the clock: {seen:?}");
}
