//! The checks of a new order, in the order of the table.

use wire::{InstrumentId, Nanos, Price, Quantity};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, Kind, Lifetime, MarketRules, Order, Phase};

/// Ticks of 5, from 200 on of 10; lots of 10, at most 100; prices from 50 to 300.
fn strict<V: Venue>() -> Desk<V> {
    Desk::with(InstrumentRules {
        ticks: vec![(Price(0), Price(5)), (Price(200), Price(10))],
        lot: Quantity(10),
        max_quantity: Quantity(100),
        price_low: Price(50),
        price_high: Price(300),
        ..stock()
    })
}

/// Everything is wrong with it that can be; what is mended lets the next check refuse.
fn the_first_check_that_fails_names_the_reason<V: Venue>() {
    let mut desk = strict::<V>();
    desk.advance(10);
    desk.stand([sell(1, 100, 10)]);
    let mut order = Order {
        instrument: InstrumentId(2),
        kind: Kind::Limit(Price::NONE),
        lifetime: Lifetime::AtTheOpen,
        post_only: true,
        display: Quantity(-10),
        minimum: Quantity(15),
        ..buy(1, 0, 0)
    };
    let refusal = |desk: &mut Desk<V>, order: Order| {
        let answers = desk.enter(order);
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers[0].split_once(": ").unwrap().1.to_string()
    };
    assert_eq!(refusal(&mut desk, order), "unknown-instrument");
    order.instrument = STOCK;
    assert_eq!(refusal(&mut desk, order), "duplicate-order");
    order.id = 2;
    assert_eq!(refusal(&mut desk, order), "market-closed");
    order.lifetime = Lifetime::GoodTillDate(Nanos(10));
    assert_eq!(refusal(&mut desk, order), "expired");
    order.lifetime = Lifetime::ImmediateOrCancel;
    for (quantity, display, minimum) in
        [(0, 0, 0), (15, 0, 0), (110, 0, 0), (20, -10, 0), (20, 15, 0), (20, 30, 0), (20, 0, 15)]
    {
        (order.quantity, order.display, order.minimum) =
            (Quantity(quantity), Quantity(display), Quantity(minimum));
        assert_eq!(refusal(&mut desk, order), "quantity");
    }
    (order.display, order.minimum) = (Quantity(10), Quantity(20));
    assert_eq!(refusal(&mut desk, order), "malformed", "post-only with immediate-or-cancel and a minimum");
    (order.lifetime, order.minimum) = (Lifetime::Day, Quantity::ZERO);
    assert_eq!(refusal(&mut desk, order), "malformed", "without a price");
    for (price, reason) in
        [(7, "off-tick"), (45, "price-band"), (205, "off-tick"), (310, "price-band"), (100, "would-trade")]
    {
        order.kind = Kind::Limit(Price(price));
        assert_eq!(refusal(&mut desk, order), reason);
    }
    order.kind = Kind::Limit(Price(95));
    assert_eq!(desk.enter(order), ["2 accepted", "2 rests: 10 of 20 @ 95"]);
}

fn price_and_trigger_are_checked_alike<V: Venue>() {
    let mut desk = strict::<V>();
    let order = |price, trigger| stop_limit(buy(1, price, 10), trigger);
    assert_eq!(desk.enter(order(i64::MIN, 7)), ["1 rejected: malformed"]);
    assert_eq!(desk.enter(order(7, i64::MIN)), ["1 rejected: malformed"]);
    assert_eq!(desk.enter(order(100, 7)), ["1 rejected: off-tick"]);
    assert_eq!(desk.enter(order(310, 7)), ["1 rejected: off-tick"]);
    assert_eq!(desk.enter(order(100, 310)), ["1 rejected: price-band"]);
    assert_eq!(desk.enter(stop(buy(1, 0, 10), 45)), ["1 rejected: price-band"]);
    assert_eq!(desk.enter(order(300, 50)), ["1 accepted"]);
}

