//! Own orders beside a recorded market.

use wire::*;

use super::fixture::*;
use crate::engine::{Depth, Engine, EngineOptions, FillModel, Owner, Queue, SelfTrade};

use BookAction::{Clear, Delete, Execute, Modify, Reduce, Trade};
use Side::{Buy, Sell};
use TimeInForce::{FillOrKill, ImmediateOrCancel, PostOnly};

const NOTHING: [String; 0] = [];

/// Market asks: reference 1 has 100 @ 50, reference 2 has 40 @ 51; bids: reference 3 has 100 @ 48.
fn recorded() -> Engine {
    let mut engine = engine(FillModel::Book);
    for event in [add(1, Sell, 50, 100), add(2, Sell, 51, 40), add(3, Buy, 48, 100)] {
        assert_eq!(history(&mut engine, event), NOTHING);
    }
    engine
}

fn best(engine: &Engine, side: Side) -> Option<Depth> {
    engine.book(STOCK).unwrap().levels(side, 1).next()
}

fn ioc(sequence: u32, side: Side, price: i64, quantity: i64) -> NewOrder {
    with(limit(id(9, sequence), side, price, quantity), ImmediateOrCancel)
}

fn execute(order_ref: u64, side: Side, price: i64, quantity: i64) -> BookEvent {
    event(Execute, order_ref, side, price, quantity)
}

fn available(engine: &Engine, side: Side) -> i64 {
    engine.book(STOCK).unwrap().totals(side).available.0
}

#[test]
fn the_same_shares_of_a_market_order_are_not_taken_twice() {
    let mut engine = recorded();
    assert_eq!(enter(&mut engine, ioc(1, Buy, 50, 60))[1], "9-1: 60 @ 50 taker");
    assert_eq!(enter(&mut engine, ioc(2, Buy, 50, 60))[1], "9-2: 40 @ 50 taker");
    assert_eq!(enter(&mut engine, ioc(3, Buy, 50, 60)), ["9-3: accepted", "9-3: cancelled no-liquidity"]);
    // It is still there as far as history is concerned, and the next level is not crossed by it.
    assert_eq!(
        best(&engine, Sell).map(|level| (level.market, level.available)),
        Some((Quantity(100), Quantity(0)))
    );
    assert_eq!(engine.book(STOCK).unwrap().best(Sell).map(|level| level.price), Some(Price(51)));
    assert_eq!(enter(&mut engine, with(limit(id(9, 4), Buy, 50, 5), PostOnly)), ["9-4: accepted"]);
}

#[test]
fn history_takes_what_is_not_taken_first() {
    let mut engine = recorded();
    enter(&mut engine, ioc(1, Buy, 50, 60));
    history(&mut engine, execute(1, Sell, 50, 30));
    assert_eq!(best(&engine, Sell).map(|level| (level.market.0, level.available.0)), Some((70, 10)));
    history(&mut engine, event(Reduce, 1, Sell, 50, 20));
    assert_eq!(best(&engine, Sell).map(|level| (level.market.0, level.available.0)), Some((50, 0)));
    history(&mut engine, execute(1, Sell, 50, 50));
    assert_eq!(best(&engine, Sell).map(|level| level.price.0), Some(51));
    assert_eq!(engine.anomalies().total(), 0);
}

#[test]
fn a_modify_keeps_what_was_taken() {
    for flags in [0, BookEvent::LOSES_PRIORITY] {
        let mut engine = recorded();
        enter(&mut engine, ioc(1, Buy, 50, 60));
        history(&mut engine, BookEvent { flags, ..event(Modify, 1, Sell, 50, 80) });
        assert_eq!(available(&engine, Sell), 20 + 40);
        history(&mut engine, BookEvent { flags, ..event(Modify, 1, Sell, 52, 30) });
        assert_eq!(available(&engine, Sell), 40);
        history(&mut engine, BookEvent { flags, ..event(Modify, 1, Sell, 52, 35) });
        assert_eq!(available(&engine, Sell), 5 + 40);
        history(&mut engine, BookEvent { flags, ..event(Modify, 1, Sell, 52, 0) });
        assert_eq!((available(&engine, Sell), engine.anomalies().total()), (40, 0));
    }
}

