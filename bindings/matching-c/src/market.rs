//! Instruments, their rules, phases and time, as C sets them.

use std::ffi::c_void;

use matching::exchange::{DynamicBand, InstrumentRules, MarketRules, Owner, Phase, Width};
use wire::{InstrumentId, Nanos, Price, Quantity};

use crate::report::Reports;
use crate::{CExchange, Code, ReportFunction, guarded, order, read};

/// `colo_tick` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CTick {
    /// From this price on.
    pub from: i64,
    /// This tick.
    pub tick: i64,
}

/// `colo_instrument` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CInstrument {
    /// Size of this structure.
    pub struct_size: u32,
    /// Its number.
    pub instrument: u32,
    /// Ticks by price, ascending.
    pub ticks: *const CTick,
    /// Number of ticks.
    pub tick_count: u64,
    /// Quantities are multiples of this.
    pub lot: i64,
    /// Largest quantity of one order, or zero.
    pub max_quantity: i64,
    /// What auctions and bands start from, or `i64::MIN`.
    pub reference_price: i64,
    /// Lowest price of an order, or `i64::MIN`.
    pub price_low: i64,
    /// Highest price of an order, or `i64::MIN`.
    pub price_high: i64,
    /// How far a trade may be from the last price; zero: no band.
    pub band: i64,
    /// Nanoseconds that the volatility auction lasts.
    pub band_auction: u64,
    /// 1: `band` is in parts in ten thousand; 0: an amount.
    pub band_in_basis_points: u8,
    /// As in the header.
    pub rules: u8,
    /// As in the header.
    pub owner: u8,
    /// As in the header.
    pub self_trade: u8,
    /// Zero.
    pub reserved: [u8; 4],
}

const _: () = assert!(size_of::<CInstrument>() == 88, "as in the header");

/// `colo_phase_at` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CPhaseAt {
    /// When, in nanoseconds.
    pub time: u64,
    /// Which phase.
    pub phase: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

fn phase(number: u8) -> Option<Phase> {
    Phase::ALL.into_iter().find(|phase| *phase as u8 == number)
}

impl CInstrument {
    /// # Safety
    /// `ticks` is null or points to `tick_count` ticks.
    unsafe fn to_rules(self) -> Option<InstrumentRules> {
        if self.ticks.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let ticks = unsafe { std::slice::from_raw_parts(self.ticks, usize::try_from(self.tick_count).ok()?) };
        let mut market = match self.rules {
            0 => MarketRules::plain(),
            1 => MarketRules::shanghai(),
            2 => MarketRules::shenzhen(),
            3 => MarketRules::cme(),
            _ => return None,
        };
        market.owner = match self.owner {
            0 => market.owner,
            1 => Owner::Strategy,
            2 => Owner::Account,
            _ => return None,
        };
        market.self_trade = order::self_trade(self.self_trade)?.unwrap_or(market.self_trade);
        let width = match self.band_in_basis_points {
            0 => Width::Price(Price(self.band)),
            1 => Width::BasisPoints(u32::try_from(self.band).ok()?),
            _ => return None,
        };
        let dynamic_band = DynamicBand { width, auction: Nanos(self.band_auction) };
        Some(InstrumentRules {
            id: InstrumentId(self.instrument),
            ticks: ticks.iter().map(|tick| (Price(tick.from), Price(tick.tick))).collect(),
            lot: Quantity(self.lot),
            max_quantity: Quantity(self.max_quantity),
            reference_price: Price(self.reference_price),
            price_low: Price(self.price_low),
            price_high: Price(self.price_high),
            dynamic_band: (self.band != 0).then_some(dynamic_band),
            market,
        })
    }
}

fn list(exchange: &mut CExchange, rules: InstrumentRules) -> Code {
    if exchange.0.list(rules).is_ok() { Code::Ok } else { Code::Instrument }
}

/// See the header.
///
/// # Safety
/// `exchange` is null, or an exchange that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_list(exchange: *mut CExchange, instrument: u32, tick: i64) -> i32 {
    // SAFETY: the caller's promise.
    let Some(exchange) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| list(exchange, InstrumentRules::new(InstrumentId(instrument), Price(tick))))
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `instrument` is null or points to its `struct_size` bytes, and its `ticks` to
/// `tick_count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_list_with(exchange: *mut CExchange, instrument: *const CInstrument) -> i32 {
    // SAFETY: the caller's promise.
    let Some(exchange) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    // SAFETY: the caller's promise.
    let instrument = match unsafe { read(instrument, &[]) } {
        Ok(instrument) => instrument,
        Err(code) => return code as i32,
    };
    // SAFETY: the caller's promise.
    guarded(|| match unsafe { CInstrument::to_rules(instrument) } {
        Some(rules) => list(exchange, rules),
        None => Code::Argument,
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `report` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_set_phase(
    exchange: *mut CExchange,
    instrument: u32,
    number: u8,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| {
        let Some(phase) = phase(number) else { return Code::Argument };
        let is_listed = exchange.set_phase(InstrumentId(instrument), phase, &mut Reports { report, context });
        if is_listed { Code::Ok } else { Code::Argument }
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_phase(exchange: *const CExchange, instrument: u32) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_ref() }) else { return Code::Null as i32 };
    exchange.phase(InstrumentId(instrument)).map_or(Code::Argument as i32, |phase| phase as i32)
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `phases` is null or points to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_schedule(
    exchange: *mut CExchange,
    instrument: u32,
    phases: *const CPhaseAt,
    count: u64,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    if phases.is_null() {
        return Code::Null as i32;
    }
    guarded(|| {
        let Ok(count) = usize::try_from(count) else { return Code::Argument };
        // SAFETY: the caller's promise.
        let phases = unsafe { std::slice::from_raw_parts(phases, count) };
        let known: Option<Vec<_>> =
            phases.iter().map(|at| Some((Nanos(at.time), phase(at.phase)?))).collect();
        let is_set = known.is_some_and(|phases| exchange.schedule(InstrumentId(instrument), phases));
        if is_set { Code::Ok } else { Code::Argument }
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `report` may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_advance(
    exchange: *mut CExchange,
    now: u64,
    report: Option<ReportFunction>,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_mut() }) else { return Code::Null as i32 };
    guarded(|| {
        exchange.advance(Nanos(now), &mut Reports { report, context });
        Code::Ok
    })
}

/// See the header.
///
/// # Safety
/// `exchange` as in [`colo_list`]; `price`, `volume` and `imbalance` are null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_equilibrium(
    exchange: *const CExchange,
    instrument: u32,
    price: *mut i64,
    volume: *mut i64,
    imbalance: *mut i64,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(CExchange(exchange)) = (unsafe { exchange.as_ref() }) else { return Code::Null as i32 };
    guarded(|| {
        let Some(found) = exchange.equilibrium(InstrumentId(instrument)) else { return Code::Argument };
        for (place, value) in [(price, found.price.0), (volume, found.volume.0), (imbalance, found.imbalance)]
        {
            // SAFETY: the caller's promise.
            if let Some(place) = unsafe { place.as_mut() } {
                *place = value;
            }
        }
        Code::Ok
    })
}
