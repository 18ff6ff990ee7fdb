//! The frames of several recorded journals in one order.

use std::collections::{BTreeMap, VecDeque};

use recorder::format::RecordedJournal;
use recorder::read::{Frames, RecordedFrame, Recording, Syncs};

use crate::error::ReplayError;

/// A frame, and which journal of the tape it is of.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) journal: usize,
    pub(crate) position: u64,
    pub(crate) time: u64,
    pub(crate) message_id: u16,
    pub(crate) topic: u32,
    pub(crate) epoch: u32,
    pub(crate) payload: Vec<u8>,
    /// When it was handled, as far as that is known; else when it could be read: when it was published, or on disk.
    pub(crate) order: u64,
    /// A request names when it was handled.
    pub(crate) is_known: bool,
    /// Its journal is one that the strategy read beside the others, as it came to it.
    pub(crate) is_open: bool,
}

/// A position that caused a request, and when the strategy received it.
pub(crate) type Cause = (u64, u64);

/// Frames by number of the journal and position, and the time for which they are handed over instead of their own.
pub(crate) type Moves = BTreeMap<(u32, u64), u64>;

/// A journal that is played.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) journal: &'a RecordedJournal,
    /// The causes of requests in it, by ascending position.
    pub(crate) causes: Vec<Cause>,
    /// Its frames were read when they were on disk, which was then.
    pub(crate) synced: Option<&'a Syncs>,
    /// Only frames of this topic.
    pub(crate) topic: Option<u32>,
    /// Whether they were handled before or behind those of the other journals is known of their causes alone.
    pub(crate) is_open: bool,
}

struct Track<'a> {
    id: u32,
    frames: Frames<'a>,
    next: Option<Taken>,
    causes: VecDeque<Cause>,
    synced: Option<&'a Syncs>,
    topic: Option<u32>,
    is_open: bool,
    /// How long the next frame lay there before it was handled, if that is known.
    lag: u64,
    /// No frame of this journal was handled before this time.
    not_before: u64,
}

/// Frames in the order of their times; of equal times, the journal with the lowest number comes first. That is the order
/// in which a platform in lock-step hands them over. On another platform, a frame that caused a request was handled when
/// that request says, and those behind it in its journal were handled later; and a frame that is read when it is on disk
/// was handled later than that.
pub(crate) struct Tape<'a> {
    tracks: Vec<Track<'a>>,
    moves: &'a Moves,
    /// Longest that a frame lay there before it was handled, of those of which that is known.
    lag: u64,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(
        recording: &'a Recording,
        parts: Vec<Part<'a>>,
        moves: &'a Moves,
    ) -> Result<Tape<'a>, ReplayError> {
        let mut tracks = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let mut track = Track {
                id: part.journal.id,
                frames: recording.frames(part.journal, 0),
                next: None,
                causes: part.causes.into(),
                synced: part.synced,
                topic: part.topic,
                is_open: part.is_open,
                lag: 0,
                not_before: 0,
            };
            track.advance(index, moves)?;
            tracks.push(track);
        }
        Ok(Tape { tracks, moves, lag: 0 })
    }

    /// When the next frame comes.
    pub(crate) fn peek(&self) -> Option<u64> {
        self.earliest().map(|(order, ..)| order)
    }

    fn earliest(&self) -> Option<(u64, u32, usize)> {
        let tracks = self.tracks.iter().enumerate();
        tracks.filter_map(|(index, track)| Some((track.next.as_ref()?.order, track.id, index))).min()
    }

    /// The next frame; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Taken>, ReplayError> {
        let Some((.., index)) = self.earliest() else { return Ok(None) };
        let track = &mut self.tracks[index];
        let taken = track.next.take();
        self.lag = self.lag.max(track.lag);
        track.advance(index, self.moves)?;
        Ok(taken)
    }

    /// Longest that a frame so far lay there before it was handled, of those of which that is known.
    pub(crate) fn lag(&self) -> u64 {
        self.lag
    }

    /// Of each journal that was read beside the others: the frame that comes next.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Taken> {
        self.tracks.iter().filter_map(|track| track.next.as_ref()).filter(|taken| taken.is_open)
    }
}