#[test]
fn a_modify_keeps_its_place_unless_it_says_otherwise() {
    let first = |price, flags| {
        let mut engine = recorded();
        history(&mut engine, add(4, Sell, 50, 10));
        history(&mut engine, BookEvent { flags, ..event(Modify, 1, Sell, price, 200) });
        engine.book(STOCK).unwrap().orders(Sell).next().unwrap().owner
    };
    assert_eq!(first(50, 0), Owner::Market(1));
    assert_eq!(first(50, BookEvent::LOSES_PRIORITY), Owner::Market(4));
    assert_eq!(first(51, 0), Owner::Market(4));
    assert_eq!(first(49, 0), Owner::Market(1));
}

#[test]
fn an_execution_fills_own_orders_that_stand_before_the_executed_one() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Sell, 50, 10)); // behind reference 1
    history(&mut engine, add(4, Sell, 50, 30)); // behind the own order
    enter(&mut engine, limit(id(2, 1), Sell, 49, 5)); // better

    // Reference 1 is executed: only the better price would have been before it.
    assert_eq!(history(&mut engine, execute(1, Sell, 50, 100)), ["2-1: 5 @ 49 maker", "2-1: filled"]);
    // Reference 4 is executed: the order at the same price came earlier.
    assert_eq!(history(&mut engine, execute(4, Sell, 50, 4)), ["1-1: 4 @ 50 maker", "1-1: partially-filled"]);
    assert_eq!(history(&mut engine, execute(4, Sell, 50, 26)), ["1-1: 6 @ 50 maker", "1-1: filled"]);
    assert_eq!(best(&engine, Sell).map(|level| level.price.0), Some(51));
    assert_eq!(engine.anomalies().total(), 0);
}

/// The same market, with own orders at another place in the queue.
fn recorded_with(queue: Queue) -> Engine {
    let options = EngineOptions { queue, ..options(FillModel::Book, SelfTrade::CancelNewest) };
    let mut engine = Engine::new(options);
    engine.on_instrument(&instrument(STOCK));
    for event in [add(1, Sell, 50, 100), add(2, Sell, 51, 40), add(3, Buy, 48, 100)] {
        history(&mut engine, event);
    }
    engine
}

#[test]
fn behind_all_an_order_trades_only_when_the_market_trades_through_its_price() {
    let mut engine = recorded_with(Queue::Through);
    enter(&mut engine, limit(id(1, 1), Sell, 50, 10));
    history(&mut engine, add(4, Sell, 50, 30));
    assert_eq!(history(&mut engine, execute(1, Sell, 50, 100)), NOTHING);
    assert_eq!(history(&mut engine, execute(4, Sell, 50, 30)), NOTHING, "it came later, and is before it");
    assert_eq!(history(&mut engine, event(Trade, 0, Sell, 50, 5)), NOTHING);
    let through = history(&mut engine, execute(2, Sell, 51, 4));
    assert_eq!(through, ["1-1: 4 @ 50 maker", "1-1: partially-filled"]);
    assert_eq!(history(&mut engine, add(5, Buy, 50, 9)), ["1-1: 6 @ 50 maker", "1-1: filled"], "it crosses");
}

#[test]
fn before_all_an_order_trades_when_the_market_trades_at_its_price() {
    let mut engine = recorded_with(Queue::Touch);
    enter(&mut engine, limit(id(1, 1), Sell, 50, 10)); // behind reference 1
    let touched = history(&mut engine, execute(1, Sell, 50, 4));
    assert_eq!(touched, ["1-1: 4 @ 50 maker", "1-1: partially-filled"]);
    assert_eq!(
        history(&mut engine, event(Trade, 0, Sell, 50, 5)),
        ["1-1: 5 @ 50 maker", "1-1: partially-filled"]
    );
    assert_eq!(history(&mut engine, execute(3, Buy, 48, 5)), NOTHING, "the other side");
    let flags = BookEvent::NO_SIDE | BookEvent::HIDDEN;
    let hidden = BookEvent { flags, ..event(Trade, 0, Buy, 50, 1) };
    assert_eq!(history(&mut engine, hidden), ["1-1: 1 @ 50 maker", "1-1: filled"], "of either side");
}

