//! How far each journal is recorded.

use std::io;

use zerocopy::FromBytes;

use super::blocks::Found;
use super::{FrameError, Recording, SegmentFile, is_removed, scan};
use crate::format::{IndexEntry, Kind, LINE};

/// The index of a closed segment; `None` if it has none.
///
/// # Errors
/// Those of the file system.
pub fn index(segment: &SegmentFile) -> io::Result<Option<Vec<IndexEntry>>> {
    let mut blocks = segment.blocks()?;
    let Some(last) = blocks.length().checked_sub(2 * LINE as u64) else { return Ok(None) };
    blocks.seek(last);
    if blocks.find()? == Found::Nothing {
        return Ok(None);
    }
    let end = blocks.block().filter(|block| block.head.kind() == Some(Kind::End));
    let Some(offset) = end.and_then(|block| u64::read_from_bytes(block.payload).ok()) else {
        return Ok(None);
    };
    blocks.seek(offset);
    if blocks.find()? == Found::Nothing {
        return Ok(None);
    }
    let rows = blocks.block().filter(|block| block.head.kind() == Some(Kind::Index));
    Ok(rows.map(|block| {
        let rows = block.payload.chunks_exact(size_of::<IndexEntry>());
        rows.filter_map(|row| IndexEntry::read_from_bytes(row).ok()).collect()
    }))
}

impl Recording {
    /// By number less one: position behind the last frame of each journal; `None` if nothing of it is there.
    ///
    /// # Errors
    /// [`FrameError::Disk`].
    pub fn ends(&self) -> Result<Vec<Option<u64>>, FrameError> {
        let mut ends = vec![None; self.description().journals.len()];
        for segment in self.segments().iter().rev() {
            let disk = |source| FrameError::Disk { segment: segment.head.number.get(), source };
            let mut here: Vec<Option<u64>> = vec![None; ends.len()];
            let mut note = |journal: u16, end: u64| {
                if let Some(known) = usize::from(journal).checked_sub(1).and_then(|index| here.get_mut(index))
                {
                    *known = (*known).max(Some(end));
                }
            };
            // The last one may have more than counts: then its index says too much.
            let is_last = segment.head.number == self.last_segment();
            let tail = self.tail_of(segment);
            let rows = if is_last || tail.is_some() { Ok(None) } else { index(segment) };
            let rows = match rows {
                Err(error) if is_removed(&error) => continue,
                rows => rows.map_err(disk)?,
            };
            match rows {
                None if tail.is_some() => {
                    let ends = tail.into_iter().flat_map(|tail| &tail.ends);
                    ends.for_each(|(&journal, &end)| note(journal, end));
                }
                Some(rows) => rows.iter().for_each(|row| note(row.journal.get(), row.end.get())),
                None => {
                    let bounded = SegmentFile {
                        blocks_end: segment.blocks_end.min(self.end().next_block),
                        ..segment.clone()
                    };
                    scan(&bounded).map_err(disk)?.ends.iter().for_each(|(&journal, &end)| note(journal, end));
                }
            }
            for (known, found) in ends.iter_mut().zip(here) {
                *known = known.or(found);
            }
            if ends.iter().all(Option::is_some) {
                break;
            }
        }
        Ok(ends)
    }
}
