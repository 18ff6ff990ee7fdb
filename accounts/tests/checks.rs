//! Each check: what it refuses, with which reason, and that its switch or its absence lets the same order pass.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Desk, Entry, KillCause, Refusal, Verdict};
use support::*;
use wire::*;
use zerocopy::TryFromBytes;

fn sold(number: u32, account: AccountId, instrument: InstrumentId, lots: i64, at: i64) -> NewOrder {
    order(number, account, instrument, Side::Sell, lots, at)
}

fn bought(number: u32, account: AccountId, instrument: InstrumentId, lots: i64, at: i64) -> NewOrder {
    order(number, account, instrument, Side::Buy, lots, at)
}

/// Under the entries the order is refused for this reason; without them it passes.
fn refuses(entries: &[Entry], order: &NewOrder, reason: Reason) {
    assert_eq!(refusal(&mut desk(), order), None, "{reason}: refused anyway");
    let mut desk = desk();
    entries.iter().for_each(|entry| drop(desk.apply(entry).unwrap()));
    assert_eq!(refusal(&mut desk, order), Some(reason));
    desk.audit().unwrap();
    assert_eq!(desk.open_orders(), 0, "{reason}");
}

#[test]
fn every_limit_refuses_at_its_edge_in_every_scope() {
    let plain = bought(1, CASH, STOCK, 100, 10);
    for (scope, subject) in [
        (AccountScope::Account, 1),
        (AccountScope::Group, 1),
        (AccountScope::Strategy, 3),
        (AccountScope::Platform, 0),
    ] {
        let over = |kind, number| [Entry::Limit(limit(scope, subject, kind, number))];
        refuses(&over(LimitKind::Position, 99), &plain, Reason::PositionLimit);
        refuses(&over(LimitKind::GrossNotional, 999), &plain, Reason::NotionalLimit);
        refuses(&over(LimitKind::OrderQuantity, 99), &plain, Reason::Quantity);
        refuses(&over(LimitKind::OrderNotional, 999), &plain, Reason::OrderNotional);
        refuses(&over(LimitKind::OpenOrders, 0), &plain, Reason::WorkingOrders);
        let in_stock = AccountLimit { instrument: STOCK, ..limit(scope, subject, LimitKind::Position, 99) };
        refuses(&[Entry::Limit(in_stock)], &plain, Reason::PositionLimit);
        refuses(&[change(scope, subject, AccountAction::Kill, 0)], &plain, Reason::Killed);
        let mut desk = desk();
        for (kind, number) in [
            (LimitKind::Position, 100),
            (LimitKind::GrossNotional, 1_000),
            (LimitKind::OrderQuantity, 100),
            (LimitKind::OrderNotional, 1_000),
            (LimitKind::OpenOrders, 1),
        ] {
            desk.apply(&Entry::Limit(limit(scope, subject, kind, number))).unwrap();
        }
        assert_eq!(refusal(&mut desk, &plain), None, "{scope}: at the edge");
    }
}

#[test]
fn rates_refuse_what_comes_too_fast_and_cancels_always_pass() {
    for (kind, reason) in
        [(LimitKind::OrderRate, Reason::OrderRate), (LimitKind::MessageRate, Reason::MessageRate)]
    {
        for (scope, subject) in [(AccountScope::Account, 1), (AccountScope::Strategy, 3)] {
            let mut desk = desk();
            desk.apply(&Entry::Limit(limit(scope, subject, kind, 2))).unwrap();
            let orders: Vec<NewOrder> = (1..=4).map(|number| bought(number, CASH, STOCK, 1, 10)).collect();
            assert_eq!(refusal(&mut desk, &orders[0]), None);
            assert_eq!(refusal(&mut desk, &orders[1]), None);
            assert_eq!(refusal(&mut desk, &orders[2]), Some(reason));
            let cancel = CancelOrder::new(orders[0].order_id, STOCK);
            assert_eq!(desk.cancel(STRATEGY, &cancel, Nanos(1)), Ok(()), "takes risk away");
            let verdict = desk.new_order(STRATEGY, &orders[3], Nanos(2_000_000_000));
            assert_eq!(verdict, Verdict::Send(orders[3]), "a second later");
        }
    }
}

