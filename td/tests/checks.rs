//! Each check, at its edges, and who hears of a refusal.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::*;
use td::{Decision, Gateway, GatewayOptions, InstrumentError, Limits, LimitsError};
use wire::*;

fn refused(gateway: &mut Gateway, order: &NewOrder) -> Option<Reason> {
    gateway.on_new_order(ME, order).err().map(|update| {
        assert_eq!((update.status, update.execution), (OrderStatus::Rejected, 0));
        assert_eq!((update.order_id, update.quantity), (order.order_id, order.quantity));
        update.reason
    })
}

#[test]
fn quantity_is_positive_whole_lots_and_within_both_limits() {
    let mut gateway = gateway(Limits { max_order_quantity: Quantity(1_000), ..Limits::NONE });
    for (sequence, quantity, expected) in [
        (1, 0, Some(Reason::Quantity)),
        (2, -100, Some(Reason::Quantity)),
        (3, 150, Some(Reason::Quantity)),
        (4, 100, None),
        (5, 1_000, None),
        (6, 1_100, Some(Reason::Quantity)),
        (7, i64::MAX, Some(Reason::Quantity)),
        (8, i64::MIN, Some(Reason::Quantity)),
    ] {
        assert_eq!(refused(&mut gateway, &order(sequence, Side::Buy, quantity)), expected, "{quantity}");
    }
    gateway.on_instrument(&Instrument { max_quantity: Quantity(500), ..instrument(1) }).unwrap();
    assert_eq!(refused(&mut gateway, &order(9, Side::Buy, 500)), None);
    assert_eq!(refused(&mut gateway, &order(10, Side::Buy, 600)), Some(Reason::Quantity));
}

#[test]
fn the_tick_that_holds_at_a_price_counts_and_not_the_instruments_own() {
    let mut gateway = gateway(Limits::NONE);
    let ticks = [("0", "0.005"), ("10", "0.05")].map(|(from, tick)| (price(from), price(tick)));
    gateway.set_ticks(InstrumentId(1), ticks.to_vec());
    let mut sequence = 0;
    let mut at = |text| {
        sequence += 1;
        refused(&mut gateway, &NewOrder { price: price(text), ..order(sequence, Side::Buy, 100) })
    };
    assert_eq!((at("9.995"), at("9.996"), at("9.005")), (None, Some(Reason::OffTick), None));
    assert_eq!((at("10"), at("10.01"), at("10.05")), (None, Some(Reason::OffTick), None));
    gateway.set_ticks(InstrumentId(1), Vec::new());
    let plain = NewOrder { price: price("10.01"), ..order(50, Side::Buy, 100) };
    assert_eq!(refused(&mut gateway, &plain), None, "its own tick again");
}

#[test]
fn a_mass_cancel_is_checked_like_a_cancel_and_leaves_the_orders_to_matching() {
    let mut gateway = gateway(Limits::NONE);
    assert_eq!(refused(&mut gateway, &order(1, Side::Buy, 100)), None);
    let own = CancelAll::new(OrderId::new(ME, 1, 2));
    assert_eq!(gateway.on_cancel_all(ME, &own), Ok(own));
    assert_eq!(gateway.working_orders(ME), 1, "until matching says so");
    let reason = |gateway: &mut td::Gateway, cancel: CancelAll| {
        let refused = gateway.on_cancel_all(ME, &cancel).unwrap_err();
        assert_eq!((refused.order_id, refused.status), (cancel.order_id, OrderStatus::CancelRejected));
        refused.reason
    };
    let foreign = CancelAll::new(OrderId::new(OTHER, 1, 2));
    assert_eq!(reason(&mut gateway, foreign), Reason::NotYours);
    let unlisted = CancelAll { instrument: InstrumentId(99), ..own };
    assert_eq!(reason(&mut gateway, unlisted), Reason::UnknownInstrument);
    let account = CancelAll { account: AccountId(3), flags: CancelAll::OF_ACCOUNT, ..own };
    assert_eq!(reason(&mut gateway, account), Reason::UnknownAccount);
    let _ = gateway.strategy_stopped(ME);
    assert_eq!(reason(&mut gateway, own), Reason::StrategyGone);
    assert_eq!(gateway.counters(ME).unwrap().cancel_requests, 5);
    let Decision::Answer(answer) = gateway.take(ME, CancelAll::ID, &own.bytes()[..9]) else { panic!() };
    assert_eq!((answer.status, answer.reason), (OrderStatus::CancelRejected, Reason::Malformed));
}

