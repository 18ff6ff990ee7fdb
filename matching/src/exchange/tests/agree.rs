//! Random input: the engine answers what the model answers, and keeps its books.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wire::Side;

use super::generate::{Scenario, scenario};
use super::ledger::Ledger;
use super::model::Model;
use super::operation::Answer;
use super::seen::Seen;
use super::venue::Venue;
use crate::exchange::{Event, Exchange};

const STEPS: usize = 200;

/// Runs engine and model side by side.
pub(super) fn compare(scenario: &Scenario, seen: &mut Seen) {
    let (mut engine, mut model): (Exchange, Model) = (scenario.open(), scenario.open());
    let mut ledger = Ledger::default();
    for step in &scenario.steps {
        let operation = step.fit(scenario, &model);
        let expected = operation.put(&mut model);
        let found = operation.put(&mut engine);
        same_answers(&found, &expected);
        ledger.follow(&found.1);
        same_state(scenario, &engine, &model);
        for rules in &scenario.instruments {
            ledger.check(&engine, rules.id);
        }
        ledger.check_working(&engine);
        seen.count(&operation, &found.1);
    }
}

fn same_answers(found: &(Answer, Vec<Event>), expected: &(Answer, Vec<Event>)) {
    for (number, (found, expected)) in found.1.iter().zip(&expected.1).enumerate() {
        assert_eq!(found, expected, "event {number}: engine (left), model (right)");
    }
    assert_eq!(found.1.len(), expected.1.len(), "engine: {:#?}\nmodel: {:#?}", found.1, expected.1);
    assert_eq!(found.0, expected.0);
}

fn same_state(scenario: &Scenario, engine: &Exchange, model: &Model) {
    assert_eq!(Venue::now(engine), Venue::now(model));
    assert_eq!(Venue::working_orders(engine), Venue::working_orders(model));
    for id in model.numbers() {
        assert_eq!(Venue::order(engine, id), Venue::order(model, id));
    }
    for id in scenario.instruments.iter().map(|rules| rules.id) {
        assert_eq!(Venue::phase(engine, id), Venue::phase(model, id));
        assert_eq!(Venue::last_price(engine, id), Venue::last_price(model, id));
        assert_eq!(Venue::equilibrium(engine, id), Venue::equilibrium(model, id), "of instrument {}", id.0);
        for side in [Side::Buy, Side::Sell] {
            assert_eq!(engine.orders(id, side), model.orders(id, side));
            assert_eq!(engine.levels(id, side), model.levels(id, side));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_model_does(scenario in scenario(STEPS)) {
        compare(&scenario, &mut Seen::default());
    }
}

/// The comparison would be worth little if the random input met few of the cases.
#[test]
fn random_input_meets_every_case() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = scenario(STEPS);
    let mut seen = Seen::default();
    for _ in 0..300 {
        let scenario = strategy.new_tree(&mut runner).unwrap().current();
        compare(&scenario, &mut seen);
    }
    let counts: &BTreeMap<String, u64> = seen.counts();
    for (kind, count) in counts {
        println!("{count:>8} {kind}");
    }
    let rare: Vec<_> =
        seen.required().into_iter().filter(|kind| counts.get(kind).is_none_or(|count| *count < 5)).collect();
    assert!(rare.is_empty(), "never or rarely seen: {rare:?}");
}
