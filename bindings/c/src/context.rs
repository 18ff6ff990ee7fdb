//! The platform as a strategy sees it.

use std::ffi::c_char;
use std::time::Duration;

use strategy_sdk::{AccountId, Context, InstrumentId, Nanos, TimerId};
use wire::{AccountState, Best, Instrument, Quote};

use crate::colo_code::{COLO_E_NOTHING, COLO_E_UNKNOWN_INSTRUMENT};
use crate::fault::{Fault, at, guarded, sized, text};
use crate::parameters::give_text;

/// A strategy's access to the platform: passed to each of its functions, and valid until that returns.
pub struct colo_context {
    _of_the_library: [u8; 0],
}

/// The context behind a pointer that a strategy was given.
macro_rules! context {
    ($pointer:expr) => {
        $crate::fault::at!($pointer.cast::<strategy_sdk::Context>())
    };
}
pub(crate) use context;

/// What a strategy hears of the market: ten levels, with `data = "depth"`.
pub const COLO_DATA_DEPTH: u32 = 1;
/// The best bid and ask, with `data = "best"`.
pub const COLO_DATA_BEST: u32 = 2;
/// Order by order, with `data = "flow"`.
pub const COLO_DATA_FLOW: u32 = 3;

/// Who and where a strategy is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_identity {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Number of its seat.
    pub strategy: u32,
    /// `COLO_DATA_DEPTH` and so on.
    pub data: u32,
    /// The account of orders that name none.
    pub account: u32,
    /// Name of the node.
    pub name: [c_char; 64],
}

/// Positions of the strategy in one instrument.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_position {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Signed: short is negative.
    pub quantity: i64,
    /// All that was bought.
    pub bought: i64,
    /// All that was sold.
    pub sold: i64,
    /// What sales brought less what purchases cost, as money.
    pub cash: i64,
}

/// Who the strategy is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_who(context: *const colo_context, identity: *mut colo_identity) -> i32 {
    guarded(|| {
        let (context, identity) = (context!(context.cast_mut()), sized!(identity.cast_const()));
        identity.strategy = context.strategy().0.into();
        identity.data = match context.data() {
            strategy_sdk::MarketData::Depth => COLO_DATA_DEPTH,
            strategy_sdk::MarketData::Best => COLO_DATA_BEST,
            strategy_sdk::MarketData::Flow => COLO_DATA_FLOW,
        };
        identity.account = context.default_account().0;
        give_text(context.name(), identity.name.as_mut_ptr(), identity.name.len())
    })
}

/// The strategy's time in ns since the epoch: the platform's, on a deterministic platform the market's. 0 if the context is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_now(context: *const colo_context) -> u64 {
    let mut now = 0;
    guarded(|| {
        now = context!(context.cast_mut()).now().0;
        Ok(0)
    });
    now
}

/// One line in the node's log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_log(context: *const colo_context, line: *const c_char) -> i32 {
    guarded(|| {
        context!(context.cast_mut()).log(text!(line));
        Ok(0)
    })
}

/// Ends the strategy in good order, as if it had been asked to stop from outside.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_request_stop(context: *mut colo_context) -> i32 {
    guarded(|| {
        context!(context).request_stop();
        Ok(0)
    })
}

/// A listed instrument, copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_instrument_by_id(
    context: *const colo_context,
    id: u32,
    instrument: *mut Instrument,
) -> i32 {
    guarded(|| {
        let found = context!(context.cast_mut()).instrument(InstrumentId(id));
        *at!(instrument) = found.ok_or(COLO_E_UNKNOWN_INSTRUMENT)?;
        Ok(0)
    })
}

/// A listed instrument by its symbol, copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_instrument_by_symbol(
    context: *const colo_context,
    symbol: *const c_char,
    instrument: *mut Instrument,
) -> i32 {
    guarded(|| {
        let context = context!(context.cast_mut());
        let found = context.instruments().by_symbol(text!(symbol)).copied();
        *at!(instrument) = found.ok_or(COLO_E_UNKNOWN_INSTRUMENT)?;
        Ok(0)
    })
}

