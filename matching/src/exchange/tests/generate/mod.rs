//! Random days at random exchanges.
//!
//! Steps are made without knowing what stands in the books; [`Step::fit`] turns one into an operation that mostly
//! makes sense at the point where it comes: free numbers, orders that exist, prices near each other.

use std::fmt;

use proptest::prelude::*;
use wire::{InstrumentId, Price, Quantity};

use super::model::Model;
use super::operation::Operation;
use super::venue::Venue;
use crate::exchange::InstrumentRules;

mod changes;
mod instruments;
mod orders;

pub(super) use changes::Change;
pub(super) use orders::NewOrder;

/// All listed instruments are below this number; the others are not listed.
const LISTED: std::ops::RangeInclusive<u32> = 1..=3;

/// A run of random input.
#[derive(Clone)]
pub(super) struct Scenario {
    pub(super) instruments: Vec<InstrumentRules>,
    /// For each instrument, the lowest of the prices that orders usually have.
    pub(super) bases: Vec<Price>,
    pub(super) numbers: Numbers,
    /// Quantities are multiples of so many lots.
    pub(super) lots: i64,
    pub(super) steps: Vec<Step>,
}

/// How orders are numbered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbers {
    Small,
    /// From the end of the range.
    Large,
    /// All over the range.
    Scattered,
    /// They differ in the upper bits only.
    Upper,
}

impl Numbers {
    /// The order number for a small number.
    pub(super) fn number(self, small: u64) -> u64 {
        match self {
            Numbers::Small => small,
            Numbers::Large => u64::MAX - small,
            Numbers::Scattered => small.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            Numbers::Upper => small << 40,
        }
    }
}

/// A part of a run, before it is known what it meets.
#[derive(Clone, Debug)]
pub(super) enum Step {
    New(NewOrder),
    Change(Change),
}

impl Step {
    pub(super) fn fit(&self, scenario: &Scenario, model: &Model) -> Operation {
        match self {
            Step::New(order) => Operation::Submit(order.fit(scenario, model)),
            Step::Change(change) => change.fit(scenario, model),
        }
    }
}

/// Scenarios of up to so many steps.
pub(super) fn scenario(steps: usize) -> impl Strategy<Value = Scenario> {
    let numbers = prop_oneof![
        3 => Just(Numbers::Small),
        1 => Just(Numbers::Large),
        1 => Just(Numbers::Scattered),
        1 => Just(Numbers::Upper),
    ];
    let instruments: Vec<_> = LISTED.map(|id| instruments::instrument(InstrumentId(id))).collect();
    let step = prop_oneof![
        6 => orders::new_order().prop_map(Step::New),
        4 => changes::change().prop_map(Step::Change),
    ];
    // A few orders of the largest quantities are more than fits at one price.
    let lots = prop_oneof![7 => Just(1), 1 => Just(i64::MAX / 60)];
    (instruments, numbers, lots, prop::collection::vec(step, 1..=steps)).prop_map(
        |(instruments, numbers, lots, steps)| {
            let (instruments, bases) = instruments.into_iter().unzip();
            Scenario { instruments, bases, numbers, lots, steps }
        },
    )
}

/// Rules, and operations as they were: what it takes to make an example of a run that failed.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut model: Model = self.open();
        self.instruments.iter().try_for_each(|rules| writeln!(f, "{rules:?}"))?;
        for step in &self.steps {
            let operation = step.fit(self, &model);
            writeln!(f, "    {operation:?}")?;
            operation.put(&mut model);
        }
        Ok(())
    }
}

impl Scenario {
    pub(super) fn open<V: Venue>(&self) -> V {
        let mut venue = V::open();
        for rules in &self.instruments {
            assert!(venue.list(rules.clone()), "{rules:?}");
        }
        venue
    }

    /// So many times the usual quantity, plus what makes it wrong.
    fn quantity(&self, rules: &InstrumentRules, times: i64, off: i64) -> Quantity {
        let quantity = times.saturating_mul(self.lots).saturating_mul(rules.lot.0);
        Quantity((quantity - quantity % rules.lot.0).saturating_add(off))
    }

    /// Rules and lowest usual price of an instrument; of the first for one that is not listed.
    fn about(&self, instrument: InstrumentId) -> (&InstrumentRules, Price) {
        let index = self.instruments.iter().position(|rules| rules.id == instrument).unwrap_or(0);
        (&self.instruments[index], self.bases[index])
    }
}

/// One of the listed instruments, mostly the first; rarely one that is not listed.
fn instrument_id() -> impl Strategy<Value = InstrumentId> {
    prop_oneof![60 => Just(1), 30 => Just(2), 10 => Just(3), 1 => Just(4), 1 => Just(0), 1 => Just(u32::MAX)]
        .prop_map(InstrumentId)
}

/// A price, before the instrument is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    /// So many ticks above the base.
    Near(u8),
    /// The same, and one more, which may be off the tick.
    Off(u8),
    /// The nearest multiple of the tick below.
    Far(i64),
    Raw(i64),
    Absent,
}

fn spot() -> impl Strategy<Value = Spot> {
    let far = prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN + 1), Just(0), -50..50_i64];
    prop_oneof![
        300 => (0..12_u8).prop_map(Spot::Near),
        8 => (0..12_u8).prop_map(Spot::Off),
        6 => far.prop_map(Spot::Far),
        1 => any::<i64>().prop_map(Spot::Raw),
        1 => Just(Spot::Absent),
    ]
}

impl Spot {
    fn fit(self, rules: &InstrumentRules, base: Price) -> Price {
        match self {
            Spot::Near(ticks) => instruments::above(rules, base, ticks),
            Spot::Off(ticks) => Price(instruments::above(rules, base, ticks).0.saturating_add(1)),
            Spot::Far(price) => instruments::at_most(rules, Price(price)),
            Spot::Raw(price) => Price(price),
            Spot::Absent => Price::NONE,
        }
    }
}
