//! Time order, and topics that change while the loop runs.

use std::sync::Arc;
use std::time::Duration;

use journal::{Clock, Frame, Journal, JournalShape, Reader, Registry, Writer};
use topology::NodeKind;
use topology::config::Wake;

use super::*;
use crate::input::{InputId, Told};
use crate::instance::InstanceDir;
use crate::protocol::Assignment;
use crate::stop::StopFlag;

const SEAT: u32 = 3;

fn node(journals: &[Journal]) -> Node {
    let input = |journal: &Journal| Input {
        reader: Reader::Gated(journal.gated(SEAT).unwrap()),
        journal: Journal::in_memory(journal.shape().clone()).unwrap(),
        role: journal.shape().name.clone(),
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
    let clock = Clock::monotonic();
    Node::for_test(
        assignment,
        InstanceDir::new("test").unwrap(),
        Arc::new(Registry::in_memory(64, clock).unwrap()),
        clock,
        journals.iter().map(input).collect(),
        StopFlag::install().unwrap(),
    )
}

/// Times of two journals compare only when both use one clock.
fn journal(id: u32, clock: Clock) -> (Journal, Writer) {
    let name = format!("journal-{id}");
    let shape = JournalShape { id, name, capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::in_memory(shape).unwrap();
    let writer = journal.writer(0, clock).unwrap();
    (journal, writer)
}

/// Records the frames that it gets, and stops after `stop_after`. When the first input is looked at for the first time
/// nothing is there yet: `cause`, then `effect` are written right after that look.
struct Recorder<'a> {
    by_time: bool,
    heard: Vec<(usize, u32)>,
    stop_after: usize,
    narrow_after: Option<usize>,
    late: Option<(&'a mut Writer, &'a mut Writer)>,
    looks: usize,
}

impl Component for Recorder<'_> {
    fn in_time_order(&self) -> bool {
        self.by_time
    }

    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        self.looks += 1;
        if self.looks == 2
            && let Some((cause, effect)) = self.late.take()
        {
            cause.write(1, 1, b"").unwrap();
            effect.write(1, 2, b"").unwrap();
        }
        true
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        self.heard.push((input.0, frame.topic));
        if self.narrow_after == Some(self.heard.len()) {
            context.narrow(input, Some(&[2]));
        }
        if self.heard.len() == self.stop_after {
            context.request_stop();
        }
        Ok(())
    }
}

fn recorder<'a>(by_time: bool, stop_after: usize) -> Recorder<'a> {
    Recorder { by_time, heard: Vec::new(), stop_after, narrow_after: None, late: None, looks: 0 }
}

#[test]
fn in_time_order_frames_of_two_journals_interleave_as_they_were_written() {
    for (by_time, expected) in
        [(true, [(1, 1), (0, 2), (1, 3), (0, 4)]), (false, [(0, 2), (0, 4), (1, 1), (1, 3)])]
    {
        let clock = Clock::monotonic();
        let ((first, mut to_first), (second, mut to_second)) = (journal(1, clock), journal(2, clock));
        let node = node(&[first, second]);
        for (journal, topic) in [(1, 1), (0, 2), (1, 3), (0, 4)] {
            let writer = if journal == 0 { &mut to_first } else { &mut to_second };
            writer.write(1, topic, b"").unwrap();
            // Equal times would be ordered by the journals' numbers.
            std::thread::sleep(Duration::from_micros(1));
        }
        let mut recorder = recorder(by_time, 4);
        node.run(&mut recorder).unwrap();
        assert_eq!(recorder.heard, expected, "by time: {by_time}");
    }
}

#[test]
fn a_frame_is_not_handed_out_before_its_cause_that_was_written_behind_our_look() {
    for (by_time, expected) in [(true, [(0, 1), (1, 2)]), (false, [(1, 2), (0, 1)])] {
        let clock = Clock::monotonic();
        let ((causes, mut cause), (effects, mut effect)) = (journal(1, clock), journal(2, clock));
        let node = node(&[causes, effects]);
        let mut recorder = recorder(by_time, 2);
        recorder.late = Some((&mut cause, &mut effect));
        node.run(&mut recorder).unwrap();
        assert_eq!(recorder.heard, expected, "by time: {by_time}");
    }
}

#[test]
fn topics_can_be_chosen_while_the_loop_runs() {
    let (only, mut writer) = journal(1, Clock::monotonic());
    let node = node(&[only]);
    for topic in [1, 1, 2, 1, 2] {
        writer.write(1, topic, b"").unwrap();
    }
    let mut recorder = recorder(false, 3);
    recorder.narrow_after = Some(1);
    node.run(&mut recorder).unwrap();
    assert_eq!(recorder.heard, [(0, 1), (0, 2), (0, 2)]);
}
