//! Each kind of order, among the strategies' own orders only.

use wire::*;

use super::fixture::*;
use crate::engine::{Engine, FillModel, SelfTrade};

use Side::{Buy, Sell};
use TimeInForce::{FillOrKill, ImmediateOrCancel, PostOnly};

/// Asks: 5 @ 100 and 5 @ 100 of two strategies, 10 @ 101.
fn with_asks() -> Engine {
    let mut engine = engine(FillModel::Book);
    for (strategy, price, quantity) in [(1, 100, 5), (2, 100, 5), (3, 101, 10)] {
        let answer = enter(&mut engine, limit(id(strategy, 1), Sell, price, quantity));
        assert_eq!(answer, [format!("{strategy}-1: accepted")]);
    }
    engine
}

fn cancel(engine: &mut Engine, order_id: OrderId) -> Vec<String> {
    said(&feed(engine, &Input::Cancel(CancelOrder::new(order_id, STOCK))))
}

fn change(engine: &mut Engine, order_id: OrderId, price: i64, quantity: i64) -> Vec<String> {
    said(&feed(engine, &Input::Replace(replace(order_id, price, quantity))))
}

#[test]
fn a_limit_order_trades_by_price_then_time_and_rests_with_what_is_left() {
    let mut engine = with_asks();
    assert_eq!(
        enter(&mut engine, limit(id(9, 1), Buy, 101, 22)),
        [
            "9-1: accepted",
            "1-1: 5 @ 100 maker",
            "1-1: filled",
            "9-1: 5 @ 100 taker",
            "9-1: partially-filled",
            "2-1: 5 @ 100 maker",
            "2-1: filled",
            "9-1: 5 @ 100 taker",
            "9-1: partially-filled",
            "3-1: 10 @ 101 maker",
            "3-1: filled",
            "9-1: 10 @ 101 taker",
            "9-1: partially-filled",
        ]
    );
    let book = engine.book(STOCK).unwrap();
    assert_eq!(book.best(Sell), None);
    assert_eq!(book.best(Buy).map(|level| (level.price, level.own)), Some((Price(101), Quantity(2))));
    assert_eq!(engine.order(id(9, 1)).map(|order| order.open), Some(Quantity(2)));
}

#[test]
fn what_an_order_is_to_its_account_changes_nothing() {
    let mut engine = with_asks();
    let flags =
        [NewOrder::OFFSET_OPEN, NewOrder::OFFSET_CLOSE, NewOrder::OFFSET_CLOSE_TODAY, NewOrder::FORCED];
    for (number, flags) in (1..).zip(flags) {
        let order = NewOrder { flags, ..with(limit(id(9, number), Buy, 100, 1), ImmediateOrCancel) };
        let answers = enter(&mut engine, order);
        assert_eq!(answers.last(), Some(&format!("9-{number}: filled")), "{answers:?}");
    }
    let order = NewOrder { flags: NewOrder::CANCEL_OLDEST, ..limit(id(9, 9), Buy, 100, 1) };
    assert_eq!(enter(&mut engine, order), ["9-9: rejected unsupported"]);
}

#[test]
fn both_sides_of_a_trade_carry_one_id_and_say_what_is_left() {
    let mut engine = with_asks();
    let answers = feed(&mut engine, &Input::New(limit(id(9, 1), Buy, 100, 3)));
    let fills: Vec<Fill> = answers
        .iter()
        .filter_map(|answer| if let Execution::Fill(fill) = answer { Some(*fill) } else { None })
        .collect();
    let [maker, taker] = fills[..] else { panic!("{answers:?}") };
    assert_eq!((maker.trade_id, maker.side, maker.remaining), (taker.trade_id, Sell, Quantity(2)));
    assert_eq!((taker.side, taker.remaining, taker.price), (Buy, Quantity(0), Price(100)));
    let Execution::Update(last) = answers[answers.len() - 1] else { panic!("{answers:?}") };
    assert_eq!((last.filled, last.remaining, last.quantity), (Quantity(3), Quantity(0), Quantity(3)));
}

