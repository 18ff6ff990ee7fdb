//! Days that end: offsets, the roll, variation, fees, forced orders, and entries that are refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Applied, Desk, Entry, ForcedOrder, MarginAction, Refusal, RestoreError, Verdict};
use support::*;
use wire::*;

fn bought(number: u32, instrument: InstrumentId, lots: i64, at: i64, offset: Offset) -> NewOrder {
    NewOrder { flags: offset.flags(), ..order(number, FUTURES, instrument, Side::Buy, lots, at) }
}

fn sold(number: u32, instrument: InstrumentId, lots: i64, at: i64, offset: Offset) -> NewOrder {
    NewOrder { flags: offset.flags(), ..order(number, FUTURES, instrument, Side::Sell, lots, at) }
}

fn chosen(desk: &Desk, order: &NewOrder) -> Result<Offset, Reason> {
    match send(&mut desk.clone(), order) {
        Verdict::Send(order) => Ok(order.offset().unwrap()),
        Verdict::Refused(reason) => Err(reason),
        Verdict::Known(_) => panic!("it is new"),
    }
}

#[test]
fn an_open_offset_closes_what_fits_whole_by_the_exchanges_rule() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, SHANGHAI, 5, 100, Offset::Open));
    trade(&mut desk, &bought(2, INDEX, 5, 100, Offset::Open));
    settle(&mut desk, 20_260_105, &[(SHANGHAI, 100), (INDEX, 100)]).unwrap();
    trade(&mut desk, &bought(3, SHANGHAI, 3, 100, Offset::Open));
    trade(&mut desk, &bought(4, INDEX, 3, 100, Offset::Open));
    let auto = |instrument, lots| sold(9, instrument, lots, 100, Offset::Auto);
    assert_eq!(chosen(&desk, &auto(SHANGHAI, 3)), Ok(Offset::CloseToday));
    assert_eq!(chosen(&desk, &auto(SHANGHAI, 5)), Ok(Offset::CloseYesterday));
    assert_eq!(chosen(&desk, &auto(SHANGHAI, 6)), Ok(Offset::Open), "it never splits");
    assert_eq!(chosen(&desk, &auto(INDEX, 8)), Ok(Offset::Close));
    assert_eq!(chosen(&desk, &auto(INDEX, 9)), Ok(Offset::Open));
    let close = |instrument, lots, offset| sold(9, instrument, lots, 100, offset);
    assert_eq!(chosen(&desk, &close(SHANGHAI, 6, Offset::Close)), Err(Reason::NotClosable));
    assert_eq!(chosen(&desk, &close(SHANGHAI, 5, Offset::Close)), Ok(Offset::CloseYesterday));
    assert_eq!(chosen(&desk, &close(SHANGHAI, 4, Offset::CloseToday)), Err(Reason::NotClosable));
    // What an order at work may close, no other may.
    assert_eq!(refusal(&mut desk, &close(SHANGHAI, 3, Offset::CloseToday)), None);
    let next = sold(10, SHANGHAI, 1, 100, Offset::CloseToday);
    assert_eq!(chosen(&desk, &next), Err(Reason::NotClosable));
    assert_eq!(chosen(&desk, &sold(10, SHANGHAI, 3, 100, Offset::Auto)), Ok(Offset::CloseYesterday));
    assert_eq!(desk.position(STRATEGY, FUTURES, SHANGHAI).unwrap().long_frozen, 3);
}

#[test]
fn variation_is_paid_at_settlement_and_comes_back_when_closed() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, SHANGHAI, 10, 100, Offset::Auto));
    let Ok(Applied::Settled(settlement)) = settle(&mut desk, 20_260_105, &[(SHANGHAI, 110)]) else {
        panic!()
    };
    // 10 lots × 10 × 5.
    let row = settlement.statements.iter().find(|row| row.account == FUTURES).unwrap();
    assert_eq!((row.day_totals.variation, row.day_totals.realised), (500 * ONE, 0));
    assert_eq!((row.closing, row.margin), (1_000_500 * ONE, 550 * ONE));
    assert_eq!(
        row.to_string(),
        "20260105,3,,CNY,0,1000000,0,0,500,0,0,0,1000500,550,0,0",
        "the account's first day begins with nothing"
    );
    let position = &settlement.positions[0];
    assert_eq!((position.long_today, position.long_yesterday), (0, 10));
    trade(&mut desk, &sold(2, SHANGHAI, 10, 120, Offset::Auto));
    let purse = &desk.purses(STRATEGY, FUTURES)[0];
    assert_eq!((purse.totals.variation, purse.totals.realised), (0, 1_000 * ONE));
    assert_eq!((purse.balance, purse.margin), (1_001_000 * ONE, 0));
}

