//! Terms of instruments.

use wire::{ContractTerms, InstrumentId, Price};

use crate::amount::MOST_MULTIPLIER;
use crate::contracts::{Contract, NO_EDGE};
use crate::desk::Desk;
use crate::positions::NOTHING;
use crate::refusal::Refusal;

impl Desk {
    pub(super) fn terms(&mut self, terms: &ContractTerms) -> Result<(), Refusal> {
        let currency = self.currencies.find(terms.currency).ok_or(Refusal::UnknownCurrency)?;
        let (low, high) = (terms.price_low, terms.price_high);
        let is_band = !low.is_some() || !high.is_some() || low <= high;
        if !(1..=MOST_MULTIPLIER).contains(&terms.multiplier) || !is_band {
            return Err(Refusal::Number);
        }
        let in_use = self.is_used(terms.instrument);
        let place = self.contracts.place(terms.instrument).ok_or(Refusal::Number)?;
        let known = place.as_ref();
        let is_other = |known: &Contract| (known.currency, known.multiplier) != (currency, terms.multiplier);
        if known.is_some_and(is_other) && in_use {
            return Err(Refusal::InUse);
        }
        let symbol_changes = known.is_some_and(|known| known.symbol != terms.symbol);
        let is_measured_anew = known.is_some_and(|known| (known.low, known.high) != (low, high));
        let edge = known.map_or(NO_EDGE, |known| known.edge);
        let mark = known.map_or(Price::NONE, |known| known.mark);
        let traders = place.take().map_or_else(Vec::new, |known| known.traders);
        *place = Some(Contract {
            symbol: terms.symbol,
            currency,
            flags: terms.flags,
            multiplier: terms.multiplier,
            low,
            high,
            mark,
            edge,
            traders,
        });
        if symbol_changes {
            self.resolve_all();
        }
        if is_measured_anew {
            self.measure_all(terms.instrument);
        }
        Ok(())
    }

    fn is_used(&self, instrument: InstrumentId) -> bool {
        let mut slots = self.accounts.iter().filter_map(|account| account.slot(instrument));
        slots.any(|slot| !slot.is_flat() || slot.first != [NOTHING; 2])
    }
}
