//! Currencies and what they are worth.

use wire::{Currency, CurrencyRate};

use crate::amount::{self, MOST_RATE};
use crate::refusal::Refusal;
use crate::state::state;

/// A currency that is known.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) name: Currency,
    /// In the platform's currency, 1e-9.
    pub(crate) rate: u64,
}
state!(Known { name, rate });

/// All that are known, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Currencies(pub(crate) Vec<Known>);
impl crate::state::State for Currencies {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut crate::state::Reader<'_>) -> Option<Currencies> {
        Vec::get(from).map(Currencies)
    }
}

impl Currencies {
    const MOST: usize = 64;

    pub(crate) fn set(&mut self, entry: &CurrencyRate) -> Result<(), Refusal> {
        let letters = entry.currency.as_str().bytes();
        let is_name = letters.len() > 0
            && letters.into_iter().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
        if !is_name || entry.rate == 0 || entry.rate > MOST_RATE {
            return Err(Refusal::Number);
        }
        // What everything is counted in is worth one, for ever.
        let is_counted_in = |first: &Known| first.name == entry.currency && first.rate == amount::PLATFORM;
        if self.0.first().is_some_and(is_counted_in) && entry.rate != amount::PLATFORM {
            return Err(Refusal::Number);
        }
        if let Some(known) = self.0.iter_mut().find(|known| known.name == entry.currency) {
            known.rate = entry.rate;
        } else if self.0.len() == Currencies::MOST {
            return Err(Refusal::Full);
        } else {
            self.0.push(Known { name: entry.currency, rate: entry.rate });
        }
        Ok(())
    }

    pub(crate) fn find(&self, currency: Currency) -> Option<u8> {
        self.0.iter().position(|known| known.name == currency).map(|index| index as u8)
    }

    pub(crate) fn name(&self, currency: u8) -> Currency {
        self.0.get(usize::from(currency)).map_or(Currency::EMPTY, |known| known.name)
    }

    pub(crate) fn rate(&self, currency: u8) -> u64 {
        self.0.get(usize::from(currency)).map_or(amount::PLATFORM, |known| known.rate)
    }

    /// An amount of one currency in another, rounded down.
    pub(crate) fn convert(&self, amount: i128, from: u8, to: u8) -> i128 {
        if from == to { amount } else { amount::convert(amount, self.rate(from), self.rate(to)) }
    }

    /// An amount in the platform's currency, rounded down.
    pub(crate) fn to_platform(&self, amount: i128, from: u8) -> i128 {
        match self.rate(from) {
            amount::PLATFORM => amount,
            rate => amount::convert(amount, rate, amount::PLATFORM),
        }
    }
}