#[test]
fn an_auction_gives_its_price_to_own_orders_that_asked_for_less() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 49, 10));
    enter(&mut engine, limit(id(1, 2), Buy, 48, 10)); // behind reference 3
    assert_eq!(history(&mut engine, execute(3, Buy, 47, 50)), ["1-1: 10 @ 47 maker", "1-1: filled"]);
    // A trade that would be worse than the own limit happens at the limit.
    enter(&mut engine, limit(id(1, 3), Buy, 49, 10));
    assert_eq!(history(&mut engine, execute(3, Buy, 60, 50)), ["1-3: 10 @ 49 maker", "1-3: filled"]);
}

/// Nasdaq's crosses: the displayed orders' executions are not printed, the cross's own message has the price and all of the quantity.
#[test]
fn a_cross_gives_own_orders_of_both_sides_its_price_once() {
    let flagged = |event: BookEvent, flags: u16| BookEvent { flags: event.flags | flags, ..event };
    let part = |event| flagged(event, BookEvent::NO_SIDE | BookEvent::UNPRINTED);
    let cross = |price, quantity| flagged(event(Trade, 0, Buy, price, quantity), BookEvent::NO_SIDE);
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Sell, 49, 10));
    enter(&mut engine, limit(id(1, 2), Sell, 50, 10));
    let better = ["1-1: 10 @ 50 maker", "1-1: filled"];
    assert_eq!(history(&mut engine, part(execute(1, Sell, 50, 60))), better);
    assert_eq!(available(&engine, Sell), 100 - 60 + 40 + 10);
    assert_eq!(history(&mut engine, cross(50, 60)), NOTHING);
    // The cross first, then what it executes.
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Sell, 49, 10));
    assert_eq!(history(&mut engine, cross(50, 60)), better);
    assert_eq!(history(&mut engine, part(execute(1, Sell, 50, 60))), NOTHING);
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 49, 10));
    enter(&mut engine, limit(id(1, 2), Buy, 48, 10));
    assert_eq!(
        history(&mut engine, part(execute(3, Buy, 48, 4))),
        ["1-1: 4 @ 48 maker", "1-1: partially-filled"]
    );
    assert_eq!(history(&mut engine, cross(48, 7)), ["1-1: 3 @ 48 maker", "1-1: partially-filled"]);
}

/// By price and time it is before what the cross executes, in either order of the cross's messages.
#[test]
fn a_cross_fills_an_own_order_at_its_price_that_is_before_an_executed_one() {
    let no_side =
        |event: BookEvent, flags: u16| BookEvent { flags: event.flags | BookEvent::NO_SIDE | flags, ..event };
    let ahead = || {
        let mut engine = recorded();
        enter(&mut engine, limit(id(1, 1), Buy, 48, 10));
        history(&mut engine, add(8, Buy, 48, 30));
        // Behind what is executed.
        enter(&mut engine, limit(id(1, 2), Buy, 48, 10));
        engine
    };
    let part = |quantity| no_side(execute(8, Buy, 48, quantity), BookEvent::UNPRINTED);
    let cross = no_side(event(Trade, 0, Buy, 48, 100), 0);
    for quantity in [7, 30] {
        let filled = if quantity < 10 {
            ["1-1: 7 @ 48 maker", "1-1: partially-filled"]
        } else {
            ["1-1: 10 @ 48 maker", "1-1: filled"]
        };
        let mut engine = ahead();
        assert_eq!(history(&mut engine, part(quantity)), filled);
        assert_eq!(history(&mut engine, cross), NOTHING);
        let mut engine = ahead();
        assert_eq!(history(&mut engine, cross), NOTHING);
        assert_eq!(history(&mut engine, part(quantity)), filled);
    }
}

