//! What functions return when they fail, and the text of it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::journal::{Forked, OpenError, ReadError, WriteError};
use strategy_sdk::{AccountError, DepthError, Refusal};

/// What functions return: zero or more is success, these are the failures. `colo_error` says which file or order it was, and what to
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum colo_code {
    /// Done.
    COLO_OK = 0,
    /// A pointer is null.
    COLO_E_NULL = -1,
    /// A value is none of its enumeration, out of its range, or no UTF-8.
    COLO_E_ARGUMENT = -2,
    /// `struct_size` is not that of this library: it and the program were compiled with different headers.
    COLO_E_SIZE = -3,
    /// A fault of the library; the handle must not be used any more.
    COLO_E_PANIC = -4,
    /// Not now: something is begun on this writer and neither committed nor abandoned, or nothing is.
    COLO_E_ORDER_OF_CALLS = -5,
    /// This process is a fork of the one that opened the handle: only that one may use it.
    COLO_E_FORKED = -6,
    /// The system refused: a file is missing, forbidden, or cannot be mapped.
    COLO_E_IO = -10,
    /// No file of colo.
    COLO_E_FOREIGN = -11,
    /// A file of another version.
    COLO_E_VERSION = -12,
    /// What is there was written by no writer.
    COLO_E_DAMAGED = -13,
    /// Another journal of that name was made since this one was opened.
    COLO_E_REPLACED = -14,
    /// Another process writes it.
    COLO_E_WRITER_EXISTS = -15,
    /// A living process reads in that seat.
    COLO_E_SEAT_TAKEN = -16,
    /// The first frames are overwritten already.
    COLO_E_TOO_LATE = -17,
    /// The journal has no such seat.
    COLO_E_NO_SUCH_SEAT = -18,
    /// No frame can start there.
    COLO_E_NO_SUCH_POSITION = -19,
    /// The writer overtook this loose reader: `colo_gap` says what is lost. The next call reads on.
    COLO_E_LAPPED = -20,
    /// A gated reader is behind: nothing was written, try again later.
    COLO_E_FULL = -30,
    /// No more fits into this batch or frame of records: commit it and begin another.
    COLO_E_BATCH_FULL = -31,
    /// The journal takes no payload of that size.
    COLO_E_TOO_LARGE = -32,
    /// The journal has no such topic.
    COLO_E_NO_SUCH_TOPIC = -33,
    /// More bytes than were claimed.
    COLO_E_PAST_CLAIM = -34,
    /// A record of another size than was claimed, or of one that no record has.
    COLO_E_RECORD_SIZE = -35,
    /// A position that cannot be skipped to.
    COLO_E_NOT_AHEAD = -36,
    /// The strategy has not started, or has stopped.
    COLO_E_NOT_READY = -40,
    /// The instrument is not listed.
    COLO_E_UNKNOWN_INSTRUMENT = -41,
    /// No such order works.
    COLO_E_UNKNOWN_ORDER = -42,
    /// The quantity must be positive.
    COLO_E_QUANTITY = -43,
    /// A limit order needs a price.
    COLO_E_NO_PRICE = -44,
    /// Displayed and minimum quantity are whole lots, not more than the order.
    COLO_E_PART = -45,
    /// A stop needs a price to wait for.
    COLO_E_NO_TRIGGER = -46,
    /// A date is a whole second from 1970 to 2106.
    COLO_E_DATE = -47,
    /// A market order cannot be post-only.
    COLO_E_MARKET_CANNOT_REST = -48,
    /// All order numbers of this start are used up.
    COLO_E_EXHAUSTED = -49,
    /// The platform does not keep it: no accounts, or no depth for what this strategy hears.
    COLO_E_NOT_KEPT = -50,
    /// No account of that number is open.
    COLO_E_UNKNOWN_ACCOUNT = -51,
    /// It changed faster than it could be copied: ask again.
    COLO_E_BUSY = -52,
    /// There is none yet: no quote, no such parameter.
    COLO_E_NOTHING = -53,
}

use colo_code::*;

