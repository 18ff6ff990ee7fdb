//! What stands in a book, as C reads it.

use matching::exchange::{BookView, LevelState};
use wire::{InstrumentId, Price};

use crate::{CExchange, Code, guarded, order};

/// `colo_level` of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CLevel {
    /// Its price.
    pub price: i64,
    /// Quantity that the book shows.
    pub shown: i64,
    /// Quantity of icebergs that it does not show.
    pub hidden: i64,
    /// Number of orders.
    pub orders: u32,
    /// Zero.
    pub reserved: u32,
}

const _: () = assert!(size_of::<CLevel>() == 32, "as in the header");

impl CLevel {
    fn empty(price: i64) -> CLevel {
        CLevel { price, shown: 0, hidden: 0, orders: 0, reserved: 0 }
    }

    fn of(level: LevelState) -> CLevel {
        CLevel {
            shown: level.shown.0,
            hidden: level.hidden.0,
            orders: level.orders,
            ..CLevel::empty(level.price.0)
        }
    }
}

/// Looks at a side of a book.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread changes meanwhile.
unsafe fn look(
    exchange: *const CExchange,
    (instrument, side): (u32, u8),
    act: impl FnOnce(BookView<'_>, wire::Side),
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_ref() }) else { return Code::Null as i32 };
    guarded(|| match (exchange.book(InstrumentId(instrument)), order::side(side)) {
        (Some(book), Some(side)) => {
            act(book, side);
            Code::Ok
        }
        _ => Code::Argument,
    })
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread changes meanwhile; `price` and `quantity` are null or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_best(
    exchange: *const CExchange,
    instrument: u32,
    side: u8,
    price: *mut i64,
    quantity: *mut i64,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        look(exchange, (instrument, side), |book, side| {
            let best = book.best(side).map_or(CLevel::empty(Price::NONE.0), CLevel::of);
            if let Some(price) = price.as_mut() {
                *price = best.price;
            }
            if let Some(quantity) = quantity.as_mut() {
                *quantity = best.shown;
            }
        })
    }
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread changes meanwhile; `level` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_level_at(
    exchange: *const CExchange,
    instrument: u32,
    side: u8,
    price: i64,
    level: *mut CLevel,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(level) = (unsafe { level.as_mut() }) else { return Code::Null as i32 };
    // SAFETY: the caller's promise.
    unsafe {
        look(exchange, (instrument, side), |book, side| {
            *level = book.level(side, Price(price)).map_or(CLevel::empty(price), CLevel::of);
        })
    }
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread changes meanwhile; `levels` is null or has room for `capacity`
/// levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_levels(
    exchange: *const CExchange,
    instrument: u32,
    side: u8,
    levels: *mut CLevel,
    capacity: u64,
) -> i64 {
    if levels.is_null() && capacity > 0 {
        return Code::Null as i64;
    }
    let mut written = 0;
    // SAFETY: the caller's promises: there is room for `capacity` levels, and no more than that are written.
    let code = unsafe {
        look(exchange, (instrument, side), |book, side| {
            for level in book.levels(side).take(usize::try_from(capacity).unwrap_or(usize::MAX)) {
                levels.add(written).write(CLevel::of(level));
                written += 1;
            }
        })
    };
    if code == Code::Ok as i32 { written as i64 } else { i64::from(code) }
}