#[test]
fn prices_out_of_the_band_and_market_orders_without_one_are_refused() {
    let mut desk = desk();
    assert_eq!(refusal(&mut desk, &bought(1, CASH, STOCK, 1, 1_001)), Some(Reason::PriceBand));
    assert_eq!(refusal(&mut desk, &bought(2, CASH, STOCK, 1, 0)), Some(Reason::PriceBand));
    let market = NewOrder { order_type: OrderType::Market, ..bought(3, CASH, STOCK, 1_000, 0) };
    assert_eq!(refusal(&mut desk, &market), None);
    assert_eq!(desk.reserved(market.order_id), Some(1_000_000 * ONE), "at the band's end");
    let no_band = ContractTerms { price_high: Price::NONE, ..terms(1, "600519.SH", 0, 1) };
    desk.apply(&Entry::Terms(no_band)).unwrap();
    let market = NewOrder { order_id: OrderId::new(STRATEGY, 1, 4), ..market };
    assert_eq!(refusal(&mut desk, &market), Some(Reason::NoWorstPrice));
    desk.apply(&disable(LimitKind::PriceBand)).unwrap();
    assert_eq!(refusal(&mut desk, &NewOrder { price: Price(1), ..bought(5, MARGINED, STOCK, 1, 0) }), None);
}

#[test]
fn money_is_needed_for_what_opens_and_not_for_what_closes() {
    let mut desk = desk();
    assert_eq!(refusal(&mut desk, &bought(1, CASH, STOCK, 2_001, 500)), Some(Reason::InsufficientFunds));
    trade(&mut desk, &bought(2, CASH, STOCK, 2_000, 500));
    assert_eq!(refusal(&mut desk, &bought(3, CASH, STOCK, 1, 1)), Some(Reason::InsufficientFunds));
    assert_eq!(refusal(&mut desk, &sold(4, CASH, STOCK, 2_000, 1)), None);
    // A tenth of 66 lots of 300 at 500 is 990,000.
    assert_eq!(refusal(&mut desk, &bought(5, FUTURES, INDEX, 67, 500)), Some(Reason::InsufficientFunds));
    trade(&mut desk, &bought(6, FUTURES, INDEX, 66, 500));
    desk.mark(INDEX, price(400));
    assert!(desk.account(FUTURES).unwrap().available < 0, "losses count");
    assert_eq!(refusal(&mut desk, &sold(7, FUTURES, INDEX, 66, 400)), None, "closing takes risk away");
    desk.apply(&disable(LimitKind::Money)).unwrap();
    assert_eq!(refusal(&mut desk, &bought(8, CASH, STOCK, 2_001, 500)), None);
    desk.audit().unwrap();
}

/// A thousand, a margin of a tenth, and a stock without a band.
fn small_desk() -> Desk {
    let mut desk = desk();
    desk.apply(&open(9, AccountKind::Margin, CostMethod::Average)).unwrap();
    desk.apply(&deposit(9, 1_000)).unwrap();
    let no_band = ContractTerms {
        price_low: Price::NONE,
        price_high: Price::NONE,
        ..terms(1, "600519.SH", ContractTerms::SHORTABLE, 1)
    };
    desk.apply(&Entry::Terms(no_band)).unwrap();
    desk
}

#[test]
fn a_short_sale_is_measured_at_what_it_may_trade_at_and_not_at_its_limit() {
    let account = AccountId(9);
    for kind in [LimitKind::OrderNotional, LimitKind::GrossNotional] {
        for (scope, subject) in
            [(AccountScope::Account, 9), (AccountScope::Strategy, 3), (AccountScope::Platform, 0)]
        {
            let mut desk = small_desk();
            desk.apply(&disable(LimitKind::Money)).unwrap();
            desk.apply(&Entry::Limit(limit(scope, subject, kind, 5_000))).unwrap();
            desk.mark(STOCK, price(100));
            let wanted =
                if kind == LimitKind::OrderNotional { Reason::OrderNotional } else { Reason::NotionalLimit };
            assert_eq!(refusal(&mut desk, &sold(1, account, STOCK, 51, 1)), Some(wanted));
            assert_eq!(refusal(&mut desk, &sold(2, account, STOCK, 50, 1)), None);
        }
    }
    let mut desk = small_desk();
    desk.mark(STOCK, price(100));
    let cheap = NewOrder { price: Price(Price::ONE / 100), ..sold(1, account, STOCK, 1_000, 1) };
    assert_eq!(refusal(&mut desk, &cheap), Some(Reason::InsufficientFunds));
    // Its margin at the limit, and what it loses against the mark if it trades there: a tenth of 90, and 10 each.
    let sale = sold(2, account, STOCK, 10, 90);
    assert_eq!(refusal(&mut desk, &sale), None);
    assert_eq!(desk.reserved(sale.order_id), Some((10 * 9 + 10 * 10) * ONE));
    // A purchase above the mark, likewise.
    let purchase = bought(3, account, STOCK, 10, 110);
    assert_eq!(refusal(&mut desk, &purchase), None);
    assert_eq!(desk.reserved(purchase.order_id), Some((10 * 11 + 10 * 10) * ONE));
    desk.audit().unwrap();
}

