//! Random cancels, replaces, phases and times.

use proptest::prelude::*;
use proptest::sample::Index;
use wire::{InstrumentId, Nanos, Quantity, Side};

use super::super::model::Model;
use super::super::operation::Operation;
use super::super::venue::Venue;
use super::orders::{account, side, strategy};
use super::{Scenario, Spot, instrument_id, spot};
use crate::exchange::{Filter, OrderState, Phase, Replace};

/// Anything but a new order.
#[derive(Clone, Debug)]
pub(in super::super) enum Change {
    Cancel(Target),
    Replace(Target, NewPrice, NewQuantity),
    MassCancel(Filter),
    Phase(InstrumentId, Phase),
    /// To the phase that usually follows.
    NextPhase(InstrumentId),
    /// Times from now on.
    Schedule(InstrumentId, Vec<(i64, Phase)>),
    /// So much later.
    Advance(i64),
}

/// About which order: one that works, or a number as it comes.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Target {
    Working(Index),
    Number(u64),
}

#[derive(Clone, Copy, Debug)]
pub(in super::super) enum NewPrice {
    Same,
    At(Spot),
}

#[derive(Clone, Copy, Debug)]
pub(in super::super) enum NewQuantity {
    /// More or less by so many lots.
    More(i64),
    /// As much as has traded already.
    Filled,
    Raw(i64),
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        20 => target().prop_map(Change::Cancel),
        30 => (target(), new_price(), new_quantity()).prop_map(|(id, price, quantity)| Change::Replace(id, price, quantity)),
        2 => filter().prop_map(Change::MassCancel),
        10 => (instrument_id(), phase()).prop_map(|(instrument, phase)| Change::Phase(instrument, phase)),
        6 => instrument_id().prop_map(Change::NextPhase),
        3 => (instrument_id(), schedule()).prop_map(|(instrument, phases)| Change::Schedule(instrument, phases)),
        15 => prop_oneof![1 => -3..1_i64, 15 => 0..8_i64, 1 => 10..60_i64].prop_map(Change::Advance),
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![12 => any::<Index>().prop_map(Target::Working), 1 => (0..24_u64).prop_map(Target::Number)]
}

fn new_price() -> impl Strategy<Value = NewPrice> {
    prop_oneof![Just(NewPrice::Same), spot().prop_map(NewPrice::At)]
}

fn new_quantity() -> impl Strategy<Value = NewQuantity> {
    prop_oneof![
        10 => (-8..8_i64).prop_map(NewQuantity::More),
        1 => Just(NewQuantity::Filled),
        1 => prop_oneof![-2..3_i64, Just(i64::MIN), Just(151), Just(5_000)].prop_map(NewQuantity::Raw),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let parts = (
        prop::option::of(strategy()),
        prop::option::of(account()),
        prop::option::of(instrument_id()),
        prop::option::of(side()),
    );
    parts.prop_map(|(strategy, account, instrument, side): (_, _, _, Option<Side>)| Filter {
        strategy,
        account,
        instrument,
        side,
    })
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![4 => Just(Phase::Continuous), 2 => prop::sample::select(&Phase::ALL[..])]
}

fn schedule() -> impl Strategy<Value = Vec<(i64, Phase)>> {
    prop::collection::vec((-3..30_i64, phase()), 0..6).prop_map(|mut phases| {
        phases.sort_by_key(|(time, _)| *time);
        phases
    })
}

/// The phase that follows on a usual day.
fn next(phase: Phase) -> Phase {
    match phase {
        Phase::Closed => Phase::PreOpen,
        Phase::PreOpen => Phase::OpeningAuction,
        Phase::OpeningAuction => Phase::OpeningFreeze,
        Phase::OpeningFreeze => Phase::Pause,
        Phase::Pause | Phase::Halt | Phase::VolatilityAuction => Phase::Continuous,
        Phase::Continuous => Phase::ClosingAuction,
        Phase::ClosingAuction => Phase::ClosingFreeze,
        Phase::ClosingFreeze => Phase::Closed,
    }
}

impl Change {
    pub(super) fn fit(&self, scenario: &Scenario, model: &Model) -> Operation {
        match self {
            Change::Cancel(target) => Operation::Cancel(target.fit(scenario, model)),
            Change::Replace(target, price, quantity) => {
                Operation::Replace(replace(scenario, model, *target, *price, *quantity))
            }
            Change::MassCancel(filter) => Operation::MassCancel(*filter),
            Change::Phase(instrument, phase) => Operation::SetPhase(*instrument, *phase),
            Change::NextPhase(instrument) => {
                let phase = model.phase(*instrument).unwrap_or(Phase::Closed);
                Operation::SetPhase(*instrument, next(phase))
            }
            Change::Schedule(instrument, phases) => {
                let phases = phases.iter().map(|(delay, phase)| (later(model, *delay), *phase)).collect();
                Operation::Schedule(*instrument, phases)
            }
            Change::Advance(delay) => Operation::Advance(later(model, *delay)),
        }
    }
}

fn later(model: &Model, delay: i64) -> Nanos {
    Nanos(model.now().0.saturating_add_signed(delay))
}

impl Target {
    fn fit(self, scenario: &Scenario, model: &Model) -> u64 {
        let numbers = model.numbers();
        match self {
            Target::Working(index) if !numbers.is_empty() => numbers[index.index(numbers.len())],
            Target::Working(_) => scenario.numbers.number(0),
            Target::Number(small) => scenario.numbers.number(small),
        }
    }
}

fn replace(
    scenario: &Scenario,
    model: &Model,
    target: Target,
    price: NewPrice,
    quantity: NewQuantity,
) -> Replace {
    let id = target.fit(scenario, model);
    let order: Option<OrderState> = model.order(id);
    let (rules, base) = scenario.about(order.map_or(InstrumentId(1), |order| order.instrument));
    let before = order.map_or(Quantity(10), |order| order.quantity());
    Replace {
        id,
        price: match (price, order) {
            (NewPrice::Same, Some(order)) => order.price,
            (NewPrice::Same, None) => base,
            (NewPrice::At(spot), _) => spot.fit(rules, base),
        },
        quantity: match quantity {
            NewQuantity::More(lots) => Quantity(before.0.saturating_add(scenario.quantity(rules, lots, 0).0)),
            NewQuantity::Filled => order.map_or(Quantity(1), |order| order.filled),
            NewQuantity::Raw(raw) => Quantity(raw),
        },
    }
}
