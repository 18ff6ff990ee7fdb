//! The exchange core behind a C interface: `include/colo_matching.h` documents it, `README.md` shows a program.
//!
//! No panic leaves a function, no pointer is kept, and what is passed in is checked before it is believed.

mod order;
mod report;

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use matching::exchange::{Exchange, ExchangeOptions, InstrumentRules, Replace};
use wire::{InstrumentId, Price, Quantity, Side};

pub use order::COrder;
use report::Reports;
pub use report::{CReport, ReportFunction};

/// What the functions return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// Done.
    Ok = 0,
    /// A pointer is null.
    Null = -1,
    /// A value is none of its enumeration.
    Argument = -2,
    /// The instrument cannot be listed.
    Instrument = -3,
    /// A fault of the library.
    Panic = -4,
}

/// An exchange, opaque to C.
pub struct CExchange(Exchange);

/// Calls `body`, and returns [`Code::Panic`] if it panics.
fn guarded(body: impl FnOnce() -> Code) -> i32 {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Code::Panic) as i32
}

/// See `colo_exchange_new` in the header.
#[unsafe(no_mangle)]
pub extern "C" fn colo_exchange_new(expected_orders: u64) -> *mut CExchange {
    let options = ExchangeOptions {
        expected_orders: usize::try_from(expected_orders).unwrap_or(usize::MAX).min(1 << 28),
        huge_pages: false,
    };
    let made = catch_unwind(|| Box::into_raw(Box::new(CExchange(Exchange::new(options)))));
    made.unwrap_or(std::ptr::null_mut())
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or came from [`colo_exchange_new`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_exchange_free(exchange: *mut CExchange) {
    if !exchange.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(exchange) });
    }
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_list(exchange: *mut CExchange, instrument: u32, tick: i64) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| match exchange.list(InstrumentRules::new(InstrumentId(instrument), Price(tick))) {
        Ok(()) => Code::Ok,
        Err(_) => Code::Instrument,
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `order` is null or points to its `struct_size` bytes; `report` may be called with
/// `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_new(
    exchange: *mut CExchange,
    order: *const COrder,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    // SAFETY: the caller's promise: `struct_size` can be read.
    let Some(size) = (unsafe { order.cast::<u32>().as_ref() }) else { return Code::Null as i32 };
    if *size as usize != size_of::<COrder>() {
        return Code::Argument as i32;
    }
    // SAFETY: as above, and the size is that of this structure.
    let order = unsafe { *order };
    guarded(|| match order.to_order() {
        Some(order) => {
            exchange.submit(&order, &mut Reports { report, context });
            Code::Ok
        }
        None => Code::Argument,
    })
}

/// See the header.
///
/// # Safety
/// As [`colo_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_cancel(
    exchange: *mut CExchange,
    order: u64,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| {
        exchange.cancel(order, &mut Reports { report, context });
        Code::Ok
    })
}

/// See the header.
///
/// # Safety
/// As [`colo_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_modify(
    exchange: *mut CExchange,
    order: u64,
    price: i64,
    quantity: i64,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| {
        let request = Replace { id: order, price: Price(price), quantity: Quantity(quantity) };
        exchange.replace(&request, &mut Reports { report, context });
        Code::Ok
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `price` and `quantity` are null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_best(
    exchange: *const CExchange,
    instrument: u32,
    side: u8,
    price: *mut i64,
    quantity: *mut i64,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_ref() }) else { return Code::Null as i32 };
    let side = match side {
        1 => Side::Buy,
        2 => Side::Sell,
        _ => return Code::Argument as i32,
    };
    guarded(|| {
        let Some(book) = exchange.book(InstrumentId(instrument)) else { return Code::Argument };
        let best = book.best(side).map_or((Price::NONE.0, 0), |level| (level.price.0, level.shown.0));
        // SAFETY: the caller's promise.
        if let Some(price) = unsafe { price.as_mut() } {
            *price = best.0;
        }
        // SAFETY: the caller's promise.
        if let Some(quantity) = unsafe { quantity.as_mut() } {
            *quantity = best.1;
        }
        Code::Ok
    })
}

/// See the header.
///
/// # Safety
/// As [`colo_list`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_working_orders(exchange: *const CExchange) -> i64 {
    // SAFETY: the caller's promise.
    match unsafe { exchange.as_ref() } {
        Some(CExchange(exchange)) => exchange.working_orders() as i64,
        None => Code::Null as i64,
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn colo_error_text(code: i32) -> *const c_char {
    let text = match code {
        0 => c"done",
        -1 => c"a pointer is null",
        -2 => c"a value is none of its enumeration, or a structure has an unknown size",
        -3 => c"the instrument cannot be listed: its number is not from 1 to 4095, its tick is not positive, or it is listed already",
        -4 => c"a fault of the library; the exchange must not be used any more",
        _ => c"no code of this library",
    };
    text.as_ptr()
}