fn conditions_that_do_not_go_together_are_malformed<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let limit = buy(1, 100, 10);
    let waiting = stop_limit(limit, 120);
    let malformed = [
        post_only(market(limit)),
        post_only(stop(limit, 120)),
        post_only(waiting),
        post_only(lasting(limit, Lifetime::ImmediateOrCancel)),
        post_only(lasting(limit, Lifetime::FillOrKill)),
        post_only(at_least(limit, 1)),
        iceberg(market(limit), 1),
        iceberg(stop(limit, 120), 1),
        lasting(waiting, Lifetime::AtTheClose),
        lasting(at_least(limit, 1), Lifetime::AtTheClose),
        lasting(waiting, Lifetime::ImmediateOrCancel),
        lasting(stop(limit, 120), Lifetime::FillOrKill),
        at_least(waiting, 1),
    ];
    for order in malformed {
        assert_eq!(desk.enter(order), ["1 rejected: malformed"], "{order:?}");
    }
    let sound = [
        post_only(iceberg(limit, 1)),
        post_only(lasting(limit, Lifetime::AtTheClose)),
        iceberg(waiting, 1),
        lasting(market(limit), Lifetime::AtTheClose),
        at_least(lasting(limit, Lifetime::FillOrKill), 1),
        at_least(iceberg(limit, 1), 1),
    ];
    for order in sound {
        assert_eq!(desk.enter(order)[0], "1 accepted", "{order:?}");
        desk.cancel(1);
    }
    desk.phase(Phase::OpeningAuction);
    assert_eq!(desk.enter(lasting(waiting, Lifetime::AtTheOpen)), ["1 rejected: malformed"]);
}

fn outside_of_continuous_trading_nothing_is_done_at_once<V: Venue>() {
    for phase in [Phase::PreOpen, Phase::Pause, Phase::VolatilityAuction, Phase::ClosingFreeze] {
        let mut desk = Desk::<V>::plain();
        desk.phase(phase);
        let order = buy(1, 100, 10);
        for refused in [
            lasting(order, Lifetime::ImmediateOrCancel),
            lasting(order, Lifetime::FillOrKill),
            at_least(order, 1),
        ] {
            assert_eq!(desk.enter(refused), ["1 rejected: market-closed"]);
        }
        assert_eq!(desk.enter(market(order)), ["1 accepted", "1 rests: 10 @ market"]);
        desk.stand([buy(3, 100, 10)]);
        // Post-only is like any other order there.
        assert_eq!(desk.enter(post_only(sell(2, 99, 10))), ["2 accepted", "2 rests: 10 @ 99"]);
    }
}

fn market_orders_in_auctions_are_for_markets_that_take_them<V: Venue>() {
    let mut desk = Desk::<V>::of_market(MarketRules::shanghai());
    let order = market(buy(1, 0, 10));
    assert_eq!(desk.enter(lasting(order, Lifetime::AtTheClose)), ["1 rejected: market-closed"]);
    desk.phase(Phase::OpeningAuction);
    assert_eq!(desk.enter(order), ["1 rejected: market-closed"]);
    assert_eq!(desk.enter(stop(order, 120)), ["1 accepted"]);
}

fn at_the_open_is_for_the_opening_auction<V: Venue>() {
    let order = lasting(buy(1, 100, 10), Lifetime::AtTheOpen);
    for phase in Phase::ALL {
        let mut desk = Desk::<V>::plain();
        desk.phase(phase);
        let accepted = desk.enter(order)[0] == "1 accepted";
        assert_eq!(accepted, matches!(phase, Phase::PreOpen | Phase::OpeningAuction | Phase::OpeningFreeze));
    }
}

fn order_numbers_are_any_64_bit_numbers<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    for id in [0, u64::MAX, 1 << 63, u64::from(u32::MAX) + 1] {
        assert_eq!(desk.enter(buy(id, 100, 1)), [format!("{id} accepted"), format!("{id} rests: 1 @ 100")]);
        assert_eq!(desk.enter(buy(id, 100, 1)), [format!("{id} rejected: duplicate-order")]);
    }
    assert_eq!(desk.venue.working_orders(), 4);
}

fn prices_are_any_that_fit<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, i64::MIN + 1, 1), buy(2, 0, 1), sell(3, i64::MAX, 1)]);
    assert_eq!(
        desk.enter(sell(4, i64::MIN + 1, 3)),
        [
            "4 accepted".to_string(),
            "2 buys 1 @ 0 from 4, left 0 and 2".into(),
            format!("1 buys 1 @ {} from 4, left 0 and 1", i64::MIN + 1),
            format!("4 rests: 1 @ {}", i64::MIN + 1),
        ]
    );
    assert_eq!(desk.enter(market(buy(5, 0, 2)))[2], format!("5 buys 1 @ {} from 3, left 0 and 0", i64::MAX));
}

on_both!(
    the_first_check_that_fails_names_the_reason,
    price_and_trigger_are_checked_alike,
    conditions_that_do_not_go_together_are_malformed,
    outside_of_continuous_trading_nothing_is_done_at_once,
    market_orders_in_auctions_are_for_markets_that_take_them,
    at_the_open_is_for_the_opening_auction,
    order_numbers_are_any_64_bit_numbers,
    prices_are_any_that_fit,
);
