//! The last frame of a journal, and what of a recording a recovery needs.

use std::collections::BTreeSet;
use std::io;

use super::frames::raw;
use super::{FrameError, Recording, index, is_removed, scan};
use crate::format::{Kind, RecordedJournal};

impl Recording {
    /// Position and time of the last frame of a journal; `None` if nothing of it is there. Searched from the end, by the
    /// indexes.
    ///
    /// # Errors
    /// [`FrameError::Disk`].
    pub fn last_frame(&self, journal: &RecordedJournal) -> Result<Option<(u64, u64)>, FrameError> {
        for segment in self.segments().iter().rev() {
            let disk = |source| FrameError::Disk { segment: segment.head.number.get(), source };
            let rows = match index(segment) {
                Err(error) if is_removed(&error) => continue,
                rows => rows.map_err(disk)?,
            };
            let start = match rows {
                Some(rows) => match rows.iter().rev().find(|row| row.journal == journal.number) {
                    Some(row) => Some(row.offset.get()),
                    None => continue,
                },
                None => None,
            };
            let mut last = None;
            let walked = self.walk(segment, start, |_, head, mut payload| {
                if head.kind() != Some(Kind::Frames) || head.journal != journal.number {
                    return;
                }
                while let Some((frame, size)) = raw::frame(payload) {
                    last = Some((frame.position, frame.time));
                    payload = &payload[size..];
                }
            });
            match walked {
                Err(error) if is_removed(&error) => continue,
                walked => walked.map_err(disk)?,
            }
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }

    /// Numbers of the segments without which the end of the recording could not be recovered: those with the last state
    /// of the readers and all after it, and with as much of each journal as its ring holds. `None`: nothing can be
    /// recovered yet.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn needed(&self) -> io::Result<Option<BTreeSet<u32>>> {
        let mut needed = BTreeSet::new();
        let mut has_state = false;
        for segment in self.segments().iter().rev() {
            needed.insert(segment.head.number.get());
            if self.last_state(segment)?.is_some() {
                has_state = true;
                break;
            }
        }
        if !has_state {
            return Ok(None);
        }
        let ends = self.ends().map_err(|error| match error {
            FrameError::Disk { source, .. } => source,
            other => io::Error::other(other.to_string()),
        })?;
        let starts: Vec<u64> = self
            .description()
            .journals
            .iter()
            .zip(&ends)
            .map(|(journal, end)| end.map_or(u64::MAX, |end| end.saturating_sub(journal.capacity)))
            .collect();
        let is_needed = |journal: u16, end: u64| {
            let start = usize::from(journal).checked_sub(1).and_then(|journal| starts.get(journal));
            start.is_some_and(|start| end > *start)
        };
        for segment in self.segments() {
            let has_needed = match index(segment)? {
                Some(rows) => rows.iter().any(|row| is_needed(row.journal.get(), row.end.get())),
                None => scan(segment)?.ends.iter().any(|(journal, end)| is_needed(*journal, *end)),
            };
            if has_needed {
                needed.insert(segment.head.number.get());
            }
        }
        Ok(Some(needed))
    }
}