#[test]
fn what_rests_is_measured_anew_when_the_mark_passes_it_and_when_the_band_changes() {
    let account = AccountId(9);
    let mut desk = small_desk();
    desk.mark(STOCK, price(100));
    let sale = sold(1, account, STOCK, 10, 102);
    let purchase = bought(2, account, STOCK, 10, 98);
    assert_eq!((refusal(&mut desk, &sale), refusal(&mut desk, &purchase)), (None, None));
    let held = |desk: &Desk| {
        desk.audit().unwrap();
        [&sale, &purchase].map(|order| desk.reserved(order.order_id).unwrap() / ONE)
    };
    assert_eq!(held(&desk), [102, 98]);
    desk.mark(STOCK, price(101));
    assert_eq!(held(&desk), [102, 98], "it passes none");
    desk.mark(STOCK, price(110));
    assert_eq!(held(&desk), [102 + 80, 98]);
    assert_eq!(desk.account(account).unwrap().available, (1_000 - 182 - 98) * ONE);
    desk.mark(STOCK, price(90));
    assert_eq!(held(&desk), [102, 98 + 80]);
    let restored = Desk::restore(&desk.snapshot()).unwrap();
    assert_eq!(held(&restored), [102, 98 + 80]);
    let band = ContractTerms { price_high: price(150), ..terms(1, "600519.SH", ContractTerms::SHORTABLE, 1) };
    desk.apply(&Entry::Terms(band)).unwrap();
    assert_eq!(held(&desk), [150, 98 + 80], "at the end of the band");
    // What has ended is measured no more.
    for order in [&sale, &purchase] {
        assert_eq!(desk.execution(&update(order, OrderStatus::Cancelled, 10, 0)), None);
    }
    desk.mark(STOCK, price(140));
    assert_eq!(desk.account(account).unwrap().available, 1_000 * ONE);
    desk.audit().unwrap();
}

#[test]
fn a_short_sale_without_a_band_or_a_mark_is_refused_where_something_depends_on_its_worst_price() {
    let account = AccountId(9);
    let mut desk = small_desk();
    assert_eq!(refusal(&mut desk, &sold(1, account, STOCK, 1, 10)), Some(Reason::NoWorstPrice));
    trade(&mut desk, &bought(2, account, STOCK, 10, 10));
    assert_eq!(refusal(&mut desk, &sold(3, account, STOCK, 10, 1)), None, "it closes");
    assert_eq!(refusal(&mut desk, &sold(4, account, STOCK, 1, 10)), Some(Reason::NoWorstPrice));
    // A strategy's own account needs no money.
    assert_eq!(refusal(&mut desk, &sold(5, AccountId::OWN, STOCK, 1, 10)), None);
    desk.apply(&Entry::Limit(limit(AccountScope::Platform, 0, LimitKind::GrossNotional, 5_000))).unwrap();
    assert_eq!(refusal(&mut desk, &sold(6, AccountId::OWN, STOCK, 1, 10)), Some(Reason::NoWorstPrice));
    desk.mark(STOCK, price(10));
    assert_eq!(refusal(&mut desk, &sold(7, account, STOCK, 1, 10)), None);
    assert_eq!(refusal(&mut desk, &sold(8, AccountId::OWN, STOCK, 1, 10)), None);
}

