//! What is known of instruments.

use wire::{ContractTerms, InstrumentId, MAX_INSTRUMENTS, Price, Symbol};

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
}
state!(Contract { symbol, currency, flags, multiplier, low, high, mark });

impl Contract {
    pub(crate) fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is_apart(&self) -> bool {
        self.is(ContractTerms::TODAY_APART)
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

    pub(crate) fn mark(&mut self, instrument: InstrumentId, price: Price) {
        if let Some(Some(contract)) = self.table.get_mut(instrument.0 as usize)
            && price.is_some()
            && contract.mark != price
        {
            contract.mark = price;
            self.marks += 1;
        }
    }
}
