//! A change of an order at work.

use wire::{AccountKind, ContractTerms, LimitKind, Nanos, Reason, ReplaceOrder, StrategyId};

use crate::checks;
use crate::desk::Desk;
use crate::intake::meeting::{meets, widen};
use crate::intake::worth::{Change, Measured, notional};
use crate::orders::Reservation;
use crate::positions::index;
use crate::reservation::{self, Claim, Terms};

impl Desk {
    /// Takes a request to change an order at work.
    ///
    /// # Errors
    /// Why it may not go out.
    pub fn replace(&mut self, from: StrategyId, replace: &ReplaceOrder, now: Nanos) -> Result<(), Reason> {
        let (place, account) = self.to_replace(from, replace)?;
        self.check_replace_standing(account, from, now)?;
        self.insert_replace((place, account), from, replace)
    }

    /// Takes a change that has gone out already, as [`Desk::accept`] takes an order.
    ///
    /// # Errors
    /// Why it could not have gone out.
    pub fn accept_replace(&mut self, replace: &ReplaceOrder) -> Result<(), Reason> {
        let from = replace.order_id.strategy();
        let found = self.to_replace(from, replace)?;
        self.insert_replace(found, from, replace)
    }

    /// The places of the order and its account.
    fn to_replace(&self, from: StrategyId, replace: &ReplaceOrder) -> Result<(u32, usize), Reason> {
        if replace.order_id.strategy() != from {
            return Err(Reason::NotYours);
        }
        let place = self.orders.find(replace.order_id).ok_or(Reason::UnknownOrder)?;
        let order = self.orders.get(place).filter(|order| order.is_open()).ok_or(Reason::UnknownOrder)?;
        if order.instrument() != replace.instrument
            || !replace.price.is_some()
            || !order.request.order_type.has_price()
        {
            return Err(Reason::Malformed);
        }
        Ok((place, order.account as usize))
    }

    fn insert_replace(
        &mut self,
        (place, account): (u32, usize),
        from: StrategyId,
        replace: &ReplaceOrder,
    ) -> Result<(), Reason> {
        if let Some(account) = self.accounts.get_mut(account) {
            account.look(&self.contracts);
        }
        let (closing, reserved) = self.check_replace(place, from, replace)?;
        let Desk { orders, accounts, contracts, .. } = self;
        let Some(order) = orders.get_mut(place) else { return Err(Reason::UnknownOrder) };
        order.replaces = order.replaces.saturating_add(1);
        order.ceiling = order.ceiling.max(replace.quantity.0);
        order.low = order.low.min(replace.price.0);
        order.high = order.high.max(replace.price.0);
        order.closing = closing;
        let (low, high, side) = (order.low, order.high, index(order.side()));
        if let Some(slot) = accounts.get_mut(account).and_then(|account| account.slot_mut(replace.instrument))
        {
            widen(&mut slot.edge, side, low, high);
        }
        if let Some(contract) = contracts.get_mut(replace.instrument) {
            contract.widen(side, low, high);
        }
        self.hold(place, reserved);
        Ok(())
    }

    /// How much of the order may close then, and what it holds back.
    fn check_replace(
        &mut self,
        place: u32,
        from: StrategyId,
        replace: &ReplaceOrder,
    ) -> Result<(i64, Reservation), Reason> {
        let disabled = self.disabled;
        let makes = |check: LimitKind| disabled & 1 << check as u32 == 0;
        let Desk { accounts, scopes, contracts, currencies, fees, margins, orders, .. } = self;
        let order = orders.get(place).ok_or(Reason::UnknownOrder)?;
        let account = accounts.get(order.account as usize).ok_or(Reason::UnknownAccount)?;
        let contract = contracts.get(replace.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::tradable(contract)?;
        let total = replace.quantity.0;
        checks::order_quantity(account.watch.quantity.get(), total)?;
        let mut scopes = scopes.of(account.group, from);
        for scope in scopes.iter().flatten() {
            checks::order_quantity(scope.watch.quantity.get(), total)?;
        }
        if total <= order.filled {
            return Err(Reason::Quantity);
        }
        if makes(LimitKind::PriceBand) {
            checks::price(contract, replace.price)?;
        }
        let (low, high) = (order.low.min(replace.price.0), order.high.max(replace.price.0));
        let worth = notional(contract, order.side(), (low, high), total)?;
        let in_home = -currencies.convert(-worth, contract.currency, account.home.currency);
        checks::order_notional(account.watch.notional.get(), in_home)?;
        for scope in scopes.iter().flatten() {
            checks::order_notional(
                scope.watch.notional.get(),
                -currencies.to_platform(-worth, contract.currency),
            )?;
        }
        let slot = account.slot(replace.instrument).ok_or(Reason::UnknownInstrument)?;
        let side = index(order.side());
        if makes(LimitKind::SelfTrade) {
            meets(orders, slot.edge, slot.first[1 - side], order.side(), (low, high), from)?;
        }
        let open = order.ceiling.max(total).saturating_sub(order.filled).max(0);
        let added = open - order.open();
        let closable = slot.holdings[1 - side].closable()[order.closes as usize];
        let more = match account.kind {
            AccountKind::Futures if !order.is_closing => 0,
            AccountKind::Futures if added > closable => return Err(Reason::NotClosable),
            _ => added.min(closable),
        };
        let closing = order.closing + more;
        // A cash account sells what it holds, whatever is checked.
        if makes(LimitKind::ShortSale) || account.kind == AccountKind::Cash {
            let may_short = account.kind != AccountKind::Cash && contract.is(ContractTerms::SHORTABLE);
            checks::short_sale(order.side(), added - more, may_short)?;
        }
        let is_measured = Measured { by_money: makes(LimitKind::Money), is_forced: false };
        if open > closing && is_measured.needs_worst_sale(order.side(), contract, account, &scopes) {
            return Err(Reason::NoWorstPrice);
        }
        checks::position(
            slot.most.get().or(account.watch.position.get()),
            slot.net(),
            slot.working,
            order.side(),
            added,
        )?;
        for scope in scopes.iter_mut().flatten() {
            let default = scope.watch.position.get();
            let exposure = scope.exposure(replace.instrument);
            checks::position(
                exposure.most.get().or(default),
                exposure.net,
                exposure.working,
                order.side(),
                added,
            )?;
        }
        let terms = Terms {
            kind: account.kind,
            contract,
            rates: margins.rates(slot.rates),
            fees,
            schedule: order.schedule,
        };
        let claim = Claim {
            side: order.side(),
            prices: (low, high),
            open,
            closing,
            closes: order.closes,
            is_closing: order.is_closing,
            traded: &order.traded,
        };
        let reserved = reservation::of(&terms, &claim);
        let change = Change {
            currency: contract.currency,
            gross: reserved.gross - order.reserved.gross,
            money: reserved.money - order.reserved.money,
            is_closing: open == closing,
            makes_money: makes(LimitKind::Money) && !account.is_own(),
        };
        change.check(account, &scopes, contracts, currencies)?;
        Ok((closing, reserved))
    }
}
