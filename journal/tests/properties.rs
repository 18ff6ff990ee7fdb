//! Random interleavings of a writer and several readers of both kinds, held against a model that keeps every frame.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;

use journal::{
    GatedReader, Journal, LooseReader, OpenError, ReadError, Topics, WriteError, Writer, layout,
    reader::Frame,
};
use proptest::prelude::*;
use support::{SMALL, clock, forged, payload};

/// What a payload is made of.
#[derive(Clone, Copy, Debug)]
enum Body {
    Random,
    /// Each line starts with the commit word that a frame there would have so many laps later.
    Forged(u64),
}

#[derive(Clone, Debug)]
enum Step {
    Write {
        length: usize,
        body: Body,
        topic: u32,
    },
    WriteUntilFull {
        length: usize,
    },
    /// Another process takes over.
    NewWriter,
    JoinGated(u32),
    ReadGated(u32, usize),
    /// Goes away; its cursor stays.
    LeaveGated(u32),
    Dismiss(u32),
    Narrow(u32, u32),
    JoinLoose(u32),
    ReadLoose(u32, usize),
    FindOldest,
}

fn step() -> impl Strategy<Value = Step> {
    let most = layout::max_payload(SMALL) as usize;
    let length = prop_oneof![4 => 0..=130_usize, 2 => 0..=most, 1 => Just(most), 1 => Just(32_usize)];
    let body = prop_oneof![Just(Body::Random), (0..=2_u64).prop_map(Body::Forged)];
    let seat = 0..3_u32;
    prop_oneof![
        12 => (length.clone(), body, 0..4_u32)
            .prop_map(|(length, body, topic)| Step::Write { length, body, topic }),
        1 => length.prop_map(|length| Step::WriteUntilFull { length }),
        1 => Just(Step::NewWriter),
        2 => seat.clone().prop_map(Step::JoinGated),
        8 => (seat.clone(), 1..40_usize).prop_map(|(seat, count)| Step::ReadGated(seat, count)),
        1 => seat.clone().prop_map(Step::LeaveGated),
        1 => seat.clone().prop_map(Step::Dismiss),
        1 => (seat.clone(), 0..4_u32).prop_map(|(seat, topic)| Step::Narrow(seat, topic)),
        2 => seat.clone().prop_map(Step::JoinLoose),
        6 => (seat, 1..40_usize).prop_map(|(seat, count)| Step::ReadLoose(seat, count)),
        1 => Just(Step::FindOldest),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Expected {
    message_id: u16,
    topic: u32,
    time: u64,
    end: u64,
    payload: Vec<u8>,
}

/// Every frame ever written, by position, and where everybody stands.
struct World {
    journal: Journal,
    writer: Option<Writer>,
    frames: BTreeMap<u64, Expected>,
    head: u64,
    number: u16,
    gated: BTreeMap<u32, GatedReader>,
    only: BTreeMap<u32, u32>,
    loose: BTreeMap<u32, LooseReader>,
    forged: bool,
    writers: u64,
}

const LOOSE_SEAT: u32 = 10;

impl World {
    fn new(journal: Journal) -> World {
        let head = journal.first_position();
        World {
            writer: Some(journal.writer(63, clock()).unwrap()),
            journal,
            frames: BTreeMap::new(),
            head,
            number: 0,
            gated: BTreeMap::new(),
            only: BTreeMap::new(),
            loose: BTreeMap::new(),
            forged: false,
            writers: 1,
        }
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Write { length, body, topic } => drop(self.write(length, body, topic)),
            Step::WriteUntilFull { length } => {
                for _ in 0..5_000 {
                    if !self.write(length, Body::Random, 0) {
                        break;
                    }
                }
            }
            Step::NewWriter => {
                self.writer = None;
                self.writer = Some(self.journal.writer(63, clock()).unwrap());
                self.writers += 1;
            }
            Step::JoinGated(seat) => self.join_gated(seat),
            Step::ReadGated(seat, count) => self.read_gated(seat, count),
            Step::LeaveGated(seat) => drop(self.gated.remove(&seat)),
            Step::Dismiss(seat) => {
                let lives = self.gated.contains_key(&seat);
                let done = self.journal.dismiss(seat);
                assert_eq!(lives, matches!(done, Err(OpenError::SeatTaken { .. })), "{done:?}");
            }
            Step::Narrow(seat, topic) => {
                if let Some(reader) = self.gated.get_mut(&seat) {
                    reader.set_topics(Topics::only([topic]));
                    self.only.insert(seat, topic);
                }
            }
            Step::JoinLoose(number) => {
                self.loose.remove(&number);
                let reader = self.journal.loose(LOOSE_SEAT + number).unwrap();
                assert_eq!(reader.position(), self.head);
                self.loose.insert(number, reader);
            }
            Step::ReadLoose(number, count) => self.read_loose(number, count),
            Step::FindOldest => self.find_oldest(),
        }
        let stat = self.journal.stat();
        assert_eq!((stat.head, stat.frames), (self.head, self.frames.len() as u64));
        assert_eq!(stat.epoch, self.writers);
    }

    /// The slowest cursor that the writer knows of.
    fn gate(&self) -> u64 {
        let cursors = self.journal.stat().readers;
        cursors.iter().filter(|view| view.gated).map(|view| view.position + SMALL).min().unwrap_or(u64::MAX)
    }

    /// True when it was taken, which is so exactly when the frame and the next commit word fit before the gate.
    fn write(&mut self, length: usize, body: Body, topic: u32) -> bool {
        let position = self.head;
        let payload = match body {
            Body::Random => payload(position, length),
            Body::Forged(laps) => {
                self.forged |= laps == 0;
                forged(position, SMALL, laps, length)
            }
        };
        let end = position + layout::frame_bytes(length as u64);
        let gate = self.gate();
        match self.writer.as_mut().unwrap().write(self.number, topic, &payload) {
            Ok(written) => {
                assert_eq!(written.position, position);
                assert!(end + 64 <= gate, "overwrote what a gated reader has not read");
                let frame = Expected { message_id: self.number, topic, time: written.time, end, payload };
                if let Some((_, last)) = self.frames.last_key_value() {
                    assert!(written.time >= last.time);
                }
                self.frames.insert(position, frame);
                self.number = self.number.wrapping_add(1);
                self.head = end;
                true
            }
            Err(WriteError::Full { needed, free }) => {
                assert!(end + 64 > gate, "refused although there was room");
                assert_eq!((needed, free), (end - position, gate.saturating_sub(position + 64)));
                false
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn join_gated(&mut self, seat: u32) {
        if self.gated.contains_key(&seat) {
            assert!(matches!(self.journal.gated(seat), Err(OpenError::SeatTaken { .. })));
            return;
        }
        let held =
            self.journal.stat().readers.iter().find(|view| view.seat == seat).map(|view| view.position);
        let reader = self.journal.gated(seat).unwrap();
        assert_eq!(reader.position(), held.unwrap_or(self.head));
        self.only.remove(&seat);
        self.gated.insert(seat, reader);
    }

    fn read_gated(&mut self, seat: u32, count: usize) {
        let Some(reader) = self.gated.get_mut(&seat) else { return };
        let only = self.only.get(&seat).copied();
        for _ in 0..count {
            let from = reader.position();
            let mut rest = self.frames.range(from..);
            let expected = rest.find(|(_, frame)| only.is_none_or(|topic| frame.topic == topic));
            match (reader.read().unwrap(), expected) {
                (Some(frame), Some(expected)) => check(&frame, expected),
                (None, None) => {
                    assert_eq!(reader.position(), self.head);
                    break;
                }
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        }
    }

    fn read_loose(&mut self, number: u32, count: usize) {
        let Some(reader) = self.loose.get_mut(&number) else { return };
        for _ in 0..count {
            let from = reader.position();
            // What was touched, and what was declared at most.
            let gone = self.head + 64 > from + SMALL;
            let doubtful = self.head + layout::max_reach(SMALL) > from + SMALL;
            match reader.read() {
                Ok(Some(frame)) => {
                    assert!(!gone, "a frame that is gone was handed out");
                    check(&frame, self.frames.get_key_value(&from).unwrap());
                }
                Ok(None) => {
                    assert_eq!(from, self.head);
                    break;
                }
                Err(ReadError::Lapped(gap)) => {
                    assert!(doubtful, "a gap where nothing was declared");
                    assert_eq!((gap.from, gap.resumed_at), (from, self.head));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn find_oldest(&self) {
        let oldest = self.journal.oldest_frame().unwrap();
        let safe = self.journal.stat().oldest;
        let expected = self.frames.range(safe..).next().map_or(self.head, |(&position, _)| position);
        // A payload that names its own lines can pass for frames where its own start is gone.
        assert!(oldest == expected || self.forged && oldest >= safe && oldest < expected);
    }
}

fn check(frame: &Frame<'_>, (&position, expected): (&u64, &Expected)) {
    assert_eq!((frame.position, frame.time), (position, expected.time));
    assert_eq!((frame.message_id, frame.topic), (expected.message_id, expected.topic));
    assert_eq!(frame.payload, expected.payload);
}

fn config(cases: u32) -> ProptestConfig {
    let cases = if cfg!(miri) { 2 } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn files_behave_as_the_model(steps in proptest::collection::vec(step(), 1..400)) {
        if cfg!(miri) {
            return Ok(());
        }
        let (_directory, _files, journal) = support::journal(SMALL);
        let mut world = World::new(journal);
        for step in &steps {
            world.run(step);
        }
    }

    #[test]
    fn memory_behaves_as_the_model(steps in proptest::collection::vec(step(), 1..400)) {
        let mut world = World::new(Journal::in_memory(support::shape("t", SMALL)).unwrap());
        for step in &steps[..if cfg!(miri) { steps.len().min(60) } else { steps.len() }] {
            world.run(step);
        }
    }
}

/// Every distance between a frame's start and the wrap, and every size around it: frames that end before, at and
/// behind the last line.
#[test]
#[cfg_attr(miri, ignore = "miri maps no files")]
fn every_wrap_edge() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut world = World::new(journal);
    world.run(&Step::JoinGated(0));
    world.run(&Step::JoinLoose(0));
    let mut edges = 0;
    for lines_before in 1..=130_u64 {
        for length in [0, 32, 33, 96, 97, lines_before as usize * 64 - 32, lines_before as usize * 64 - 31] {
            // Fill up to `lines_before` lines before the wrap.
            let mut distance = SMALL - (world.head + lines_before * 64) % SMALL;
            while distance > 0 {
                let bytes = distance.min(4096);
                world.run(&Step::Write {
                    length: support::payload_of_frame(bytes),
                    body: Body::Forged(1),
                    topic: 0,
                });
                distance -= bytes;
                world.run(&Step::ReadGated(0, 1));
            }
            if length as u64 > layout::max_payload(SMALL) {
                continue;
            }
            world.run(&Step::Write { length, body: Body::Forged(1), topic: 1 });
            world.run(&Step::Write { length: 8, body: Body::Random, topic: 1 });
            world.run(&Step::ReadGated(0, 100));
            world.run(&Step::ReadLoose(0, 1_000));
            assert_eq!(world.loose[&0].position(), world.head);
            edges += 1;
        }
    }
    println!("{edges} edges");
    assert!(edges > 800);
}
