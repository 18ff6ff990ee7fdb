//! Halts, auctions by the clock, and the end of the day.

use wire::Side::{Buy, Sell};
use wire::TradingPhase::{
    Closed, ClosingFreeze, Continuous, Halt, OpeningAuction, OpeningFreeze, Pause, VolatilityAuction,
};
use wire::*;

use super::fixture::*;
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, SelfTrade};

const BOTH: [CallAuctions; 2] = [CallAuctions::Refuse, CallAuctions::Uncross];

fn engine_with(fill: FillModel, call_auctions: CallAuctions) -> Engine {
    let mut engine = Engine::new(EngineOptions { call_auctions, ..options(fill, SelfTrade::CancelNewest) });
    engine.on_instrument(&instrument(STOCK));
    engine.on_instrument(&instrument(OTHER));
    engine
}

fn enters(engine: &mut Engine, phase: TradingPhase) -> Vec<String> {
    said(&feed(engine, &phase_of(STOCK, phase)))
}

fn instant_ends(engine: &mut Engine) -> Vec<String> {
    said(&feed(engine, &Input::EndOfInstant))
}

fn cancels(engine: &mut Engine, order_id: OrderId) -> Vec<String> {
    said(&feed(engine, &Input::Cancel(CancelOrder::new(order_id, STOCK))))
}

fn replaces(engine: &mut Engine, order_id: OrderId, price: i64, quantity: i64) -> Vec<String> {
    said(&feed(engine, &Input::Replace(replace(order_id, price, quantity))))
}

fn marked(event: BookEvent, flags: u16) -> BookEvent {
    BookEvent { flags: event.flags | flags, ..event }
}

/// Not printed, of a cross: as ITCH has it (`C` with printable `N`).
fn crossed(order_ref: u64, side: Side, price: i64, quantity: i64, flags: u16) -> BookEvent {
    let event = event(BookAction::Execute, order_ref, side, price, quantity);
    marked(event, BookEvent::UNPRINTED | BookEvent::NO_SIDE | flags)
}

/// The cross itself (ITCH `Q`).
fn cross(price: i64, quantity: i64, flags: u16) -> BookEvent {
    marked(event(BookAction::Trade, 0, Buy, price, quantity), BookEvent::NO_SIDE | flags)
}

#[test]
fn beside_a_recorded_market_nothing_trades_in_a_halt_as_taker_or_as_maker() {
    for call_auctions in BOTH {
        for is_marked in [0, BookEvent::CALL_AUCTION] {
            let mut engine = engine_with(FillModel::Book, call_auctions);
            history(&mut engine, add(1, Sell, 105, 50));
            history(&mut engine, add(2, Buy, 95, 50));
            assert_eq!(enter(&mut engine, limit(id(1, 1), Buy, 100, 10)), ["1-1: accepted"]);
            assert!(enters(&mut engine, Halt).is_empty());
            // No message of the market has come since.
            for order in [
                market(id(1, 2), Buy, 5),
                with(limit(id(1, 3), Buy, 105, 5), TimeInForce::ImmediateOrCancel),
                with(limit(id(1, 4), Buy, 105, 5), TimeInForce::FillOrKill),
                with(limit(id(1, 5), Buy, 90, 5), TimeInForce::PostOnly),
            ] {
                let name = format!("1-{}", order.order_id.sequence());
                assert_eq!(enter(&mut engine, order), [format!("{name}: rejected not-tradable")]);
            }
            // Through the own bid, from outside of the halt and in it.
            assert!(history(&mut engine, marked(add(3, Sell, 98, 30), is_marked)).is_empty());
            let seller = marked(event(BookAction::Modify, 1, Sell, 97, 50), is_marked);
            assert!(history(&mut engine, seller).is_empty());
            assert_eq!(engine.working_orders(), 1);
            // The other stock goes on.
            let other = NewOrder { instrument: OTHER, ..limit(id(1, 6), Buy, 100, 5) };
            assert_eq!(enter(&mut engine, other), ["1-6: accepted"]);
        }
    }
}