#[test]
fn a_market_order_sweeps_and_never_rests() {
    let mut engine = with_asks();
    let said = enter(&mut engine, market(id(9, 1), Buy, 25));
    assert_eq!(said.iter().filter(|line| line.starts_with("9-1: ") && line.contains('@')).count(), 3);
    assert_eq!(said.last().unwrap(), "9-1: cancelled no-liquidity");
    assert_eq!(engine.working_orders(), 0);
    let post_only = with(market(id(9, 2), Buy, 5), PostOnly);
    assert_eq!(enter(&mut engine, post_only), ["9-2: rejected malformed"]);
}

#[test]
fn immediate_or_cancel_takes_what_there_is_and_nothing_of_an_empty_book() {
    let mut engine = with_asks();
    let order = with(limit(id(9, 1), Buy, 100, 12), ImmediateOrCancel);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "9-1: cancelled no-liquidity");
    assert_eq!(engine.book(STOCK).unwrap().best(Sell).unwrap().price, Price(101));
    let order = with(limit(id(9, 2), Sell, 1, 12), ImmediateOrCancel);
    assert_eq!(enter(&mut engine, order), ["9-2: accepted", "9-2: cancelled no-liquidity"]);
}

#[test]
fn fill_or_kill_trades_exactly_all_or_nothing() {
    let mut engine = with_asks();
    let order = with(limit(id(9, 1), Buy, 100, 11), FillOrKill);
    assert_eq!(enter(&mut engine, order), ["9-1: accepted", "9-1: cancelled not-fillable"]);
    let order = with(limit(id(9, 2), Buy, 101, 21), FillOrKill);
    assert_eq!(enter(&mut engine, order), ["9-2: accepted", "9-2: cancelled not-fillable"]);
    let order = with(limit(id(9, 3), Buy, 100, 10), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "9-3: filled");
    let order = with(market(id(9, 4), Buy, 11), FillOrKill);
    assert_eq!(enter(&mut engine, order), ["9-4: accepted", "9-4: cancelled not-fillable"]);
    let order = with(market(id(9, 5), Buy, 10), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "9-5: filled");
}

#[test]
fn fill_or_kill_does_not_count_what_lies_behind_an_own_order() {
    let mut engine = with_asks();
    let order = with(limit(id(2, 2), Buy, 101, 6), FillOrKill);
    assert_eq!(enter(&mut engine, order), ["2-2: accepted", "2-2: cancelled not-fillable"]);
    let order = with(limit(id(2, 3), Buy, 101, 5), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "2-3: filled");
}

#[test]
fn post_only_is_rejected_at_the_touch_and_rests_below() {
    let mut engine = with_asks();
    assert_eq!(
        enter(&mut engine, with(limit(id(9, 1), Buy, 100, 1), PostOnly)),
        ["9-1: rejected would-trade"]
    );
    assert_eq!(enter(&mut engine, with(limit(id(9, 2), Buy, 99, 1), PostOnly)), ["9-2: accepted"]);
    assert_eq!(change(&mut engine, id(9, 2), 100, 1), ["9-2: replace-rejected would-trade"]);
    assert_eq!(engine.order(id(9, 2)).map(|order| order.price), Some(Price(99)));
    assert_eq!(change(&mut engine, id(9, 2), 98, 3), ["9-2: replaced"]);
}

#[test]
fn a_replace_keeps_its_place_only_at_the_same_price_and_no_more_quantity() {
    let first_to_trade = |price, quantity| {
        let mut engine = with_asks();
        change(&mut engine, id(1, 1), price, quantity);
        enter(&mut engine, market(id(9, 1), Buy, 1))[1].clone()
    };
    assert_eq!(first_to_trade(100, 5), "1-1: 1 @ 100 maker");
    assert_eq!(first_to_trade(100, 4), "1-1: 1 @ 100 maker");
    assert_eq!(first_to_trade(100, 6), "2-1: 1 @ 100 maker");
    assert_eq!(first_to_trade(101, 5), "2-1: 1 @ 100 maker");
    assert_eq!(first_to_trade(99, 5), "1-1: 1 @ 99 maker");
}

