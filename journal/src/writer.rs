//! The one writer of a journal.

use std::fs::File;
use std::sync::Arc;

use crate::clock::Clock;
use crate::control::Control;
use crate::error::{OpenError, WriteError};
use crate::layout::{self, LINE_BYTES, control as at, frame_bytes};
use crate::process::ProcessIdentity;
use crate::registry::Registry;
use crate::ring::{RawHeader, Ring};
use crate::sync::{Ordering, fence};
use crate::wait::Waker;

/// A frame that was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its position in the journal.
    pub position: u64,
    /// Its time, nanoseconds since the epoch on the platform's clock.
    pub time: u64,
}

/// Writes frames. There is at most one per journal on the host; a lock that the kernel drops with the process sees
/// to it.
///
/// Hot path of a frame with up to 32 bytes of payload and nobody interested: stores to the frame's line, its
/// successor's commit word and the head's line, which stay in this core's cache; one clock reading; one load of the
/// interest row. No system call, no locked instruction.
#[derive(Debug)]
pub struct Writer {
    ring: Arc<Ring>,
    control: Arc<Control>,
    clock: Clock,
    waker: Option<Waker>,
    /// Where the next frame goes.
    position: u64,
    /// Bytes before this may be overwritten without asking again.
    limit: u64,
    last_time: u64,
    frames: u64,
    wakes: u64,
    epoch: u64,
    max_payload: u64,
    topics: u32,
    /// Holds the lock; `None` in memory.
    _lock: Option<File>,
}

impl Writer {
    /// Takes the journal over from whoever wrote it last. The caller holds the lock.
    pub(crate) fn attach(
        ring: Arc<Ring>,
        control: Arc<Control>,
        clock: Clock,
        seat: u32,
        lock: Option<File>,
        damaged: impl Fn(String) -> OpenError,
    ) -> Result<Writer, OpenError> {
        let (position, recovered) = end_of_frames(&ring, &control).map_err(damaged)?;
        let word = |index: usize| control.word(index);
        let identity = ProcessIdentity::current();
        let epoch = control.load(at::EPOCH) + 1;
        word(at::HEAD).store(position, Ordering::Release);
        word(at::WRITER).store(u64::from(identity.pid) | u64::from(seat) << 32, Ordering::Relaxed);
        word(at::WRITER_START).store(identity.start, Ordering::Relaxed);
        word(at::WRITER_STATE).store(1, Ordering::Release);
        // Last: an idle reader that sees the new epoch finds all the rest in place.
        word(at::EPOCH).store(epoch, Ordering::Release);
        let shape = control.shape().clone();
        Ok(Writer {
            clock,
            waker: None,
            position,
            limit: position,
            last_time: control.load(at::LAST_TIME),
            frames: control.load(at::FRAMES) + recovered,
            wakes: control.load(at::WAKES),
            epoch,
            max_payload: shape.max_payload(),
            topics: shape.topics,
            _lock: lock,
            ring,
            control,
        })
    }

    /// From now on, wakes the nodes that sleep and want what is written.
    pub fn wake_through(&mut self, registry: Arc<Registry>) {
        self.waker = Some(Waker::new(registry));
    }

    /// Commits one frame: whole or not at all, whatever happens to this process.
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
        if payload.len() as u64 > self.max_payload {
            return Err(WriteError::TooLarge { size: payload.len(), max: self.max_payload });
        }
        if topic >= self.topics {
            return Err(WriteError::NoSuchTopic { topic, topics: self.topics });
        }
        let position = self.position;
        let end = position + frame_bytes(payload.len() as u64);
        // The successor's commit word is cleared too, so its line must be free as well.
        if end + LINE_BYTES > self.limit {
            self.extend(end + LINE_BYTES)?;
        }
        // Old bytes in the successor's line may hold any value, the expected one too.
        self.ring.commit_word(end).store(0, Ordering::Relaxed);
        self.ring.store_payload(position, payload);
        let time = self.clock.now().max(self.last_time);
        self.ring.store_header(
            position,
            RawHeader {
                length: payload.len() as u32,
                message_id,
                flags: 0,
                time,
                topic,
                epoch: self.epoch as u32,
            },
        );
        // SYNC: commit.
        self.ring.commit_word(position).store(position, Ordering::Release);
        self.position = end;
        self.last_time = time;
        self.frames += 1;
        self.control.word(at::FRAMES).store(self.frames, Ordering::Relaxed);
        self.control.word(at::LAST_TIME).store(time, Ordering::Relaxed);
        // SYNC: head.
        self.control.word(at::HEAD).store(end, Ordering::Release);
        if let Some(waker) = &self.waker {
            let woken = waker.notify(&self.control, topic);
            if woken > 0 {
                self.wakes += woken;
                self.control.word(at::WAKES).store(self.wakes, Ordering::Relaxed);
            }
        }
        Ok(Written { position, time })
    }

    /// Asks the gate for room up to `needed`, and declares what will be overwritten.
    #[cold]
    fn extend(&mut self, needed: u64) -> Result<(), WriteError> {
        let capacity = self.ring.capacity();
        let gate = self.control.slowest_gated().saturating_add(capacity);
        if needed > gate {
            return Err(self.full(needed, gate));
        }
        let wanted = (self.position + layout::stride(capacity)).max(needed).min(gate);
        // What a predecessor declared stays declared: it may have touched those bytes.
        let intent = wanted.max(self.control.intent());
        self.control.word(at::INTENT).store(intent, Ordering::Relaxed);
        // SYNC: intent (before the first byte), SYNC: join (before the second look at the gate).
        fence(Ordering::SeqCst);
        let gate = self.control.slowest_gated().saturating_add(capacity);
        self.limit = wanted.min(gate);
        if needed > self.limit { Err(self.full(needed, gate)) } else { Ok(()) }
    }

    fn full(&self, needed: u64, gate: u64) -> WriteError {
        self.control.word(at::FULL).store(self.control.load(at::FULL) + 1, Ordering::Relaxed);
        WriteError::Full {
            needed: needed - LINE_BYTES - self.position,
            free: gate.saturating_sub(self.position + LINE_BYTES),
        }
    }

    /// Where the next frame will go.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many writers this journal has had, this one included.
    pub fn epoch(&self) -> u64 {
        self.epoch
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
    /// Leaves in good order: readers learn that nothing more comes from this writer.
    fn drop(&mut self) {
        self.control.word(at::WRITER_STATE).store(2, Ordering::Release);
        if let Some(waker) = &self.waker {
            for topic in 0..self.topics {
                waker.notify(&self.control, topic);
            }
        }
    }
}

/// Walks from the last published head over frames that were committed but not yet counted: at most a few, since
/// the head follows every commit. Returns the end and how many there were.
fn end_of_frames(ring: &Ring, control: &Control) -> Result<(u64, u64), String> {
    let capacity = ring.capacity();
    let mut position = control.head();
    let aligned = position % LINE_BYTES == 0 && position >= layout::first_position(capacity);
    if !aligned {
        return Err(format!("its head {position} is no possible position"));
    }
    let most = position + capacity;
    let mut frames = 0;
    // SYNC: commit.
    while ring.commit_word(position).load(Ordering::Acquire) == position {
        let length = u64::from(ring.header(position).length);
        if length > control.shape().max_payload() {
            return Err(format!("the frame at its end, position {position}, claims {length} bytes"));
        }
        position += frame_bytes(length);
        frames += 1;
        if position > most {
            return Err("its frames have no end".to_owned());
        }
    }
    Ok((position, frames))
}
