//! A desk with accounts, and short words for what happens to it.
#![allow(dead_code, reason = "each test uses its part")]

use accounts::{Applied, Desk, Entry, Options, Refusal, Verdict};
use wire::*;

pub(crate) const ONE: i128 = 1_000_000_000;
pub(crate) const STRATEGY: StrategyId = StrategyId(3);

pub(crate) fn who() -> Text<32> {
    Text::new("ann").unwrap()
}

pub(crate) fn why() -> Text<64> {
    Text::new("test").unwrap()
}

pub(crate) fn currency(name: &str) -> Currency {
    Currency::new(name).unwrap()
}

pub(crate) fn price(units: i64) -> Price {
    Price(units * Price::ONE)
}

pub(crate) fn open(account: u32, kind: AccountKind, method: CostMethod) -> Entry {
    Entry::Open(AccountOpen {
        account: AccountId(account),
        group: 1,
        parent: AccountId(0),
        kind,
        method,
        reserved: 0,
        currency: currency("CNY"),
        name: Text::EMPTY,
        who: who(),
        why: why(),
    })
}

pub(crate) fn change(scope: AccountScope, subject: u32, action: AccountAction, amount: i128) -> Entry {
    let has_money = matches!(action, AccountAction::Deposit | AccountAction::Withdraw);
    Entry::Change(AccountChange {
        subject,
        scope,
        action,
        reserved: 0,
        amount: WideMoney::from_wide(amount),
        currency: if has_money { currency("CNY") } else { Currency::EMPTY },
        who: who(),
        why: why(),
    })
}

pub(crate) fn deposit(account: u32, units: i128) -> Entry {
    change(AccountScope::Account, account, AccountAction::Deposit, units * ONE)
}

pub(crate) fn limit(scope: AccountScope, subject: u32, limit: LimitKind, number: u64) -> AccountLimit {
    AccountLimit {
        subject,
        scope,
        limit,
        change: LimitChange::Set,
        reserved: 0,
        instrument: InstrumentId(0),
        burst: number.min(u64::from(u32::MAX)) as u32,
        number,
        amount: WideMoney::from_wide(i128::from(number) * ONE),
        who: who(),
        why: why(),
    }
}

pub(crate) fn disable(check: LimitKind) -> Entry {
    Entry::Limit(AccountLimit { change: LimitChange::Disable, ..limit(AccountScope::Platform, 0, check, 0) })
}

pub(crate) fn terms(instrument: u32, symbol: &str, flags: u32, multiplier: u64) -> ContractTerms {
    ContractTerms {
        instrument: InstrumentId(instrument),
        flags: flags | ContractTerms::TRADABLE,
        symbol: Symbol::new(symbol).unwrap(),
        currency: currency("CNY"),
        multiplier,
        price_low: price(1),
        price_high: price(1_000),
    }
}

pub(crate) fn margin(instrument: u32, rate: u64) -> MarginRule {
    MarginRule {
        account: AccountId(0),
        instrument: InstrumentId(instrument),
        prefix: Symbol::default(),
        long_rate: rate,
        short_rate: rate,
        long_per_lot: WideMoney::default(),
        short_per_lot: WideMoney::default(),
        who: who(),
        why: why(),
    }
}

pub(crate) fn fee(charge: u16, rate: u64, per_lot: i128, minimum: i128) -> FeeRule {
    FeeRule {
        account: AccountId(0),
        instrument: InstrumentId(0),
        prefix: Symbol::default(),
        charge,
        kind: ChargeKind::Fee,
        side: FeeSide::Both,
        event: FeeEvent::Any,
        flags: 0,
        reserved: [0; 2],
        unit: 10_000_000,
        rate,
        per_lot: WideMoney::from_wide(per_lot),
        minimum: WideMoney::from_wide(minimum),
        who: who(),
        why: why(),
    }
}

pub(crate) const STOCK: InstrumentId = InstrumentId(1);
pub(crate) const SHANGHAI: InstrumentId = InstrumentId(2);
pub(crate) const INDEX: InstrumentId = InstrumentId(3);
pub(crate) const FOREIGN: InstrumentId = InstrumentId(4);
pub(crate) const CASH: AccountId = AccountId(1);
pub(crate) const MARGINED: AccountId = AccountId(2);
pub(crate) const FUTURES: AccountId = AccountId(3);