/// Why a call failed. Made into text only when somebody asks.
#[derive(Debug)]
pub(crate) enum Fault {
    Plain(colo_code),
    Text(colo_code, String),
    Open(OpenError),
    Read(ReadError),
    Write(WriteError),
    Forked(Forked),
    Refused(Refusal),
    Depth(DepthError),
    Account(AccountError),
}

macro_rules! from {
    ($($error:ty => $fault:ident,)*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Fault {
                Fault::$fault(error)
            }
        })*
    };
}

from! {
    colo_code => Plain,
    OpenError => Open,
    ReadError => Read,
    WriteError => Write,
    Forked => Forked,
    Refusal => Refused,
    DepthError => Depth,
    AccountError => Account,
}

impl Fault {
    pub(crate) fn argument(what: impl Into<String>) -> Fault {
        Fault::Text(COLO_E_ARGUMENT, what.into())
    }

    pub(crate) fn code(&self) -> colo_code {
        match self {
            Fault::Plain(code) | Fault::Text(code, _) => *code,
            Fault::Open(error) => of_open(error),
            Fault::Read(ReadError::Lapped(_)) => COLO_E_LAPPED,
            Fault::Read(ReadError::Forked(_)) => COLO_E_FORKED,
            Fault::Read(ReadError::Corrupt { .. }) => COLO_E_DAMAGED,
            Fault::Write(error) => of_write(error),
            Fault::Forked(_) => COLO_E_FORKED,
            Fault::Refused(refusal) => of_refusal(refusal),
            Fault::Depth(error) => match error {
                DepthError::Nothing(_) => COLO_E_NOTHING,
                DepthError::Unknown(_) => COLO_E_UNKNOWN_INSTRUMENT,
                DepthError::NotKept => COLO_E_NOT_KEPT,
                DepthError::Busy(_) => COLO_E_BUSY,
                DepthError::Forked(_) => COLO_E_FORKED,
                DepthError::Unreadable { .. } => COLO_E_DAMAGED,
            },
            Fault::Account(error) => match error {
                AccountError::NotKept => COLO_E_NOT_KEPT,
                AccountError::Unknown(_) => COLO_E_UNKNOWN_ACCOUNT,
                AccountError::Busy(_) => COLO_E_BUSY,
                AccountError::Forked(_) => COLO_E_FORKED,
                AccountError::Unreadable { .. } => COLO_E_DAMAGED,
            },
        }
    }

    fn text(&self) -> String {
        match self {
            Fault::Plain(code) => text_of(*code).to_owned(),
            Fault::Text(_, text) => text.clone(),
            Fault::Open(error) => error.to_string(),
            Fault::Read(error) => error.to_string(),
            Fault::Write(error) => error.to_string(),
            Fault::Forked(error) => error.to_string(),
            Fault::Refused(error) => error.to_string(),
            Fault::Depth(error) => error.to_string(),
            Fault::Account(error) => error.to_string(),
        }
    }
}

fn of_open(error: &OpenError) -> colo_code {
    match error {
        OpenError::Io { .. } => COLO_E_IO,
        OpenError::Foreign { .. } => COLO_E_FOREIGN,
        OpenError::Version { .. } => COLO_E_VERSION,
        OpenError::Damaged { .. } => COLO_E_DAMAGED,
        OpenError::Replaced { .. } => COLO_E_REPLACED,
        OpenError::WriterExists { .. } => COLO_E_WRITER_EXISTS,
        OpenError::SeatTaken { .. } => COLO_E_SEAT_TAKEN,
        OpenError::Forked(_) => COLO_E_FORKED,
        OpenError::TooLate { .. } => COLO_E_TOO_LATE,
        OpenError::NoSuchPosition { .. } => COLO_E_NO_SUCH_POSITION,
        OpenError::NoSuchSeat { .. } => COLO_E_NO_SUCH_SEAT,
    }
}

