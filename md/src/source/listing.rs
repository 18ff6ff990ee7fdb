//! The first pass over a recorded day: the instruments and their properties.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wire::{Instrument, InstrumentId, MAX_INSTRUMENTS, Price, Quantity, Symbol};

use super::SourceError;

/// Number of orders for the median that replaces a reference price.
const SAMPLE: usize = 999;
/// Number of prices after which their common divisor alone is taken as the tick.
const ENOUGH: u64 = 64;
/// The tick of the stock markets read here, above the lowest prices.
const CENT: Price = Price(10_000_000);

/// Collects instruments in order of first appearance; their ids count from 1.
pub(crate) struct Listing {
    wanted: Vec<String>,
    index: BTreeMap<Symbol, Option<InstrumentId>>,
    found: Vec<Found>,
    rule: TickRule,
}

/// How the tick follows from the observed prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TickRule {
    /// At most a cent: stocks, whose rules are known.
    Cents,
    /// The common step of enough prices: futures, which have many ticks.
    Learnt,
}

struct Found {
    symbol: Symbol,
    divisor: u64,
    orders: u64,
    sample: Vec<i64>,
    first_trade: Option<Price>,
}

impl Listing {
    /// `wanted` empty: every instrument.
    pub(crate) fn new(wanted: &[String], rule: TickRule) -> Listing {
        Listing { wanted: wanted.to_vec(), index: BTreeMap::new(), found: Vec::new(), rule }
    }

    /// The instrument's id, assigned now if necessary; `None` when it is not wanted. A name is wanted under its own
    /// spelling, or without the part after its first point (`600519` finds `600519.SH`).
    pub(crate) fn id(&mut self, symbol: Symbol, path: &Path) -> Result<Option<InstrumentId>, SourceError> {
        if let Some(&known) = self.index.get(&symbol) {
            return Ok(known);
        }
        let name = symbol.as_str();
        let bare = name.split('.').next().unwrap_or(name);
        let wanted = self.wanted.is_empty() || self.wanted.iter().any(|text| text == name || text == bare);
        let id = if wanted {
            if self.found.len() as u32 + 1 >= MAX_INSTRUMENTS {
                return Err(SourceError::TooManyInstruments {
                    path: path.to_owned(),
                    limit: MAX_INSTRUMENTS - 1,
                });
            }
            self.found.push(Found { symbol, divisor: 0, orders: 0, sample: Vec::new(), first_trade: None });
            Some(InstrumentId(self.found.len() as u32))
        } else {
            None
        };
        self.index.insert(symbol, id);
        Ok(id)
    }

    /// The id assigned before, without assigning a new one.
    pub(crate) fn get(&self, symbol: &Symbol) -> Option<InstrumentId> {
        self.index.get(symbol).copied().flatten()
    }

    /// Records the price of a visible order, for the tick.
    pub(crate) fn order(&mut self, id: InstrumentId, price: Price) {
        if let Some(found) = self.found.get_mut(id.0 as usize - 1) {
            found.divisor = greatest_common_divisor(found.divisor, price.0.unsigned_abs());
            found.orders += 1;
            if found.sample.len() < SAMPLE {
                found.sample.push(price.0);
            }
        }
    }

    /// Records a trade's price. Trades may lie between ticks (mid-point orders), so they are not used for the tick.
    pub(crate) fn trade(&mut self, id: InstrumentId, price: Price) {
        if let Some(found) = self.found.get_mut(id.0 as usize - 1) {
            found.first_trade.get_or_insert(price);
        }
    }

    /// The list of instruments. An error when a wanted name was not found, or nothing at all was.
    pub(crate) fn finish(&self) -> Result<Vec<Instrument>, SourceError> {
        let names: BTreeSet<&str> = self.index.keys().map(Symbol::as_str).collect();
        let unknown = |text: &&String| {
            !names.iter().any(|name| name == text || name.split('.').next() == Some(text.as_str()))
        };
        if let Some(missing) = self.wanted.iter().find(unknown) {
            let some: Vec<&str> = names.iter().copied().take(10).collect();
            return Err(SourceError::Option {
                name: "symbols",
                found: format!("`{missing}`"),
                expected: format!("names that are in the files, such as {}", some.join(", ")),
            });
        }
        let instruments = self.found.iter().enumerate().map(|(index, found)| Instrument {
            id: InstrumentId(index as u32 + 1),
            reserved: 0,
            symbol: found.symbol,
            tick: self.tick(found),
            lot: Quantity(1),
            price_low: Price::NONE,
            price_high: Price::NONE,
            reference_price: found.reference_price(),
            max_quantity: Quantity::ZERO,
            multiplier: 0,
            currency: wire::Currency::EMPTY,
        });
        Ok(instruments.collect())
    }

    /// The greatest step that all order prices are multiples of; with few prices at most a cent (three orders at round
    /// prices must not make the tick 1.00).
    fn tick(&self, found: &Found) -> Price {
        let cent = CENT.0.unsigned_abs();
        let divisor = match self.rule {
            TickRule::Learnt if found.orders >= ENOUGH && found.divisor != 0 => found.divisor,
            _ => greatest_common_divisor(found.divisor, cent),
        };
        Price(i64::try_from(divisor).unwrap_or(CENT.0))
    }
}

impl Found {
    /// The first trade; otherwise the median of the first order prices, which is not affected by stub quotes far away.
    fn reference_price(&self) -> Price {
        self.first_trade.unwrap_or_else(|| {
            let mut sample = self.sample.clone();
            sample.sort_unstable();
            sample.get(sample.len() / 2).map_or(Price::NONE, |&price| Price(price))
        })
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(prices: &[i64], wanted: &[&str]) -> Result<Vec<Instrument>, SourceError> {
        let wanted: Vec<String> = wanted.iter().map(|&text| text.to_owned()).collect();
        let mut listing = Listing::new(&wanted, TickRule::Cents);
        if let Some(id) = listing.id(Symbol::new("600519.SH").unwrap(), Path::new("f"))? {
            prices.iter().for_each(|&price| listing.order(id, Price(price)));
        }
        listing.finish()
    }

    #[test]
    fn ticks_follow_the_prices_and_stay_sane() {
        let cent = CENT.0;
        assert_eq!(list(&[18 * Price::ONE, 20 * Price::ONE], &[]).unwrap()[0].tick, CENT);
        assert_eq!(list(&vec![5 * Price::ONE; 200], &[]).unwrap()[0].tick, CENT);
        assert_eq!(list(&[cent * 7, cent * 3], &[]).unwrap()[0].tick, CENT);
        assert_eq!(list(&[cent / 10 * 7, cent * 3], &[]).unwrap()[0].tick, Price(cent / 10));
        assert_eq!(list(&[], &[]).unwrap()[0].tick, CENT);
    }

    #[test]
    fn one_absurd_quote_does_not_make_the_reference_price() {
        let prices = [1, 100 * Price::ONE, 101 * Price::ONE, 102 * Price::ONE, 199_999 * Price::ONE];
        assert_eq!(list(&prices, &[]).unwrap()[0].reference_price, Price(101 * Price::ONE));
    }

    #[test]
    fn names_are_wanted_with_or_without_their_market() {
        assert_eq!(list(&[], &["600519"]).unwrap().len(), 1);
        assert_eq!(list(&[], &["600519.SH"]).unwrap().len(), 1);
        let error = list(&[], &["600000"]).unwrap_err().to_string();
        assert!(error.contains("600000") && error.contains("600519.SH"), "{error}");
    }
}
