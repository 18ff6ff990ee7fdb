//! How much margin positions and orders take.

use wire::MarginRule;

use crate::amount::{MOST, MOST_RATE, part_up};
use crate::refusal::Refusal;
use crate::rules::Subject;
use crate::state::state;

/// Rates of one side, long or short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rates {
    /// Part of the value, in 1e-9: long, short.
    pub(crate) rate: [u64; 2],
    pub(crate) per_lot: [i128; 2],
}
state!(Rates { rate, per_lot });

impl Rates {
    /// Of `lots` that are worth `value`, on a side: 0 long, 1 short. Rounded up.
    pub(crate) fn margin(&self, side: usize, value: i128, lots: i64) -> i128 {
        if lots == 0 {
            return 0;
        }
        let by_lot = match self.per_lot[side] {
            0 => 0,
            amount => amount.saturating_mul(i128::from(lots)),
        };
        part_up(value.abs(), self.rate[side]).saturating_add(by_lot)
    }
}

/// The rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Margins {
    pub(crate) rules: Vec<MarginRule>,
    /// What they come to: few, whatever the number of accounts. Never changed once made.
    tables: Vec<Rates>,
}
state!(Margins { rules, tables });

impl Margins {
    pub(crate) fn set(&mut self, rule: &MarginRule) -> Result<(), Refusal> {
        let per_lot = [rule.long_per_lot.wide(), rule.short_per_lot.wide()];
        let fits = rule.long_rate <= MOST_RATE
            && rule.short_rate <= MOST_RATE
            && per_lot.iter().all(|amount| (0..=MOST >> 40).contains(amount));
        if !fits {
            return Err(Refusal::Number);
        }
        let key = |rule: &MarginRule| (rule.account, rule.instrument, rule.prefix);
        match self.rules.iter_mut().find(|known| key(known) == key(rule)) {
            Some(known) => *known = *rule,
            None => self.rules.push(*rule),
        }
        Ok(())
    }

    /// Rates by their number.
    pub(crate) fn rates(&self, number: u32) -> &Rates {
        const NONE: &Rates = &Rates { rate: [0; 2], per_lot: [0; 2] };
        self.tables.get(number as usize).unwrap_or(NONE)
    }

    /// The number of the rates that hold for a subject; they are zero where no rule does.
    pub(crate) fn resolve(&mut self, subject: &Subject) -> u32 {
        let ranked = self
            .rules
            .iter()
            .filter_map(|rule| Some((subject.rank(rule.account, rule.instrument, &rule.prefix)?, rule)));
        let rates = ranked.max_by_key(|(rank, _)| *rank).map_or(Rates::default(), |(_, rule)| Rates {
            rate: [rule.long_rate, rule.short_rate],
            per_lot: [rule.long_per_lot.wide(), rule.short_per_lot.wide()],
        });
        let known = self.tables.iter().position(|known| *known == rates);
        known.unwrap_or_else(|| {
            self.tables.push(rates);
            self.tables.len() - 1
        }) as u32
    }
}
