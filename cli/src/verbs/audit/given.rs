//! The rules that td is given: limits of strategies by the platform file, lots, ticks and bands of instruments by md.

use std::collections::BTreeMap;

use topology::config::TickRow;
use topology::{StrategyLimits, TdSection};
use wire::{Instrument, InstrumentId, Message, NewOrder, Price, Reason, StrategyId};

use super::Stop;
use super::breaches::Breach;
use super::findings::Findings;
use crate::desk::Source;

const INSTRUMENTS: &str = "md.instruments";
const ONE: i128 = 1_000_000_000;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    /// By seat.
    pub(super) strategies: BTreeMap<u16, StrategyLimits>,
    /// All that was ever listed under a number: which of it held when td decided is not written down.
    pub(super) listed: BTreeMap<InstrumentId, Vec<Instrument>>,
    /// Ticks that depend on the price.
    pub(super) ticks: Vec<TickRow>,
    /// Width of the band of prices either way, in 1e-9.
    pub(super) band: i128,
    /// The seat that closes by force.
    pub(super) ledger: Option<StrategyId>,
}

/// What a request says of prices and quantities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) order: &'a NewOrder,
    pub(super) price: Price,
    pub(super) quantity: i64,
    pub(super) is_new: bool,
}

impl Given {
    /// What is missing is noted.
    pub(super) fn new(
        source: &Source,
        section: Option<&TdSection>,
        ledger: Option<StrategyId>,
        findings: &mut Findings,
    ) -> Result<Given, Stop> {
        let mut given = Given { ledger, ..Given::default() };
        match section {
            Some(section) => {
                let its = section.strategies.iter().map(|strategy| (strategy.seat, strategy.clone()));
                given.strategies = its.collect();
                given.band = (section.config.price_band * ONE as f64).round() as i128;
                given.ticks.clone_from(&section.ticks);
            }
            None => findings.lacks("the platform's td is not understood: its limits are not looked at"),
        }
        match source.stream(INSTRUMENTS, 0)? {
            Some(mut stream) => {
                while let Some(seen) = stream.next()? {
                    if seen.id == Instrument::ID
                        && let Ok(instrument) = Instrument::decode(&seen.payload)
                    {
                        given.listed.entry(instrument.id).or_default().push(instrument);
                    }
                }
            }
            None => {
                findings.lacks(format!("there is no {INSTRUMENTS}: lots, ticks and bands are not looked at"));
            }
        }
        Ok(given)
    }

    /// What a request breaks of its instrument's rules: for certain where it does by each definition that there was.
    pub(super) fn breaches(&self, said: &Said<'_>, breaches: &mut Vec<Breach>) {
        let id = said.order.instrument;
        let Some(all) = self.listed.get(&id) else {
            if !self.listed.is_empty() {
                breaches
                    .push(Breach::certain(Reason::UnknownInstrument, format!("instrument {id} is listed")));
            }
            return;
        };
        let each: Vec<Vec<Breach>> = all.iter().map(|instrument| self.breaks(instrument, said)).collect();
        let is_forced = said.order.flags & NewOrder::FORCED != 0;
        let counts = |breach: &Breach| !is_forced || breach.reason != Reason::PriceBand;
        let is_certain = each.iter().all(|breaks| breaks.iter().any(counts));
        for mut breach in each.into_iter().rev().flatten().filter(counts) {
            breach.is_certain &= is_certain;
            if !breaches.iter().any(|known| known.reason == breach.reason) {
                breaches.push(breach);
            }
        }
    }

    fn breaks(&self, instrument: &Instrument, said: &Said<'_>) -> Vec<Breach> {
        let mut breaks = Vec::new();
        let (quantity, lot) = (said.quantity, instrument.lot.0.max(1));
        if quantity <= 0 || quantity % lot != 0 {
            let expected = format!("a positive quantity of whole lots of {lot}");
            breaks.push(Breach::certain(Reason::Quantity, expected));
        }
        let most = instrument.max_quantity.0;
        if most > 0 && quantity > most {
            let expected = format!("at most {most}, the instrument's largest order");
            breaks.push(Breach::certain(Reason::Quantity, expected));
        }
        let order = said.order;
        let limit = order.order_type.has_price().then_some(said.price);
        let trigger = (order.order_type.has_trigger() && said.is_new).then_some(order.trigger);
        for price in limit.into_iter().chain(trigger) {
            if !price.is_some() {
                breaks.push(Breach::certain(Reason::Malformed, "a price"));
                continue;
            }
            let tick = self.tick_at(instrument, price);
            if !price.is_on_tick(tick) {
                breaks.push(Breach::certain(Reason::OffTick, format!("a whole number of ticks of {tick}")));
            }
            let (low, high) = self.band_of(instrument);
            if !(low..=high).contains(&i128::from(price.0)) {
                let reference = instrument.reference_price;
                let expected =
                    format!("a price within the band of td and the instrument, around {reference}");
                breaks.push(Breach::certain(Reason::PriceBand, expected));
            } else if self.band > 0 && !instrument.reference_price.is_some() {
                // It follows the market's prices as td has seen them, which is not written down.
                breaks.push(Breach::maybe(Reason::PriceBand));
            }
        }
        breaks
    }

    /// The tick that holds at a price: rows that name the instrument come before those that name none, and the first one holds
    /// below it, too.
    pub(super) fn tick_at(&self, instrument: &Instrument, price: Price) -> Price {
        let names = |row: &&TickRow| row.instruments.iter().any(|name| name == instrument.symbol.as_str());
        let is_named = self.ticks.iter().any(|row| names(&row));
        let its =
            || self.ticks.iter().filter(|row| if is_named { names(row) } else { row.instruments.is_empty() });
        let at = its().filter(|row| row.from <= price).max_by_key(|row| row.from);
        at.or_else(|| its().min_by_key(|row| row.from)).map_or(instrument.tick, |row| row.tick)
    }

    /// Whether the second price is one on a tick beside the first, which is on none.
    pub(super) fn rounds(&self, instrument: InstrumentId, from: Price, to: Price) -> bool {
        let all = self.listed.get(&instrument).map_or(&[][..], Vec::as_slice);
        all.iter().any(|instrument| {
            let (before, after) = (self.tick_at(instrument, from), self.tick_at(instrument, to));
            let away = from.0.abs_diff(to.0);
            !from.is_on_tick(before) && to.is_on_tick(after) && away < before.0.max(after.0).unsigned_abs()
        })
    }

    fn band_of(&self, instrument: &Instrument) -> (i128, i128) {
        let end = |price: Price, open: i64| i128::from(if price.is_some() { price.0 } else { open });
        let fixed = (end(instrument.price_low, i64::MIN), end(instrument.price_high, i64::MAX));
        let reference = instrument.reference_price;
        if self.band == 0 || !reference.is_some() {
            return fixed;
        }
        let middle = i128::from(reference.0);
        // At least ten ticks.
        let least = 10 * i128::from(self.tick_at(instrument, reference).0.max(1));
        let half = (middle.abs() * self.band / ONE).max(least);
        ((middle - half).clamp(fixed.0, fixed.1), (middle + half).clamp(fixed.0, fixed.1))
    }
}
