//! Accounts: for which one an order is, and how one stands.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use strategy_sdk::testing::{Harness, Setup};
use strategy_sdk::*;
use support::{Event, Probe, probe, setup};

const STOCKS: AccountId = AccountId(7);
const FUTURES: AccountId = AccountId(8);

fn state(account: AccountId, balance: i128) -> AccountState {
    AccountState {
        account,
        open_orders: 2,
        owner: AccountState::NOBODY,
        kind: AccountKind::Margin,
        flags: AccountState::FROZEN,
        reserved: 0,
        currency: Currency::new("CNY").unwrap(),
        drops: 640,
        risk_ratio: 250_000_000,
        balance: WideMoney::from_wide(balance),
        equity: WideMoney::from_wide(balance + 1),
        available: WideMoney::from_wide(balance - 1),
        frozen: WideMoney::from_wide(1),
        margin: WideMoney::from_wide(2),
        day_result: WideMoney::from_wide(-3),
    }
}

/// At each quote: an order that names none, one for the futures' account, one for its own.
fn three_orders(context: &mut Context, event: &Event) {
    let Event::Quote(quote) = event else { return };
    let order = OrderRequest::limit(Side::Buy, quote.instrument, quote.asks[0].price, Quantity(1));
    context.order(order).unwrap();
    context.order(order.account(FUTURES)).unwrap();
    context.order(order.account(AccountId::OWN)).unwrap();
}

fn accounts_of_orders(accounts: Vec<AccountId>) -> Vec<AccountId> {
    let mut harness = probe(Setup { accounts, ..setup() }, three_orders);
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    harness.quote(instrument, "9.99", "10.01", 5);
    harness.orders().iter().map(|order| order.account).collect()
}

#[test]
fn an_order_that_names_no_account_is_for_the_first_that_the_strategy_may_trade_for() {
    assert_eq!(accounts_of_orders(vec![STOCKS, FUTURES]), [STOCKS, FUTURES, AccountId::OWN]);
    assert_eq!(accounts_of_orders(Vec::new()), [AccountId::OWN, FUTURES, AccountId::OWN]);
}

#[test]
fn the_default_account_stands_as_the_ledger_says() {
    let mut harness: Harness<Probe> = probe(Setup { accounts: vec![STOCKS, FUTURES], ..setup() }, |_, _| {});
    assert_eq!(harness.context().accounts(), [STOCKS, FUTURES]);
    assert_eq!(harness.context().account(), Err(AccountError::NotKept));
    harness.set_account(&state(FUTURES, 5));
    assert_eq!(harness.context().account(), Err(AccountError::Unknown(STOCKS)));
    assert_eq!(harness.context().account_of(FUTURES), Ok(state(FUTURES, 5)));
    for balance in [10, 20] {
        harness.set_account(&state(STOCKS, balance));
        let account = harness.context().account().unwrap();
        assert_eq!(account, state(STOCKS, balance));
        assert!(account.is_frozen() && !account.is_closed() && !account.is_killed());
    }
    assert_eq!(harness.context().account_of(AccountId(9)), Err(AccountError::Unknown(AccountId(9))));
}

#[test]
fn a_strategy_without_accounts_asks_for_its_own() {
    let mut harness = probe(setup(), |_, _| {});
    assert_eq!(
        (harness.context().default_account(), harness.context().accounts()),
        (AccountId::OWN, &[AccountId::OWN][..])
    );
    harness.set_account(&state(AccountId::OWN, 3));
    assert_eq!(harness.context().account(), Ok(state(AccountId::OWN, 3)));
}
