//! Writing: frames, claims, batches, records.

use ::journal::{Batch, Claim, Clock, Opener, Records, Writer, Written};

use crate::colo_code::COLO_E_ORDER_OF_CALLS;
use crate::fault::{Fault, at, bytes, close, guarded, sized};
use crate::journal::{colo_journal, colo_registry};

/// The writer of a journal: for one thread at a time.
pub struct colo_writer {
    /// What is begun. It borrows from `writer`: declared first, so that it is dropped first.
    begun: Begun,
    /// From `Box::into_raw`, so that what is begun keeps its borrow when the handle moves.
    writer: *mut Writer,
    /// Who may end what is begun.
    opener: Opener,
}

enum Begun {
    Nothing,
    Claim(Claim<'static>),
    Batch(Batch<'static>),
    Records(Records<'static>),
}

/// A frame that was committed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_written {
    /// Size of this structure: set it first, once.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its position; of a batch that of its first frame.
    pub position: u64,
    /// Its time.
    pub time: u64,
    /// Position of the next frame.
    pub next: u64,
}

impl colo_writer {
    /// The writer, while nothing is begun.
    fn idle(&mut self) -> Result<&'static mut Writer, Fault> {
        match self.begun {
            // SAFETY: it came from `Box::into_raw` and lives as long as the handle. Nothing is begun, so nobody else borrows it; what is
            // begun with this reference is dropped before it, and until then nobody comes here.
            Begun::Nothing => Ok(unsafe { &mut *self.writer }),
            _ => Err(COLO_E_ORDER_OF_CALLS.into()),
        }
    }

    fn next(&mut self) -> u64 {
        self.idle().map_or(0, |writer| writer.position())
    }

    fn tell(&mut self, written: Written, place: *mut colo_written) -> Result<i32, Fault> {
        if !place.is_null() {
            let place = sized!(place.cast_const());
            (place.position, place.time, place.next) = (written.position, written.time, self.next());
            place.reserved = 0;
        }
        Ok(0)
    }
}

impl Drop for colo_writer {
    fn drop(&mut self) {
        self.begun = Begun::Nothing;
        // SAFETY: it came from `Box::into_raw` and is given up here; nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.writer) });
    }
}

/// Becomes the journal's writer. With a registry its frames have the instance's time and wake its nodes; without one (null) nobody is
/// woken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_attach_writer(
    journal: *mut colo_journal,
    seat: u32,
    registry: *mut colo_registry,
    writer: *mut *mut colo_writer,
) -> i32 {
    guarded(|| {
        let journal = &at!(journal).journal;
        let place = at!(writer);
        let made = if registry.is_null() {
            journal.writer(seat, Clock::calibrate())?
        } else {
            let registry = at!(registry);
            let mut made = journal.writer(seat, registry.clock()?)?;
            made.wake_through(std::sync::Arc::clone(&registry.registry));
            made
        };
        let writer = Box::into_raw(Box::new(made));
        *place =
            Box::into_raw(Box::new(colo_writer { begun: Begun::Nothing, writer, opener: Opener::current() }));
        Ok(0)
    })
}

/// Leaves the journal; what is begun is abandoned. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_writer_close(writer: *mut colo_writer) {
    guarded(|| {
        close!(writer);
        Ok(0)
    });
}

/// Commits one frame, whole or not at all. `written` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_write(
    writer: *mut colo_writer,
    message_id: u16,
    topic: u32,
    payload: *const std::ffi::c_void,
    length: usize,
    written: *mut colo_written,
) -> i32 {
    guarded(|| {
        let writer = at!(writer);
        let payload = bytes!(payload, length);
        let done = writer.idle()?.write(message_id, topic, payload)?;
        writer.tell(done, written)
    })
}

/// Begins a frame of up to `room` bytes, to be filled in place with `colo_put` and made visible with `colo_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_claim(
    writer: *mut colo_writer,
    message_id: u16,
    topic: u32,
    room: usize,
) -> i32 {
    guarded(|| {
        let writer = at!(writer);
        writer.begun = Begun::Claim(writer.idle()?.claim(message_id, topic, room)?);
        Ok(0)
    })
}

/// Begins a batch: frames that become visible at once, added with `colo_push`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_begin_batch(writer: *mut colo_writer) -> i32 {
    guarded(|| {
        let writer = at!(writer);
        writer.begun = Begun::Batch(writer.idle()?.batch());
        Ok(0)
    })
}

/// Begins one frame of up to `most` records of `size` bytes each, added with `colo_put`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_claim_records(
    writer: *mut colo_writer,
    message_id: u16,
    topic: u32,
    size: usize,
    most: usize,
) -> i32 {
    guarded(|| {
        let writer = at!(writer);
        writer.begun = Begun::Records(writer.idle()?.claim_records(message_id, topic, size, most)?);
        Ok(0)
    })
}

/// Adds bytes to the claimed frame, or one record to the claimed records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_put(
    writer: *mut colo_writer,
    bytes: *const std::ffi::c_void,
    length: usize,
) -> i32 {
    guarded(|| {
        let bytes = bytes!(bytes, length);
        match &mut at!(writer).begun {
            Begun::Claim(claim) => claim.put(bytes)?,
            Begun::Records(records) => drop(records.push(bytes)?),
            Begun::Nothing | Begun::Batch(_) => return Err(COLO_E_ORDER_OF_CALLS.into()),
        }
        Ok(0)
    })
}

/// Adds a frame to the batch. `position`, which may be null, gets where it will be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_push(
    writer: *mut colo_writer,
    message_id: u16,
    topic: u32,
    payload: *const std::ffi::c_void,
    length: usize,
    position: *mut u64,
) -> i32 {
    guarded(|| {
        let payload = bytes!(payload, length);
        let Begun::Batch(batch) = &mut at!(writer).begun else { return Err(COLO_E_ORDER_OF_CALLS.into()) };
        let at = batch.push(message_id, topic, payload)?;
        if !position.is_null() {
            *at!(position) = at;
        }
        Ok(0)
    })
}

/// Makes what was begun visible, all at once: 0, or 1 if nothing was put into it and nothing was written. `written` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_commit(writer: *mut colo_writer, written: *mut colo_written) -> i32 {
    guarded(|| {
        let writer = at!(writer);
        writer.opener.check()?;
        let done = match std::mem::replace(&mut writer.begun, Begun::Nothing) {
            Begun::Claim(claim) => Some(claim.commit()),
            Begun::Batch(batch) => batch.commit(),
            Begun::Records(records) => records.commit(),
            Begun::Nothing => return Err(COLO_E_ORDER_OF_CALLS.into()),
        };
        match done {
            Some(done) => writer.tell(done, written),
            None => Ok(1),
        }
    })
}

/// Drops what was begun: nothing of it was ever there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_abandon(writer: *mut colo_writer) -> i32 {
    guarded(|| {
        at!(writer).begun = Begun::Nothing;
        Ok(0)
    })
}

/// Makes `position` that of the next frame: the space up to it is filled with void frames, which readers pass over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_skip_to(writer: *mut colo_writer, position: u64) -> i32 {
    guarded(|| {
        at!(writer).idle()?.skip_to(position)?;
        Ok(0)
    })
}

/// Position of the next frame, and the writer's epoch; either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_writer_position(
    writer: *mut colo_writer,
    position: *mut u64,
    epoch: *mut u64,
) -> i32 {
    guarded(|| {
        let writer = at!(writer).idle()?;
        if !position.is_null() {
            *at!(position) = writer.position();
        }
        if !epoch.is_null() {
            *at!(epoch) = writer.epoch();
        }
        Ok(0)
    })
}