#[test]
fn a_hidden_trade_of_unknown_side_treats_both_sides_alike() {
    let trade = |price| BookEvent {
        flags: BookEvent::LAST | BookEvent::NO_SIDE | BookEvent::HIDDEN,
        ..event(Trade, 0, Buy, price, 4)
    };
    for displayed_first in [false, true] {
        let options = EngineOptions { displayed_first, ..options(FillModel::Book, SelfTrade::CancelNewest) };
        let mut engine = Engine::new(options);
        engine.on_instrument(&instrument(STOCK));
        enter(&mut engine, limit(id(1, 1), Buy, 47, 10));
        enter(&mut engine, limit(id(2, 1), Sell, 52, 10));
        for price in [47, 52] {
            assert_eq!(history(&mut engine, trade(price)), NOTHING, "at the same price nobody knows");
        }
        assert_eq!(history(&mut engine, trade(46)), ["1-1: 4 @ 47 maker", "1-1: partially-filled"]);
        assert_eq!(history(&mut engine, trade(53)), ["2-1: 4 @ 52 maker", "2-1: partially-filled"]);
    }
}

/// The same event, as of a call auction.
fn in_auction(event: BookEvent) -> BookEvent {
    BookEvent { flags: event.flags | BookEvent::CALL_AUCTION, ..event }
}

#[test]
fn a_call_auction_takes_no_new_orders_and_trades_with_none_until_its_end() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 49, 20));
    // What crosses the own order waits for the auction's end, as it does on the exchange.
    assert!(history(&mut engine, in_auction(add(5, Sell, 48, 15))).is_empty());
    assert_eq!(enter(&mut engine, limit(id(1, 2), Buy, 52, 10)), ["1-2: rejected call-auction"]);
    let change = Input::Replace(replace(id(1, 1), 50, 10));
    assert_eq!(said(&feed(&mut engine, &change)), ["1-1: replace-rejected call-auction"]);
    // The auction's price is better than the own limit; it sells all that is for sale there.
    let trade = in_auction(execute(3, Buy, 48, 4));
    assert_eq!(history(&mut engine, trade), ["1-1: 15 @ 48 maker", "1-1: partially-filled"]);
    let cancel = Input::Cancel(CancelOrder::new(id(1, 1), STOCK));
    assert_eq!(said(&feed(&mut engine, &cancel)), ["1-1: cancelled requested"]);
    // Continuous trading again: what the auction left crossing trades.
    history(&mut engine, execute(5, Sell, 48, 15));
    // The market's asks of 50 are before the own one of 60.
    enter(&mut engine, limit(id(1, 3), Sell, 60, 10));
    enter(&mut engine, limit(id(2, 1), Sell, 49, 2));
    history(&mut engine, in_auction(add(7, Buy, 61, 3)));
    assert_eq!(history(&mut engine, add(6, Buy, 40, 1)), ["2-1: 2 @ 50 maker", "2-1: filled"]);
    assert_eq!(enter(&mut engine, limit(id(1, 4), Sell, 60, 10)), ["1-4: accepted"]);
}

#[test]
fn a_market_order_that_crosses_own_orders_trades_with_them() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 49, 10));
    enter(&mut engine, limit(id(2, 1), Buy, 49, 10));
    assert_eq!(
        history(&mut engine, add(5, Sell, 49, 15)),
        ["1-1: 10 @ 49 maker", "1-1: filled", "2-1: 5 @ 49 maker", "2-1: partially-filled"]
    );
    let level = best(&engine, Sell).unwrap();
    assert_eq!((level.price.0, level.market.0, level.available.0), (49, 15, 0));
    // What it offers anew goes first to who still waits.
    assert_eq!(
        history(&mut engine, BookEvent { flags: 0, ..event(Modify, 5, Sell, 49, 22) }),
        ["2-1: 5 @ 49 maker", "2-1: filled"]
    );
    assert_eq!(best(&engine, Sell).map(|level| level.available.0), Some(2));
}