#[test]
fn what_is_not_held_is_sold_only_where_it_may_be() {
    let mut desk = desk();
    assert_eq!(refusal(&mut desk, &sold(1, CASH, STOCK, 1, 10)), Some(Reason::ShortSale));
    assert_eq!(refusal(&mut desk, &sold(2, MARGINED, STOCK, 1, 10)), None);
    desk.apply(&Entry::Terms(terms(1, "600519.SH", 0, 1))).unwrap();
    assert_eq!(refusal(&mut desk, &sold(3, MARGINED, STOCK, 1, 10)), Some(Reason::ShortSale));
    desk.apply(&disable(LimitKind::ShortSale)).unwrap();
    assert_eq!(refusal(&mut desk, &sold(4, MARGINED, STOCK, 1, 10)), None);
}

#[test]
fn two_strategies_of_an_account_do_not_trade_with_each_other() {
    let mut desk = desk();
    assert_eq!(refusal(&mut desk, &bought(1, MARGINED, STOCK, 5, 10)), None);
    let other = |number, at| NewOrder {
        order_id: OrderId::new(StrategyId(4), 1, number),
        ..sold(1, MARGINED, STOCK, 5, at)
    };
    assert_eq!(refusal(&mut desk, &other(1, 11)), None);
    assert_eq!(refusal(&mut desk, &other(2, 10)), Some(Reason::SelfTrade));
    assert_eq!(refusal(&mut desk, &sold(3, MARGINED, STOCK, 5, 10)), None, "its own is its own matter");
    let up = ReplaceOrder {
        order_id: OrderId::new(STRATEGY, 1, 1),
        instrument: STOCK,
        source: 0,
        price: price(11),
        quantity: Quantity(5),
    };
    assert_eq!(desk.replace(STRATEGY, &up, Nanos(1)), Err(Reason::SelfTrade));
    desk.apply(&disable(LimitKind::SelfTrade)).unwrap();
    assert_eq!(refusal(&mut desk, &other(4, 10)), None);
}

#[test]
fn an_order_that_comes_twice_is_answered_with_what_became_of_it() {
    let mut desk = desk();
    let first = bought(1, CASH, STOCK, 100, 10);
    trade(&mut desk, &first);
    let again = NewOrder { cause: Cause { received: Nanos(7), ..Cause::NONE }, ..first };
    let Verdict::Known(update) = send(&mut desk, &again) else { panic!("not known") };
    assert_eq!((update.status, update.filled), (OrderStatus::Filled, Quantity(100)));
    assert_eq!(refusal(&mut desk, &NewOrder { price: price(11), ..first }), Some(Reason::DuplicateOrder));
    let refused = bought(2, CASH, STOCK, -1, 10);
    assert_eq!(refusal(&mut desk, &refused), Some(Reason::Quantity));
    let Verdict::Known(update) = send(&mut desk, &refused) else { panic!("not known") };
    assert_eq!((update.status, update.reason), (OrderStatus::Rejected, Reason::Quantity));
    assert_eq!(
        refusal(&mut desk, &bought(0, CASH, STOCK, 1, 10)),
        Some(Reason::DuplicateOrder),
        "an older id"
    );
}

#[test]
fn who_and_what_may_not_trade_is_named() {
    let mut desk = desk();
    assert_eq!(refusal(&mut desk, &bought(1, AccountId(99), STOCK, 1, 10)), Some(Reason::UnknownAccount));
    assert_eq!(refusal(&mut desk, &bought(2, CASH, InstrumentId(9), 1, 10)), Some(Reason::UnknownInstrument));
    let foreign = bought(1, CASH, STOCK, 1, 10);
    assert_eq!(desk.new_order(StrategyId(4), &foreign, Nanos(1)), Verdict::Refused(Reason::NotYours));
    let both = NewOrder {
        flags: NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE,
        ..bought(3, FUTURES, INDEX, 1, 10)
    };
    assert_eq!(refusal(&mut desk, &both), Some(Reason::Malformed));
    desk.apply(&change(AccountScope::Account, 1, AccountAction::Freeze, 0)).unwrap();
    assert_eq!(refusal(&mut desk, &bought(4, CASH, STOCK, 1, 10)), Some(Reason::AccountFrozen));
    let withdraw = change(AccountScope::Account, 1, AccountAction::Withdraw, ONE);
    assert_eq!(desk.apply(&withdraw), Err(Refusal::Frozen));
    desk.apply(&change(AccountScope::Account, 1, AccountAction::Unfreeze, 0)).unwrap();
    let out = change(AccountScope::Account, 1, AccountAction::Withdraw, 1_000_000 * ONE);
    let close = change(AccountScope::Account, 1, AccountAction::Close, 0);
    assert_eq!(desk.apply(&close), Err(Refusal::NotEmpty));
    desk.apply(&out).unwrap();
    desk.apply(&close).unwrap();
    assert_eq!(refusal(&mut desk, &bought(5, CASH, STOCK, 1, 10)), Some(Reason::AccountClosed));
    let halted = ContractTerms { flags: 0, ..terms(3, "IF2601", 0, 300) };
    desk.apply(&Entry::Terms(halted)).unwrap();
    assert_eq!(refusal(&mut desk, &bought(6, FUTURES, INDEX, 1, 10)), Some(Reason::NotTradable));
}

