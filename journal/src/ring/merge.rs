//! Reads several journals as one stream.

use crate::error::ReadError;
use crate::ring::reader::{Frame, Reader};

/// Merges readers in the total order (time, journal id, position).
///
/// Over journals that no longer grow, the order is the same on every run. Over live ones it is the order among the
/// frames committed at the time of the call: a frame that is committed later with an earlier time comes later.
///
/// ```
/// # use journal::{Clock, Journal, JournalShape, Merge, Reader};
/// # let shape = |id| JournalShape { id, name: format!("j{id}"), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
/// # let (a, b) = (Journal::in_memory(shape(1))?, Journal::in_memory(shape(2))?);
/// # let clock = Clock::monotonic();
/// let (mut first, mut second) = (a.writer(0, clock)?, b.writer(1, clock)?);
/// second.write(1, 0, b"earlier")?;
/// first.write(1, 0, b"later")?;
/// let mut merge = Merge::new(vec![Reader::Loose(a.loose_from_start()?), Reader::Loose(b.loose_from_start()?)]);
/// let (reader, frame) = merge.next()?.expect("two frames are there");
/// assert_eq!((reader, frame.payload), (1, &b"earlier"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Merge {
    readers: Vec<Reader>,
    /// Time of each reader's next frame, if known.
    next_times: Vec<Option<u64>>,
}

/// A [`ReadError`] and the index of the reader that it comes from. Reading can continue after a lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reader {reader}: {error}")]
pub struct MergeError {
    /// Index into the readers given to [`Merge::new`].
    pub reader: usize,
    /// The reader's error.
    pub error: ReadError,
}

impl Merge {
    /// Merges these readers. Their journals' ids should differ, because they break ties.
    pub fn new(readers: Vec<Reader>) -> Merge {
        let next_times = vec![None; readers.len()];
        Merge { readers, next_times }
    }

    /// The next frame of all journals, with the index of its reader; `None` when no reader has one.
    ///
    /// # Errors
    /// [`MergeError`]: which reader was lapped or found damage.
    #[allow(clippy::should_implement_trait, reason = "the frame borrows from the merge")]
    pub fn next(&mut self) -> Result<Option<(usize, Frame<'_>)>, MergeError> {
        for (index, reader) in self.readers.iter_mut().enumerate() {
            if self.next_times[index].is_none() {
                self.next_times[index] =
                    reader.peek_time().map_err(|error| MergeError { reader: index, error })?;
            }
        }
        let first = (0..self.readers.len())
            .filter_map(|index| {
                self.next_times[index].map(|time| (time, self.readers[index].journal_id(), index))
            })
            .min();
        let Some((_, _, index)) = first else { return Ok(None) };
        self.next_times[index] = None;
        match self.readers[index].read() {
            Ok(frame) => Ok(frame.map(|frame| (index, frame))),
            Err(error) => Err(MergeError { reader: index, error }),
        }
    }

    /// The readers, for queries about their journals.
    pub fn readers(&self) -> &[Reader] {
        &self.readers
    }
}
