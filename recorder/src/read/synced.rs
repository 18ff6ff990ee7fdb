//! When what is recorded was on disk.

use std::collections::BTreeMap;
use std::io;

use zerocopy::FromBytes;

use super::{FrameError, Recording, is_removed};
use crate::format::{Kind, RecordedJournal, SyncedEntry};

/// When each cut was on disk, by the number of its first block. The times of the last cuts may be missing: each is
/// written with a later cut, and a recorder that was killed wrote none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    times: BTreeMap<u64, u64>,
}

impl Syncs {
    /// When the cut that begins with this block was on disk, nanoseconds since the epoch.
    pub fn of(&self, cut: u64) -> Option<u64> {
        self.times.get(&cut).copied()
    }

    /// True when the recording says it of no cut, as those of earlier versions.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    fn take(&mut self, payload: &[u8]) {
        for row in payload.chunks_exact(size_of::<SyncedEntry>()) {
            if let Ok(row) = SyncedEntry::read_from_bytes(row)
                && row.cut.get() != 0
            {
                self.times.insert(row.cut.get(), row.time.get());
            }
        }
    }
}

impl Recording {
    /// The times of all cuts. All segments are read.
    ///
    /// # Errors
    /// [`FrameError::Disk`].
    pub fn syncs(&self) -> Result<Syncs, FrameError> {
        let mut syncs = Syncs::default();
        for segment in self.segments() {
            let disk = |source: io::Error| FrameError::Disk { segment: segment.head.number.get(), source };
            let take = |_, head: &crate::format::BlockHead, payload: &[u8]| {
                if head.kind() == Some(Kind::Synced) {
                    syncs.take(payload);
                }
            };
            match self.walk(segment, None, take) {
                Err(error) if is_removed(&error) => continue,
                walked => walked.map_err(disk)?,
            }
        }
        Ok(syncs)
    }

    /// When the frame at `position` of a journal was on disk, nanoseconds since the epoch; `None` when it is not there, or
    /// nothing says when. Only the segments from the one that holds it are read, up to the one that says it.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn synced(&self, journal: &RecordedJournal, position: u64) -> Result<Option<u64>, FrameError> {
        let mut chunks = self.chunks(journal, position);
        let mut bytes = Vec::new();
        let first = loop {
            match chunks.next(&mut bytes) {
                Ok(first) => break first,
                Err(FrameError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        };
        if first.is_none_or(|first| first > position) {
            return Ok(None);
        }
        let cut = chunks.cut();
        let later = self.segments().iter().skip_while(|segment| segment.blocks_end <= cut);
        let mut syncs = Syncs::default();
        for segment in later {
            let disk = |source: io::Error| FrameError::Disk { segment: segment.head.number.get(), source };
            let take = |_, head: &crate::format::BlockHead, payload: &[u8]| {
                if head.kind() == Some(Kind::Synced) && head.cut.get() > cut {
                    syncs.take(payload);
                }
            };
            match self.walk(segment, None, take) {
                Err(error) if is_removed(&error) => continue,
                walked => walked.map_err(disk)?,
            }
            // Rows are in the order of the cuts: a later one says that this one was left out.
            if syncs.times.range(cut..).next().is_some() {
                break;
            }
        }
        Ok(syncs.of(cut))
    }
}