/// The numbers of the instruments that the strategy reads, ascending: as many as there are is returned, and up to `room` are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_instruments(context: *const colo_context, ids: *mut u32, room: usize) -> i32 {
    guarded(|| {
        let mut count = 0;
        for instrument in context!(context.cast_mut()).instruments().selected() {
            if count < room {
                *at!(ids.wrapping_add(count)) = instrument.id.0;
            }
            count += 1;
        }
        Ok(i32::try_from(count).unwrap_or(i32::MAX))
    })
}

/// The latest quote of an instrument that the strategy reads, copied. With `data = "depth"`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_last_quote(
    context: *const colo_context,
    instrument: u32,
    quote: *mut Quote,
) -> i32 {
    guarded(|| {
        let found = context!(context.cast_mut()).last_quote(InstrumentId(instrument));
        *at!(quote) = *found.ok_or(COLO_E_NOTHING)?;
        Ok(0)
    })
}

/// The latest best bid and ask of an instrument that the strategy reads, copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_last_best(
    context: *const colo_context,
    instrument: u32,
    best: *mut Best,
) -> i32 {
    guarded(|| {
        let found = context!(context.cast_mut()).last_best(InstrumentId(instrument));
        *at!(best) = found.ok_or(COLO_E_NOTHING)?;
        Ok(0)
    })
}

/// Ten levels of an instrument, behind the best that was heard last or a later one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_depth(context: *const colo_context, instrument: u32, quote: *mut Quote) -> i32 {
    guarded(|| {
        *at!(quote) = context!(context.cast_mut()).depth(InstrumentId(instrument))?;
        Ok(0)
    })
}

/// The strategy's position in an instrument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_position_of(
    context: *const colo_context,
    instrument: u32,
    position: *mut colo_position,
) -> i32 {
    guarded(|| {
        let place = sized!(position.cast_const());
        let position = context!(context.cast_mut()).position(InstrumentId(instrument));
        *place = colo_position {
            struct_size: place.struct_size,
            reserved: 0,
            quantity: position.quantity.0,
            bought: position.bought.0,
            sold: position.sold.0,
            cash: position.cash().0,
        };
        Ok(0)
    })
}

/// How the strategy's default account stands, where accounts are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_account(context: *const colo_context, state: *mut AccountState) -> i32 {
    guarded(|| {
        *at!(state) = context!(context.cast_mut()).account()?;
        Ok(0)
    })
}

/// How an account stands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_account_of(
    context: *const colo_context,
    account: u32,
    state: *mut AccountState,
) -> i32 {
    guarded(|| {
        *at!(state) = context!(context.cast_mut()).account_of(AccountId(account))?;
        Ok(0)
    })
}

/// Calls `timer` with `key` in `delay_ns`, once. `timer`, which may be null, gets its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_timer_after(
    context: *mut colo_context,
    delay_ns: u64,
    key: u64,
    timer: *mut u64,
) -> i32 {
    guarded(|| give_timer(context!(context).set_timer(Duration::from_nanos(delay_ns), key), timer))
}

/// Calls `timer` with `key` at a time of the strategy's clock, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_timer_at(
    context: *mut colo_context,
    time_ns: u64,
    key: u64,
    timer: *mut u64,
) -> i32 {
    guarded(|| give_timer(context!(context).set_timer(Nanos(time_ns), key), timer))
}

fn give_timer(id: TimerId, place: *mut u64) -> Result<i32, Fault> {
    if !place.is_null() {
        *at!(place) = id.number();
    }
    Ok(0)
}

/// 1 if the timer was still set, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_timer_cancel(context: *mut colo_context, timer: u64) -> i32 {
    guarded(|| Ok(i32::from(context!(context).cancel_timer(TimerId::of_number(timer)))))
}

/// The pointer that C gets.
pub(crate) fn given(context: &mut Context) -> *mut colo_context {
    std::ptr::from_mut(context).cast()
}