#[test]
fn a_replace_counts_what_has_traded_and_may_trade_at_its_new_price() {
    let mut engine = with_asks();
    enter(&mut engine, limit(id(9, 1), Buy, 100, 15));
    assert_eq!(engine.order(id(9, 1)).map(|order| order.open), Some(Quantity(5)));
    assert_eq!(change(&mut engine, id(9, 1), 100, 0), ["9-1: replace-rejected quantity"]);
    assert_eq!(change(&mut engine, id(9, 1), i64::MIN, 9), ["9-1: replace-rejected malformed"]);
    assert_eq!(
        change(&mut engine, id(9, 1), 101, 18),
        ["9-1: replaced", "3-1: 8 @ 101 maker", "3-1: partially-filled", "9-1: 8 @ 101 taker", "9-1: filled"]
    );
    assert_eq!(change(&mut engine, id(9, 1), 101, 30), ["9-1: replace-rejected unknown-order"]);
    assert_eq!(change(&mut engine, id(3, 1), 101, 8), ["3-1: cancelled requested"]);
    assert_eq!(engine.working_orders(), 0);
}

#[test]
fn a_cancel_of_a_filled_foreign_or_unknown_order_is_refused() {
    let mut engine = with_asks();
    enter(&mut engine, market(id(9, 1), Buy, 5));
    assert_eq!(cancel(&mut engine, id(1, 1)), ["1-1: cancel-rejected unknown-order"]);
    assert_eq!(cancel(&mut engine, id(5, 5)), ["5-5: cancel-rejected unknown-order"]);
    let elsewhere = Input::Cancel(CancelOrder::new(id(2, 1), OTHER));
    assert_eq!(said(&feed(&mut engine, &elsewhere)), ["2-1: cancel-rejected unknown-order"]);
    assert_eq!(cancel(&mut engine, id(2, 1)), ["2-1: cancelled requested"]);
    assert_eq!(cancel(&mut engine, id(2, 1)), ["2-1: cancel-rejected unknown-order"]);
}

#[test]
fn an_id_is_used_up_by_its_first_order() {
    let mut engine = with_asks();
    assert_eq!(enter(&mut engine, limit(id(1, 1), Sell, 90, 1)), ["1-1: rejected duplicate-order"]);
    assert_eq!(engine.order(id(1, 1)).map(|order| order.open), Some(Quantity(5)));
    enter(&mut engine, market(id(9, 1), Buy, 5));
    assert_eq!(enter(&mut engine, limit(id(1, 1), Sell, 90, 1)), ["1-1: rejected duplicate-order"]);
    let unlisted = NewOrder { instrument: InstrumentId(77), ..limit(id(1, 2), Sell, 90, 1) };
    assert_eq!(enter(&mut engine, unlisted), ["1-2: rejected unknown-instrument"]);
    assert_eq!(enter(&mut engine, limit(id(1, 2), Sell, 90, 1)), ["1-2: rejected duplicate-order"]);
}

#[test]
fn orders_that_cannot_be_are_rejected() {
    let mut engine = with_asks();
    for (sequence, quantity) in [(1, 0), (2, -1), (3, i64::MIN)] {
        let order = limit(id(9, sequence), Buy, 100, quantity);
        assert_eq!(enter(&mut engine, order), [format!("9-{sequence}: rejected quantity")]);
    }
    assert_eq!(enter(&mut engine, limit(id(9, 4), Buy, i64::MIN, 1)), ["9-4: rejected malformed"]);
}

#[test]
fn orders_of_one_strategy_do_not_trade_with_each_other() {
    let mut engine = with_asks();
    assert_eq!(
        enter(&mut engine, limit(id(2, 2), Buy, 101, 20)),
        [
            "2-2: accepted",
            "1-1: 5 @ 100 maker",
            "1-1: filled",
            "2-2: 5 @ 100 taker",
            "2-2: partially-filled",
            "2-2: cancelled would-trade",
        ]
    );
    assert_eq!(engine.order(id(2, 1)).map(|order| order.open), Some(Quantity(5)));

    let mut engine = Engine::new(options(FillModel::Book, SelfTrade::Allow));
    engine.on_instrument(&instrument(STOCK));
    enter(&mut engine, limit(id(1, 1), Sell, 100, 5));
    assert_eq!(enter(&mut engine, limit(id(1, 2), Buy, 100, 5)).last().unwrap(), "1-2: filled");
}

