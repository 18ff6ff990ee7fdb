//! What an order is worth, and what it adds to the sums.

use wire::{AccountKind, Price, Reason, Side};

use crate::account::Account;
use crate::amount::value;
use crate::checks;
use crate::contracts::{Contract, Contracts};
use crate::currencies::Currencies;
use crate::limits::Watch;
use crate::purse::Purse;
use crate::scope::Scope;

/// What an order adds, for the checks of sums.
pub(super) struct Change {
    pub(super) currency: u8,
    pub(super) gross: i128,
    pub(super) money: i128,
    pub(super) is_closing: bool,
    pub(super) makes_money: bool,
}

impl Change {
    #[inline]
    pub(super) fn check(
        &self,
        account: &Account,
        scopes: &[Option<&mut Scope>; 3],
        contracts: &Contracts,
        currencies: &Currencies,
    ) -> Result<(), Reason> {
        let home = account.home.currency;
        if account.watch.gross.get().is_some() {
            let added = -currencies.convert(-self.gross, self.currency, home);
            checks::gross(account.watch.gross.get(), added, || {
                let others = account.others.iter();
                let sum = |purse: &Purse| -currencies.convert(-purse.gross, purse.currency, home);
                account.home.gross + others.map(sum).sum::<i128>()
            })?;
        }
        for scope in scopes.iter().flatten().filter(|scope| scope.watch.gross.get().is_some()) {
            let added = -currencies.to_platform(-self.gross, self.currency);
            checks::gross(scope.watch.gross.get(), added, || {
                let all = scope.gross.iter().enumerate().filter(|(_, gross)| **gross != 0);
                all.map(|(currency, gross)| -currencies.to_platform(-gross, currency as u8)).sum()
            })?;
        }
        if !self.makes_money {
            return Ok(());
        }
        let needed = -currencies.convert(-self.money, self.currency, home);
        checks::money(needed, self.is_closing, || account.available(contracts, currencies))
    }
}

/// What of an order is measured at a price.
pub(super) struct Measured {
    pub(super) by_money: bool,
    pub(super) is_forced: bool,
}

impl Measured {
    /// Whether something is measured at the worst price of a sale that opens, and none is known: neither the end of a band nor
    /// a mark.
    #[inline]
    pub(super) fn needs_worst_sale(
        &self,
        side: Side,
        contract: &Contract,
        account: &Account,
        scopes: &[Option<&mut Scope>; 3],
    ) -> bool {
        if side == Side::Buy
            || contract.has_worst_sale()
            || account.kind == AccountKind::Cash
            || self.is_forced
        {
            return false;
        }
        let is_limited = |watch: &Watch| watch.gross.get().is_some() || watch.notional.get().is_some();
        self.by_money && !account.is_own()
            || is_limited(&account.watch)
            || scopes.iter().flatten().any(|scope| is_limited(&scope.watch))
    }
}

/// What an order is worth at most, at any price at which it may trade.
pub(super) fn notional(
    contract: &Contract,
    side: Side,
    own: (i64, i64),
    quantity: i64,
) -> Result<i128, Reason> {
    let at = |price: i64| {
        value(Price(price), quantity, contract.multiplier).map(i128::abs).ok_or(Reason::OrderNotional)
    };
    let (low, high) = contract.reach(side, own);
    let worth = at(high)?;
    if low == high { Ok(worth) } else { Ok(worth.max(at(low)?)) }
}
