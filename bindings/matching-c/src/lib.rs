//! The exchange core behind a C interface: `include/colo_matching.h` documents it, `README.md` shows a program.
//!
//! No panic leaves a function, no pointer is kept, and what is passed in is checked before it is believed.

mod book;
mod market;
mod order;
mod report;

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use matching::exchange::{Exchange, ExchangeOptions, Filter, Replace};
use wire::{AccountId, InstrumentId, Price, Quantity, StrategyId};

pub use book::{CLevel, colo_best, colo_level_at, colo_levels};
pub use market::{
    CInstrument, CPhaseAt, CTick, colo_advance, colo_equilibrium, colo_list, colo_list_with, colo_phase,
    colo_schedule, colo_set_phase,
};
pub use order::COrder;
use order::FIRST_SIZE;
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

/// A structure that begins with its size as the caller knows it: of this version, or of one of `earlier` sizes, which lack
/// the last fields.
///
/// # Safety
/// `structure` is null or points to as many bytes as its first four say. `T` is valid with all bytes zero.
unsafe fn read<T: Copy>(structure: *const T, earlier: &[usize]) -> Result<T, Code> {
    // SAFETY: the caller's promise: the size can be read.
    let size = unsafe { structure.cast::<u32>().as_ref() }.map(|size| *size as usize).ok_or(Code::Null)?;
    if size != size_of::<T>() && !earlier.contains(&size) {
        return Err(Code::Argument);
    }
    let mut whole = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: `size` bytes can be read, and `T` is at least as large; zero is valid for the rest.
    unsafe {
        std::ptr::copy_nonoverlapping(
            structure.cast::<u8>(),
            whole.as_mut_ptr().cast::<u8>(),
            size.min(size_of::<T>()),
        );
        Ok(whole.assume_init())
    }
}

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
/// `exchange` is null, or an exchange that no other thread uses; `order` is null or points to its `struct_size` bytes; `report` may be called with
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
    // SAFETY: the caller's promise: `struct_size` bytes can be read.
    let order: COrder = match unsafe { read(order, &[FIRST_SIZE]) } {
        Ok(order) => order,
        Err(code) => return code as i32,
    };
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

/// `colo_filter` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CFilter {
    /// Size of this structure.
    pub struct_size: u32,
    /// Bits of what is given.
    pub given: u32,
    /// Of this instrument.
    pub instrument: u32,
    /// Of this account.
    pub account: u32,
    /// Of this strategy.
    pub strategy: u16,
    /// Of this side.
    pub side: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

impl CFilter {
    fn to_filter(self) -> Option<Filter> {
        let given = |bit: u32| self.given & bit != 0;
        let side = if given(8) { Some(order::side(self.side)?) } else { None };
        (self.given < 16).then(|| Filter {
            strategy: given(1).then_some(StrategyId(self.strategy)),
            account: given(2).then_some(AccountId(self.account)),
            instrument: given(4).then_some(InstrumentId(self.instrument)),
            side,
        })
    }
}

/// See the header.
///
/// # Safety
/// As [`colo_new`]; `filter` is null or points to its `struct_size` bytes; `passed_over` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_cancel_all(
    exchange: *mut CExchange,
    filter: *const CFilter,
    passed_over: *mut u64,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    // SAFETY: the caller's promise.
    let filter = match unsafe { read(filter, &[]) } {
        Ok(filter) => filter,
        Err(code) => return code as i32,
    };
    guarded(|| {
        let Some(filter) = CFilter::to_filter(filter) else { return Code::Argument };
        let done = exchange.mass_cancel(&filter, &mut Reports { report, context });
        // SAFETY: the caller's promise.
        if let Some(passed_over) = unsafe { passed_over.as_mut() } {
            *passed_over = done.passed_over;
        }
        Code::Ok
    })
}

/// See the header.
///
/// # Safety
/// As [`colo_new`].
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
