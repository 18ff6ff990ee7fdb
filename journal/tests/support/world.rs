//! A journal beside a model that keeps every frame: each step is done to both, and everything observable must agree.
//! Used by the property tests and by the fuzz target `operations`.

use std::collections::{BTreeMap, BTreeSet};

use journal::reader::Frame;
use journal::{
    FrameHeader, GatedReader, Journal, LooseReader, OpenError, ReadError, Topics, WriteError, Writer, layout,
};

use super::support::{SMALL, clock, forged, payload};

mod steps;

pub(crate) use steps::{Body, Step};

#[derive(Clone, Debug, PartialEq)]
struct Expected {
    message_id: u16,
    topic: u32,
    flags: u16,
    time: u64,
    end: u64,
    payload: Vec<u8>,
}

/// Every frame ever written, by position, and the position of every reader.
pub(crate) struct World {
    pub(crate) journal: Journal,
    writer: Option<Writer>,
    frames: BTreeMap<u64, Expected>,
    /// Positions of frames that nobody sees.
    void: BTreeSet<u64>,
    /// Greatest time of a frame.
    latest: u64,
    pub(crate) head: u64,
    number: u16,
    gated: BTreeMap<u32, GatedReader>,
    only: BTreeMap<u32, u32>,
    /// Position from which a seat keeps what it has read, if it does.
    kept: BTreeMap<u32, u64>,
    pub(crate) loose: BTreeMap<u32, LooseReader>,
    forged: bool,
    writers: u64,
    /// How often each event happened.
    pub(crate) tally: BTreeMap<&'static str, u64>,
}

const LOOSE_SEAT: u32 = 10;

impl World {
    pub(crate) fn new(journal: Journal) -> World {
        let head = journal.first_position();
        World {
            writer: Some(journal.writer(63, clock()).unwrap()),
            journal,
            frames: BTreeMap::new(),
            void: BTreeSet::new(),
            latest: 0,
            head,
            number: 0,
            gated: BTreeMap::new(),
            only: BTreeMap::new(),
            kept: BTreeMap::new(),
            loose: BTreeMap::new(),
            forged: false,
            writers: 1,
            tally: BTreeMap::new(),
        }
    }