impl Track<'_> {
    fn advance(&mut self, journal: usize, moves: &Moves) -> Result<(), ReplayError> {
        loop {
            let Some(frame) = self.frames.next()? else { return Ok(()) };
            if self.topic.is_some_and(|topic| topic != frame.topic) {
                continue;
            }
            let RecordedFrame { position, time, message_id, topic, epoch, payload, .. } = frame;
            let payload = payload.to_vec();
            while self.causes.front().is_some_and(|(caused, _)| *caused < position) {
                self.causes.pop_front();
            }
            let received = self.causes.front().filter(|(caused, _)| *caused == position);
            let is_known = received.is_some();
            if let Some(&(_, received)) = received {
                self.not_before = self.not_before.max(received);
            }
            let on_disk = self.synced.and_then(|syncs| syncs.of(self.frames.cut()));
            let could_be_read = on_disk.map_or(time, |on_disk| on_disk.max(time));
            self.lag = received.map_or(0, |(_, received)| received.saturating_sub(could_be_read));
            let order = match moves.get(&(self.id, position)) {
                Some(moved) => *moved,
                None => could_be_read.max(self.not_before),
            };
            // What is moved back moves those behind it; what is moved forward leaves them where they are.
            self.not_before = self.not_before.max(order);
            let is_open = self.is_open;
            self.next = Some(Taken {
                journal,
                position,
                time,
                message_id,
                topic,
                epoch,
                payload,
                order,
                is_known,
                is_open,
            });
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use journal::{Clock, Journal, JournalShape};
    use recorder::format::Description;
    use recorder::gather::{Gatherer, Input};
    use recorder::read::Counts;
    use recorder::write::{Policy, Recorder};

    use super::*;

    fn journal(id: u32, name: &str) -> Journal {
        let shape =
            JournalShape { id, name: name.into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        journal.admit_gated(5).unwrap();
        journal
    }

    fn description(journals: &[&Journal]) -> Description {
        Description {
            instance: "t".into(),
            recorder: "disk".into(),
            program: "test".into(),
            messages: u32::from(wire::schema::VERSION),
            journal_format: journal::layout::FORMAT_VERSION,
            topology: serde_json::Value::Null,
            journals: RecordedJournal::of_all(journals),
        }
    }

    #[test]
    fn a_report_that_waited_for_the_disk_comes_behind_the_quotes_of_that_time_unless_it_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::monotonic();
        let (quotes, reports) = (journal(1, "quotes"), journal(2, "reports"));
        let both = [&quotes, &reports];
        let gated = |journal: &&Journal| Input::Gated(journal.gated(5).unwrap());
        let mut gatherer =
            Gatherer::new(both.iter().map(gated).collect(), vec![Counts::default(); 2], |_, _| 0);
        let policy = Policy { segment_bytes: 1 << 20, compress: None };
        let mut recorder = Recorder::open(folder.path(), &description(&both), policy, clock.now()).unwrap();
        recorder.say_when_synced(clock);
        let mut writers = both.map(|journal| journal.writer(0, clock).unwrap());
        let first = writers[0].write(1, 0, b"quote").unwrap();
        let report = writers[1].write(2, 3, b"report").unwrap();
        let anothers = writers[1].write(2, 4, b"another's").unwrap();
        let cut = clock.now();
        // While the disk is busy with the report, a quote comes.
        let second = writers[0].write(1, 0, b"quote").unwrap();
        assert_eq!(gatherer.cut(&mut recorder, cut, |_, _| ()).unwrap().frames, 3);
        let third = writers[0].write(1, 0, b"quote").unwrap();
        gatherer.cut(&mut recorder, clock.now(), |_, _| ()).unwrap();
        drop(recorder);

        let recording = Recording::open(folder.path()).unwrap();
        let syncs = recording.syncs().unwrap();
        let played = |synced, topic, moves: &Moves| {
            let [quotes, reports] = &recording.description().journals[..] else { panic!() };
            let parts = vec![
                Part { journal: quotes, causes: Vec::new(), synced: None, topic: None, is_open: false },
                Part { journal: reports, causes: Vec::new(), synced, topic, is_open: true },
            ];
            let mut tape = Tape::new(&recording, parts, moves).unwrap();
            let mut order = Vec::new();
            while let Some(taken) = tape.next().unwrap() {
                order.push((taken.journal, taken.position));
            }
            order
        };
        let [q1, q2, q3] = [first, second, third].map(|written| (0, written.position));
        let (r, o) = ((1, report.position), (1, anothers.position));
        let none = Moves::new();
        assert_eq!(played(None, None, &none), [q1, r, o, q2, q3], "as they were committed");
        assert_eq!(played(Some(&syncs), None, &none), [q1, q2, r, o, q3], "as they could be read");
        assert_eq!(played(Some(&syncs), Some(3), &none), [q1, q2, r, q3]);
        let before = Moves::from([((2, report.position), second.time - 1)]);
        assert_eq!(played(Some(&syncs), Some(3), &before), [q1, r, q2, q3]);
        let behind = Moves::from([((2, report.position), third.time + 1)]);
        assert_eq!(played(Some(&syncs), None, &behind), [q1, q2, q3, r, o], "those behind it follow");
    }
}