#[test]
fn a_settlement_waits_for_prices_and_for_the_days_orders() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, SHANGHAI, 10, 100, Offset::Auto));
    let before = desk.snapshot();
    assert_eq!(settle(&mut desk, 20_260_105, &[]), Err(Refusal::MissingPrice(SHANGHAI)));
    assert!(before == desk.snapshot());
    let works = bought(2, SHANGHAI, 1, 90, Offset::Auto);
    assert_eq!(refusal(&mut desk, &works), None);
    assert_eq!(settle(&mut desk, 20_260_105, &[(SHANGHAI, 100)]), Err(Refusal::OrdersAtWork));
    assert_eq!(desk.execution(&update(&works, OrderStatus::Cancelled, 1, 0)), None);
    assert_eq!(settle(&mut desk, 20_260_106, &[]), Err(Refusal::OtherDay(20_260_105)));
    assert!(matches!(settle(&mut desk, 20_260_105, &[]), Ok(Applied::Settled(_))));
    assert_eq!(settle(&mut desk, 20_260_105, &[]), Ok(Applied::Already));
    assert_eq!(settle(&mut desk, 20_260_104, &[]), Err(Refusal::Settled));
    assert_eq!(settle(&mut desk, 20_260_105, &[(SHANGHAI, 1)]), Err(Refusal::Settled));
}

#[test]
fn an_order_pays_a_charge_once_on_all_its_fills() {
    let mut desk = desk();
    // Two and a half per mille, rounded up to a hundredth, at least 5; and a tax on sales.
    desk.apply(&Entry::Fee(fee(1, 2_500_000, 0, 5 * ONE))).unwrap();
    let tax = FeeRule { kind: ChargeKind::Tax, side: FeeSide::Sell, ..fee(2, 1_000_000, 0, 0) };
    desk.apply(&Entry::Fee(tax)).unwrap();
    let first = order(1, CASH, STOCK, Side::Buy, 300, 10);
    assert_eq!(refusal(&mut desk, &first), None);
    assert_eq!(desk.reserved(first.order_id), Some(3_000 * ONE + 15 * ONE / 2));
    let fees = |desk: &Desk| desk.purses(STRATEGY, CASH)[0].totals.fees;
    for (trade, wanted) in [(1, 5 * ONE), (2, 5 * ONE), (3, 15 * ONE / 2)] {
        assert_eq!(desk.execution(&fill(&first, trade, 100, first.price, 300 - 100 * trade as i64)), None);
        assert_eq!(fees(&desk), wanted, "the least first, then what goes beyond it");
    }
    desk.execution(&update(&first, OrderStatus::Filled, 300, 300));
    trade(&mut desk, &order(2, CASH, STOCK, Side::Sell, 300, 11));
    let totals = desk.purses(STRATEGY, CASH)[0].totals;
    assert_eq!((totals.fees, totals.taxes), (15_750_000_000, 3_300_000_000), "7.5 + 8.25, and 3.3");
    assert_eq!((totals.realised, totals.invested), (300 * ONE, 0));
}

#[test]
fn the_most_specific_rule_holds() {
    let mut desk = desk();
    let mut charged = |account: AccountId, prefix: &str, instrument: u32, amount: i128, number: u32| {
        let rule = FeeRule {
            account,
            prefix: Symbol::new(prefix).unwrap_or_default(),
            instrument: InstrumentId(instrument),
            ..fee(1, 0, amount * ONE, 0)
        };
        desk.apply(&Entry::Fee(rule)).unwrap();
        let before = desk.purses(STRATEGY, FUTURES)[0].totals.fees;
        trade(&mut desk, &bought(number, INDEX, 1, 10, Offset::Open));
        (desk.purses(STRATEGY, FUTURES)[0].totals.fees - before) / ONE
    };
    let everybody = AccountId(0);
    assert_eq!(charged(everybody, "", 0, 1, 1), 1);
    assert_eq!(charged(everybody, "I", 0, 2, 2), 2);
    assert_eq!(charged(everybody, "IF", 0, 3, 3), 3);
    assert_eq!(charged(everybody, "I", 0, 9, 4), 3, "a longer prefix holds");
    assert_eq!(charged(everybody, "", 3, 4, 5), 4);
    assert_eq!(charged(FUTURES, "", 0, 5, 6), 5, "the account's own rule is above all");
    assert_eq!(charged(CASH, "", 3, 9, 7), 5, "of another account");
}