#[test]
fn beside_a_quoted_market_nothing_trades_in_a_halt_as_taker_or_as_maker() {
    for call_auctions in BOTH {
        let mut engine = engine_with(FillModel::Quotes, call_auctions);
        feed(&mut engine, &Input::Quote(quote(&[(95, 50)], &[(105, 50)])));
        enter(&mut engine, limit(id(1, 1), Buy, 100, 10));
        assert!(enters(&mut engine, Halt).is_empty());
        assert_eq!(enter(&mut engine, market(id(1, 2), Buy, 5)), ["1-2: rejected not-tradable"]);
        let through = Quote { flags: Quote::CALL_AUCTION, ..quote(&[(95, 50)], &[(98, 50)]) };
        assert!(said(&feed(&mut engine, &Input::Quote(through))).is_empty());
        // One that is not marked is of the halt too.
        assert!(said(&feed(&mut engine, &Input::Quote(quote(&[(95, 50)], &[(98, 50)])))).is_empty());
        assert!(said(&feed(&mut engine, &Input::Print(print(Aggressor::Sell, 90, 50)))).is_empty());
        assert!(enters(&mut engine, Continuous).is_empty());
        // A quote of the halt offers nothing.
        assert!(instant_ends(&mut engine).is_empty());
        let asked = with(limit(id(2, 1), Buy, 99, 5), TimeInForce::ImmediateOrCancel);
        assert_eq!(enter(&mut engine, asked), ["2-1: rejected call-auction"]);
        // The first quote of continuous trading fills what it crosses, behind the cross that may still come.
        assert!(said(&feed(&mut engine, &Input::Quote(quote(&[(95, 50)], &[(98, 50)])))).is_empty());
        assert_eq!(instant_ends(&mut engine), ["1-1: 10 @ 98 maker", "1-1: filled"]);
        assert!(instant_ends(&mut engine).is_empty());
        let asked = with(limit(id(2, 2), Buy, 98, 50), TimeInForce::ImmediateOrCancel);
        let taken = enter(&mut engine, asked);
        assert_eq!(
            taken[1..],
            ["2-2: 40 @ 98 taker", "2-2: partially-filled", "2-2: cancelled no-liquidity"]
        );
    }
}

#[test]
fn an_order_that_is_collected_in_a_halt_arrives_at_a_reopening_without_a_cross() {
    let mut engine = engine_with(FillModel::Book, CallAuctions::Uncross);
    history(&mut engine, add(1, Sell, 105, 50));
    enters(&mut engine, Halt);
    assert_eq!(enter(&mut engine, limit(id(1, 1), Buy, 106, 70)), ["1-1: accepted"]);
    // One price for all, and the order that is left over names it; its rest is in the book.
    assert!(enters(&mut engine, Continuous).is_empty());
    let opened = instant_ends(&mut engine);
    assert_eq!(opened, ["1-1: 50 @ 106 maker", "1-1: partially-filled"]);
    assert_eq!(history(&mut engine, add(2, Sell, 106, 5)), ["1-1: 5 @ 106 maker", "1-1: partially-filled"]);

    let mut engine = engine_with(FillModel::Book, CallAuctions::Refuse);
    history(&mut engine, add(1, Sell, 105, 50));
    enters(&mut engine, Halt);
    assert_eq!(enter(&mut engine, limit(id(1, 1), Buy, 106, 70)), ["1-1: rejected not-tradable"]);
    enters(&mut engine, Continuous);
    assert!(instant_ends(&mut engine).is_empty());
    let taken = enter(&mut engine, limit(id(1, 2), Buy, 106, 10));
    assert_eq!(taken, ["1-2: accepted", "1-2: 10 @ 105 taker", "1-2: filled"]);
}

/// Bids 102 × 40 and asks 98 × 100 cross at 99; an own bid of 101 × 30 would have been behind the market's bid and before nobody.
fn quoted_for_a_cross(call_auctions: CallAuctions) -> Engine {
    let mut engine = engine_with(FillModel::Book, call_auctions);
    enter(&mut engine, limit(id(1, 1), Buy, 101, 30));
    enters(&mut engine, Halt);
    enters(&mut engine, VolatilityAuction);
    for order in [add(1, Buy, 102, 40), add(2, Sell, 98, 100)] {
        assert!(history(&mut engine, marked(order, BookEvent::CALL_AUCTION)).is_empty());
    }
    engine
}

