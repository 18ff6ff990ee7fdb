//! What is known of instruments.

use wire::{ContractTerms, InstrumentId, MAX_INSTRUMENTS, Price, Side, Symbol};

use crate::intake::widen;
use crate::state::state;

/// One instrument's terms, and its latest mark.
#[derive(Clone, Debug)]
pub(crate) struct Contract {
    pub(crate) symbol: Symbol,
    pub(crate) currency: u8,
    pub(crate) flags: u32,
    pub(crate) multiplier: u64,
    pub(crate) low: Price,
    pub(crate) high: Price,
    pub(crate) mark: Price,
    /// No buy at work has a higher price of its own, no sell a lower one: see [`crate::desk::Desk::mark`].
    pub(crate) edge: [i64; 2],
    /// Places of the accounts that have, or had since the last look, orders at work in it.
    pub(crate) traders: Vec<u32>,
}
state!(Contract { symbol, currency, flags, multiplier, low, high, mark, edge, traders });

/// The edge where nothing works.
pub(crate) const NO_EDGE: [i64; 2] = [i64::MIN, i64::MAX];

impl Contract {
    pub(crate) fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is_apart(&self) -> bool {
        self.is(ContractTerms::TODAY_APART)
    }

    /// Between which prices an order may trade that has these prices of its own: at its own or better, up to the end of the
    /// band. Without a band a sale may trade at the mark at least, and a purchase no lower than its own price is expected.
    #[inline]
    pub(crate) fn reach(&self, side: Side, (low, high): (i64, i64)) -> (i64, i64) {
        match side {
            Side::Buy if self.low.is_some() => (low.min(self.low.0), high),
            Side::Buy => (low, high),
            // "No price" is the smallest number.
            Side::Sell => (low, high.max(self.mark.0).max(self.high.0)),
        }
    }

    /// Whether there is a price that a sale is expected not to trade above.
    pub(crate) fn has_worst_sale(&self) -> bool {
        self.high.is_some() || self.mark.is_some()
    }

    /// An order at work has these prices of its own.
    pub(crate) fn widen(&mut self, side: usize, low: i64, high: i64) {
        widen(&mut self.edge, side, low, high);
    }
}

/// By number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contracts {
    pub(crate) table: Vec<Option<Contract>>,
    /// Grows with every change of a mark.
    pub(crate) marks: u64,
}
state!(Contracts { table, marks });

impl Contracts {
    pub(crate) fn get(&self, instrument: InstrumentId) -> Option<&Contract> {
        self.table.get(instrument.0 as usize)?.as_ref()
    }

    /// The place of an instrument, whether it is known or not; `None` for a number that none can have.
    pub(crate) fn place(&mut self, instrument: InstrumentId) -> Option<&mut Option<Contract>> {
        if instrument.0 == 0 || instrument.0 >= MAX_INSTRUMENTS {
            return None;
        }
        let index = instrument.0 as usize;
        if index >= self.table.len() {
            self.table.resize(index + 1, None);
        }
        self.table.get_mut(index)
    }

    pub(crate) fn get_mut(&mut self, instrument: InstrumentId) -> Option<&mut Contract> {
        self.table.get_mut(instrument.0 as usize)?.as_mut()
    }

    /// The mark before, where it moves.
    pub(crate) fn mark(&mut self, instrument: InstrumentId, price: Price) -> Option<Price> {
        let contract = self.table.get_mut(instrument.0 as usize)?.as_mut()?;
        if !price.is_some() || contract.mark == price {
            return None;
        }
        self.marks += 1;
        Some(std::mem::replace(&mut contract.mark, price))
    }
}