fn kills(desk: &mut Desk) -> Vec<(AccountScope, u32, KillCause)> {
    desk.take_kills().into_iter().map(|kill| (kill.scope, kill.subject, kill.cause)).collect()
}

#[test]
fn the_switch_falls_by_itself_and_is_lifted_by_an_entry_only() {
    let mut desk = desk();
    let works = bought(1, MARGINED, STOCK, 10, 10);
    assert_eq!(refusal(&mut desk, &works), None);
    desk.apply(&Entry::Limit(limit(AccountScope::Account, 2, LimitKind::RejectRate, 2))).unwrap();
    for number in 2..5 {
        assert_eq!(refusal(&mut desk, &bought(number, MARGINED, STOCK, -1, 10)), Some(Reason::Quantity));
    }
    assert_eq!(kills(&mut desk), [(AccountScope::Account, 2, KillCause::RejectRate)]);
    assert_eq!(refusal(&mut desk, &bought(5, MARGINED, STOCK, 1, 10)), Some(Reason::Killed));
    assert_eq!(refusal(&mut desk, &bought(6, CASH, STOCK, 1, 10)), None, "others trade");
    assert_eq!(desk.working_in(AccountScope::Account, 2), [(works.order_id, STOCK)]);
    assert_eq!(desk.must_end().collect::<Vec<_>>(), [works.order_id]);
    let revive = change(AccountScope::Account, 2, AccountAction::Revive, 0);
    desk.apply(&revive).unwrap();
    assert_eq!(desk.apply(&revive), Err(Refusal::Already));
    assert!(desk.has_to_end(works.order_id), "what must end must end, also after the switch was lifted");
    let again = bought(7, MARGINED, STOCK, 1, 10);
    assert_eq!(desk.new_order(STRATEGY, &again, Nanos(9_000_000_000)), Verdict::Send(again));

    let lift = AccountLimit {
        change: LimitChange::Lift,
        ..limit(AccountScope::Account, 2, LimitKind::RejectRate, 2)
    };
    desk.apply(&Entry::Limit(lift)).unwrap();
    desk.apply(&Entry::Limit(limit(AccountScope::Strategy, 3, LimitKind::RunawayRate, 1))).unwrap();
    assert_eq!(refusal(&mut desk, &bought(8, MARGINED, STOCK, 1, 10)), None);
    assert_eq!(refusal(&mut desk, &bought(9, MARGINED, STOCK, 1, 10)), Some(Reason::OrderRate));
    assert_eq!(kills(&mut desk), [(AccountScope::Strategy, 3, KillCause::RunawayRate)]);
    assert_eq!(refusal(&mut desk, &bought(10, CASH, STOCK, 1, 10)), Some(Reason::Killed), "for any account");
}

/// Which levels a refusal counts at: those whose limit of one refusal the second passes.
fn counted_at(reason: Reason) -> [bool; 4] {
    let scopes = [
        (AccountScope::Account, 2),
        (AccountScope::Group, 1),
        (AccountScope::Strategy, 3),
        (AccountScope::Platform, 0),
    ];
    scopes.map(|(scope, subject)| {
        let mut desk = desk();
        desk.apply(&Entry::Limit(limit(scope, subject, LimitKind::RejectRate, 1))).unwrap();
        for number in 1..3 {
            desk.refuse(&bought(number, MARGINED, STOCK, 1, 10), reason, Nanos(1));
        }
        let fallen = kills(&mut desk);
        assert!(fallen.is_empty() || fallen == [(scope, subject, KillCause::RejectRate)], "{fallen:?}");
        !fallen.is_empty()
    })
}