fn of_write(error: &WriteError) -> colo_code {
    match error {
        WriteError::Full { .. } => COLO_E_FULL,
        WriteError::BatchFull { .. } => COLO_E_BATCH_FULL,
        WriteError::TooLarge { .. } => COLO_E_TOO_LARGE,
        WriteError::NoSuchTopic { .. } => COLO_E_NO_SUCH_TOPIC,
        WriteError::PastClaim { .. } => COLO_E_PAST_CLAIM,
        WriteError::RecordSize { .. } => COLO_E_RECORD_SIZE,
        WriteError::Forked(_) => COLO_E_FORKED,
        WriteError::NotAhead { .. } => COLO_E_NOT_AHEAD,
    }
}

fn of_refusal(refusal: &Refusal) -> colo_code {
    match refusal {
        Refusal::NotReady | Refusal::WarmingUp => COLO_E_NOT_READY,
        Refusal::UnknownInstrument => COLO_E_UNKNOWN_INSTRUMENT,
        Refusal::UnknownOrder => COLO_E_UNKNOWN_ORDER,
        Refusal::Quantity => COLO_E_QUANTITY,
        Refusal::NoPrice => COLO_E_NO_PRICE,
        Refusal::Part => COLO_E_PART,
        Refusal::NoTrigger => COLO_E_NO_TRIGGER,
        Refusal::Date => COLO_E_DATE,
        Refusal::MarketCannotRest => COLO_E_MARKET_CANNOT_REST,
        Refusal::Full => COLO_E_FULL,
        Refusal::Exhausted => COLO_E_EXHAUSTED,
        Refusal::Journal(error) => of_write(error),
    }
}

fn text_of(code: colo_code) -> &'static str {
    known(code as i32).and_then(|text| text.to_str().ok()).unwrap_or("no code of this library")
}

fn known(code: i32) -> Option<&'static std::ffi::CStr> {
    Some(match code {
        0 => c"done",
        -1 => c"a pointer is null",
        -2 => c"a value is none of its enumeration, out of its range, or no UTF-8",
        -3 => c"struct_size is not that of this library: compile the program with the headers of the library that it loads",
        -4 => c"a fault of the library; the handle must not be used any more",
        -5 => c"not now: commit or abandon what is begun on this writer first, or begin something",
        -6 => c"this process is a fork of the one that opened the handle: only that one may use it",
        -10 => c"the system refused: a file is missing, forbidden, or cannot be mapped",
        -11 => c"no file of colo",
        -12 => c"a file of another version of colo",
        -13 => c"damaged: no writer writes that",
        -14 => c"made anew since it was opened: open the journal again",
        -15 => c"another process writes it; a journal has one writer",
        -16 => c"another process reads in that seat; a seat has one reader",
        -17 => c"the first frames are overwritten already",
        -18 => c"the journal has no such seat",
        -19 => c"no frame can start there",
        -20 => c"lapped: the writer overtook this reader, colo_gap says what is lost; read on",
        -30 => c"full: a gated reader is behind; nothing was written, try again later",
        -31 => c"no more fits: commit, and begin another",
        -32 => c"the journal takes no payload of that size",
        -33 => c"the journal has no such topic",
        -34 => c"more bytes than were claimed",
        -35 => c"a record of another size than was claimed, or of one that no record has",
        -36 => c"a position that cannot be skipped to",
        -40 => c"the strategy has not started, or has stopped",
        -41 => c"the instrument is not listed",
        -42 => c"no such order works",
        -43 => c"the quantity must be positive",
        -44 => c"a limit order needs a price",
        -45 => c"displayed and minimum quantity are whole lots, not more than the order",
        -46 => c"a stop order needs a trigger",
        -47 => c"an order good till a date ends at a whole second from 1970 to 2106",
        -48 => c"a market order cannot be post-only",
        -49 => c"all order numbers of this start are used up: restart the strategy",
        -50 => c"the platform does not keep it",
        -51 => c"no account of that number is open",
        -52 => c"it changed faster than it could be copied: ask again",
        -53 => c"there is none yet",
        _ => return None,
    })
}

/// What a code means, without where and what: in memory that stays.
#[unsafe(no_mangle)]
pub extern "C" fn colo_code_text(code: i32) -> *const c_char {
    known(code).unwrap_or(c"no code of this library").as_ptr()
}

