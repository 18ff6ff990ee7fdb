//! Market data of before the start.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use support::*;

const S: u64 = 1_000_000_000;
const ONE: InstrumentId = InstrumentId(1);

fn quote_at(harness: &mut Harness<Probe>, time: u64) {
    let mut quote = Quote::empty(ONE);
    quote.event_time = Nanos(time);
    let level = |price| Level { price: Price(price), quantity: Quantity(1) };
    (quote.bids[0], quote.asks[0]) = (level(10), level(12));
    harness.send(Role::Quotes, 1, &quote);
}

/// The names of the calls so far.
fn calls(harness: &Harness<Probe>) -> Vec<&'static str> {
    let name = |event: &Event| match event {
        Event::Start => "start",
        Event::Instrument(_) => "instrument",
        Event::Quote(_) => "quote",
        Event::Bar(_) => "bar",
        Event::Timer(_) => "timer",
        _ => "other",
    };
    harness.strategy().events().iter().map(name).collect()
}

#[test]
fn what_comes_in_the_warm_up_is_heard_and_the_start_follows_it() {
    for deterministic in [false, true] {
        let setup = Setup { warm_up: Duration::from_secs(3), deterministic, ..setup() };
        let mut harness = probe(setup, |context, event| match event {
            Event::Instrument(id) => {
                assert!(context.is_warming_up());
                context.bars(BarRequest::time(*id, Duration::from_secs(2)).of_mids()).unwrap();
            }
            Event::Quote(quote) => {
                let sent = context.buy(quote.instrument, Price(12), Quantity(1));
                assert_eq!(sent.is_err(), context.is_warming_up());
                if let Err(error) = sent {
                    assert_eq!(error.refusal, Refusal::WarmingUp);
                    assert!(error.to_string().contains("warms up"), "{error}");
                }
            }
            Event::Start => assert!(!context.is_warming_up()),
            _ => {}
        });
        harness.list("A", "0.01", 1);
        harness.start();
        assert_eq!(calls(&harness), ["instrument"]);
        assert!(!harness.is_started() && harness.accepts(Role::Quotes) && harness.accepts(Role::Reports));
        for second in [10, 11, 12] {
            quote_at(&mut harness, second * S + 5);
        }
        assert!(harness.orders().is_empty());
        assert_eq!(calls(&harness), ["instrument", "quote", "quote", "bar", "quote"]);
        quote_at(&mut harness, 13 * S + 5);
        assert!(harness.is_started());
        assert_eq!(calls(&harness)[5..], ["start", "quote"], "once the time has passed, before the event");
        assert_eq!(harness.orders().len(), 1);
    }
}

#[test]
fn without_a_warm_up_the_start_is_the_first_call() {
    let mut harness = listener(setup());
    harness.list("A", "0.01", 1);
    harness.start();
    assert_eq!(calls(&harness), ["start", "instrument"]);
}

#[test]
fn a_fill_in_the_warm_up_counts_in_the_position_and_is_not_handed_over() {
    let mut harness = listener(Setup { warm_up: Duration::from_secs(3), ..setup() });
    harness.list("A", "0.01", 1);
    harness.start();
    // Of a predecessor's order, which td has not cancelled yet.
    let order = OrderId::new(StrategyId(7), 0, 1);
    let fill = Fill {
        order_id: order,
        trade_id: 1,
        instrument: ONE,
        side: Side::Buy,
        liquidity: Liquidity::Taker,
        reserved: [0; 2],
        price: Price(1),
        quantity: Quantity(3),
        remaining: Quantity(0),
        event_time: Nanos(0),
        execution: 640,
        answered_up_to: 0,
    };
    harness.send(Role::Reports, 0, &fill);
    assert_eq!(harness.context().position(ONE).quantity, Quantity(3));
    assert_eq!(calls(&harness), ["instrument"]);
}