    pub(crate) fn run(&mut self, step: &Step) {
        match *step {
            Step::Write { length, body, topic } => drop(self.write(length, body, topic, self.gate())),
            Step::Batch { ref frames, body, keep } => self.batch(frames, body, keep),
            Step::Claim { room, ref pieces, body, keep } => self.claim(room, pieces, body, keep),
            Step::Records { size, most, pushed, keep } => self.records(size, most, pushed, keep),
            Step::Append { length, body, back } => self.append(length, body, back),
            Step::Skip { lines } => self.skip(lines),
            Step::WriteUntilFull { length } => {
                // No reader reads meanwhile, so the gate does not move. A ring and a half where there is none.
                let gate = self.gate();
                for _ in 0..3 * SMALL / 2 / layout::frame_bytes(length as u64) {
                    if !self.write(length, Body::Random, 0, gate) {
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
            Step::ReadBatch(seat, most) => self.read_batch(seat, most),
            Step::LeaveGated(seat) => drop(self.gated.remove(&seat)),
            Step::Dismiss(seat) => {
                let lives = self.gated.contains_key(&seat);
                let done = self.journal.dismiss(seat);
                assert_eq!(lives, matches!(done, Err(OpenError::SeatTaken { .. })), "{done:?}");
                if !lives {
                    self.kept.remove(&seat);
                }
            }
            Step::Keep(seat, back) => self.keep(seat, back),
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
        assert_eq!((stat.head, stat.frames), (self.head, (self.frames.len() + self.void.len()) as u64));
        assert_eq!(stat.last_time, self.latest);
        assert_eq!(stat.epoch, self.writers);
    }

    /// What the journal's own verification says of all that.
    pub(crate) fn verify(&self) {
        let report = self.journal.verify();
        assert!(report.is_clean(), "{:#?}", report.findings);
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    /// One ring ahead of the slowest cursor that the writer sees, or of what is kept there.
    fn gate(&self) -> u64 {
        let cursors = self.journal.stat().readers;
        let needed = cursors
            .iter()
            .filter(|view| view.gated)
            .map(|view| self.kept.get(&view.seat).map_or(view.position, |&kept| kept.min(view.position)));
        needed.min().map_or(u64::MAX, |needed| needed + SMALL)
    }

    /// True when the frame was accepted, which happens exactly when the frame and the next commit word fit before the
    /// gate.
    fn write(&mut self, length: usize, body: Body, topic: u32, gate: u64) -> bool {
        let position = self.head;
        let payload = self.payload(position, length, body);
        let end = position + layout::frame_bytes(length as u64);
        match self.writer.as_mut().unwrap().write(self.number, topic, &payload) {
            Ok(written) => {
                assert_eq!(written.position, position);
                assert!(end + 64 <= gate, "overwrote what a gated reader has not read");
                self.stamped(topic, written.time, payload);
                self.count("writes");
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

    fn payload(&mut self, position: u64, length: usize, body: Body) -> Vec<u8> {
        match body {
            Body::Random => payload(position, length),
            Body::Forged(laps) => {
                self.forged |= laps == 0;
                forged(position, SMALL, laps, length)
            }
        }
    }

    /// Records a frame that was committed with a time of its own.
    fn stamped(&mut self, topic: u32, time: u64, payload: Vec<u8>) {
        assert!(time >= self.latest);
        self.committed(topic, 0, time, payload);
    }

    /// Records a committed frame.
    fn committed(&mut self, topic: u32, flags: u16, time: u64, payload: Vec<u8>) {
        let end = self.head + layout::frame_bytes(payload.len() as u64);
        self.latest = self.latest.max(time);
        self.frames.insert(self.head, Expected { message_id: self.number, topic, flags, time, end, payload });
        self.number = self.number.wrapping_add(1);
        self.head = end;
    }

    /// Each frame is accepted exactly when it fits into the batch and before the gate, and none is seen before all are.
    fn batch(&mut self, frames: &[(usize, u32)], body: Body, keep: bool) {
        let (head, gate) = (self.head, self.gate());
        let mut writer = self.writer.take().unwrap();
        let mut batch = writer.batch();
        let (mut position, mut taken) = (head, Vec::new());
        for &(length, topic) in frames {
            let payload = self.payload(position, length, body);
            let end = position + layout::frame_bytes(length as u64);
            let number = self.number.wrapping_add(taken.len() as u16);
            match batch.push(number, topic, &payload) {
                Ok(at) => {
                    assert_eq!(at, position);
                    assert!(end - head <= layout::batch_bytes(SMALL) && end + 64 <= gate);
                    taken.push((topic, payload));
                    position = end;
                }
                Err(WriteError::BatchFull { max }) => {
                    assert_eq!(max, layout::batch_bytes(SMALL));
                    assert!(end - head > max, "refused although there was room in the batch");
                    self.count("batch full");
                }
                Err(WriteError::Full { needed, free }) => {
                    assert!(end + 64 > gate, "refused although there was room");
                    self.count("full in a batch");
                    assert_eq!((needed, free), (end - head, gate.saturating_sub(head + 64)));
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(batch.frames(), taken.len() as u64);
            assert_eq!(self.journal.head(), head, "nothing of a batch is seen before all of it is");
        }
        if !keep {
            drop(batch);
            self.count("batches dropped");
        } else if let Some(written) = batch.commit() {
            assert_eq!(written.position, head);
            self.count("batches");
            if (position - 1) / SMALL > head / SMALL {
                self.count("batches over the wrap");
            }
            if position % SMALL == 0 {
                self.count("batches up to the wrap");
            }
            if position - head == layout::batch_bytes(SMALL) {
                self.count("batches of full length");
            }
            for (topic, payload) in taken {
                self.stamped(topic, written.time, payload);
            }
        } else {
            assert!(taken.is_empty());
        }
        self.writer = Some(writer);
    }

    /// The claim succeeds exactly when its largest frame fits before the gate; a piece that does not fit the room
    /// changes nothing.
    fn claim(&mut self, room: usize, pieces: &[usize], body: Body, keep: bool) {
        let (position, gate) = (self.head, self.gate());
        let most = position + layout::frame_bytes(room as u64);
        let payload = self.payload(position, room, body);
        let mut writer = self.writer.take().unwrap();
        match writer.claim(self.number, 0, room) {
            Ok(mut claim) => {
                assert!(most + 64 <= gate, "claimed what a gated reader has not read");
                let mut length = 0;
                for &piece in pieces {
                    assert_eq!(claim.room(), room - length);
                    if length + piece <= room {
                        claim.put(&payload[length..length + piece]).unwrap();
                        length += piece;
                    } else {
                        let refused = WriteError::PastClaim { size: length + piece, room };
                        assert_eq!(claim.put(&vec![0xee; piece]), Err(refused));
                    }
                }
                if keep {
                    let written = claim.commit();
                    assert_eq!(written.position, position);
                    self.stamped(0, written.time, payload[..length].to_vec());
                    self.count(if length < room { "claims cut short" } else { "claims" });
                } else {
                    self.count("claims dropped");
                }
            }
            Err(WriteError::Full { needed, free }) => {
                assert!(most + 64 > gate, "refused although there was room");
                self.count("full at a claim");
                assert_eq!((needed, free), (most - position, gate.saturating_sub(position + 64)));
            }
            Err(error) => panic!("{error}"),
        }
        self.writer = Some(writer);
    }

    /// As many records are claimed as fit before the gate, and none only when one does not.
    fn records(&mut self, size: usize, most: usize, pushed: usize, keep: bool) {
        let (position, gate) = (self.head, self.gate());
        let largest = layout::max_payload(SMALL) as usize / size;
        let fits = |count: &usize| position + layout::frame_bytes((count * size) as u64) + 64 <= gate;
        let room = (1..=most.clamp(1, largest)).rev().find(fits);
        let payload = payload(position, size * largest);
        let mut writer = self.writer.take().unwrap();
        match writer.claim_records(self.number, 1, size, most) {
            Ok(mut records) => {
                let room = room.expect("claimed what a gated reader has not read");
                let mut taken = 0;
                for record in payload.chunks_exact(size).take(pushed) {
                    match records.push(record) {
                        Ok(at) => {
                            assert_eq!(at, position + layout::frame::HEADER_BYTES + (taken * size) as u64);
                            taken += 1;
                        }
                        Err(WriteError::BatchFull { .. }) => assert_eq!(taken, room),
                        Err(error) => panic!("{error}"),
                    }
                }
                assert!(taken <= room && (taken == room || taken == pushed));
                if !keep {
                    drop(records);
                } else if let Some(written) = records.commit() {
                    assert!(written.position == position && written.time >= self.latest);
                    self.committed(1, size as u16, written.time, payload[..taken * size].to_vec());
                    self.count(if room < most { "records for which there was less room" } else { "records" });
                } else {
                    assert_eq!(taken, 0);
                }
            }
            Err(WriteError::Full { .. }) => assert!(room.is_none(), "refused although there was room"),
            Err(error) => panic!("{error}"),
        }
        self.writer = Some(writer);
    }

    /// As a write, with a time that may go back.
    fn append(&mut self, length: usize, body: Body, back: u64) {
        let (position, gate) = (self.head, self.gate());
        let payload = self.payload(position, length, body);
        let fits = position + layout::frame_bytes(length as u64) + 64 <= gate;
        let header = FrameHeader {
            time: self.latest.saturating_sub(back),
            topic: 2,
            message_id: self.number,
            flags: layout::frame::APPENDED,
        };
        match self.writer.as_mut().unwrap().append(header, &payload) {
            Ok(written) => {
                assert!(fits, "overwrote what a gated reader has not read");
                assert_eq!((written.position, written.time), (position, header.time));
                self.committed(2, layout::frame::APPENDED, header.time, payload);
                self.count("frames appended");
            }
            Err(error) => assert!(!fits && matches!(error, WriteError::Full { .. }), "{error}"),
        }
    }

    /// The gap is filled as far as there is room.
    fn skip(&mut self, lines: u64) {
        let (target, gate) = (self.head + lines * 64, self.gate());
        let longest = layout::max_payload(SMALL) + layout::frame::HEADER_BYTES;
        let skipped = self.writer.as_mut().unwrap().skip_to(target);
        while self.head < target {
            let end = target.min(self.head + longest);
            if end + 64 > gate {
                assert!(matches!(skipped, Err(WriteError::Full { .. })), "{skipped:?}");
                self.count("full in a gap");
                return;
            }
            self.void.insert(self.head);
            self.head = end;
            self.count("void frames");
        }
        assert_eq!(skipped, Ok(()));
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
        if held.is_none() {
            self.kept.remove(&seat);
        }
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

    /// The first call keeps none of the frames already read, which may be overwritten. Frames kept later can be read
    /// again.
    fn keep(&mut self, seat: u32, back: usize) {
        let Some(reader) = self.gated.get_mut(&seat) else { return };
        let view = self.journal.stat().readers.into_iter().find(|view| view.seat == seat).unwrap();
        let kept = match self.kept.get(&seat) {
            None => view.position,
            Some(&kept) => {
                let read = self.frames.range(kept..=view.position).map(|(&position, _)| position);
                read.rev().nth(back).unwrap_or(kept)
            }
        };
        reader.keep(kept);
        // The position only grows, and never beyond what is read.
        reader.keep(0);
        if kept == view.position {
            reader.keep(u64::MAX);
        }
        self.kept.insert(seat, kept);
        self.count("keeps");
        let mut again = self.journal.observe(kept).unwrap();
        for expected in self.frames.range(kept..) {
            check(&again.read().unwrap().expect("it is kept"), expected);
        }
        assert_eq!(again.read(), Ok(None));
    }

    fn read_batch(&mut self, seat: u32, most: usize) {
        let Some(reader) = self.gated.get_mut(&seat) else { return };
        let only = self.only.get(&seat).copied();
        let wanted = |frame: &Expected| only.is_none_or(|topic| frame.topic == topic);
        let rest = self.frames.range(reader.position()..).filter(|(_, frame)| wanted(frame));
        let mut expected = rest.take(most).peekable();
        let mut seen = 0;
        let read = reader.read_batch(most, |frame| {
            check(&frame, expected.next().expect("no frame that was never written"));
            seen += 1;
        });
        assert_eq!(read, Ok(seen));
        assert!(expected.peek().is_none(), "read less than there was");
        assert!(seen == most || reader.position() == self.head);
        // All of it is finished: the writer may overwrite it at once.
        let view = self.journal.stat().readers.into_iter().find(|view| view.seat == seat).unwrap();
        assert_eq!(view.position, reader.position());
        self.count("bulk reads");
    }

    fn read_loose(&mut self, number: u32, count: usize) {
        let Some(reader) = self.loose.get_mut(&number) else { return };
        for _ in 0..count {
            let from = reader.position();
            // The bytes that were touched, and at most those declared.
            let gone = self.head + 64 > from + SMALL;
            let doubtful = self.head + layout::max_reach(SMALL) > from + SMALL;
            match reader.read() {
                Ok(Some(frame)) => {
                    assert!(!gone, "a frame that is gone was handed out");
                    check(&frame, self.frames.range(from..).next().unwrap());
                }
                Ok(None) => {
                    assert!(self.frames.range(from..).next().is_none());
                    assert_eq!(reader.position(), self.head);
                    break;
                }
                Err(ReadError::Lapped(gap)) => {
                    assert!(doubtful, "a gap where nothing was declared");
                    assert!(self.frames.range(from..gap.from).next().is_none(), "a frame was passed over");
                    assert_eq!(gap.resumed_at, self.head);
                    *self.tally.entry("gaps").or_default() += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn find_oldest(&self) {
        let oldest = self.journal.oldest_frame().unwrap();
        let safe = self.journal.stat().oldest;
        let capacity = self.journal.shape().capacity;
        let near = layout::mark_reach(capacity);
        let starts = self.frames.contains_key(&oldest) || self.void.contains(&oldest);
        assert!(oldest == self.head || starts, "no frame starts at {oldest}");
        assert!((safe..=safe + near).contains(&oldest) || oldest == self.head && self.head <= safe + near);
    }
}

fn check(frame: &Frame<'_>, (&position, expected): (&u64, &Expected)) {
    assert_eq!((frame.position, frame.time), (position, expected.time));
    assert_eq!((frame.message_id, frame.topic), (expected.message_id, expected.topic));
    assert_eq!((frame.flags, frame.payload), (expected.flags, &expected.payload[..]));
}
