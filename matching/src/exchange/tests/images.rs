//! An exchange that is made of images goes on as the one that they were taken of.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wire::{OrderId, OrderImage, Quantity};

use super::generate::{Scenario, scenario};
use super::model::Model;
use super::venue::Venue;
use crate::exchange::{Event, Exchange, ExchangeOptions, ImageError};

const STEPS: usize = 200;

/// Images as a process keeps them: of the orders that events report, and of stops that were reached.
#[derive(Default)]
struct Held(BTreeMap<u64, OrderImage>);

impl Held {
    fn follow(&mut self, exchange: &Exchange, events: &[Event]) {
        let mut changed = Vec::new();
        for event in events {
            event.changed(|id| changed.push(id));
            if let Event::PhaseChanged { instrument, .. } = event {
                changed.extend(exchange.reached(*instrument));
            }
        }
        for id in changed {
            match exchange.image(id) {
                Some(image) => self.0.insert(id, image),
                None => self.0.remove(&id),
            };
        }
    }

    fn assert_all_of(&self, exchange: &Exchange) {
        let all = (0..exchange.places()).filter_map(|place| exchange.image_at(place));
        let all: BTreeMap<u64, OrderImage> = all.map(|image| (image.order_id.0, image)).collect();
        assert_eq!(self.0, all, "an order has changed and no event says so");
    }

    /// Another exchange, made of them. The order of the images means nothing.
    fn restore(&self, scenario: &Scenario, exchange: &Exchange) -> Exchange {
        let mut again: Exchange = scenario.open();
        for rules in &scenario.instruments {
            let state = exchange.market_state(rules.id).unwrap();
            assert!(again.restore_market(rules.id, state.clone()));
            assert_eq!(again.market_state(rules.id), Some(state));
        }
        let images: Vec<OrderImage> = self.0.values().copied().collect();
        again.restore_orders(exchange.counts(), &images).unwrap();
        assert_eq!(again.counts(), exchange.counts());
        again
    }
}

fn same_books(scenario: &Scenario, found: &Exchange, expected: &Exchange) {
    assert_eq!(found.working_orders(), expected.working_orders());
    for id in scenario.instruments.iter().map(|rules| rules.id) {
        for side in [wire::Side::Buy, wire::Side::Sell] {
            assert_eq!(found.orders(id, side), expected.orders(id, side));
            assert_eq!(found.levels(id, side), expected.levels(id, side));
        }
        assert_eq!(Venue::equilibrium(found, id), Venue::equilibrium(expected, id));
        assert_eq!(Venue::last_price(found, id), Venue::last_price(expected, id));
    }
}

/// Runs an exchange, and beside it one that is made anew of images every `every` steps. Returns how many were made.
fn compare(scenario: &Scenario, every: usize) -> usize {
    let (mut exchange, mut model): (Exchange, Model) = (scenario.open(), scenario.open());
    let mut held = Held::default();
    let (mut again, mut made) = (held.restore(scenario, &exchange), 0);
    for (number, step) in scenario.steps.iter().enumerate() {
        let operation = step.fit(scenario, &model);
        operation.put(&mut model);
        let expected = operation.put(&mut exchange);
        let found = operation.put(&mut again);
        assert_eq!(found, expected, "step {number}: {operation:?}");
        held.follow(&exchange, &expected.1);
        held.assert_all_of(&exchange);
        if number % every == 0 {
            (again, made) = (held.restore(scenario, &exchange), made + 1);
        }
        same_books(scenario, &again, &exchange);
    }
    made
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn it_goes_on_as_the_original(scenario in scenario(STEPS), every in prop_oneof![Just(1_usize), 2..40_usize]) {
        prop_assert!(compare(&scenario, every) > 0);
    }

    /// What another process left in shared memory may be anything.
    #[test]
    fn no_image_makes_it_panic(
        scenario in scenario(60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        use wire::Message;
        let (mut exchange, mut model): (Exchange, Model) = (scenario.open(), scenario.open());
        for step in &scenario.steps {
            let operation = step.fit(&scenario, &model);
            operation.put(&mut model);
            operation.put(&mut exchange);
        }
        let mut images: Vec<OrderImage> =
            (0..exchange.places()).filter_map(|place| exchange.image_at(place)).collect();
        prop_assume!(!images.is_empty());
        for (image, at, byte) in changes {
            let image = image.get_mut(&mut images);
            let mut bytes = image.bytes().to_vec();
            bytes[at.index(OrderImage::SIZE)] = byte;
            *image = OrderImage::decode(&bytes).unwrap();
        }
        let mut again: Exchange = scenario.open();
        for rules in &scenario.instruments {
            again.restore_market(rules.id, exchange.market_state(rules.id).unwrap());
        }
        if again.restore_orders(exchange.counts(), &images).is_ok() {
            let step = scenario.steps[0].fit(&scenario, &model);
            step.put(&mut again);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    use super::desk::{buy, stock};
    let mut exchange = Exchange::new(ExchangeOptions::default());
    exchange.list(stock()).unwrap();
    exchange.submit(&buy(1, 100, 5), &mut Vec::new());
    let image = exchange.image(1).unwrap();
    let restored = |images: Vec<OrderImage>| {
        let mut again = Exchange::new(ExchangeOptions::default());
        again.list(stock()).unwrap();
        again.restore_orders(exchange.counts(), &images)
    };
    assert_eq!(restored(vec![image]), Ok(()));
    assert_eq!(restored(vec![image, image]), Err(ImageError::Twice(1)));
    let unlisted = OrderImage { instrument: wire::InstrumentId(9), ..image };
    assert_eq!(restored(vec![unlisted]), Err(ImageError::Unlisted(1)));
    assert_eq!(restored(vec![OrderImage::gone(OrderId(1))]), Err(ImageError::Unlisted(1)));
    let most = |open, filled| OrderImage { open: Quantity(open), filled: Quantity(filled), ..image };
    assert_eq!(restored(vec![most(i64::MAX - 8, 8)]), Ok(()));
    assert_eq!(restored(vec![most(i64::MAX - 8, 9)]), Err(ImageError::Invalid(1)), "no order is so large");
    assert_eq!(restored(vec![OrderImage { bits: u32::MAX, ..image }]), Err(ImageError::Invalid(1)));
    assert_eq!(exchange.restore_orders(exchange.counts(), &[]), Err(ImageError::NotEmpty));
}
