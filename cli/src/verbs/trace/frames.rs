//! Frames of many journals, in the order of their times.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use journal::{Frame, Journal, LooseReader, ReadError, WriterState};
use observe::{InstanceView, TracedJournal, TracedNode};
use recorder::read::{FrameError, Frames};

/// Why frames of a ring are missing.
pub(super) const OVERWRITTEN: &str = "overwritten before they were read";
/// The same of a recording.
const NOT_RECORDED: &str = "missing in the recording";

/// A frame that was copied out of its journal.
#[derive(Debug)]
pub(super) struct Copied {
    /// Index of its journal.
    pub(super) journal: usize,
    id: u32,
    position: u64,
    pub(super) time: u64,
    message_id: u16,
    flags: u16,
    topic: u32,
    epoch: u32,
    payload: Box<[u8]>,
}

impl Copied {
    pub(super) fn of(journal: usize, id: u32, frame: &Frame<'_>) -> Copied {
        Copied {
            journal,
            id,
            position: frame.position,
            time: frame.time,
            message_id: frame.message_id,
            flags: frame.flags,
            topic: frame.topic,
            epoch: frame.epoch,
            payload: frame.payload.into(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.payload.len() + size_of::<Copied>()
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            position: self.position,
            time: self.time,
            message_id: self.message_id,
            flags: self.flags,
            topic: self.topic,
            epoch: self.epoch,
            payload: &self.payload,
        }
    }

    fn rank(&self) -> (u64, u32, u64) {
        (self.time, self.id, self.position)
    }
}

/// The earliest is the greatest: a heap gives it first.
impl Ord for Copied {
    fn cmp(&self, other: &Copied) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}

impl PartialOrd for Copied {
    fn partial_cmp(&self, other: &Copied) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Copied {
    fn eq(&self, other: &Copied) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Copied {}

/// What is next in a journal.
pub(super) enum Next {
    Frame(Copied),
    /// So many bytes are missing, and why.
    Gap(u64, &'static str),
    /// Nothing more; with the reason if that is too early.
    End(Option<String>),
}

/// A journal that is read to its end.
pub(super) enum Source<'a> {
    /// A ring that nobody writes any more, up to where it had come.
    Ring(Box<LooseReader>, u64),
    /// What a ring held that is still written.
    Copy(VecDeque<Copied>),
    Recorded(Box<Frames<'a>>),
}

/// How often the oldest frames of a ring may be overwritten while it is copied.
const TRIES: usize = 5;

impl Source<'_> {
    /// The ring of a journal as it is now; `index` as in [`Source::next`]. One that is written is copied at once: read with all
    /// others in order of time, it would be overwritten meanwhile. With the time of its first frame.
    pub(super) fn ring(journal: &Journal, index: usize) -> Result<(Source<'static>, Option<u64>), String> {
        let id = journal.shape().id;
        let mut copied = VecDeque::new();
        for _ in 0..TRIES {
            let head = journal.head();
            let reader = journal.oldest_frame().and_then(|oldest| journal.observe(oldest));
            let mut reader = reader.map_err(|error| error.to_string())?;
            if journal.writer_process().is_none() {
                let first = reader.peek_time().ok().flatten();
                return Ok((Source::Ring(Box::new(reader), head), first));
            }
            copied.clear();
            while reader.position() < head {
                match reader.read() {
                    Ok(Some(frame)) => copied.push_back(Copied::of(index, id, &frame)),
                    Ok(None) => break,
                    Err(ReadError::Lapped(_)) => {
                        copied.clear();
                        break;
                    }
                    Err(error) => return Err(error.to_string()),
                }
            }
            if !copied.is_empty() {
                break;
            }
        }
        let first = copied.front().map(|frame| frame.time);
        Ok((Source::Copy(copied), first))
    }
}

impl Source<'_> {
    /// `index` and `id` are the journal's.
    pub(super) fn next(&mut self, index: usize, id: u32) -> Next {
        match self {
            Source::Copy(frames) => frames.pop_front().map_or(Next::End(None), Next::Frame),
            Source::Ring(reader, head) if reader.position() >= *head => Next::End(None),
            Source::Ring(reader, _) => match reader.read() {
                Ok(Some(frame)) => Next::Frame(Copied::of(index, id, &frame)),
                Ok(None) => Next::End(None),
                Err(ReadError::Lapped(gap)) => Next::Gap(gap.bytes(), OVERWRITTEN),
                Err(error) => Next::End(Some(error.to_string())),
            },
            Source::Recorded(frames) => match frames.next() {
                Ok(Some(frame)) => Next::Frame(Copied::of(index, id, &frame.as_read())),
                Ok(None) => Next::End(None),
                Err(FrameError::Missing { from, to, .. }) => Next::Gap(to.saturating_sub(from), NOT_RECORDED),
                Err(error) => Next::End(Some(error.to_string())),
            },
        }
    }
}

/// Several of them as one stream; memory holds one frame of each.
pub(super) struct Merge<'a> {
    sources: Vec<Source<'a>>,
    ids: Vec<u32>,
    heap: BinaryHeap<Copied>,
    /// Whose next frame is not in the heap.
    wanted: Vec<usize>,
}

/// A step of a [`Merge`].
pub(super) enum Step {
    Frame(Copied),
    Gap(usize, u64, &'static str),
    Broken(usize, String),
}

impl<'a> Merge<'a> {
    pub(super) fn new(sources: Vec<Source<'a>>, journals: &[TracedJournal]) -> Merge<'a> {
        let ids = journals.iter().map(TracedJournal::id).collect();
        let wanted = (0..sources.len()).rev().collect();
        Merge { sources, ids, heap: BinaryHeap::new(), wanted }
    }

    /// The next in order of time; `None` at the end of all.
    pub(super) fn next(&mut self) -> Option<Step> {
        while let Some(index) = self.wanted.last().copied() {
            match self.sources[index].next(index, self.ids[index]) {
                Next::Frame(frame) => {
                    self.wanted.pop();
                    self.heap.push(frame);
                }
                Next::Gap(bytes, why) => return Some(Step::Gap(index, bytes, why)),
                Next::End(None) => drop(self.wanted.pop()),
                Next::End(Some(error)) => {
                    self.wanted.pop();
                    return Some(Step::Broken(index, error));
                }
            }
        }
        let frame = self.heap.pop()?;
        self.wanted.push(frame.journal);
        Some(Step::Frame(frame))
    }
}

/// The nodes of an instance, as the trace shows them.
pub(super) fn nodes(view: &InstanceView) -> Vec<TracedNode> {
    let seats = view.seats().into_iter();
    seats
        .map(|seat| TracedNode {
            seat: seat.seat,
            name: seat.name,
            kind: seat.kind,
            pid: (seat.process.pid != 0).then_some(seat.process.pid),
        })
        .collect()
}

/// A journal of an instance that somebody has written; `None`: nobody has.
pub(super) fn ring(
    view: &InstanceView,
    nodes: &[TracedNode],
    name: &str,
) -> Result<Option<(Journal, TracedJournal)>, String> {
    let (journal, opened) = view.journal(name).map_err(|error| error.to_string())?;
    if opened.stat.writer == WriterState::Never {
        return Ok(None);
    }
    let seat = opened.stat.writer_seat;
    let writer = nodes.iter().find(|node| node.seat == seat);
    let writer = writer.map_or_else(|| format!("seat {seat}"), |node| node.name.clone());
    let traced = TracedJournal::new(journal.shape().id, name, &writer);
    Ok(Some((journal, traced)))
}