#[test]
fn a_lot_of_zero_counts_as_one() {
    let mut gateway = gateway(Limits::NONE);
    gateway.on_instrument(&Instrument { lot: Quantity(0), ..instrument(1) }).unwrap();
    assert_eq!(refused(&mut gateway, &order(1, Side::Buy, 1)), None);
}

#[test]
fn price_is_on_tick_and_in_the_band_ends_included() {
    let mut gateway = gateway(Limits::NONE);
    for (sequence, text, expected) in [
        (1, "9", None),
        (2, "8.99", Some(Reason::PriceBand)),
        (3, "11", None),
        (4, "11.01", Some(Reason::PriceBand)),
        (5, "10.005", Some(Reason::OffTick)),
        (6, "0", Some(Reason::PriceBand)),
        (7, "-10", Some(Reason::PriceBand)),
    ] {
        let order = NewOrder { price: price(text), ..order(sequence, Side::Sell, 100) };
        assert_eq!(refused(&mut gateway, &order), expected, "{text}");
    }
    let none = NewOrder { price: Price::NONE, ..order(8, Side::Sell, 100) };
    assert_eq!(refused(&mut gateway, &none), Some(Reason::Malformed));
}

/// A spread: a tenth of its price is less than a tick.
#[test]
fn a_band_around_zero_is_ten_ticks_either_way() {
    for reference in ["0", "0.01", "-0.02"] {
        let mut gateway = gateway(Limits::NONE);
        gateway.on_instrument(&Instrument { reference_price: price(reference), ..instrument(1) }).unwrap();
        let middle = price(reference).0;
        for (sequence, ticks, expected) in [
            (1, 10, None),
            (2, -10, None),
            (3, 11, Some(Reason::PriceBand)),
            (4, -11, Some(Reason::PriceBand)),
        ] {
            let at = Price(middle + ticks * price("0.01").0);
            let order = NewOrder { price: at, ..order(sequence, Side::Buy, 100) };
            assert_eq!(refused(&mut gateway, &order), expected, "{at} around {reference}");
        }
    }
}

#[test]
fn the_instruments_own_band_holds_as_well_and_the_reference_moves() {
    let mut gateway = gateway(Limits::NONE);
    let own = Instrument { price_low: price("9.5"), price_high: price("20"), ..instrument(1) };
    gateway.on_instrument(&own).unwrap();
    let at = |sequence, text| NewOrder { price: price(text), ..order(sequence, Side::Buy, 100) };
    assert_eq!(refused(&mut gateway, &at(1, "9.49")), Some(Reason::PriceBand));
    assert_eq!(refused(&mut gateway, &at(2, "9.5")), None);
    assert_eq!(refused(&mut gateway, &at(3, "11.01")), Some(Reason::PriceBand));
    gateway.set_reference_price(STOCK, price("15"));
    assert_eq!(refused(&mut gateway, &at(4, "13.49")), Some(Reason::PriceBand));
    assert_eq!(refused(&mut gateway, &at(5, "16.5")), None);
    gateway.set_reference_price(STOCK, price("100"));
    assert_eq!(refused(&mut gateway, &at(6, "90")), Some(Reason::PriceBand), "outside 9.5 to 20");
    gateway.set_reference_price(STOCK, Price::NONE);
    gateway.set_reference_price(InstrumentId(999), price("1"));
    gateway.set_reference_price(STOCK, Price(i64::MAX));
    assert_eq!(refused(&mut gateway, &at(7, "20")), None, "20 is the highest there is");
}

#[test]
fn without_a_band_or_a_reference_every_price_on_tick_passes() {
    for (band, reference) in [(0.0, price("10")), (0.1, Price::NONE)] {
        let mut gateway = Gateway::new(GatewayOptions { price_band: band }).unwrap();
        gateway.on_instrument(&Instrument { reference_price: reference, ..instrument(1) }).unwrap();
        gateway.strategy_started(ME, Limits::NONE).unwrap();
        let order = NewOrder { price: price("123456"), ..order(1, Side::Buy, 100) };
        assert_eq!(refused(&mut gateway, &order), None);
    }
}