/// Two currencies, a stock, a future of Shanghai's kind, one of another, a stock in another currency.
pub(crate) fn reference() -> Vec<Entry> {
    let rate = |name: &str, rate| Entry::Rate(CurrencyRate { currency: currency(name), rate });
    vec![
        rate("CNY", 1_000_000_000),
        rate("USD", 7_100_000_000),
        Entry::Terms(terms(1, "600519.SH", ContractTerms::SHORTABLE, 1)),
        Entry::Terms(terms(2, "cu2601", ContractTerms::SHORTABLE | ContractTerms::TODAY_APART, 5)),
        Entry::Terms(terms(3, "IF2601", ContractTerms::SHORTABLE, 300)),
        Entry::Terms(ContractTerms {
            currency: currency("USD"),
            ..terms(4, "AAPL", ContractTerms::SHORTABLE, 1)
        }),
    ]
}

/// A cash, a margin and a futures account with a million each; margin is a tenth.
pub(crate) fn desk() -> Desk {
    let mut desk = Desk::new(Options::default());
    let mut entries = reference();
    entries.push(Entry::Margin(margin(0, 100_000_000)));
    for (account, kind) in [(1, AccountKind::Cash), (2, AccountKind::Margin), (3, AccountKind::Futures)] {
        entries.push(open(account, kind, CostMethod::Average));
        entries.push(deposit(account, 1_000_000));
    }
    entries.iter().for_each(|entry| assert_eq!(desk.apply(entry), Ok(Applied::Done)));
    desk
}

pub(crate) fn order(
    number: u32,
    account: AccountId,
    instrument: InstrumentId,
    side: Side,
    lots: i64,
    at: i64,
) -> NewOrder {
    NewOrder {
        account,
        ..NewOrder::plain(
            OrderId::new(STRATEGY, 1, number),
            instrument,
            side,
            OrderType::Limit,
            TimeInForce::Day,
            price(at),
            Quantity(lots),
        )
    }
}

pub(crate) fn send(desk: &mut Desk, order: &NewOrder) -> Verdict {
    desk.new_order(order.order_id.strategy(), order, Nanos(1))
}

pub(crate) fn refusal(desk: &mut Desk, order: &NewOrder) -> Option<Reason> {
    match send(desk, order) {
        Verdict::Refused(reason) => Some(reason),
        _ => None,
    }
}

pub(crate) fn update(order: &NewOrder, status: OrderStatus, total: i64, filled: i64) -> Execution {
    Execution::Update(OrderUpdate {
        side: order.side,
        price: order.price,
        quantity: Quantity(total),
        filled: Quantity(filled),
        remaining: Quantity(total - filled),
        ..OrderUpdate::about(order.order_id, order.instrument, status, Reason::Requested)
    })
}

pub(crate) fn fill(order: &NewOrder, trade: u64, lots: i64, at: Price, remaining: i64) -> Execution {
    Execution::Fill(Fill {
        order_id: order.order_id,
        trade_id: trade,
        instrument: order.instrument,
        side: order.side,
        liquidity: Liquidity::Maker,
        reserved: [0; 2],
        price: at,
        quantity: Quantity(lots),
        remaining: Quantity(remaining),
        event_time: Nanos(1),
        execution: 0,
        answered_up_to: 0,
    })
}

/// Sends an order, fills it whole at its price, and ends it.
pub(crate) fn trade(desk: &mut Desk, order: &NewOrder) {
    assert!(
        matches!(send(desk, order), Verdict::Send(_)),
        "{:?} for {order:?}",
        refusal(&mut desk.clone(), order)
    );
    let lots = order.quantity.0;
    assert_eq!(
        desk.execution(&fill(order, u64::from(order.order_id.sequence()), lots, order.price, 0)),
        None
    );
    assert_eq!(desk.execution(&update(order, OrderStatus::Filled, lots, lots)), None);
    desk.audit().unwrap();
}

pub(crate) fn settle(desk: &mut Desk, day: u32, prices: &[(InstrumentId, i64)]) -> Result<Applied, Refusal> {
    for (instrument, at) in prices {
        desk.apply(&Entry::Price(SettlementPrice { day, instrument: *instrument, price: price(*at) }))?;
    }
    desk.apply(&Entry::Settle(Settle { day, flags: 0, who: who() }))
}