#[test]
fn each_reason_counts_at_the_levels_of_the_table() {
    let all: Vec<Reason> =
        (0..=u8::MAX).filter_map(|byte| Reason::try_read_from_bytes(&[byte]).ok()).collect();
    assert!(all.contains(&Reason::None) && all.contains(&Reason::ForcedLiquidation), "{all:?}");
    for reason in all {
        let wanted = match reason {
            Reason::Killed
            | Reason::StrategyGone
            | Reason::Overload
            | Reason::NotDurable
            // By whom is known only where a rate itself refuses: see the test below.
            | Reason::OrderRate
            | Reason::MessageRate => [false; 4],
            Reason::AccountFrozen | Reason::AccountClosed | Reason::ForcedLiquidation => {
                [true, false, false, false]
            }
            Reason::MarketClosed | Reason::CallAuction | Reason::NotTradable => [true, false, true, false],
            Reason::None
            | Reason::Requested
            | Reason::UnknownInstrument
            | Reason::OffTick
            | Reason::PriceBand
            | Reason::Quantity
            | Reason::WorkingOrders
            | Reason::PositionLimit
            | Reason::NoLiquidity
            | Reason::NotFillable
            | Reason::WouldTrade
            | Reason::UnknownOrder
            | Reason::NotYours
            | Reason::DuplicateOrder
            | Reason::Malformed
            | Reason::UnknownAccount
            | Reason::SelfTrade
            | Reason::Expired
            | Reason::Unsupported
            | Reason::InsufficientFunds
            | Reason::NotionalLimit
            | Reason::OrderNotional
            | Reason::ShortSale
            | Reason::NotClosable
            | Reason::NoWorstPrice => [true; 4],
        };
        assert_eq!(counted_at(reason), wanted, "{reason:?}");
    }
}

#[test]
fn one_killed_account_kills_nobody_else() {
    let all = [(AccountScope::Group, 1), (AccountScope::Strategy, 3), (AccountScope::Platform, 0)];
    let mut desk = desk();
    for (scope, subject) in all {
        desk.apply(&Entry::Limit(limit(scope, subject, LimitKind::RejectRate, 2))).unwrap();
    }
    desk.apply(&change(AccountScope::Account, 2, AccountAction::Kill, 0)).unwrap();
    desk.take_kills();
    for number in 1..100 {
        assert_eq!(refusal(&mut desk, &bought(number, MARGINED, STOCK, 1, 10)), Some(Reason::Killed));
    }
    // A rate counts at its own level alone.
    desk.apply(&Entry::Limit(limit(AccountScope::Account, 1, LimitKind::OrderRate, 1))).unwrap();
    assert_eq!(refusal(&mut desk, &bought(100, CASH, STOCK, 1, 10)), None);
    for number in 101..200 {
        assert_eq!(refusal(&mut desk, &bought(number, CASH, STOCK, 1, 10)), Some(Reason::OrderRate));
    }
    assert_eq!(kills(&mut desk), []);
    assert_eq!(refusal(&mut desk, &bought(200, FUTURES, INDEX, 1, 10)), None, "others trade");
    desk.apply(&Entry::Limit(limit(AccountScope::Account, 1, LimitKind::RejectRate, 2))).unwrap();
    for number in 201..204 {
        assert_eq!(refusal(&mut desk, &bought(number, CASH, STOCK, 1, 10)), Some(Reason::OrderRate));
    }
    assert_eq!(kills(&mut desk), [(AccountScope::Account, 1, KillCause::RejectRate)]);
}

#[test]
fn a_mass_cancel_counts_as_one_request_at_each_level_that_it_is_of() {
    for (scope, subject, named) in [
        (AccountScope::Account, 1, Some(CASH)),
        (AccountScope::Group, 1, Some(CASH)),
        (AccountScope::Strategy, 3, None),
        (AccountScope::Platform, 0, None),
    ] {
        let mut desk = desk();
        desk.apply(&Entry::Limit(limit(scope, subject, LimitKind::MessageRate, 3))).unwrap();
        desk.cancel_all(STRATEGY, named, Nanos(1));
        assert_eq!(refusal(&mut desk, &bought(1, CASH, STOCK, 1, 10)), None);
        assert_eq!(refusal(&mut desk, &bought(2, CASH, STOCK, 1, 10)), None);
        assert_eq!(refusal(&mut desk, &bought(3, CASH, STOCK, 1, 10)), Some(Reason::MessageRate), "{scope}");
        // Never refused, and no debt either.
        (0..9).for_each(|_| desk.cancel_all(STRATEGY, named, Nanos(1)));
        let later = bought(4, CASH, STOCK, 1, 10);
        assert_eq!(desk.new_order(STRATEGY, &later, Nanos(1_000_000_001)), Verdict::Send(later));
    }
}

