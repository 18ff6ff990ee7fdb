//! The one writer of a journal.

mod batch;
mod claim;
mod copy;
mod records;
mod recovery;
mod restore;

pub use batch::Batch;
pub use claim::Claim;
pub use records::Records;
pub use restore::History;

use std::sync::Arc;

use crate::clock::Clock;
use crate::error::{OpenError, WriteError};
use crate::files::control::Control;
use crate::files::lease::Lease;
use crate::files::registry::Registry;
use crate::fork::Opener;
use crate::layout::{self, LINE_BYTES, MAX_POSITION, control as at, frame_bytes};
use crate::process::ProcessIdentity;
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::{Ordering, fence};
use crate::wait::Waker;
pub(crate) use recovery::end_of_frames;

/// Bytes of payload on a frame's first line.
const FIRST_LINE: usize = (LINE_BYTES - layout::frame::HEADER_BYTES) as usize;

/// A frame that was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its position in the journal.
    pub position: u64,
    /// Its time, nanoseconds since the epoch on the platform's clock.
    pub time: u64,
}

/// Writes frames. There is at most one per journal on the host; a lock that the kernel releases with the process
/// ensures it.
///
/// Hot path of a frame with up to 32 bytes of payload and no interested seat: stores to the frame's line, its
/// successor's commit word and the head's line, which stay in this core's cache; one clock reading; one load of the
/// interest row. No system call, no locked instruction.
#[derive(Debug)]
pub struct Writer {
    ring: Ring,
    control: Arc<Control>,
    clock: Clock,
    waker: Option<Waker>,
    /// Position of the next frame.
    position: u64,
    /// Bytes before this may be overwritten without asking again.
    limit: u64,
    /// What the control page says as intent. Never read back from there.
    intent: u64,
    last_time: u64,
    frames: u64,
    wakes: u64,
    epoch: u64,
    max_payload: u64,
    /// Longest batch.
    batch_bytes: u64,
    topics: u32,
    opener: Opener,
    _lease: Lease,
}

impl Writer {
    /// Takes the journal over from its last writer.
    pub(crate) fn attach(
        ring: Ring,
        control: Arc<Control>,
        clock: Clock,
        seat: u32,
        lease: Lease,
        damaged: impl Fn(String) -> OpenError,
    ) -> Result<Writer, OpenError> {
        let intent = control.intent();
        let end = end_of_frames(&ring, &control).map_err(damaged)?;
        let word = |index: usize| control.word(index);
        let identity = ProcessIdentity::current();
        let epoch = control.load(at::EPOCH).wrapping_add(1);
        word(at::FRAMES).store(layout::frames_word(end.frames, end.position), Ordering::Relaxed);
        word(at::LAST_TIME).store(end.time, Ordering::Relaxed);
        // SYNC: head.
        word(at::HEAD).store(end.position, Ordering::Release);
        // SYNC: writer.
        word(at::WRITER_START).store(identity.start, Ordering::Relaxed);
        word(at::WRITER).store(u64::from(identity.pid) | u64::from(seat) << 32, Ordering::Release);
        word(at::WRITER_STATE).store(1, Ordering::Release);
        // Last: an idle reader that sees the new epoch finds all other fields in place.
        word(at::EPOCH).store(epoch, Ordering::Release);
        let shape = control.shape().clone();
        Ok(Writer {
            clock,
            waker: None,
            position: end.position,
            limit: end.position,
            intent: intent.max(end.position),
            last_time: end.time_to_follow(clock.now()),
            frames: end.frames,
            wakes: control.load(at::WAKES),
            epoch,
            max_payload: control.max_payload(),
            batch_bytes: layout::batch_bytes(shape.capacity),
            topics: shape.topics,
            opener: Opener::current(),
            _lease: lease,
            ring,
            control,
        })
    }

    /// From now on, wakes the sleeping nodes that want what is written.
    pub fn wake_through(&mut self, registry: Arc<Registry>) {
        self.waker = Some(Waker::new(registry));
    }