#[test]
fn at_a_reopening_with_a_cross_orders_get_its_price() {
    for call_auctions in BOTH {
        let in_halt = BookEvent::CALL_AUCTION;
        let expected = ["1-1: 30 @ 99 maker", "1-1: filled"];
        // The cross, then trading.
        let mut engine = quoted_for_a_cross(call_auctions);
        let mut filled = Vec::new();
        for part in
            [crossed(1, Buy, 99, 40, in_halt), crossed(2, Sell, 99, 40, in_halt), cross(99, 40, in_halt)]
        {
            filled.extend(history(&mut engine, part));
        }
        filled.extend(enters(&mut engine, Continuous));
        assert_eq!(filled, expected, "{call_auctions:?}");
        // Trading, then the cross, in either order of its parts, in that instant or later: the market's own orders cross, so it is still
        // to come. Continuous trading begins when its instant ends, without another message about the stock.
        let parts = [crossed(1, Buy, 99, 40, 0), crossed(2, Sell, 99, 40, 0)];
        for order in [[parts[0], parts[1], cross(99, 40, 0)], [cross(99, 40, 0), parts[0], parts[1]]] {
            for time in [66, 77] {
                let mut engine = quoted_for_a_cross(call_auctions);
                let mut filled = enters(&mut engine, Continuous);
                if time > 66 {
                    assert!(instant_ends(&mut engine).is_empty());
                    let early = with(limit(id(2, 1), Buy, 98, 5), TimeInForce::ImmediateOrCancel);
                    assert_eq!(enter(&mut engine, early), ["2-1: rejected call-auction"]);
                }
                for part in order {
                    filled.extend(history(&mut engine, BookEvent { event_time: Nanos(time), ..part }));
                }
                filled.extend(instant_ends(&mut engine));
                assert_eq!(filled, expected, "{call_auctions:?}");
                let taken = enter(&mut engine, limit(id(1, 2), Buy, 98, 5));
                assert_eq!(taken, ["1-2: accepted", "1-2: 5 @ 98 taker", "1-2: filled"], "{call_auctions:?}");
            }
        }
    }
}

/// Orders that are not displayed may be all that crosses: what follows in the instant of the announcement decides.
#[test]
fn a_cross_in_the_instant_of_the_reopening_comes_before_continuous_trading() {
    for call_auctions in BOTH {
        let mut engine = engine_with(FillModel::Book, call_auctions);
        history(&mut engine, add(1, Sell, 105, 50));
        enter(&mut engine, limit(id(1, 1), Buy, 104, 10));
        enters(&mut engine, Halt);
        assert!(enters(&mut engine, Continuous).is_empty());
        // A seller at 103 would trade with the own bid if continuous trading had begun.
        let at_once = |event| BookEvent { event_time: Nanos(66), ..event };
        assert!(history(&mut engine, at_once(add(2, Sell, 103, 20))).is_empty());
        let mut filled = history(&mut engine, at_once(cross(101, 500, 0)));
        filled.extend(instant_ends(&mut engine));
        assert_eq!(filled, ["1-1: 10 @ 101 maker", "1-1: filled"], "{call_auctions:?}");
    }
}

/// A row is missing: the market's orders cross, and no cross comes.
#[test]
fn a_trade_ends_the_wait_for_a_cross() {
    let mut engine = engine_with(FillModel::Book, CallAuctions::Refuse);
    enters(&mut engine, Halt);
    history(&mut engine, add(1, Buy, 102, 40));
    history(&mut engine, add(2, Sell, 98, 100));
    enters(&mut engine, Continuous);
    assert!(instant_ends(&mut engine).is_empty());
    history(&mut engine, event(BookAction::Execute, 2, Sell, 98, 10));
    assert_eq!(enter(&mut engine, limit(id(1, 1), Buy, 97, 5)), ["1-1: rejected call-auction"]);
    instant_ends(&mut engine);
    assert_eq!(enter(&mut engine, limit(id(1, 2), Buy, 97, 5)), ["1-2: accepted"]);
}

#[test]
fn another_halt_takes_back_what_a_reopening_announced() {
    let mut engine = engine_with(FillModel::Book, CallAuctions::Uncross);
    history(&mut engine, add(1, Sell, 105, 50));
    enters(&mut engine, Halt);
    enter(&mut engine, limit(id(1, 1), Buy, 106, 70));
    enters(&mut engine, Continuous);
    enters(&mut engine, Halt);
    assert!(instant_ends(&mut engine).is_empty());
    enters(&mut engine, Continuous);
    assert_eq!(instant_ends(&mut engine).len(), 2);
}

#[test]
fn in_a_halt_orders_are_cancelled_and_are_replaced_where_they_are_collected() {
    for (call_auctions, replaced) in [
        (CallAuctions::Refuse, "1-1: replace-rejected not-tradable"),
        (CallAuctions::Uncross, "1-1: replaced"),
    ] {
        let mut engine = engine_with(FillModel::Book, call_auctions);
        history(&mut engine, add(1, Sell, 105, 50));
        enter(&mut engine, limit(id(1, 1), Buy, 100, 10));
        enter(&mut engine, limit(id(1, 2), Buy, 100, 10));
        let post_only = with(limit(id(1, 3), Buy, 100, 10), TimeInForce::PostOnly);
        enter(&mut engine, post_only);
        enters(&mut engine, Halt);
        assert_eq!(replaces(&mut engine, id(1, 1), 106, 10), [replaced]);
        assert_eq!(replaces(&mut engine, id(1, 3), 99, 10), ["1-3: replace-rejected not-tradable"]);
        assert_eq!(cancels(&mut engine, id(1, 2)), ["1-2: cancelled requested"]);
        let all = said(&feed(&mut engine, &Input::CancelAll(cancel_all(1))));
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(engine.working_orders(), 0);
    }
}

