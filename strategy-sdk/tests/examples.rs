//! The two strategies that come with the SDK, included as other programs include them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../examples/market_maker.rs"]
mod market_maker;
mod support;
#[path = "../examples/taker.rs"]
mod taker;

use std::time::Duration;

use market_maker::MarketMaker;
use serde::de::DeserializeOwned;
use strategy_sdk::testing::{Harness, Role};
use strategy_sdk::*;
use taker::Taker;

fn harness<S: Strategy>(parameters: serde_json::Value) -> (Harness<S>, InstrumentId)
where
    S::Parameters: DeserializeOwned,
{
    let parameters = serde_json::from_value(parameters).unwrap();
    let mut harness = Harness::<S>::new(parameters).unwrap();
    let instrument = harness.list("A", "0.01", 100);
    harness.start();
    (harness, instrument)
}

fn sides(orders: &[wire::NewOrder]) -> Vec<(Side, String, i64)> {
    orders.iter().map(|order| (order.side, order.price.to_string(), order.quantity.0)).collect()
}

#[test]
fn the_taker_alternates_within_its_limit() {
    let (mut harness, instrument) = harness::<Taker>(serde_json::json!({ "every": 2, "max_position": 1 }));
    let mut sent = Vec::new();
    for _ in 0..8 {
        harness.quote(instrument, "9.99", "10.01", 500);
        for order in harness.orders() {
            assert_eq!(order.time_in_force, TimeInForce::ImmediateOrCancel);
            harness.accept(&order);
            harness.fill(&order, order.price, order.quantity.0);
            sent.push(order);
        }
        assert!(harness.context().position(instrument).quantity.0.abs() <= 100);
    }
    let (buy, sell) = ((Side::Buy, "10.01".to_owned(), 100), (Side::Sell, "9.99".to_owned(), 100));
    assert_eq!(sides(&sent), [buy.clone(), sell.clone(), buy, sell]);
}

#[test]
fn the_taker_counts_what_is_on_its_way_against_its_limit() {
    let (mut harness, instrument) = harness::<Taker>(serde_json::json!({ "max_position": 2 }));
    for _ in 0..20 {
        harness.quote(instrument, "9.99", "10.01", 500);
    }
    let orders = harness.orders();
    assert_eq!(orders.len(), 4, "two each way, and no more until they have ended");
    harness.quote(instrument, "none", "none", 0);
    assert!(harness.orders().is_empty());
}

#[test]
fn the_market_maker_quotes_both_sides_and_moves_them() {
    let (mut harness, instrument) = harness::<MarketMaker>(serde_json::json!({ "half_spread_ticks": 2 }));
    harness.quote(instrument, "9.99", "10.01", 500);
    let orders = harness.orders();
    let expected = [(Side::Buy, "9.98".to_owned(), 100), (Side::Sell, "10.02".to_owned(), 100)];
    assert_eq!(sides(&orders), expected);
    assert!(orders.iter().all(|order| order.time_in_force == TimeInForce::PostOnly));

    harness.quote(instrument, "10.09", "10.11", 500);
    assert!(harness.sent().is_empty(), "not before the market has them");
    orders.iter().for_each(|order| harness.accept(order));
    harness.quote(instrument, "10.09", "10.11", 500);
    let sent = harness.sent();
    let [Request::Replace(bid), Request::Replace(ask)] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((bid.price.to_string(), ask.price.to_string()), ("10.08".into(), "10.12".into()));
    assert_eq!((bid.quantity, ask.quantity), (Quantity(100), Quantity(100)));
    harness.quote(instrument, "10.19", "10.21", 500);
    assert!(harness.sent().is_empty(), "one request at a time");
}

/// Accepts, replaces and cancels as asked, until nothing more is asked.
fn serve(harness: &mut Harness<MarketMaker>) {
    loop {
        let sent = harness.sent();
        if sent.is_empty() {
            return;
        }
        for message in sent {
            let (id, status) = match message {
                Request::New(order) => {
                    harness.accept(&order);
                    continue;
                }
                Request::Replace(replace) => (replace.order_id, OrderStatus::Replaced),
                Request::Cancel(cancel) => (cancel.order_id, OrderStatus::Cancelled),
                Request::CancelAll(cancel) => panic!("{cancel:?}"),
            };
            let known = harness.context().working_order(id).unwrap();
            let (price, quantity) = match message {
                Request::Replace(replace) => (replace.price, replace.quantity),
                _ => (known.price, known.quantity),
            };
            let update = OrderUpdate {
                side: known.side,
                reason: Reason::Requested,
                price,
                quantity,
                filled: known.filled,
                ..support::update(id, known.instrument, status, 1)
            };
            harness.send(Role::Reports, 0, &update);
        }
    }
}