    /// Commits one frame: whole or not at all, even if this process is killed.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let written = writer.write(7, 3, b"hello")?;
    /// # let mut reader = journal.loose_from_start()?;
    /// let frame = reader.read()?.expect("just written");
    /// assert_eq!((frame.position, frame.message_id, frame.topic, frame.payload), (written.position, 7, 3, &b"hello"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WriteError`]; nothing was written and the payload is still the caller's.
    #[inline]
    pub fn write(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<Written, WriteError> {
        self.write_stamped(message_id, topic, payload, Writer::stamp)
    }

    /// As [`Writer::write`], with the caller's own reading of the clock: for one that writes several messages in a turn,
    /// or answers a message whose time it has at hand ([`Clock::after`]). A time before that of the last frame becomes
    /// that of the last frame; a time in the future would hold up the time of all later frames.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = |id| JournalShape { id, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let (orders, answers) = (Journal::in_memory(shape(1))?, Journal::in_memory(shape(2))?);
    /// # let clock = Clock::monotonic();
    /// # let mut reader = orders.gated(5)?;
    /// # let mut writer = answers.writer(0, clock)?;
    /// # orders.writer(0, clock)?.write(1, 3, b"an order")?;
    /// while let Some(order) = reader.read()? {
    ///     let answer = writer.write_at(clock.after(order.time), 2, order.topic, b"accepted")?;
    ///     assert!(answer.time >= order.time);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Writer::write`].
    #[inline]
    pub fn write_at(
        &mut self,
        time: u64,
        message_id: u16,
        topic: u32,
        payload: &[u8],
    ) -> Result<Written, WriteError> {
        self.write_stamped(message_id, topic, payload, |writer| writer.not_before_the_last(time))
    }

    #[inline(always)]
    fn write_stamped(
        &mut self,
        message_id: u16,
        topic: u32,
        payload: &[u8],
        time: impl FnOnce(&Writer) -> u64,
    ) -> Result<Written, WriteError> {
        self.check(payload.len(), topic)?;
        let position = self.position;
        let end = position + frame_bytes(payload.len() as u64);
        // The successor's commit word is cleared too, so its line must be free as well.
        self.make_room(end + LINE_BYTES)?;
        self.store_frame(position, end, payload);
        let time = time(self);
        self.store_header(position, message_id, 0, topic, payload.len(), time);
        self.commit(position, end, 1, time);
        self.notify(topic);
        Ok(Written { position, time })
    }

    /// Room for a frame of up to `room` bytes of payload, to be written in place.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut claim = writer.claim(7, 3, 100)?;
    /// claim.put(b"hel")?;
    /// claim.put(b"lo")?;
    /// let written = claim.commit();
    /// # let mut reader = journal.loose_from_start()?;
    /// let frame = reader.read()?.expect("just written");
    /// assert_eq!((frame.position, frame.payload), (written.position, &b"hello"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Writer::write`].
    #[inline]
    pub fn claim(&mut self, message_id: u16, topic: u32, room: usize) -> Result<Claim<'_>, WriteError> {
        self.check(room, topic)?;
        self.make_room(self.position + frame_bytes(room as u64) + LINE_BYTES)?;
        Ok(Claim::new(self, message_id, 0, topic, room))
    }