#[test]
fn a_market_order_has_no_price_to_check() {
    let mut gateway = gateway(Limits::NONE);
    let order = NewOrder { order_type: OrderType::Market, price: Price::NONE, ..order(1, Side::Buy, 100) };
    assert_eq!(refused(&mut gateway, &order), None);
}

#[test]
fn an_order_for_another_account_is_refused() {
    let mut gateway = gateway(Limits::NONE);
    let other = NewOrder { account: AccountId(1), ..order(1, Side::Buy, 100) };
    assert_eq!(refused(&mut gateway, &other), Some(Reason::UnknownAccount));
    assert_eq!(refused(&mut gateway, &order(2, Side::Buy, 100)), None);
}

#[test]
fn an_instrument_must_be_listed_and_its_definition_must_make_sense() {
    let mut gateway = gateway(Limits::NONE);
    for (sequence, id) in [(1, 0), (2, 2), (3, u32::MAX)] {
        let order = NewOrder { instrument: InstrumentId(id), ..order(sequence, Side::Buy, 100) };
        assert_eq!(refused(&mut gateway, &order), Some(Reason::UnknownInstrument));
    }
    for id in [0, MAX_INSTRUMENTS, u32::MAX] {
        assert!(matches!(gateway.on_instrument(&instrument(id)), Err(InstrumentError::Id { .. })));
    }
    let upside_down = Instrument { price_low: price("2"), price_high: price("1"), ..instrument(1) };
    assert!(matches!(gateway.on_instrument(&upside_down), Err(InstrumentError::Band { .. })));
    assert_eq!(refused(&mut gateway, &order(4, Side::Buy, 100)), None, "the old rules stand");
    assert!(matches!(
        Gateway::new(GatewayOptions { price_band: -1.0 }),
        Err(LimitsError::PriceBand(fraction)) if fraction == -1.0
    ));
    assert!(gateway.strategy_started(ME, Limits { max_position: Quantity(-1), ..Limits::NONE }).is_err());
}

#[test]
fn no_more_orders_work_than_allowed() {
    let mut gateway = gateway(Limits { max_working_orders: 2, ..Limits::NONE });
    let first = order(1, Side::Buy, 100);
    assert_eq!(refused(&mut gateway, &first), None);
    assert_eq!(refused(&mut gateway, &order(2, Side::Buy, 100)), None);
    assert_eq!(refused(&mut gateway, &order(3, Side::Buy, 100)), Some(Reason::WorkingOrders));
    let _ = gateway.on_update(1, &update(&first, OrderStatus::Cancelled, 0));
    assert_eq!(refused(&mut gateway, &order(4, Side::Buy, 100)), None);
    assert_eq!(gateway.working_orders(ME), 2);
}

#[test]
fn the_position_limit_holds_in_the_worst_case_on_both_sides() {
    let mut gateway = gateway(Limits { max_position: Quantity(300), ..Limits::NONE });
    let bought = order(1, Side::Buy, 200);
    assert_eq!(refused(&mut gateway, &bought), None);
    let _ = gateway.on_fill(1, &fill(&bought, 200, 0));
    let _ = gateway.on_update(2, &update(&bought, OrderStatus::Filled, 200));
    assert_eq!(refused(&mut gateway, &order(2, Side::Buy, 200)), Some(Reason::PositionLimit));
    assert_eq!(refused(&mut gateway, &order(3, Side::Buy, 100)), None);
    // From long 200 down to short 300 is 500.
    assert_eq!(refused(&mut gateway, &order(4, Side::Sell, 600)), Some(Reason::PositionLimit));
    assert_eq!(refused(&mut gateway, &order(5, Side::Sell, 500)), None);
    assert_eq!(refused(&mut gateway, &order(6, Side::Sell, 100)), Some(Reason::PositionLimit));
    let exposure = gateway.exposure(ME, STOCK);
    assert_eq!((exposure.position, exposure.working_buys, exposure.working_sells), (200, 100, 500));
    assert_eq!((exposure.worst_case(Side::Buy), exposure.worst_case(Side::Sell)), (300, 300));
}