#[test]
fn what_closes_by_force_takes_lots_that_others_may_close_and_never_opens() {
    for (account, instrument, offset) in [
        (MARGINED, STOCK, Offset::Auto),
        (FUTURES, INDEX, Offset::Close),
        (FUTURES, INDEX, Offset::Auto),
        (FUTURES, INDEX, Offset::Open),
        (FUTURES, SHANGHAI, Offset::CloseToday),
        (FUTURES, SHANGHAI, Offset::Auto),
    ] {
        let mut desk = desk();
        desk.mark(instrument, price(10));
        trade(&mut desk, &bought(1, account, instrument, 10, 10));
        let rests = NewOrder { flags: Offset::Auto.flags(), ..sold(2, account, instrument, 10, 900) };
        assert_eq!(refusal(&mut desk, &rests), None);
        let forced = |number, lots| NewOrder {
            flags: NewOrder::FORCED | offset.flags(),
            ..sold(number, account, instrument, lots, 10)
        };
        assert_eq!(desk.accept(&forced(3, 11)), Err(Reason::NotClosable), "more than there is");
        assert_eq!(desk.accept(&forced(4, 10)), Ok(()));
        desk.audit().unwrap();
        assert_eq!(desk.execution(&fill(&forced(4, 10), 7, 10, price(10), 0)), None);
        assert_eq!(desk.execution(&update(&forced(4, 10), OrderStatus::Filled, 10, 10)), None);
        let row = desk.position(STRATEGY, account, instrument).unwrap();
        assert_eq!((row.long_today, row.short_today), (0, 0));
        desk.audit().unwrap();
        assert_eq!(desk.accept(&forced(5, 1)), Err(Reason::NotClosable), "nothing is left");
    }
}

#[test]
fn a_loss_past_its_limit_kills_account_group_and_platform() {
    for (scope, subject) in
        [(AccountScope::Account, 3), (AccountScope::Group, 1), (AccountScope::Platform, 0)]
    {
        let mut desk = desk();
        desk.apply(&Entry::Limit(limit(scope, subject, LimitKind::Loss, 1_000))).unwrap();
        trade(&mut desk, &bought(1, FUTURES, INDEX, 1, 500));
        desk.mark(INDEX, Price(price(500).0 - price(1_000).0 / 300));
        desk.survey();
        assert_eq!(kills(&mut desk), [], "{scope}: at the edge");
        desk.mark(INDEX, price(496));
        desk.survey();
        assert_eq!(kills(&mut desk), [(scope, subject, KillCause::Loss)]);
        desk.survey();
        assert_eq!(kills(&mut desk), [], "once");
    }
}

#[test]
fn a_replace_reserves_its_worst_case_until_it_is_answered() {
    let mut desk = desk();
    let first = bought(1, CASH, STOCK, 100, 10);
    assert_eq!(refusal(&mut desk, &first), None);
    let replace = |at, lots| ReplaceOrder {
        order_id: first.order_id,
        instrument: STOCK,
        source: 0,
        price: price(at),
        quantity: Quantity(lots),
    };
    assert_eq!(desk.replace(STRATEGY, &replace(5, 200), Nanos(1)), Ok(()));
    assert_eq!(desk.reserved(first.order_id), Some(2_000 * ONE), "the larger total at the higher price");
    assert_eq!(desk.replace(STRATEGY, &replace(1_000, 1_001), Nanos(1)), Err(Reason::InsufficientFunds));
    assert_eq!(desk.execution(&update(&first, OrderStatus::Accepted, 100, 0)), None);
    let replaced = NewOrder { price: price(5), ..first };
    assert_eq!(desk.execution(&update(&replaced, OrderStatus::Replaced, 200, 0)), None);
    assert_eq!(desk.reserved(first.order_id), Some(1_000 * ONE));
    assert_eq!(desk.execution(&update(&replaced, OrderStatus::Cancelled, 200, 0)), None);
    assert_eq!(desk.account(CASH).unwrap().available, 1_000_000 * ONE);
    desk.audit().unwrap();
}
