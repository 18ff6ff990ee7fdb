//! The reader that the writer waits for.

use std::sync::Arc;

use super::prefetch::Prefetch;
use super::{Frame, NoWriter, Topics, liveness};
use crate::error::ReadError;
use crate::files::control::{Control, WriterState};
use crate::files::lease::Lease;
use crate::layout::{LINE_BYTES, control as at, frame_bytes};
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::Ordering;

/// Gets every frame, in place. Its cursor is in the control page and outlives it: a process that is killed and
/// restarted resumes at the first frame that it had not finished.
///
/// A frame is finished when the next one is requested (or at [`GatedReader::publish`]): until then the writer cannot
/// overwrite it, which makes lending it sound.
#[derive(Debug)]
pub struct GatedReader {
    ring: Ring,
    control: Arc<Control>,
    /// Next frame to look at.
    position: u64,
    /// The position that the writer sees.
    published: u64,
    /// Index of our cursor line.
    cursor: usize,
    frames: u64,
    topics: Topics,
    prefetch: Prefetch,
    /// For a frame that is not in one piece (unmirrored memory only).
    scratch: Vec<u8>,
    /// One reader moves a cursor, so lent frames stay valid.
    _lease: Lease,
}

impl GatedReader {
    pub(crate) fn new(
        ring: Ring,
        control: Arc<Control>,
        seat: u32,
        position: u64,
        lease: Lease,
    ) -> GatedReader {
        let cursor = control.cursor(seat);
        let frames = control.load(cursor + at::CURSOR_FRAMES);
        let scratch = vec![0; control.max_payload() as usize];
        GatedReader {
            ring,
            control,
            position,
            published: position,
            cursor,
            frames,
            topics: Topics::All,
            prefetch: Prefetch::new(),
            scratch,
            _lease: lease,
        }
    }

