//! Reading, frame by frame and by batches.

use ::journal::{Frame, Gap, Journal, OpenError, ReadError, Reader, Topics};

use crate::fault::{Fault, at, bytes, close, guarded, sized};
use crate::journal::{colo_journal, four};

/// A reader, gated or loose: for one thread at a time.
pub struct colo_reader {
    pub(crate) reader: Reader,
    gap: Gap,
    /// A loose reader's batch.
    copy: Vec<u8>,
}

/// A frame. Its payload is lent: until the next call with this reader.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_frame {
    /// Size of this structure: set it first, once.
    pub struct_size: u32,
    /// Bytes of payload.
    pub length: u32,
    /// The frame's position.
    pub position: u64,
    /// When it was committed, in ns since the epoch.
    pub time: u64,
    /// The message, or several records.
    pub payload: *const u8,
    /// Its topic.
    pub topic: u32,
    /// Low half of its writer's epoch.
    pub epoch: u32,
    /// Number of the message.
    pub message_id: u16,
    /// `COLO_FRAME_RECORD` and the others of colo_layout.h.
    pub flags: u16,
    /// Zero.
    pub reserved: u32,
}

/// Frames one behind the other, as they lie in the ring: `colo_batch_next` steps through them without a call. They are lent until the
/// next call with this reader.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_batch {
    /// Size of this structure: set it first, once.
    pub struct_size: u32,
    /// How many frames, void ones among them.
    pub frames: u32,
    /// Position of the first.
    pub position: u64,
    /// The first frame's header.
    pub bytes: *const u8,
    /// Bytes of all of them.
    pub length: u64,
    /// How far `colo_batch_next` is.
    pub offset: u64,
}

/// What a loose reader lost.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_gap_bounds {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// First position that is lost.
    pub from: u64,
    /// Where reading goes on.
    pub resumed_at: u64,
}

fn give(reader: Reader) -> *mut colo_reader {
    let position = reader.position();
    let gap = Gap { from: position, resumed_at: position };
    Box::into_raw(Box::new(colo_reader { reader, gap, copy: Vec::new() }))
}

/// Refuses a position at which no frame is and none comes next: a program that has computed one would read nothing, or from elsewhere.
fn check_position(journal: &Journal, position: u64) -> Result<(), Fault> {
    let refused = || Fault::Open(OpenError::NoSuchPosition { name: journal.shape().name.clone(), position });
    let head = journal.head();
    if position < journal.first_position() || position > head.saturating_add(journal.shape().capacity) {
        return Err(refused());
    }
    if position <= head {
        return Ok(());
    }
    // What was just committed is there before the head says so, and its reader may know the position behind it.
    let mut reader = journal.observe(head)?;
    while reader.position() < position {
        match reader.read() {
            Ok(Some(_)) => {}
            Ok(None) => break,
            // So the head has passed it meanwhile.
            Err(ReadError::Lapped(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    if reader.position() == position { Ok(()) } else { Err(refused()) }
}

/// Reads gated in a seat: the writer waits for it, and it misses nothing. It begins at the seat's cursor, or at the head.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_attach_gated(
    journal: *mut colo_journal,
    seat: u32,
    reader: *mut *mut colo_reader,
) -> i32 {
    guarded(|| {
        let (journal, place) = (&at!(journal).journal, at!(reader));
        let made = journal.gated(seat)?;
        *place = give(Reader::Gated(made));
        Ok(0)
    })
}

/// Reads loosely in a seat, from a position that starts a frame, or the head: the writer may overtake it. One before the journal's first
/// frame or beyond its head is refused, `COLO_E_NO_SUCH_POSITION`: `colo_journal_look` and `colo_journal_oldest` have those that there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_attach_loose(
    journal: *mut colo_journal,
    seat: u32,
    position: u64,
    reader: *mut *mut colo_reader,
) -> i32 {
    guarded(|| {
        let (journal, place) = (&at!(journal).journal, at!(reader));
        check_position(journal, position)?;
        let made = journal.loose_at(seat, position)?;
        *place = give(Reader::Loose(made));
        Ok(0)
    })
}

/// As `colo_attach_loose`, without a seat: nobody notices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_observe(
    journal: *mut colo_journal,
    position: u64,
    reader: *mut *mut colo_reader,
) -> i32 {
    guarded(|| {
        let (journal, place) = (&at!(journal).journal, at!(reader));
        check_position(journal, position)?;
        let made = journal.observe(position)?;
        *place = give(Reader::Loose(made));
        Ok(0)
    })
}

/// Ends reading; a gated reader's cursor stays where it is. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_reader_close(reader: *mut colo_reader) {
    guarded(|| {
        close!(reader);
        Ok(0)
    });
}