#[test]
fn a_freeze_takes_no_cancels_and_a_pause_takes_nothing() {
    for call_auctions in BOTH {
        let mut engine = engine_with(FillModel::Book, call_auctions);
        enter(&mut engine, limit(id(1, 1), Buy, 100, 10));
        enter(&mut engine, limit(id(1, 2), Buy, 100, 10));
        for phase in [OpeningFreeze, ClosingFreeze] {
            enters(&mut engine, phase);
            assert_eq!(cancels(&mut engine, id(1, 1)), ["1-1: cancel-rejected call-auction"]);
            assert_eq!(replaces(&mut engine, id(1, 1), 99, 10), ["1-1: replace-rejected call-auction"]);
            let all = said(&feed(&mut engine, &Input::CancelAll(cancel_all(1))));
            assert_eq!(all.len(), 1, "none is cancelled: {all:?}");
        }
        // New orders are collected until the end.
        let collected = enter(&mut engine, limit(id(1, 3), Buy, 100, 10));
        let refused = ["1-3: rejected call-auction"];
        assert_eq!(collected == refused, call_auctions == CallAuctions::Refuse, "{collected:?}");
        enters(&mut engine, Pause);
        assert_eq!(enter(&mut engine, limit(id(1, 4), Buy, 100, 10)), ["1-4: rejected not-tradable"]);
        assert_eq!(replaces(&mut engine, id(1, 1), 99, 10), ["1-1: replace-rejected not-tradable"]);
        assert_eq!(cancels(&mut engine, id(1, 1)), ["1-1: cancel-rejected not-tradable"]);
        enters(&mut engine, OpeningAuction);
        assert_eq!(cancels(&mut engine, id(1, 1)), ["1-1: cancelled requested"]);
        enters(&mut engine, Continuous);
        assert!(instant_ends(&mut engine).is_empty());
        assert_eq!(cancels(&mut engine, id(1, 2)), ["1-2: cancelled requested"]);
    }
}

#[test]
fn orders_that_are_not_good_till_cancelled_end_with_the_day() {
    for fill in [FillModel::Book, FillModel::Quotes] {
        let mut engine = engine_with(fill, CallAuctions::Uncross);
        let kept = |order| with(order, TimeInForce::GoodTillCancel);
        let post_only = |order| NewOrder { flags: NewOrder::POST_ONLY, ..order };
        for order in [
            limit(id(2, 1), Sell, 110, 10),
            limit(id(1, 1), Buy, 100, 10),
            kept(limit(id(1, 2), Buy, 99, 10)),
            with(limit(id(1, 3), Buy, 101, 10), TimeInForce::PostOnly),
            kept(post_only(limit(id(1, 4), Buy, 98, 10))),
            NewOrder { instrument: OTHER, ..limit(id(1, 5), Buy, 98, 10) },
        ] {
            enter(&mut engine, order);
        }
        // A replace changes nothing about that.
        replaces(&mut engine, id(1, 2), 97, 20);
        let ended = enters(&mut engine, Closed);
        assert_eq!(ended, ["1-1: cancelled expired", "1-3: cancelled expired", "2-1: cancelled expired"]);
        assert_eq!(enter(&mut engine, limit(id(1, 6), Buy, 100, 10)), ["1-6: rejected not-tradable"]);
        enters(&mut engine, Continuous);
        // Beside quotes, the first one says that it trades.
        feed(&mut engine, &Input::Quote(quote(&[], &[(120, 10)])));
        assert!(instant_ends(&mut engine).is_empty());
        let sold = enter(&mut engine, limit(id(3, 1), Sell, 97, 40));
        let makers = ["1-4: 10 @ 98 maker", "1-4: filled", "3-1: 10 @ 98 taker", "3-1: partially-filled"];
        assert_eq!(sold[1..5], makers);
        assert_eq!(sold[5..7], ["1-2: 20 @ 97 maker", "1-2: filled"]);
    }
}

#[test]
fn a_phase_of_an_instrument_that_is_not_listed_is_counted() {
    let mut engine = engine_with(FillModel::Book, CallAuctions::Refuse);
    assert!(feed(&mut engine, &phase_of(InstrumentId(9), Halt)).is_empty());
    assert_eq!(engine.anomalies().unknown_instrument, 1);
}