    /// The next frame, if one is committed; the previous frame is finished with this call.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] when the ring holds something that no writer writes.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        self.publish();
        let Some(header) = self.next_wanted()? else { return Ok(None) };
        let position = self.position;
        self.position += frame_bytes(u64::from(header.length));
        self.frames = self.frames.wrapping_add(1);
        Ok(Some(self.lend(position, header)))
    }

    /// Passes up to `most` frames to `each`, one after the other, and has finished all of them when it returns. Fewer
    /// when fewer are committed. Cheaper than as many calls of [`GatedReader::read`]: the cursor moves once a quarter
    /// of the ring, and at the end.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut reader = journal.gated(5)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// for price in [100_u64, 101, 102] {
    ///     writer.write(7, 3, &price.to_le_bytes())?;
    /// }
    /// let mut bytes = 0;
    /// let frames = reader.read_batch(1_000, |frame| bytes += frame.payload.len())?;
    /// assert_eq!((frames, bytes), (3, 24));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReadError::Corrupt`]; the frames passed before are finished.
    #[inline]
    pub fn read_batch(&mut self, most: usize, mut each: impl FnMut(Frame<'_>)) -> Result<usize, ReadError> {
        let quarter = self.ring.capacity() / 4;
        let mut handed = 0;
        let outcome = loop {
            if handed == most {
                break Ok(handed);
            }
            let header = match self.next_header() {
                Ok(Some(header)) => header,
                Ok(None) => break Ok(handed),
                Err(error) => break Err(error),
            };
            if self.topics.contains(header.topic) {
                each(self.lend(self.position, header));
                self.frames = self.frames.wrapping_add(1);
                handed += 1;
            }
            self.position += frame_bytes(u64::from(header.length));
            if self.position - self.published > quarter {
                self.publish();
            }
        };
        self.publish();
        outcome
    }

    /// The frame at `position`, in place where it is in one piece.
    #[inline(always)]
    fn lend(&mut self, position: u64, header: RawHeader) -> Frame<'_> {
        let length = header.length as usize;
        // SAFETY: our published cursor is at or before `position`, so the writer cannot overwrite these bytes; it is
        // next published through `&mut self`, after the frame that borrows from `self` is gone.
        #[cfg(not(loom))]
        if let Some(payload) = unsafe { self.ring.borrow_payload(position, length) } {
            return Frame::new(position, header, payload);
        }
        self.ring.load_payload(position, &mut self.scratch[..length]);
        Frame::new(position, header, &self.scratch[..length])
    }

    /// Header of the next frame of a wanted topic; the frames before it are finished.
    #[inline]
    fn next_wanted(&mut self) -> Result<Option<RawHeader>, ReadError> {
        let quarter = self.ring.capacity() / 4;
        loop {
            let Some(header) = self.next_header()? else {
                self.publish();
                return Ok(None);
            };
            if self.topics.contains(header.topic) {
                return Ok(Some(header));
            }
            self.position += frame_bytes(u64::from(header.length));
            if self.position - self.published > quarter {
                self.publish();
            }
        }
    }

    /// Header of the frame at our position, if it is committed and valid.
    #[inline]
    fn next_header(&mut self) -> Result<Option<RawHeader>, ReadError> {
        // SYNC: commit.
        let commit = self.ring.commit_word(self.position).load(Ordering::Acquire);
        if commit != self.position {
            // The line was cleared before its predecessor was committed, so no other value is possible here.
            return if commit == 0 {
                self.prefetch.fetch(&self.ring, self.position);
                Ok(None)
            } else {
                Err(self.corrupt("the commit word is neither clear nor this frame's position"))
            };
        }
        let header = self.ring.header(self.position);
        if u64::from(header.length) > self.control.max_payload() {
            return Err(self.corrupt("the frame claims more payload than this journal allows"));
        }
        self.prefetch.record(header.length);
        Ok(Some(header))
    }

    fn corrupt(&self, what: &'static str) -> ReadError {
        ReadError::Corrupt { position: self.position, what }
    }

    /// Time of the next frame of a wanted topic, without reading it; the previous frame is finished.
    ///
    /// # Errors
    /// As [`GatedReader::read`].
    pub fn peek_time(&mut self) -> Result<Option<u64>, ReadError> {
        Ok(self.next_wanted()?.map(|header| header.time))
    }

    /// True when there is a frame at our position. One load.
    #[inline]
    pub fn has_news(&self) -> bool {
        // SYNC: commit.
        self.ring.commit_word(self.position).load(Ordering::Acquire) != 0
    }

    /// Releases everything before our position to the writer. A plain store to a line of our own.
    #[inline]
    pub fn publish(&mut self) {
        if self.published != self.position {
            self.published = self.position;
            self.control.word(self.cursor + at::CURSOR_FRAMES).store(self.frames, Ordering::Relaxed);
            // SYNC: gate.
            self.control.word(self.cursor + at::CURSOR_POSITION).store(self.position, Ordering::Release);
        }
    }

    /// Prevents frames from `position` on from being overwritten although they were read: for a reader that must read
    /// them again after a crash. The position only grows, and outlives the reader as its cursor does; before the first
    /// call nothing is kept.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut reader = journal.gated(5)?;
    /// reader.keep(reader.position());
    /// while writer.write(7, 3, b"news").is_ok() {
    ///     reader.read()?;
    /// }
    /// assert_eq!(journal.oldest_frame()?, journal.first_position()); // all of it is still there
    /// reader.keep(reader.position());
    /// assert!(writer.write(7, 3, b"news").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep(&mut self, position: u64) {
        let kept = self.control.word(self.cursor + at::CURSOR_KEPT);
        let position = position.min(self.published);
        if position > kept.load(Ordering::Relaxed) {
            // SYNC: gate.
            kept.store(position, Ordering::Release);
        }
    }

    /// Returns only frames of these topics from now on.
    pub fn set_topics(&mut self, topics: Topics) {
        self.topics = topics;
    }

    /// Position of the next frame.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Number of the journal within the instance.
    pub fn journal_id(&self) -> u32 {
        self.control.shape().id
    }

    /// Name of the journal.
    pub fn journal_name(&self) -> &str {
        &self.control.shape().name
    }

    /// The journal's current writer.
    pub fn writer_state(&self) -> WriterState {
        self.control.writer_state()
    }

    /// Checks that a writer may still write, or that something is left to read. Reads `/proc`: call it when idle, not
    /// in every turn of a poll loop.
    ///
    /// # Errors
    /// [`NoWriter`]: no writer, and nothing left to read.
    pub fn check_writer(&self) -> Result<(), NoWriter> {
        liveness::check(&self.control, || self.has_news())
    }
}

const _: () = assert!(LINE_BYTES == 64, "the cursor's line and the frame's line are of one size");
