//! What makes sense as the rules of an instrument.

use wire::{InstrumentId, MAX_INSTRUMENTS, Price};

use super::{Market, Model};
use crate::exchange::{InstrumentRules, Phase};

impl Model {
    pub(super) fn add(&mut self, rules: InstrumentRules) -> bool {
        let sound = !self.is_listed(rules.id)
            && number(rules.id)
            && ticks(&rules.ticks)
            && rules.lot.0 >= 1
            && rules.max_quantity.0 >= 0
            && limits(rules.price_low, rules.price_high);
        if sound {
            let (phase, schedule) = (Phase::Continuous, Vec::new());
            self.markets.push(Market { rules, phase, last: None, volatility_ends: None, schedule });
        }
        sound
    }
}

fn number(id: InstrumentId) -> bool {
    (1..MAX_INSTRUMENTS).contains(&id.0)
}

fn ticks(ticks: &[(Price, Price)]) -> bool {
    !ticks.is_empty()
        && ticks.iter().all(|(_, tick)| tick.0 > 0)
        && ticks.iter().all(|(from, tick)| from.0 % tick.0 == 0)
        && ticks.windows(2).all(|two| two[0].0 < two[1].0)
}

fn limits(low: Price, high: Price) -> bool {
    !low.is_some() || !high.is_some() || low <= high
}
