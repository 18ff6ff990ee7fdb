//! The reader that never holds up the writer.

use std::sync::Arc;

use super::prefetch::Prefetch;
use super::{Frame, NoWriter, Topics, liveness};
use crate::error::{Gap, ReadError};
use crate::files::control::{Control, WriterState};
use crate::files::lease::Lease;
use crate::layout::{control as at, frame_bytes};
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::{Ordering, fence};

/// Copies each frame and then checks whether the writer overwrote it meanwhile.
///
/// When it is lapped, the reader jumps to the head: the oldest frame would be overwritten next.
#[derive(Debug)]
pub struct LooseReader {
    ring: Ring,
    control: Arc<Control>,
    position: u64,
    published: u64,
    /// Our cursor line, if we have a seat: only tools read it, the writer does not.
    cursor: Option<usize>,
    frames: u64,
    lost: u64,
    gaps: u64,
    /// Bytes and laps that earlier readers of this seat lost.
    before: (u64, u64),
    topics: Topics,
    prefetch: Prefetch,
    copy: Vec<u8>,
    /// One reader has a cursor.
    _lease: Option<Lease>,
}

impl LooseReader {
    pub(crate) fn new(
        ring: Ring,
        control: Arc<Control>,
        seat: Option<(u32, Lease)>,
        position: u64,
    ) -> LooseReader {
        let copy = vec![0; control.max_payload() as usize];
        let (cursor, lease) = seat.map(|(seat, lease)| (control.cursor(seat), lease)).unzip();
        let load = |offset: usize| cursor.map_or(0, |cursor| control.load(cursor + offset));
        let mut reader = LooseReader {
            before: (load(at::CURSOR_LOST), load(at::CURSOR_GAPS)),
            cursor,
            ring,
            control,
            position,
            published: 0,
            frames: 0,
            lost: 0,
            gaps: 0,
            topics: Topics::All,
            prefetch: Prefetch::new(),
            copy,
            _lease: lease,
        };
        reader.publish();
        reader
    }

    /// The next frame, if one is committed, copied out.
    ///
    /// # Errors
    /// [`ReadError::Lapped`]: the writer overtook this reader, which already stands at the head: read on.
    /// [`ReadError::Corrupt`]: the ring holds something that no writer writes.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        loop {
            let position = self.position;
            let Some(header) = self.next_header()? else {
                self.publish();
                return Ok(None);
            };
            let wanted = self.topics.contains(header.topic);
            let length = header.length as usize;
            if wanted {
                self.ring.load_payload(position, &mut self.copy[..length]);
            }
            // SYNC: intent. If a byte of the copy is newer than the frame, the intent to write it is visible now.
            fence(Ordering::Acquire);
            if self.is_lapped() {
                return Err(self.resume());
            }
            self.position += frame_bytes(u64::from(header.length));
            if wanted {
                self.frames += 1;
                return Ok(Some(Frame::new(position, header, &self.copy[..length])));
            }
        }
    }

    /// Passes up to `most` frames to `each`, one after the other, each copied. Fewer when fewer are committed.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut reader = journal.loose(5)?;
    /// for text in ["bid", "ask", "trade"] {
    ///     writer.write(7, 3, text.as_bytes())?;
    /// }
    /// let mut bytes = 0;
    /// assert_eq!(reader.read_batch(64, |frame| bytes += frame.payload.len())?, 3);
    /// assert_eq!(bytes, 11);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`LooseReader::read`]; the frames passed before are whole.
    #[inline]
    pub fn read_batch(&mut self, most: usize, mut each: impl FnMut(Frame<'_>)) -> Result<usize, ReadError> {
        for handed in 0..most {
            match self.read()? {
                Some(frame) => each(frame),
                None => return Ok(handed),
            }
        }
        self.publish();
        Ok(most)
    }

    /// Header of the frame at our position, if it is committed; it may be overwritten until it is checked again.
    #[inline]
    fn next_header(&mut self) -> Result<Option<RawHeader>, ReadError> {
        // SYNC: commit.
        let commit = self.ring.commit_word(self.position).load(Ordering::Acquire);
        if commit != self.position {
            // Either there is no frame yet, or the writer has overwritten it since. The line was cleared before its
            // predecessor was committed, so nothing else is possible.
            return if self.is_lapped() {
                Err(self.resume())
            } else if commit == 0 {
                self.prefetch.fetch(&self.ring, self.position);
                Ok(None)
            } else {
                Err(self.corrupt("the commit word is neither clear nor this frame's position"))
            };
        }
        let header = self.ring.header(self.position);
        if u64::from(header.length) > self.control.max_payload() {
            fence(Ordering::Acquire);
            return Err(if self.is_lapped() {
                self.resume()
            } else {
                self.corrupt("the frame claims more payload than this journal allows")
            });
        }
        self.prefetch.record(header.length);
        Ok(Some(header))
    }

    /// True when the writer may have touched bytes at our position.
    #[inline]
    fn is_lapped(&self) -> bool {
        self.control.intent().saturating_sub(self.ring.capacity()) > self.position
    }

    fn corrupt(&self, what: &'static str) -> ReadError {
        ReadError::Corrupt { position: self.position, what }
    }

    /// Jumps to the head and returns what was lost.
    #[cold]
    fn resume(&mut self) -> ReadError {
        // SYNC: reach. The head is ahead of us by almost the whole ring.
        if !self.control.is_plausible() || self.control.head() <= self.position {
            return self.corrupt("the writer's intent is further ahead of its head than any writer's");
        }
        let gap = Gap { from: self.position, resumed_at: self.control.head() };
        self.position = gap.resumed_at;
        self.lost += gap.bytes();
        self.gaps += 1;
        self.publish();
        ReadError::Lapped(gap)
    }

    /// Time of the next frame of a wanted topic, without reading it.
    ///
    /// # Errors
    /// As [`LooseReader::read`].
    pub fn peek_time(&mut self) -> Result<Option<u64>, ReadError> {
        loop {
            let Some(header) = self.next_header()? else { return Ok(None) };
            fence(Ordering::Acquire);
            if self.is_lapped() {
                return Err(self.resume());
            }
            if self.topics.contains(header.topic) {
                return Ok(Some(header.time));
            }
            self.position += frame_bytes(u64::from(header.length));
        }
    }

    /// True when there is a frame at our position, or we were lapped.
    #[inline]
    pub fn has_news(&self) -> bool {
        // SYNC: commit.
        self.ring.commit_word(self.position).load(Ordering::Acquire) == self.position || self.is_lapped()
    }

    /// Publishes the position for tools.
    #[inline]
    pub fn publish(&mut self) {
        if self.published == self.position {
            return;
        }
        self.published = self.position;
        if let Some(cursor) = self.cursor {
            let store = |offset: usize, value: u64| {
                self.control.word(cursor + offset).store(value, Ordering::Relaxed)
            };
            store(at::CURSOR_POSITION, self.position);
            store(at::CURSOR_LOST, self.before.0.wrapping_add(self.lost));
            store(at::CURSOR_GAPS, self.before.1.wrapping_add(self.gaps));
            store(at::CURSOR_FRAMES, self.frames);
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

    /// Bytes lost to laps so far.
    pub fn lost_bytes(&self) -> u64 {
        self.lost
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
