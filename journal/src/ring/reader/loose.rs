//! The reader that never holds up the writer.

use std::ops::Deref;
use std::sync::Arc;

use super::{Frame, ReaderCore, Topics, View, buffer};
use crate::error::{Gap, ReadError};
use crate::files::control::Control;
use crate::files::lease::Lease;
use crate::layout::control as at;
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::{Ordering, fence};

/// Copies each frame and then checks whether the writer overwrote it meanwhile.
///
/// When it is lapped, the reader jumps to the head: the oldest frame would be overwritten next.
#[derive(Debug)]
pub struct LooseReader {
    pub(super) core: ReaderCore,
    /// Our cursor line, if we have a seat: only tools read it, the writer does not.
    cursor: Option<usize>,
    pub(super) lost: u64,
    pub(super) gaps: u64,
    /// Bytes and laps that earlier readers of this seat lost.
    before: (u64, u64),
    copy: Vec<u8>,
    /// One reader has a cursor.
    _lease: Option<Lease>,
}

impl Deref for LooseReader {
    type Target = ReaderCore;

    #[inline(always)]
    fn deref(&self) -> &ReaderCore {
        &self.core
    }
}

impl LooseReader {
    pub(crate) fn new(
        ring: Ring,
        control: Arc<Control>,
        seat: Option<(u32, Lease)>,
        position: u64,
    ) -> LooseReader {
        let (cursor, lease) = seat.map(|(seat, lease)| (control.cursor(seat), lease)).unzip();
        let load = |offset: usize| cursor.map_or(0, |cursor| control.load(cursor + offset));
        let before = (load(at::CURSOR_LOST), load(at::CURSOR_GAPS));
        let copy = buffer(&control);
        let core = ReaderCore::new(ring, control, position);
        let mut reader = LooseReader { core, cursor, lost: 0, gaps: 0, before, copy, _lease: lease };
        reader.core.published = 0;
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
        self.core.opener.check()?;
        loop {
            let position = self.core.position;
            let Some(header) = self.next_header()? else {
                self.publish();
                return Ok(None);
            };
            let wanted = self.core.wants(header);
            let length = header.length as usize;
            if wanted {
                self.core.ring.load_payload(position, &mut self.copy[..length]);
            }
            // SYNC: intent. If a byte of the copy is newer than the frame, the intent to write it is visible now.
            fence(Ordering::Acquire);
            if self.core.is_lapped() {
                return Err(self.resume());
            }
            self.core.pass(header);
            if wanted {
                self.core.frames += 1;
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
    pub(super) fn next_header(&mut self) -> Result<Option<RawHeader>, ReadError> {
        let found = if self.core.position < self.core.end() { self.core.next_header() } else { Ok(None) };
        if let Ok(Some(_)) = found {
            return found;
        }
        // SYNC: intent. The line, or the header, may have been overwritten.
        fence(Ordering::Acquire);
        if self.core.is_lapped() { Err(self.resume()) } else { found }
    }

    /// Jumps to the head and returns what was lost.
    #[cold]
    pub(super) fn resume(&mut self) -> ReadError {
        // SYNC: reach. The head is ahead of us by almost the whole ring.
        let core = &mut self.core;
        if !core.control.is_plausible() || core.control.head() <= core.position {
            return core.corrupt("the writer's intent is further ahead of its head than any writer's");
        }
        let gap = Gap { from: core.position, resumed_at: core.control.head() };
        core.position = gap.resumed_at;
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
        self.core.opener.check()?;
        loop {
            let Some(header) = self.next_header()? else { return Ok(None) };
            fence(Ordering::Acquire);
            if self.core.is_lapped() {
                return Err(self.resume());
            }
            if self.core.wants(header) {
                return Ok(Some(header.time));
            }
            self.core.pass(header);
        }
    }

    /// True when there is a frame at our position, or we were lapped.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.core.is_written() || self.core.is_lapped()
    }

    /// Publishes the position for tools.
    #[inline]
    pub fn publish(&mut self) {
        let core = &mut self.core;
        if core.published == core.position {
            return;
        }
        core.published = core.position;
        if let Some(cursor) = self.cursor {
            let store = |offset: usize, value: u64| {
                core.control.word(cursor + offset).store(value, Ordering::Relaxed)
            };
            store(at::CURSOR_POSITION, core.position);
            store(at::CURSOR_LOST, self.before.0.wrapping_add(self.lost));
            store(at::CURSOR_GAPS, self.before.1.wrapping_add(self.gaps));
            store(at::CURSOR_FRAMES, core.frames);
        }
    }

    /// Ends at what this view shows from now on.
    pub fn set_view(&mut self, view: View) {
        self.core.set_view(view);
    }

    /// Returns only frames of these topics from now on.
    pub fn set_topics(&mut self, topics: Topics) {
        self.core.topics = topics;
    }

    /// Bytes lost to laps so far.
    pub fn lost_bytes(&self) -> u64 {
        self.lost
    }
}