#[test]
fn huge_orders_without_limits_do_not_overflow() {
    let mut gateway = gateway(Limits::NONE);
    gateway.on_instrument(&Instrument { lot: Quantity(1), ..instrument(1) }).unwrap();
    for sequence in 1..=4 {
        assert_eq!(refused(&mut gateway, &order(sequence, Side::Buy, i64::MAX)), None);
    }
    assert_eq!(gateway.exposure(ME, STOCK).working_buys, 4 * i128::from(i64::MAX));
}

#[test]
fn a_replace_is_checked_again_with_the_difference() {
    let mut gateway = gateway(Limits { max_position: Quantity(500), ..Limits::NONE });
    let first = order(1, Side::Buy, 300);
    gateway.on_new_order(ME, &first).unwrap();
    let _ = gateway.on_update(1, &update(&first, OrderStatus::Accepted, 0));
    let reason = |gateway: &mut Gateway, replace: &ReplaceOrder| {
        gateway.on_replace(ME, replace).err().map(|answer| {
            assert_eq!(answer.status, OrderStatus::ReplaceRejected);
            assert_eq!((answer.quantity, answer.remaining), (Quantity(300), Quantity(300)), "it stands");
            answer.reason
        })
    };
    assert_eq!(reason(&mut gateway, &replace(&first, 600)), Some(Reason::PositionLimit));
    assert_eq!(reason(&mut gateway, &replace(&first, 250)), Some(Reason::Quantity));
    let off_tick = ReplaceOrder { price: Price(1), ..replace(&first, 300) };
    assert_eq!(reason(&mut gateway, &off_tick), Some(Reason::OffTick));
    let far = ReplaceOrder { price: price("20"), ..replace(&first, 300) };
    assert_eq!(reason(&mut gateway, &far), Some(Reason::PriceBand));
    let elsewhere = ReplaceOrder { instrument: InstrumentId(2), ..replace(&first, 300) };
    assert_eq!(reason(&mut gateway, &elsewhere), Some(Reason::Malformed));
    assert_eq!(reason(&mut gateway, &replace(&first, 500)), None);
    assert_eq!(gateway.exposure(ME, STOCK).working_buys, 500, "reserved while it is on its way");
    assert_eq!(reason(&mut gateway, &replace(&first, 100)), None);
    assert_eq!(gateway.exposure(ME, STOCK).working_buys, 500, "either may come first");
    assert_eq!(
        gateway.on_new_order(ME, &order(2, Side::Buy, 100)).unwrap_err().reason,
        Reason::PositionLimit
    );
    let grown = NewOrder { quantity: Quantity(500), ..first };
    let _ = gateway.on_update(2, &update(&grown, OrderStatus::Replaced, 0));
    let shrunk = NewOrder { quantity: Quantity(100), ..first };
    let _ = gateway.on_update(3, &update(&shrunk, OrderStatus::Replaced, 0));
    assert_eq!(gateway.exposure(ME, STOCK).working_buys, 100);
    let _ = gateway.on_fill(4, &fill(&shrunk, 100, 0));
    let answer = gateway.on_replace(ME, &replace(&first, 100)).unwrap_err();
    assert_eq!(answer.reason, Reason::Quantity, "all of the 100 have traded");
}

#[test]
fn an_id_is_used_once() {
    let mut gateway = gateway(Limits::NONE);
    assert_eq!(refused(&mut gateway, &order(5, Side::Buy, 50)), Some(Reason::Quantity));
    assert_eq!(refused(&mut gateway, &order(5, Side::Buy, 100)), Some(Reason::DuplicateOrder));
    assert_eq!(refused(&mut gateway, &order(4, Side::Buy, 100)), Some(Reason::DuplicateOrder));
    assert_eq!(refused(&mut gateway, &order(6, Side::Buy, 100)), None);
}

