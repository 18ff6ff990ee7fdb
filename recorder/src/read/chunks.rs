//! The blocks of one journal: whole frames, as they lay in the ring.

use std::io;

use super::blocks::{Blocks, Found};
use super::frames::demand_version;
use super::{FrameError, Recording, index, is_removed};
use crate::format::{Kind, LINE, RecordedJournal};

/// Reads the blocks of one journal in order.
#[derive(Debug)]
pub struct Chunks<'a> {
    recording: &'a Recording,
    journal: &'a RecordedJournal,
    /// The segment that is read, and what comes after it.
    blocks: Option<Blocks>,
    segment: usize,
    /// Position behind the last block; `None` before the first.
    position: Option<u64>,
    /// What is before this position, or belongs to a cut before this time, need not be read.
    from: u64,
    since: u64,
    gap: Option<&'static str>,
    /// The cut of the block that was given last.
    cut: u64,
    /// Time of the cut of the last block that was given.
    time: u64,
}

impl Recording {
    /// The blocks of a journal that hold frames at `position` or behind it, and perhaps some before.
    pub fn chunks<'a>(&'a self, journal: &'a RecordedJournal, position: u64) -> Chunks<'a> {
        self.chunks_since(journal, position, 0)
    }

    /// The same without the blocks of cuts before `time`, which hold only frames that are older.
    pub fn chunks_since<'a>(&'a self, journal: &'a RecordedJournal, position: u64, time: u64) -> Chunks<'a> {
        let mut chunks = Chunks {
            recording: self,
            journal,
            blocks: None,
            segment: 0,
            position: None,
            from: position,
            since: time,
            gap: None,
            cut: 0,
            time: 0,
        };
        // All cuts of a segment are older than the next segment.
        let later = self.segments().get(1..).unwrap_or_default();
        chunks.segment = later.partition_point(|segment| segment.head.created.get() < time);
        chunks.segment = chunks.search(chunks.segment);
        chunks
    }
}

impl Chunks<'_> {
    /// Puts the next block into `bytes`; the position of its first frame. `None` at the end of the recording.
    ///
    /// # Errors
    /// [`FrameError`]; none but [`FrameError::Missing`] can be read past, after which `bytes` hold the block behind what is missing.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, FrameError> {
        bytes.clear();
        self.append(bytes)
    }

    /// The same behind what `bytes` hold already.
    ///
    /// # Errors
    /// As [`Chunks::next`].
    pub(super) fn append(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, FrameError> {
        while let Some(segment) = self.recording.segments().get(self.segment) {
            let disk = |source| FrameError::Disk { segment: segment.head.number.get(), source };
            if self.blocks.is_none() {
                let opened = self.offset(self.segment).and_then(|offset| {
                    let Some(offset) = offset else { return Ok(None) };
                    let mut blocks = segment.blocks()?;
                    blocks.seek(offset);
                    Ok(Some(blocks))
                });
                match opened {
                    Ok(None) => self.segment += 1,
                    Ok(blocks) => self.blocks = blocks,
                    Err(error) if is_removed(&error) => {
                        self.gap = Some("removed by retention while it was read");
                        self.segment += 1;
                    }
                    Err(error) => return Err(disk(error)),
                }
                if self.blocks.is_none() {
                    continue;
                }
            }
            let Some(blocks) = &mut self.blocks else { continue };
            let ends = segment.blocks_end.min(self.recording.end().next_block);
            if blocks.find().map_err(disk)? == Found::Nothing {
                if !blocks.resync().map_err(disk)? {
                    (self.blocks, self.segment) = (None, self.segment + 1);
                }
                continue;
            }
            let Some(block) = blocks.block() else { return Ok(None) };
            let head = block.head;
            if head.number.get() >= ends {
                (self.blocks, self.segment) = (None, self.segment + 1);
                continue;
            }
            let mine = head.journal == self.journal.number;
            let position = head.position.get();
            let end = position.saturating_add(u64::from(head.length.get()));
            let is_wanted = end > self.from && head.time.get() >= self.since;
            let is_frames = mine && head.kind() == Some(Kind::Frames) && is_wanted;
            if is_frames {
                demand_version(block.payload, &self.journal.name, self.recording.description().messages)?;
                bytes.extend_from_slice(block.payload);
                self.time = head.time.get();
            }
            if mine && head.kind() == Some(Kind::Gap) {
                self.gap = Some("the recorder was overtaken, or its disk took nothing");
            }
            blocks.pass(head.size());
            if is_frames {
                self.cut = head.cut.get();
                let gap = self.gap.take();
                let before = self.position.replace(end).filter(|&before| before < position);
                if let Some(from) = before {
                    let (journal, what) = (self.journal.name.clone(), gap.unwrap_or("damaged, or removed"));
                    return Err(FrameError::Missing { journal, from, to: position, what });
                }
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Number of the first block of the cut that the last block belongs to; see [`Syncs`](super::Syncs).
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Time of the cut that holds the block which was given last.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The first segment from `first` on that may hold what is wanted, by bisection: positions of a journal ascend.
    fn search(&self, first: usize) -> usize {
        let segments = self.recording.segments();
        if self.from <= self.journal.first_position {
            return first;
        }
        let (mut low, mut high) = (first, segments.len());
        while low < high {
            let middle = low.midpoint(high);
            // The nearest segment from the middle on that says how far the journal was.
            let said = (middle..high).find_map(|at| Some((at, self.end_in(at)?)));
            match said {
                Some((at, end)) if end <= self.from => low = at + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Position behind the last frame of the journal in a segment, as its index says; `None` if it says nothing.
    fn end_in(&self, segment: usize) -> Option<u64> {
        let rows = index(&self.recording.segments()[segment]).ok()??;
        let mine = rows.iter().filter(|row| row.journal == self.journal.number);
        mine.map(|row| row.end.get()).max()
    }

    /// Where to begin in a segment; `None` if its index says that nothing wanted is in it.
    fn offset(&self, segment: usize) -> io::Result<Option<u64>> {
        let start = Some(LINE as u64);
        let Some(rows) = index(&self.recording.segments()[segment])? else { return Ok(start) };
        let mut mine = rows.iter().filter(|row| row.journal == self.journal.number).peekable();
        if mine.peek().is_none() {
            return Ok(if self.journal.loose { start } else { None });
        }
        let mut found = None;
        for row in mine {
            if row.end.get() <= self.from {
                continue;
            }
            // The last that begins before what is wanted: the row after it begins behind its start.
            let is_before = row.position.get() <= self.from || row.time.get() < self.since;
            if found.is_some() && !is_before {
                break;
            }
            found = Some(row.offset.get());
            if !is_before {
                break;
            }
        }
        // Behind what was read already nothing is passed over: the index does not have gaps, which come before frames.
        Ok(if self.position.is_some() { start } else { found })
    }
}