#[test]
fn margin_calls_and_forced_orders_bring_the_ratio_back() {
    let mut desk = desk();
    for (kind, number) in
        [(LimitKind::MarginCall, 800_000_000), (LimitKind::ForcedLiquidation, 1_000_000_000)]
    {
        desk.apply(&Entry::Limit(limit(AccountScope::Account, 3, kind, number))).unwrap();
    }
    // 60 lots of 300 at 500: 9,000,000, margin 900,000 of 1,000,000.
    trade(&mut desk, &bought(1, INDEX, 60, 500, Offset::Auto));
    let called = MarginAction::Call { account: FUTURES, owner: None, missing: 125_000 * ONE };
    assert_eq!(desk.survey(), [called]);
    assert_eq!(desk.account(FUTURES).unwrap().risk_ratio, 900_000_000);
    desk.mark(INDEX, price(490));
    // 180,000 lost: margin 900,000 of 820,000, and 656,000 are allowed. 15,000 a lot.
    let forced = ForcedOrder {
        account: FUTURES,
        owner: None,
        instrument: INDEX,
        side: Side::Sell,
        quantity: 17,
        offset: Offset::Close,
        reason: Reason::ForcedLiquidation,
    };
    let actions = desk.survey();
    assert_eq!(actions[1], MarginAction::Close(forced));
    let close = NewOrder { price: price(490), ..sold(2, INDEX, forced.quantity, 490, forced.offset) };
    trade(&mut desk, &close);
    assert_eq!(desk.survey(), [], "as far as it was to");
}

#[test]
fn corporate_money_in_another_currency_counts_at_its_rate() {
    let mut desk = desk();
    trade(&mut desk, &order(1, CASH, FOREIGN, Side::Buy, 100, 10));
    let purses = desk.purses(STRATEGY, CASH);
    assert_eq!((purses[0].balance, purses[1].balance), (1_000_000 * ONE, -1_000 * ONE));
    assert_eq!(desk.account(CASH).unwrap().available, (1_000_000 - 7_100) * ONE);
    desk.mark(FOREIGN, price(12));
    assert_eq!(desk.account(CASH).unwrap().equity, (1_000_000 + 200 * 71 / 10) * ONE);
    desk.apply(&Entry::Rate(CurrencyRate { currency: currency("USD"), rate: 8_000_000_000 })).unwrap();
    assert_eq!(desk.account(CASH).unwrap().equity, (1_000_000 + 1_600) * ONE);
}

#[test]
fn entries_that_do_not_fit_are_refused_by_reason_and_change_nothing() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, INDEX, 1, 100, Offset::Auto));
    let mut refused = |entry: Entry, wanted: Refusal| {
        let before = desk.snapshot();
        assert_eq!(desk.apply(&entry), Err(wanted));
        assert!(before == desk.snapshot(), "{wanted}");
    };
    let Entry::Open(account) = open(8, AccountKind::Cash, CostMethod::Fifo) else { panic!() };
    refused(open(1, AccountKind::Cash, CostMethod::Fifo), Refusal::Exists);
    refused(open(0, AccountKind::Cash, CostMethod::Fifo), Refusal::Number);
    refused(Entry::Open(AccountOpen { currency: currency("EUR"), ..account }), Refusal::UnknownCurrency);
    refused(Entry::Open(AccountOpen { parent: AccountId(77), ..account }), Refusal::UnknownSubject);
    refused(Entry::Open(AccountOpen { who: Text::EMPTY, ..account }), Refusal::Nameless);
    refused(deposit(9, 1), Refusal::UnknownSubject);
    refused(deposit(1, 0), Refusal::Number);
    refused(change(AccountScope::Group, 1, AccountAction::Deposit, ONE), Refusal::Scope);
    refused(
        change(AccountScope::Account, 1, AccountAction::Withdraw, 2_000_000 * ONE),
        Refusal::Insufficient,
    );
    refused(change(AccountScope::Account, 1, AccountAction::Revive, 0), Refusal::Already);
    refused(Entry::Limit(limit(AccountScope::Group, 1, LimitKind::MarginCall, 1)), Refusal::Scope);
    refused(Entry::Limit(limit(AccountScope::Account, 1, LimitKind::Money, 1)), Refusal::Scope);
    refused(Entry::Limit(limit(AccountScope::Account, 1, LimitKind::OrderRate, u64::MAX)), Refusal::Number);
    refused(Entry::Fee(fee(9, 1, 0, 0)), Refusal::Number);
    refused(Entry::Fee(fee(1, 1, -1, 0)), Refusal::Number);
    refused(Entry::Margin(margin(77, 1)), Refusal::UnknownInstrument(InstrumentId(77)));
    refused(Entry::Margin(margin(1, u64::MAX)), Refusal::Number);
    refused(Entry::Terms(terms(3, "IF2601", 0, 200)), Refusal::InUse);
    refused(Entry::Terms(terms(0, "X", 0, 1)), Refusal::Number);
    refused(Entry::Terms(terms(9, "X", 0, 0)), Refusal::Number);
    refused(Entry::Rate(CurrencyRate { currency: currency("CNY"), rate: 0 }), Refusal::Number);
    let at = |day, instrument| Entry::Price(SettlementPrice { day, instrument, price: price(1) });
    refused(at(1, InstrumentId(9)), Refusal::UnknownInstrument(InstrumentId(9)));
    refused(at(0, INDEX), Refusal::Number);
    assert_eq!(Entry::decode(Quote::ID, &[]), Err(Refusal::Malformed));
    assert_eq!(Entry::decode(Settle::ID, &[1]), Err(Refusal::Malformed));
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, INDEX, 1, 100, Offset::Auto));
    let whole = desk.snapshot();
    assert!(Desk::restore(&whole).unwrap().snapshot() == whole);
    for length in 0..whole.len() {
        assert!(Desk::restore(&whole[..length]).is_err(), "{length} bytes of it");
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert!(Desk::restore(&damaged).is_err(), "byte {at}");
    }
    assert_eq!(Desk::restore(&[9; 100]).err(), Some(RestoreError::Version(0x0909_0909)));
}

