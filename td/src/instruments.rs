//! The rules of each instrument, prepared so that a check is a few comparisons.

use wire::{Instrument, InstrumentId, MAX_INSTRUMENTS, Price, Quantity, Side, Symbol};

use crate::limits::BandWidth;

/// The band around a reference price is at least so many ticks wide to either side.
const TICKS: i128 = 10;

/// An instrument that cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstrumentError {
    /// The id is no topic.
    #[error(
        "instrument `{symbol}` has the id {id}, outside 1..{MAX_INSTRUMENTS}: orders for it will be refused"
    )]
    Id {
        /// Its name.
        symbol: Symbol,
        /// The id.
        id: InstrumentId,
    },
    /// No price could pass.
    #[error(
        "instrument `{symbol}` has its lowest price {low} above its highest, {high}: mend its definition"
    )]
    Band {
        /// Its name.
        symbol: Symbol,
        /// Lowest price.
        low: Price,
        /// Highest price.
        high: Price,
    },
}

/// What an order in one instrument must obey.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    tick: Price,
    /// From this price on, this tick; the first holds below too. Empty: `tick` everywhere.
    ticks: Vec<(Price, Price)>,
    /// At least 1.
    pub(crate) lot: i64,
    /// Zero: no limit.
    pub(crate) max_quantity: i64,
    /// Lowest and highest price from the definition; the ends of `i64` where there is none.
    fixed: (i64, i64),
    /// Lowest and highest price that passes now: `fixed`, narrowed by the band around the reference price.
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// The definition has no reference price: the band follows the market.
    follows: bool,
}

impl Rules {
    fn new(instrument: &Instrument, band: BandWidth) -> Result<Rules, InstrumentError> {
        let end = |price: Price, open: i64| if price.is_some() { price.0 } else { open };
        let fixed = (end(instrument.price_low, i64::MIN), end(instrument.price_high, i64::MAX));
        if fixed.0 > fixed.1 {
            return Err(InstrumentError::Band {
                symbol: instrument.symbol,
                low: instrument.price_low,
                high: instrument.price_high,
            });
        }
        let mut rules = Rules {
            tick: instrument.tick,
            ticks: Vec::new(),
            lot: instrument.lot.0.max(1),
            max_quantity: instrument.max_quantity.0.max(0),
            fixed,
            low: fixed.0,
            high: fixed.1,
            follows: band.is_on() && !instrument.reference_price.is_some(),
        };
        rules.set_reference(instrument.reference_price, band);
        Ok(rules)
    }

    /// True for a multiple of the tick that holds at this price.
    pub(crate) fn is_on_tick(&self, price: Price) -> bool {
        price.is_on_tick(self.tick_at(price))
    }

    fn tick_at(&self, price: Price) -> Price {
        let above = self.ticks.partition_point(|(from, _)| *from <= price);
        self.ticks.get(above.saturating_sub(1)).map_or(self.tick, |(_, tick)| *tick)
    }

    /// The next price on a tick at which an order of this side trades no later: upwards for a buy, downwards for a sell, as far as
    /// the instrument's own band allows; there the other way. As it is where there is none.
    pub(crate) fn to_tick(&self, price: Price, side: Side) -> Price {
        if !price.is_some() || self.is_on_tick(price) {
            return price;
        }
        let to = |is_up: bool| {
            // Another tick may hold at the price that is found: at the border of two, a few steps.
            (0..4).try_fold(price, |price, _| match self.is_on_tick(price) {
                true => Err(price),
                false => Ok(self.rounded(price, is_up)),
            })
        };
        let inside = |found: Result<Price, Price>| {
            let found = found.unwrap_or_else(|price| price);
            let is_inside = self.is_on_tick(found) && (self.fixed.0..=self.fixed.1).contains(&found.0);
            is_inside.then_some(found)
        };
        let is_buy = side == Side::Buy;
        inside(to(is_buy)).or_else(|| inside(to(!is_buy))).unwrap_or(price)
    }

    fn rounded(&self, price: Price, is_up: bool) -> Price {
        let tick = self.tick_at(price).0.max(1);
        let down = price.0.div_euclid(tick).saturating_mul(tick);
        let found = if is_up && down != price.0 { down.saturating_add(tick) } else { down };
        Price(found)
    }

    fn set_reference(&mut self, reference: Price, band: BandWidth) {
        if !band.is_on() || !reference.is_some() {
            return;
        }
        // Of a price near zero, as of a spread, a fraction is less than a tick.
        let least = TICKS * i128::from(self.tick_at(reference).0.max(1));
        let half = band.around(reference.0).max(least);
        let middle = i128::from(reference.0);
        let (fixed_low, fixed_high) = (i128::from(self.fixed.0), i128::from(self.fixed.1));
        // Both lie within the ends of an `i64` after the clamp, so the casts lose nothing.
        self.low = (middle - half).clamp(fixed_low, fixed_high) as i64;
        self.high = (middle + half).clamp(fixed_low, fixed_high) as i64;
    }
}

/// All listed instruments, by id.
#[derive(Debug)]
pub(crate) struct Instruments {
    rules: Vec<Option<Rules>>,
    band: BandWidth,
}

impl Instruments {
    pub(crate) fn new(band: BandWidth) -> Instruments {
        Instruments { rules: Vec::new(), band }
    }

    /// Lists it, or replaces its rules if it is listed.
    pub(crate) fn define(&mut self, instrument: &Instrument) -> Result<(), InstrumentError> {
        let id = instrument.id;
        if id.0 == 0 || id.0 >= MAX_INSTRUMENTS {
            return Err(InstrumentError::Id { symbol: instrument.symbol, id });
        }
        let rules = Rules::new(instrument, self.band)?;
        let index = id.0 as usize;
        if self.rules.len() <= index {
            self.rules.resize(index + 1, None);
        }
        self.rules[index] = Some(rules);
        Ok(())
    }

    pub(crate) fn get(&self, id: InstrumentId) -> Option<&Rules> {
        self.rules.get(id.0 as usize)?.as_ref()
    }

    pub(crate) fn set_ticks(&mut self, id: InstrumentId, ticks: Vec<(Price, Price)>) {
        if let Some(Some(rules)) = self.rules.get_mut(id.0 as usize) {
            rules.ticks = ticks;
        }
    }

    pub(crate) fn set_reference(&mut self, id: InstrumentId, reference: Price) {
        if let Some(Some(rules)) = self.rules.get_mut(id.0 as usize) {
            rules.set_reference(reference, self.band);
        }
    }

    /// Whether the band of an instrument follows the market.
    pub(crate) fn follows(&self, id: InstrumentId) -> bool {
        self.get(id).is_some_and(|rules| rules.follows)
    }

    /// One more than the largest listed id.
    pub(crate) fn table_length(&self) -> usize {
        self.rules.len()
    }
}

/// Largest quantity of one order when both the instrument and the strategy have a say. Zero: no limit.
pub(crate) fn tighter(instrument: i64, strategy: Quantity) -> i64 {
    match (instrument, strategy.0) {
        (0, limit) | (limit, 0) => limit,
        (one, other) => one.min(other),
    }
}
