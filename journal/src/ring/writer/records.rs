//! Many messages of one size in one frame.

use super::{Claim, Writer, Written};
use crate::error::WriteError;
use crate::layout::{LINE_BYTES, frame, frame_bytes};

/// Room for several messages of one id, topic and size in one frame, created by [`Writer::claim_records`]. Dropped without
/// [`Records::commit`], it has no effect.
///
/// They take less memory than frames of their own, which have a header each and end with a line, and less time on both
/// sides. A reader gets all of them in one [`Frame`](crate::Frame), and has finished with all of them at once.
#[derive(Debug)]
#[must_use = "records that are not committed are not written"]
pub struct Records<'w> {
    claim: Claim<'w>,
    /// Bytes of each.
    size: usize,
}

impl Writer {
    /// Room for up to `most` messages of `size` bytes, for fewer when there is less room; for one at least.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut reader = journal.gated(5)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut records = writer.claim_records(7, 3, 16, 100)?;
    /// let first = records.push(b"the first quote.")?;
    /// let second = records.push(b"the second quote")?;
    /// records.commit();
    /// let frame = reader.read()?.expect("both are in it");
    /// let read: Vec<_> = frame.records().collect();
    /// assert_eq!(read, [(first, &b"the first quote."[..]), (second, &b"the second quote"[..])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError::RecordSize`]; others as [`Writer::write`].
    #[inline]
    pub fn claim_records(
        &mut self,
        message_id: u16,
        topic: u32,
        size: usize,
        most: usize,
    ) -> Result<Records<'_>, WriteError> {
        let largest = usize::from(frame::RECORD);
        if size == 0 || size > largest {
            return Err(WriteError::RecordSize { size, least: 1, most: largest });
        }
        self.check(size, topic)?;
        let most = most.clamp(1, self.max_payload as usize / size);
        let mut room = most * size;
        if self.end_of(room) > self.limit {
            room = self.fewer(size, most) * size;
            self.make_room(self.end_of(room))?;
        }
        Ok(Records { claim: Claim::new(self, message_id, size as u16, topic, room), size })
    }

    /// Behind the line that follows a frame with `room` bytes of payload.
    fn end_of(&self, room: usize) -> u64 {
        self.position + frame_bytes(room as u64) + LINE_BYTES
    }

    /// How many records of `size` bytes, up to `most`, the gate leaves room for; one at least.
    #[cold]
    fn fewer(&self, size: usize, most: usize) -> usize {
        let free = self.gate().saturating_sub(self.position + LINE_BYTES + frame::HEADER_BYTES);
        (free as usize / size).clamp(1, most)
    }
}

impl Records<'_> {
    /// Adds a message and returns its position, which lies within the frame and identifies it as a frame's position does.
    ///
    /// # Errors
    /// [`WriteError::BatchFull`]: commit these and begin anew. [`WriteError::RecordSize`]: it has not the size that was
    /// claimed. The messages added before stay.
    #[inline(always)]
    pub fn push(&mut self, record: &[u8]) -> Result<u64, WriteError> {
        if record.len() != self.size {
            return Err(WriteError::RecordSize { size: record.len(), least: self.size, most: self.size });
        }
        if self.claim.room() < self.size {
            return Err(WriteError::BatchFull { max: self.claim.claimed() });
        }
        let position = self.claim.end();
        self.claim.put(record)?;
        Ok(position)
    }

    /// Makes them visible, all at once. Returns the frame's position and time; `None` when there are none.
    #[inline]
    pub fn commit(self) -> Option<Written> {
        self.claim.has_frame().then(|| self.claim.commit())
    }

    /// As [`Records::commit`], with the caller's own reading of the clock; see [`Writer::write_at`].
    #[inline]
    pub fn commit_at(self, time: u64) -> Option<Written> {
        self.claim.has_frame().then(|| self.claim.commit_at(time))
    }
}