#[test]
fn a_strategys_own_account_needs_no_money_and_has_limits_of_the_strategy() {
    let mut desk = desk();
    let own = order(1, AccountId(0), STOCK, Side::Sell, 1_000_000, 10);
    trade(&mut desk, &own);
    let view = desk.account_of(STRATEGY, AccountId(0)).unwrap();
    assert_eq!((view.owner, view.equity), (Some(STRATEGY), 0));
    assert_eq!(desk.account(AccountId(0)), None);
    desk.apply(&Entry::Limit(limit(AccountScope::Strategy, 3, LimitKind::Position, 1_000_000))).unwrap();
    let more = order(2, AccountId(0), STOCK, Side::Sell, 1, 10);
    assert_eq!(refusal(&mut desk, &more), Some(Reason::PositionLimit));
}

#[test]
fn prices_that_were_not_executed_can_be_taken_back() {
    let mut desk = desk();
    trade(&mut desk, &bought(1, INDEX, 1, 100, Offset::Auto));
    let enter = |desk: &mut Desk, day, instrument, price| {
        desk.apply(&Entry::Price(SettlementPrice { day, instrument, price }))
    };
    let begin = |desk: &mut Desk, day| enter(desk, day, InstrumentId(0), Price::NONE);
    enter(&mut desk, 20_360_101, INDEX, price(10_300)).unwrap();
    assert_eq!(enter(&mut desk, 20_260_101, INDEX, price(103)), Err(Refusal::OtherDay(20_360_101)));
    begin(&mut desk, 20_260_101).unwrap();
    let close = Entry::Settle(Settle { day: 20_260_101, flags: 0, who: who() });
    assert_eq!(desk.apply(&close), Err(Refusal::MissingPrice(INDEX)), "the slip is none of this settlement");
    enter(&mut desk, 20_260_101, INDEX, price(103)).unwrap();
    assert!(matches!(desk.apply(&close), Ok(Applied::Settled(_))));
    assert_eq!(begin(&mut desk, 20_260_101), Err(Refusal::Settled));
}

#[test]
fn what_everything_is_counted_in_stays_worth_one() {
    let mut desk = desk();
    let mut rate = |name, rate| desk.apply(&Entry::Rate(CurrencyRate { currency: currency(name), rate }));
    assert_eq!(rate("CNY", 2_000_000_000), Err(Refusal::Number));
    assert_eq!(rate("USD", 7_200_000_000), Ok(Applied::Done));
    assert_eq!(rate("usd", 7_200_000_000), Err(Refusal::Number));
    assert_eq!(rate("U D", 7_200_000_000), Err(Refusal::Number));
}

#[test]
fn a_cash_account_sells_what_it_holds_whatever_is_checked() {
    let mut desk = desk();
    desk.apply(&disable(LimitKind::ShortSale)).unwrap();
    let short = order(1, CASH, STOCK, Side::Sell, 1, 10);
    assert_eq!(refusal(&mut desk, &short), Some(Reason::ShortSale));
}
