//! The first pass over a recorded day: the instruments and their properties.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wire::{Instrument, InstrumentId, MAX_INSTRUMENTS, Price, Quantity, Symbol};

use super::SourceError;

/// The tick of the stock markets read here, above the lowest prices.
const CENT: Price = Price(10_000_000);
/// The smallest step of a price.
const UNIT: Price = Price(1);

/// Collects instruments in order of first appearance; their ids count from 1.
pub(crate) struct Listing {
    wanted: Vec<String>,
    index: BTreeMap<Symbol, Option<InstrumentId>>,
    found: Vec<Symbol>,
    rule: TickRule,
}

/// The tick that the source lists. It is a rule of the market, never what the recorded prices have in common: at the first
/// row nobody knows the later ones. `[[contracts]]` and the ready sets say it of instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TickRule {
    /// A cent: stocks.
    Cents,
    /// The smallest step of a price: futures, which have many ticks.
    Unknown,
}

impl Listing {
    /// `wanted` empty: every instrument.
    pub(crate) fn new(wanted: &[String], rule: TickRule) -> Listing {
        Listing { wanted: wanted.to_vec(), index: BTreeMap::new(), found: Vec::new(), rule }
    }

    /// The instrument's id, assigned now if necessary; `None` when it is not wanted. A name is wanted under its own
    /// spelling, without the part after its first point (`600519` finds `600519.SH`), or as a contract of a continuous one
    /// (`ES.c.0` finds `ES.c.0@202`).
    pub(crate) fn id(&mut self, symbol: Symbol, path: &Path) -> Result<Option<InstrumentId>, SourceError> {
        if let Some(&known) = self.index.get(&symbol) {
            return Ok(known);
        }
        let name = symbol.as_str();
        let wanted = self.wanted.is_empty() || self.wanted.iter().any(|text| names(text, name));
        let id = if wanted {
            if self.found.len() as u32 + 1 >= MAX_INSTRUMENTS {
                return Err(SourceError::TooManyInstruments {
                    path: path.to_owned(),
                    limit: MAX_INSTRUMENTS - 1,
                });
            }
            self.found.push(symbol);
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

    /// The list of instruments. An error when a wanted name was not found, or nothing at all was.
    pub(crate) fn finish(&self) -> Result<Vec<Instrument>, SourceError> {
        let found: BTreeSet<&str> = self.index.keys().map(Symbol::as_str).collect();
        let unknown = |text: &&String| !found.iter().any(|name| names(text, name));
        if let Some(missing) = self.wanted.iter().find(unknown) {
            let some: Vec<&str> = found.iter().copied().take(10).collect();
            return Err(SourceError::Option {
                name: "symbols",
                found: format!("`{missing}`"),
                expected: format!("names that are in the files, such as {}", some.join(", ")),
            });
        }
        let tick = match self.rule {
            TickRule::Cents => CENT,
            TickRule::Unknown => UNIT,
        };
        let instruments = self.found.iter().enumerate().map(|(index, &symbol)| Instrument {
            id: InstrumentId(index as u32 + 1),
            reserved: 0,
            symbol,
            tick,
            lot: Quantity(1),
            price_low: Price::NONE,
            price_high: Price::NONE,
            // A price of the day itself would be one that nobody knows yet.
            reference_price: Price::NONE,
            max_quantity: Quantity::ZERO,
            multiplier: 0,
            currency: wire::Currency::EMPTY,
        });
        Ok(instruments.collect())
    }
}

/// Whether `text` asks for this name.
fn names(text: &str, name: &str) -> bool {
    let contract = name.split('@').next();
    name == text || name.split('.').next() == Some(text) || contract == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rule: TickRule, wanted: &[&str]) -> Result<Vec<Instrument>, SourceError> {
        let wanted: Vec<String> = wanted.iter().map(|&text| text.to_owned()).collect();
        let mut listing = Listing::new(&wanted, rule);
        listing.id(Symbol::new("600519.SH").unwrap(), Path::new("f"))?;
        listing.finish()
    }

    #[test]
    fn what_is_listed_is_a_rule_of_the_market_and_no_price_of_the_day() {
        for (rule, tick) in [(TickRule::Cents, CENT), (TickRule::Unknown, UNIT)] {
            let listed = list(rule, &[]).unwrap()[0];
            assert_eq!((listed.tick, listed.reference_price), (tick, Price::NONE));
        }
    }

    #[test]
    fn names_are_wanted_with_or_without_their_market() {
        assert_eq!(list(TickRule::Cents, &["600519"]).unwrap().len(), 1);
        assert_eq!(list(TickRule::Cents, &["600519.SH"]).unwrap().len(), 1);
        let error = list(TickRule::Cents, &["600000"]).unwrap_err().to_string();
        assert!(error.contains("600000") && error.contains("600519.SH"), "{error}");
    }
}