/// The next frame: 1 and the frame, 0 if none is there yet, or a code. The frame before it is finished with this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_next(reader: *mut colo_reader, frame: *mut colo_frame) -> i32 {
    guarded(|| {
        let (handle, place) = (at!(reader), sized!(frame.cast_const()));
        // Apart, so that what each returns stays in registers.
        match &mut handle.reader {
            Reader::Gated(reader) => tell(reader.read(), place, &mut handle.gap),
            Reader::Loose(reader) => tell(reader.read(), place, &mut handle.gap),
        }
    })
}

#[inline(always)]
fn tell(
    read: Result<Option<Frame<'_>>, ReadError>,
    place: &mut colo_frame,
    gap: &mut Gap,
) -> Result<i32, Fault> {
    match read {
        Ok(Some(frame)) => {
            place.length = frame.payload.len() as u32;
            place.position = frame.position;
            place.time = frame.time;
            place.payload = frame.payload.as_ptr();
            place.topic = frame.topic;
            place.epoch = frame.epoch;
            place.message_id = frame.message_id;
            place.flags = frame.flags;
            Ok(1)
        }
        Ok(None) => Ok(0),
        Err(error) => Err(lapped(gap, error).into()),
    }
}

/// The frames that are there, up to `most` of them, as they lie in the ring: their number, 0 if there is none, or a code. Those of the
/// call before are finished with this one. A loose reader's are a copy. All topics, whatever `colo_reader_topics` said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_next_batch(reader: *mut colo_reader, most: u32, batch: *mut colo_batch) -> i32 {
    /// Copies of more than this are no faster, and would leave the cache.
    const MOST_BYTES: usize = 256 << 10;
    guarded(|| {
        let (handle, place) = (at!(reader), sized!(batch.cast_const()));
        let most = u64::from(most.min(i32::MAX as u32));
        let found = match &mut handle.reader {
            Reader::Gated(reader) => {
                let chunk = reader.read_frames(most, MOST_BYTES)?;
                chunk.map(|chunk| (chunk.position, chunk.frames, chunk.bytes.as_ptr(), chunk.bytes.len()))
            }
            Reader::Loose(reader) => {
                handle.copy.clear();
                let found = reader.read_frames(most, MOST_BYTES, &mut handle.copy);
                let found = found.map_err(|error| lapped(&mut handle.gap, error))?;
                found.map(|(position, frames)| (position, frames, handle.copy.as_ptr(), handle.copy.len()))
            }
        };
        let Some((position, frames, bytes, length)) = found else { return Ok(0) };
        *place = colo_batch {
            struct_size: size_of::<colo_batch>() as u32,
            frames: frames as u32,
            position,
            bytes,
            length: length as u64,
            offset: 0,
        };
        Ok(frames as i32)
    })
}

#[cold]
fn lapped(place: &mut Gap, error: ReadError) -> ReadError {
    if let ReadError::Lapped(gap) = error {
        *place = gap;
    }
    error
}

/// What was lost, behind `COLO_E_LAPPED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_gap(reader: *mut colo_reader, gap: *mut colo_gap_bounds) -> i32 {
    guarded(|| {
        let (reader, gap) = (at!(reader), sized!(gap.cast_const()));
        (gap.from, gap.resumed_at, gap.reserved) = (reader.gap.from, reader.gap.resumed_at, 0);
        Ok(0)
    })
}

/// Finishes with all frames so far: a gated reader's writer may overwrite them. Call it before a sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_release(reader: *mut colo_reader) -> i32 {
    guarded(|| {
        at!(reader).reader.publish();
        Ok(0)
    })
}

/// Keeps frames from `position` on from being overwritten although they were read: gated readers that must read them again after a
/// crash. Never less than before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_keep(reader: *mut colo_reader, position: u64) -> i32 {
    guarded(|| match &mut at!(reader).reader {
        Reader::Gated(reader) => {
            reader.keep(position);
            Ok(0)
        }
        Reader::Loose(_) => Err(Fault::argument("a loose reader keeps nothing: attach it gated")),
    })
}

/// Returns only frames of these topics from now on; `topics` null: of all. For `colo_next`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_reader_topics(
    reader: *mut colo_reader,
    topics: *const u32,
    count: usize,
) -> i32 {
    guarded(|| {
        let reader = at!(reader);
        if topics.is_null() {
            reader.reader.set_topics(Topics::All);
        } else {
            let numbers = bytes!(topics, count.saturating_mul(4)).chunks_exact(4).map(four);
            reader.reader.set_topics(Topics::only(numbers));
        }
        Ok(0)
    })
}

/// Position of the next frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_reader_position(reader: *mut colo_reader, position: *mut u64) -> i32 {
    guarded(|| {
        *at!(position) = at!(reader).reader.position();
        Ok(0)
    })
}