#[test]
fn all_orders_of_a_strategy_are_cancelled_oldest_first_on_all_instruments() {
    let mut engine = with_asks();
    enter(&mut engine, NewOrder { instrument: OTHER, ..limit(id(1, 2), Buy, 7, 1) });
    enter(&mut engine, limit(id(1, 3), Buy, 50, 1));
    change(&mut engine, id(1, 1), 102, 5);
    assert_eq!(
        said(&feed(&mut engine, &Input::CancelAll(cancel_all(1)))),
        [
            "1-2: cancelled requested",
            "1-3: cancelled requested",
            "1-1: cancelled requested",
            "1-4294967295: mass-cancelled requested"
        ]
    );
    let again = feed(&mut engine, &Input::CancelAll(cancel_all(1)));
    assert_eq!((said(&again).len(), engine.working_orders()), (1, 2));
    assert_eq!(feed(&mut engine, &Input::CancelAll(cancel_all(u16::MAX))).len(), 1);
}

#[test]
fn a_mass_cancel_takes_only_what_matches_and_says_how_many_these_were() {
    let mut engine = engine(FillModel::Book);
    enter(&mut engine, limit(id(1, 1), Buy, 100, 5));
    enter(&mut engine, limit(id(1, 2), Sell, 110, 5));
    enter(&mut engine, NewOrder { instrument: OTHER, ..limit(id(1, 3), Buy, 100, 5) });
    enter(&mut engine, limit(id(2, 1), Buy, 100, 5));
    let cancelled = |engine: &mut Engine, request: CancelAll| {
        let answers = feed(engine, &Input::CancelAll(request));
        let Some(Execution::Update(last)) = answers.last() else { panic!("{answers:?}") };
        assert_eq!((last.status, last.order_id), (OrderStatus::MassCancelled, request.order_id));
        assert_eq!((answers.len() as i64, last.remaining), (last.quantity.0 + 1, Quantity(0)));
        last.quantity.0
    };
    let foreign = CancelAll { account: AccountId(7), flags: CancelAll::OF_ACCOUNT, ..cancel_all(1) };
    assert_eq!(cancelled(&mut engine, foreign), 0, "all orders are for the own account");
    let own = CancelAll { side: Sell, account: AccountId::OWN, ..foreign };
    let own = CancelAll { flags: CancelAll::OF_ACCOUNT | CancelAll::OF_SIDE, ..own };
    assert_eq!(cancelled(&mut engine, own), 1);
    assert_eq!(cancelled(&mut engine, cancel_some(1, STOCK, Buy)), 1);
    assert_eq!(engine.working_orders(), 2);
    assert_eq!(cancelled(&mut engine, CancelAll { instrument: OTHER, ..cancel_all(1) }), 1);
    assert_eq!(cancelled(&mut engine, cancel_all(1)), 0);
    assert!(engine.order(id(2, 1)).is_some(), "that of another strategy stays");
}

#[test]
fn a_mass_cancel_by_account_takes_the_orders_of_this_account_beside_every_market() {
    for model in [FillModel::Book, FillModel::Quotes] {
        let mut engine = engine(model);
        let of = |account: u32, sequence: u32| NewOrder {
            account: AccountId(account),
            ..limit(id(1, sequence), Buy, 100, 5)
        };
        for (sequence, account) in [(1, 7), (2, 9), (3, 0), (4, 9)] {
            enter(&mut engine, of(account, sequence));
        }
        // One of account 9 has ended, and its number is not counted again.
        cancel(&mut engine, id(1, 2));
        let mut left = 3;
        for (account, orders) in [(8, 0), (9, 1), (0, 1), (7, 1), (9, 0)] {
            let request =
                CancelAll { account: AccountId(account), flags: CancelAll::OF_ACCOUNT, ..cancel_all(1) };
            let answers = feed(&mut engine, &Input::CancelAll(request));
            let Some(Execution::Update(last)) = answers.last() else { panic!("{answers:?}") };
            assert_eq!(last.quantity, Quantity(orders), "{model:?}, account {account}");
            left -= orders;
            assert_eq!(engine.working_orders(), left as usize, "{model:?}, account {account}");
        }
        assert!(engine.core.accounts.is_empty(), "ended orders take no memory");
    }
}

#[test]
fn a_book_takes_no_more_memory_than_it_once_needed() {
    let mut engine = engine(FillModel::Book);
    for sequence in 0..10_000 {
        enter(&mut engine, limit(id(1, sequence), Buy, i64::from(sequence % 50), 1));
        if sequence >= 100 {
            cancel(&mut engine, id(1, sequence - 100));
        }
    }
    assert_eq!((engine.working_orders(), engine.resting_orders()), (100, 100));
    assert!(engine.core.arena.orders.places() <= 101, "places freed are used again");
}