fn working(harness: &Harness<MarketMaker>) -> Vec<(Side, String, i64)> {
    let orders = harness.context().working_orders();
    let mut all: Vec<_> =
        orders.map(|order| (order.side, order.price.to_string(), order.remaining().0)).collect();
    all.sort();
    all
}

/// The order that works on that side trades in full.
fn trade(harness: &mut Harness<MarketMaker>, side: Side) {
    let order = *harness.context().working_orders().find(|order| order.side == side).unwrap();
    let fill = Fill {
        side,
        price: order.price,
        ..support::fill(order.id, order.instrument, order.remaining().0, 1)
    };
    harness.send(Role::Reports, 0, &fill);
    assert!(harness.sent().is_empty(), "an order that has traded in full is not touched");
    let filled = support::update(order.id, order.instrument, OrderStatus::Filled, 1);
    harness.send(Role::Reports, 0, &OrderUpdate { side, ..filled });
    serve(harness);
}

#[test]
fn the_market_maker_leans_against_its_position_and_stops_at_its_limit() {
    let parameters = serde_json::json!({ "half_spread_ticks": 4, "skew_ticks": 2, "max_position": 2 });
    let (mut harness, instrument) = harness::<MarketMaker>(parameters);
    harness.quote(instrument, "9.99", "10.01", 500);
    serve(&mut harness);
    let at = |side, price: &str| (side, price.to_owned(), 100);
    assert_eq!(working(&harness), [at(Side::Buy, "9.96"), at(Side::Sell, "10.04")]);
    trade(&mut harness, Side::Buy);
    assert_eq!(working(&harness), [at(Side::Buy, "9.95"), at(Side::Sell, "10.03")], "a tick lower");
    trade(&mut harness, Side::Buy);
    assert_eq!(working(&harness), [at(Side::Sell, "10.02")], "full: no bid, and the ask lower still");
    trade(&mut harness, Side::Sell);
    trade(&mut harness, Side::Sell);
    trade(&mut harness, Side::Sell);
    assert_eq!(harness.context().position(instrument).quantity, Quantity(-100));
    assert_eq!(working(&harness), [at(Side::Buy, "9.97"), at(Side::Sell, "10.05")]);
}

#[test]
fn a_refused_side_rests_until_the_timer_and_stale_orders_are_cancelled() {
    let (mut harness, instrument) = harness::<MarketMaker>(serde_json::json!({ "max_age_ms": 1_000 }));
    harness.quote(instrument, "9.99", "10.01", 500);
    let [bid, ask] = harness.orders()[..] else { panic!("two orders") };
    harness.update(&bid, OrderStatus::Rejected, Reason::WouldTrade);
    harness.accept(&ask);
    harness.quote(instrument, "9.99", "10.01", 500);
    assert!(harness.sent().is_empty(), "the bid rests, the ask is right");
    harness.advance(Duration::from_millis(100));
    let again = harness.orders();
    assert_eq!(sides(&again), [(Side::Buy, "9.99".to_owned(), 100)]);

    harness.advance(Duration::from_millis(900));
    let sent = harness.sent();
    let [Request::Cancel(cancel)] = sent[..] else { panic!("{sent:?}") };
    assert_eq!(cancel.order_id, ask.order_id);
    harness.update(&ask, OrderStatus::Cancelled, Reason::Requested);
    harness.quote(instrument, "9.99", "10.01", 500);
    assert_eq!(sides(&harness.orders()), [(Side::Sell, "10.01".to_owned(), 100)]);
}

#[test]
fn parameters_that_cannot_be_are_refused_by_name() {
    for (name, value) in [("quantity", 0), ("every", 0), ("max_position", -1)] {
        let parameters = serde_json::from_value(serde_json::json!({ name: value }));
        // A count cannot even be read from a negative number.
        let Ok(parameters) = parameters else { continue };
        let error = Taker::create(parameters).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    let unknown = serde_json::json!({ "spread": 1 });
    let error = serde_json::from_value::<<MarketMaker as Strategy>::Parameters>(unknown).unwrap_err();
    assert!(error.to_string().contains("half_spread_ticks"), "{error}");
}