    /// Begins a batch of frames that become visible at once.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut batch = writer.batch();
    /// batch.push(7, 3, b"bid")?;
    /// batch.push(7, 3, b"ask")?;
    /// batch.commit();
    /// # let mut reader = journal.loose_from_start()?;
    /// assert_eq!(reader.read()?.expect("the first").payload, b"bid");
    /// assert_eq!(reader.read()?.expect("the second").payload, b"ask");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batch(&mut self) -> Batch<'_> {
        Batch::new(self, 0)
    }

    /// The time that a frame would get now.
    pub fn now(&self) -> u64 {
        self.stamp()
    }

    /// As [`Writer::batch`], for frames that answer nothing that is read meanwhile: they get the caller's reading of the
    /// clock as they are pushed, instead of one at the commit that is stored to each of them once more.
    pub fn batch_at(&mut self, time: u64) -> Batch<'_> {
        let time = self.not_before_the_last(time);
        Batch::new(self, time)
    }

    #[inline(always)]
    fn check(&self, payload: usize, topic: u32) -> Result<(), WriteError> {
        self.opener.check()?;
        if payload as u64 > self.max_payload {
            return Err(WriteError::TooLarge { size: payload, max: self.max_payload });
        }
        if topic >= self.topics {
            return Err(WriteError::NoSuchTopic { topic, topics: self.topics });
        }
        Ok(())
    }

    /// Makes sure that bytes before `needed` may be overwritten.
    #[inline(always)]
    fn make_room(&mut self, needed: u64) -> Result<(), WriteError> {
        if needed > self.limit { self.extend(needed) } else { Ok(()) }
    }

    /// Clears the commit word of the frame that will be at `position`.
    #[inline(always)]
    fn clear(&self, position: u64) {
        self.ring.commit_word(position).store(0, Ordering::Relaxed);
    }

    /// Stores the payload of a frame that ends at `end`, and clears its successor's commit word: old bytes there may have
    /// any value, the expected one too.
    ///
    /// From the second line on first, then the successor's, then the first line. Stores leave for the cache in order: so
    /// those to the first line leave together with the commit word, and a reader that polls that line does not take it
    /// away in between, while the stores to the other lines wait for theirs. The successor's line is the one that was
    /// not asked for before, so the others do not wait for it.
    #[inline(always)]
    fn store_frame(&self, position: u64, end: u64, payload: &[u8]) {
        let first = self.store_rest(position, payload);
        self.clear(end);
        self.ring.store_payload(position, 0, first);
    }

    /// Stores the payload except for the bytes on the first line, which are returned.
    #[inline(always)]
    fn store_rest<'p>(&self, position: u64, payload: &'p [u8]) -> &'p [u8] {
        let (first, rest) = payload.split_at(payload.len().min(FIRST_LINE));
        if !rest.is_empty() {
            self.ring.store_payload(position, FIRST_LINE, rest);
        }
        first
    }

    /// The current time, never before that of the last frame.
    #[inline(always)]
    fn stamp(&self) -> u64 {
        self.not_before_the_last(self.clock.now())
    }

    #[inline(always)]
    fn not_before_the_last(&self, time: u64) -> u64 {
        time.max(self.last_time)
    }

    #[inline(always)]
    fn store_header(&self, position: u64, message_id: u16, flags: u16, topic: u32, length: usize, time: u64) {
        let epoch = self.epoch as u32;
        let header = RawHeader { length: length as u32, message_id, flags, time, topic, epoch };
        self.ring.store_header(position, header);
    }

    /// Makes `frames` frames from `position` to `end` visible, and counts them.
    #[inline(always)]
    fn commit(&mut self, position: u64, end: u64, frames: u64, time: u64) {
        // SYNC: commit.
        self.ring.commit_word(position).store(position, Ordering::Release);
        self.position = end;
        self.last_time = time;
        self.frames = self.frames.wrapping_add(frames);
        self.control.word(at::FRAMES).store(layout::frames_word(self.frames, end), Ordering::Relaxed);
        self.control.word(at::LAST_TIME).store(time, Ordering::Relaxed);
        // SYNC: head.
        self.control.word(at::HEAD).store(end, Ordering::Release);
    }

    /// Wakes the sleeping seats that want `topic`.
    #[inline(always)]
    fn notify(&mut self, topic: u32) {
        if let Some(waker) = &self.waker {
            let woken = waker.notify(&self.control, topic);
            if woken > 0 {
                self.count_wakes(woken);
            }
        }
    }

    fn count_wakes(&mut self, woken: u64) {
        self.wakes = self.wakes.wrapping_add(woken);
        self.control.word(at::WAKES).store(self.wakes, Ordering::Relaxed);
    }

    /// Wakes the sleeping seats that want one of `topics`, each once.
    #[inline]
    fn notify_rows(&mut self, topics: impl IntoIterator<Item = u32>) {
        if let Some(waker) = &self.waker {
            let woken = waker.notify_rows(&self.control, topics);
            if woken > 0 {
                self.count_wakes(woken);
            }
        }
    }

    /// Wakes the sleeping seats that want any topic.
    #[cold]
    fn notify_all(&mut self) {
        self.notify_rows(0..self.topics);
    }

    /// Checks the gate for room up to `needed`, declares what will be overwritten, and leaves a mark.
    #[cold]
    fn extend(&mut self, needed: u64) -> Result<(), WriteError> {
        let capacity = self.ring.capacity();
        let gate = self.gate();
        if needed > gate {
            return Err(self.full(needed, gate));
        }
        self.control.leave_mark(self.position);
        let wanted = (self.position + layout::stride(capacity)).max(needed).min(gate);
        // What was declared stays, by a predecessor too: it may have touched those bytes.
        self.intent = self.intent.max(wanted);
        // SYNC: reach. Not left to the fence of the previous stride: there is none before a successor's first intent.
        self.control.word(at::INTENT).store(self.intent, Ordering::Release);
        // SYNC: intent (before the first byte), SYNC: join (before the second look at the gate).
        fence(Ordering::SeqCst);
        let gate = self.gate();
        self.limit = wanted.min(gate);
        if needed > self.limit { Err(self.full(needed, gate)) } else { Ok(()) }
    }

    /// Position that must not be passed: one ring ahead of the slowest gated reader, and never beyond the last
    /// position. A cursor beyond our own position is damage, and opens no room.
    fn gate(&self) -> u64 {
        self.control.needed_from().min(self.position).saturating_add(self.ring.capacity()).min(MAX_POSITION)
    }

    fn full(&mut self, needed: u64, gate: u64) -> WriteError {
        if let Some(waker) = &self.waker {
            let woken = waker.wake_blocking_readers(&self.control, needed);
            if woken > 0 {
                self.count_wakes(woken);
            }
        }
        self.control.word(at::FULL).store(self.control.load(at::FULL).wrapping_add(1), Ordering::Relaxed);
        WriteError::Full {
            needed: needed - LINE_BYTES - self.position,
            free: gate.saturating_sub(self.position + LINE_BYTES),
        }
    }

    /// Counts a frame of this class, right behind its commit; in a batch each frame, in order. A writer that is killed
    /// in between leaves the last frames uncounted, see [`Journal::uncounted`](crate::Journal::uncounted).
    #[inline(always)]
    pub fn count(&mut self, class: usize) {
        if class < at::CLASSES {
            let word = self.control.word(at::TALLY + class);
            // SYNC: tally. The commit comes before it.
            word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
    }

    /// Frames by class, by this writer and those before it.
    pub fn tally(&self) -> [u64; at::CLASSES] {
        self.control.tally()
    }

    /// True when frames of `bytes` bytes in all can be written now. Otherwise readers that hold the writer up are woken, as by a
    /// write that finds no room.
    #[inline]
    pub fn has_room(&mut self, bytes: u64) -> bool {
        self.opener.is_here() && self.make_room(self.position + bytes + LINE_BYTES).is_ok()
    }

    /// Bytes of the longest batch.
    pub fn longest_batch(&self) -> u64 {
        self.batch_bytes
    }

    /// Position of the next frame.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// End of what is on disk, according to all readers that write there; `None` when no reader does.
    pub fn durable(&self) -> Option<u64> {
        self.control.durable()
    }

    /// How many writers this journal has had, this one included.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Frames committed since the journal was created, by this writer and those before it.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Largest payload.
    pub fn max_payload(&self) -> u64 {
        self.max_payload
    }

    /// Number of the journal within the instance.
    pub fn journal_id(&self) -> u32 {
        self.control.shape().id
    }
}

impl Drop for Writer {
    /// Closes the journal: readers learn that this writer writes no more. In a child of a fork the parent writes on.
    fn drop(&mut self) {
        if !self.opener.is_here() {
            return;
        }
        self.control.word(at::WRITER_STATE).store(2, Ordering::Release);
        self.notify_all();
    }
}