#[test]
fn hidden_trades_fill_only_strictly_better_prices() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 48, 10));
    enter(&mut engine, limit(id(2, 1), Buy, 49, 10));
    assert_eq!(history(&mut engine, event(Trade, 0, Sell, 48, 100)), NOTHING);
    assert_eq!(history(&mut engine, event(Trade, 0, Buy, 49, 100)), NOTHING);
    assert_eq!(
        history(&mut engine, event(Trade, 0, Buy, 48, 7)),
        ["2-1: 7 @ 49 maker", "2-1: partially-filled"]
    );
    assert_eq!(best(&engine, Buy).map(|level| level.own.0), Some(3));
}

#[test]
fn orders_from_before_the_first_message_are_counted_and_leave_the_book_alone() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Buy, 49, 10));
    let before = engine.book(STOCK).unwrap().totals(Buy);
    assert_eq!(history(&mut engine, execute(70, Buy, 49, 5)), NOTHING);
    assert_eq!(history(&mut engine, event(Reduce, 71, Buy, 48, 5)), NOTHING);
    assert_eq!(history(&mut engine, event(Delete, 72, Buy, 48, 5)), NOTHING);
    assert_eq!(engine.book(STOCK).unwrap().totals(Buy), before);
    assert_eq!(history(&mut engine, execute(70, Buy, 48, 5)), ["1-1: 5 @ 49 maker", "1-1: partially-filled"]);
    history(&mut engine, event(Modify, 73, Buy, 40, 5));
    assert_eq!(engine.book(STOCK).unwrap().totals(Buy).market, before.market + Quantity(5));
    let found = *engine.anomalies();
    assert_eq!((found.unknown_executed, found.unknown_reduced, found.unknown_deleted), (2, 1, 1));
    assert_eq!((found.unknown_modified, found.total()), (1, 5));
}

#[test]
fn what_cannot_be_is_counted_by_kind() {
    let mut engine = recorded();
    history(&mut engine, add(1, Sell, 50, 5));
    history(&mut engine, add(9, Sell, i64::MIN, 5));
    history(&mut engine, add(9, Sell, 50, 0));
    history(&mut engine, execute(1, Sell, 50, -5));
    history(&mut engine, event(Modify, 1, Sell, 50, -1));
    history(&mut engine, event(Reduce, 2, Buy, 51, 41));
    history(&mut engine, BookEvent { instrument: InstrumentId(40), ..add(1, Sell, 50, 5) });
    engine.on_instrument(&instrument(InstrumentId(0)));
    engine.on_instrument(&instrument(InstrumentId(MAX_INSTRUMENTS)));
    let expected = [
        ("invalid_instrument", 2),
        ("unknown_instrument", 1),
        ("duplicate_reference", 1),
        ("invalid_price", 1),
        ("invalid_quantity", 3),
        ("excess_quantity", 1),
        ("side_mismatch", 1),
    ];
    assert_eq!(engine.anomalies().by_name().filter(|&(_, n)| n > 0).collect::<Vec<_>>(), expected);
    assert_eq!((available(&engine, Sell), engine.anomalies().total()), (100, 10));
}

#[test]
fn a_clear_leaves_own_orders_and_remembers_what_was_taken() {
    let mut engine = recorded();
    enter(&mut engine, ioc(1, Buy, 50, 60));
    enter(&mut engine, limit(id(1, 1), Buy, 48, 10));
    history(&mut engine, event(Clear, 0, Buy, 0, 0));
    let book = engine.book(STOCK).unwrap();
    assert_eq!(
        (book.levels(Sell, 9).count(), book.totals(Buy).own, book.totals(Buy).market.0),
        (0, Quantity(10), 0)
    );
    history(&mut engine, add(1, Sell, 50, 100));
    history(&mut engine, add(2, Sell, 51, 40));
    assert_eq!(available(&engine, Sell), 40 + 40);
}