thread_local! {
    static LAST: RefCell<Option<Fault>> = const { RefCell::new(None) };
    static SAID: RefCell<CString> = RefCell::new(CString::default());
}

/// What, where, and what to do about the latest failure in this thread; valid until the next call of this function in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn colo_error() -> *const c_char {
    let said = catch_unwind(|| {
        let text = LAST
            .with_borrow(|last| last.as_ref().map_or_else(|| "nothing has failed".to_owned(), Fault::text));
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        SAID.with_borrow_mut(|said| {
            *said = text;
            said.as_ptr()
        })
    });
    said.unwrap_or(c"a fault of the library".as_ptr())
}

/// Calls `body`; what fails, and a panic, becomes a code. Inside of the guard already: the result of a call is then a number in a
/// register, and not a fault in memory.
#[inline(always)]
pub(crate) fn guarded(body: impl FnOnce() -> Result<i32, Fault>) -> i32 {
    let coded = || match body() {
        Ok(code) => code,
        Err(fault) => note(fault),
    };
    catch_unwind(AssertUnwindSafe(coded)).unwrap_or_else(|_| note(Fault::Plain(COLO_E_PANIC)))
}

#[cold]
fn note(fault: Fault) -> i32 {
    let code = fault.code() as i32;
    // A thread that is ending has nobody to tell.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(fault));
    code
}

/// The handle or value behind a pointer.
macro_rules! at {
    ($pointer:expr) => {
        // SAFETY: what the header asks of callers: the pointer is null, or good for as long as the call lasts, and nobody else uses it.
        match unsafe { $pointer.as_mut() } {
            Some(value) => value,
            None => return Err($crate::fault::Fault::Plain($crate::colo_code::COLO_E_NULL)),
        }
    };
}
pub(crate) use at;

/// A structure that begins with its size, behind a pointer.
macro_rules! sized {
    ($pointer:expr) => {{
        let pointer = $pointer;
        // SAFETY: as in `at`; the size is looked at alone first, as the rest may be shorter than ours.
        let size = unsafe { pointer.cast::<u32>().as_ref() };
        match size {
            None => return Err($crate::fault::Fault::Plain($crate::colo_code::COLO_E_NULL)),
            Some(size) if *size as usize != $crate::fault::size_behind(pointer) => {
                return Err($crate::fault::Fault::Plain($crate::colo_code::COLO_E_SIZE));
            }
            // SAFETY: as in `at`; it is as large as ours.
            Some(_) => unsafe { &mut *pointer.cast_mut() },
        }
    }};
}
pub(crate) use sized;

/// Bytes of what a pointer points to.
pub(crate) const fn size_behind<T>(_pointer: *const T) -> usize {
    size_of::<T>()
}

/// Bytes that the caller has.
macro_rules! bytes {
    ($pointer:expr, $length:expr) => {{
        let (pointer, length): (*const u8, usize) = ($pointer.cast(), $length);
        if length == 0 {
            &[][..]
        } else if pointer.is_null() {
            return Err($crate::fault::Fault::Plain($crate::colo_code::COLO_E_NULL));
        } else {
            // SAFETY: what the header asks of callers: that many bytes can be read there.
            unsafe { std::slice::from_raw_parts(pointer, length) }
        }
    }};
}
pub(crate) use bytes;

/// Text that ends with a zero.
macro_rules! text {
    ($pointer:expr) => {{
        let pointer: *const std::ffi::c_char = $pointer;
        if pointer.is_null() {
            return Err($crate::fault::Fault::Plain($crate::colo_code::COLO_E_NULL));
        }
        // SAFETY: what the header asks of callers: it ends with a zero.
        let text = unsafe { std::ffi::CStr::from_ptr(pointer) };
        text.to_str().map_err(|_| $crate::fault::Fault::Plain($crate::colo_code::COLO_E_ARGUMENT))?
    }};
}
pub(crate) use text;

/// Gives a handle up.
macro_rules! close {
    ($pointer:expr) => {
        if !$pointer.is_null() {
            // SAFETY: what the header asks of callers: it came from this library and was not closed.
            drop(unsafe { Box::from_raw($pointer) });
        }
    };
}
pub(crate) use close;