#[test]
fn anothers_order_is_refused_to_the_one_who_asked() {
    let mut gateway = gateway(Limits::NONE);
    let mine = order(1, Side::Sell, 100);
    assert_eq!(gateway.on_new_order(OTHER, &mine).unwrap_err().reason, Reason::NotYours);
    assert_eq!(refused(&mut gateway, &mine), None, "the other's try used nothing up");
    let answer = gateway.on_cancel(OTHER, &cancel(&mine)).unwrap_err();
    assert_eq!((answer.status, answer.reason), (OrderStatus::CancelRejected, Reason::NotYours));
    assert_eq!((answer.quantity, answer.price), (Quantity(0), Price::NONE), "tells nothing about it");
    let answer = gateway.on_replace(OTHER, &replace(&mine, 200)).unwrap_err();
    assert_eq!((answer.status, answer.reason), (OrderStatus::ReplaceRejected, Reason::NotYours));
    let counters = gateway.counters(OTHER).unwrap();
    assert_eq!((counters.orders, counters.rejected.of(Reason::NotYours)), (1, 1));
    assert_eq!(counters.requests_rejected.of(Reason::NotYours), 2);
    assert_eq!(gateway.working_orders(ME), 1);
}

#[test]
fn cancels_need_a_working_order_in_that_instrument() {
    let mut gateway = gateway(Limits::NONE);
    let first = order(1, Side::Buy, 100);
    assert_eq!(gateway.on_cancel(ME, &cancel(&first)).unwrap_err().reason, Reason::UnknownOrder);
    gateway.on_new_order(ME, &first).unwrap();
    let elsewhere = CancelOrder::new(first.order_id, InstrumentId(2));
    assert_eq!(gateway.on_cancel(ME, &elsewhere).unwrap_err().reason, Reason::Malformed);
    assert_eq!(gateway.on_cancel(ME, &cancel(&first)), Ok(cancel(&first)));
}

#[test]
fn garbled_bytes_are_answered_when_the_order_can_be_read() {
    let mut gateway = gateway(Limits::NONE);
    let first = order(1, Side::Buy, 100);
    let mut bytes = first.bytes().to_vec();
    bytes[std::mem::offset_of!(NewOrder, side)] = 9;
    let Decision::Answer(answer) = gateway.take(ME, NewOrder::ID, &bytes) else { panic!("not answered") };
    assert_eq!((answer.order_id, answer.reason), (first.order_id, Reason::Malformed));
    let Decision::Answer(answer) = gateway.take(ME, CancelOrder::ID, &bytes) else { panic!("not answered") };
    assert_eq!(answer.status, OrderStatus::CancelRejected);
    let Decision::Answer(answer) = gateway.take(ME, ReplaceOrder::ID, &bytes[..8]) else {
        panic!("not answered")
    };
    assert_eq!(answer.status, OrderStatus::ReplaceRejected);
    assert_eq!(gateway.take(ME, NewOrder::ID, &bytes[..7]), Decision::Drop);
    assert_eq!(gateway.take(ME, Quote::ID, &bytes), Decision::Drop);
    assert_eq!(gateway.take(StrategyId(99), NewOrder::ID, &bytes), Decision::Drop);
    assert_eq!(gateway.anomalies().of(td::Anomaly::Unreadable), 6);
    let counters = gateway.counters(ME).unwrap();
    assert_eq!((counters.orders, counters.rejected.of(Reason::Malformed)), (1, 1));
    assert_eq!(counters.requests_rejected.of(Reason::Malformed), 2);
}

#[test]
fn a_seat_without_a_strategy_is_refused() {
    let mut gateway = gateway(Limits::NONE);
    let nobody = StrategyId(500);
    let order = NewOrder { order_id: OrderId::new(nobody, 1, 1), ..order(1, Side::Buy, 100) };
    assert_eq!(gateway.on_new_order(nobody, &order).unwrap_err().reason, Reason::StrategyGone);
    assert_eq!(gateway.on_cancel(nobody, &cancel(&order)).unwrap_err().reason, Reason::StrategyGone);
    assert_eq!(gateway.on_replace(nobody, &replace(&order, 1)).unwrap_err().reason, Reason::StrategyGone);
    assert_eq!(gateway.anomalies().of(td::Anomaly::UnknownStrategy), 3);
    assert_eq!(gateway.counters(nobody), None);
    assert_eq!(gateway.strategies().collect::<Vec<_>>(), [ME, OTHER]);
}
