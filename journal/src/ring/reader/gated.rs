//! The reader that the writer waits for.

use std::ops::Deref;
use std::sync::Arc;

use super::{Frame, ReaderCore, Topics, View, buffer};
use crate::error::ReadError;
use crate::files::control::Control;
use crate::files::lease::Lease;
use crate::layout::{LINE_BYTES, control as at};
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::Ordering;
use crate::wait::Waker;

/// Gets every frame, in place. Its cursor is in the control page and outlives it: a process that is killed and
/// restarted resumes at the first frame that it had not finished.
///
/// A frame is finished when the next one is requested (or at [`GatedReader::publish`]): until then the writer cannot
/// overwrite it, which makes lending it sound.
#[derive(Debug)]
pub struct GatedReader {
    pub(super) core: ReaderCore,
    /// Index of our cursor line.
    pub(super) cursor: usize,
    pub(super) seat: u32,
    /// For a frame that is not in one piece; empty where the memory is mirrored.
    pub(super) scratch: Vec<u8>,
    /// Notifies the seats that wait for what this reader writes to disk.
    pub(super) waker: Option<Waker>,
    /// One reader moves a cursor, so lent frames stay valid.
    _lease: Lease,
}

impl Deref for GatedReader {
    type Target = ReaderCore;

    #[inline(always)]
    fn deref(&self) -> &ReaderCore {
        &self.core
    }
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
        let scratch = if ring.is_mirrored() { Vec::new() } else { buffer(&control) };
        let mut core = ReaderCore::new(ring, control, position);
        core.frames = core.control.load(cursor + at::CURSOR_FRAMES);
        GatedReader { core, cursor, seat, scratch, waker: None, _lease: lease }
    }

    /// The next frame, if one is committed; the previous frame is finished with this call.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] when the ring holds something that no writer writes.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        self.core.opener.check()?;
        self.publish();
        let Some(header) = self.next_wanted()? else { return Ok(None) };
        let position = self.core.position;
        self.core.pass(header);
        self.core.frames = self.core.frames.wrapping_add(1);
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
        self.core.opener.check()?;
        let quarter = self.core.ring.capacity() / 4;
        let end = self.core.end();
        let mut handed = 0;
        let outcome = loop {
            if handed == most || self.core.position >= end {
                break Ok(handed);
            }
            let header = match self.core.next_header() {
                Ok(Some(header)) => header,
                Ok(None) => break Ok(handed),
                Err(error) => break Err(error),
            };
            if self.core.wants(header) {
                each(self.lend(self.core.position, header));
                self.core.frames = self.core.frames.wrapping_add(1);
                handed += 1;
            }
            self.core.pass(header);
            if self.core.position - self.core.published > quarter {
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
        if let Some(payload) = unsafe { self.core.ring.borrow_payload(position, length) } {
            return Frame::new(position, header, payload);
        }
        self.core.ring.load_payload(position, &mut self.scratch[..length]);
        Frame::new(position, header, &self.scratch[..length])
    }

    /// Header of the next frame of a wanted topic; the frames before it are finished.
    #[inline]
    fn next_wanted(&mut self) -> Result<Option<RawHeader>, ReadError> {
        let quarter = self.core.ring.capacity() / 4;
        let end = self.core.end();
        loop {
            let found = if self.core.position < end { self.core.next_header()? } else { None };
            let Some(header) = found else {
                self.publish();
                return Ok(None);
            };
            if self.core.wants(header) {
                return Ok(Some(header));
            }
            self.core.pass(header);
            if self.core.position - self.core.published > quarter {
                self.publish();
            }
        }
    }

    /// Time of the next frame of a wanted topic, without reading it; the previous frame is finished.
    ///
    /// # Errors
    /// As [`GatedReader::read`].
    pub fn peek_time(&mut self) -> Result<Option<u64>, ReadError> {
        self.core.opener.check()?;
        Ok(self.next_wanted()?.map(|header| header.time))
    }

    /// Shows the frames that are committed and will be read next, at most as many, without reading them: for who wants to
    /// have at hand by then what it needs for them. Frames that lie across the end of the ring are left out.
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
    /// let mut seen = Vec::new();
    /// reader.look_ahead(2, |frame| seen.push(frame.payload[0]));
    /// assert_eq!(seen, [100, 101]);
    /// assert_eq!(reader.read()?.map(|frame| frame.payload[0]), Some(100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(not(loom))]
    pub fn look_ahead(&self, most: usize, mut each: impl FnMut(Frame<'_>)) {
        let end = self.core.end();
        let mut position = self.core.position;
        let mut shown = 0;
        while shown < most && position < end {
            let Some(header) = self.core.header_at(position) else { return };
            let length = header.length as usize;
            if self.core.wants(header) {
                // SAFETY: our published cursor is at or before `position`, so the writer cannot overwrite these bytes; it is
                // next published through `&mut self`, after the frame is gone.
                if let Some(payload) = unsafe { self.core.ring.borrow_payload(position, length) } {
                    each(Frame::new(position, header, payload));
                }
                shown += 1;
            }
            position += crate::layout::frame_bytes(header.length.into());
        }
    }

    /// True when there is a frame at our position. One load.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.core.is_written()
    }

    /// Releases everything before our position to the writer. A plain store to a line of our own.
    #[inline]
    pub fn publish(&mut self) {
        let core = &mut self.core;
        if core.published != core.position {
            core.published = core.position;
            core.control.word(self.cursor + at::CURSOR_FRAMES).store(core.frames, Ordering::Relaxed);
            // SYNC: gate.
            core.control.word(self.cursor + at::CURSOR_POSITION).store(core.position, Ordering::Release);
        }
    }

    /// Prevents frames from `position` on from being overwritten although they were read: for a reader that must read
    /// them again after a crash. A frame starts at the position, or on its line; it only grows, and outlives the reader as its
    /// cursor does; before the first call nothing is kept.
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
            // SYNC: gate, SYNC: durable.
            kept.store(position, Ordering::Release);
            if let Some(waker) = &self.waker {
                waker.notify_durable(&self.core.control);
            }
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
}

const _: () = assert!(LINE_BYTES == 64, "the cursor's line and the frame's line are of one size");
