//! Terms of instruments.

use wire::{ContractTerms, InstrumentId, Price};

use crate::amount::MOST_MULTIPLIER;
use crate::contracts::Contract;
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
        *place = Some(Contract {
            symbol: terms.symbol,
            currency,
            flags: terms.flags,
            multiplier: terms.multiplier,
            low,
            high,
            mark: known.map_or(Price::NONE, |known| known.mark),
        });
        if symbol_changes {
            self.resolve_all();
        }
        Ok(())
    }

    fn is_used(&self, instrument: InstrumentId) -> bool {
        let mut slots = self.accounts.iter().filter_map(|account| account.slot(instrument));
        slots.any(|slot| !slot.is_flat() || slot.first != [NOTHING; 2])
    }
}