/// Order 1, an own order, and order 2 rest at 52; then a clear and a snapshot. How much does the market trade there before
/// the own order has its turn?
#[test]
fn a_clear_and_a_snapshot_change_no_places() {
    let first_fill = |between: &[BookEvent]| {
        let mut engine = engine(FillModel::Book);
        history(&mut engine, add(1, Sell, 52, 30));
        enter(&mut engine, limit(id(1, 1), Sell, 52, 1));
        history(&mut engine, add(2, Sell, 52, 20));
        for event in between {
            assert_eq!(history(&mut engine, *event), [""; 0]);
        }
        let mut resting: Vec<_> = engine.book(STOCK).unwrap().orders(Sell).collect();
        resting.retain(|order| matches!(order.owner, Owner::Market(_)));
        let mut before = 0;
        for order in resting {
            let Owner::Market(reference) = order.owner else { continue };
            if !history(&mut engine, event(Execute, reference, Sell, 52, order.open.0)).is_empty() {
                return Some(before);
            }
            before += order.open.0;
        }
        None
    };
    let clear = event(Clear, 0, Buy, 0, 0);
    let (one, two) = (add(1, Sell, 52, 30), add(2, Sell, 52, 20));
    assert_eq!(first_fill(&[]), Some(30));
    assert_eq!(first_fill(&[clear, one, two]), Some(30));
    assert_eq!(first_fill(&[clear, clear, one, two]), Some(30));
    assert_eq!(first_fill(&[clear, one, two, clear, one, two]), Some(30));
    assert_eq!(first_fill(&[clear, add(1, Sell, 52, 10), two]), Some(10), "less than before");
    assert_eq!(first_fill(&[clear, two]), Some(0), "order 1 has ended");
    assert_eq!(first_fill(&[clear, add(1, Sell, 52, 31), two]), Some(0), "what grows loses its place");
    let moved = [clear, add(1, Sell, 53, 30), two];
    assert_eq!(first_fill(&moved), Some(0), "what moves loses its place");
    assert_eq!(
        first_fill(&[clear, two, event(Delete, 9, Sell, 52, 0), one]),
        Some(0),
        "the snapshot has ended"
    );
    assert_eq!(first_fill(&[clear, add(3, Sell, 52, 5), one, two]), Some(30), "a new one is behind");
}

#[test]
fn an_order_that_comes_in_during_a_snapshot_is_behind_what_it_brings_back() {
    let mut engine = engine(FillModel::Book);
    history(&mut engine, add(1, Sell, 52, 30));
    history(&mut engine, event(Clear, 0, Buy, 0, 0));
    enter(&mut engine, limit(id(1, 1), Sell, 52, 1));
    let levels = |engine: &Engine| engine.book(STOCK).unwrap().levels(Sell, 9).collect::<Vec<_>>();
    assert_eq!((levels(&engine)[0].orders, levels(&engine)[0].market), (1, Quantity(0)));
    history(&mut engine, add(1, Sell, 52, 30));
    let orders: Vec<_> = engine.book(STOCK).unwrap().orders(Sell).map(|order| order.owner).collect();
    assert_eq!(orders, [Owner::Market(1), Owner::Own(id(1, 1))]);
}

#[test]
fn an_incoming_order_sweeps_market_and_own_orders_in_queue_order() {
    let mut engine = recorded();
    enter(&mut engine, limit(id(1, 1), Sell, 50, 10));
    history(&mut engine, add(4, Sell, 50, 30));
    let order = with(limit(id(9, 0), Buy, 51, 181), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "9-0: cancelled not-fillable");
    assert_eq!(
        enter(&mut engine, market(id(9, 1), Buy, 180)),
        [
            "9-1: accepted",
            "9-1: 100 @ 50 taker",
            "9-1: partially-filled",
            "1-1: 10 @ 50 maker",
            "1-1: filled",
            "9-1: 10 @ 50 taker",
            "9-1: partially-filled",
            "9-1: 30 @ 50 taker",
            "9-1: partially-filled",
            "9-1: 40 @ 51 taker",
            "9-1: filled",
        ]
    );
    assert_eq!(available(&engine, Sell), 0);
}

#[test]
fn answers_carry_the_time_of_the_market() {
    let mut engine = recorded();
    let answers = feed(&mut engine, &Input::New(limit(id(1, 1), Buy, 49, 10)));
    let Execution::Update(update) = answers[0] else { panic!("{answers:?}") };
    assert_eq!((update.event_time, update.execution), (Nanos(77), 0));
}
