//! A new order.

use wire::{AccountKind, ContractTerms, LimitKind, Nanos, NewOrder, Offset, OrderStatus, Reason, StrategyId};

use crate::checks;
use crate::desk::Desk;
use crate::fees::Traded;
use crate::intake::Verdict;
use crate::intake::closing::{Closing, closing};
use crate::intake::meeting::meets;
use crate::intake::standing::Refused;
use crate::intake::worth::{Change, Measured, notional};
use crate::orders::{Closes, Order, Reservation, Stage};
use crate::positions::{NOTHING, index};
use crate::reservation::{self, Claim, Terms};

/// A new order that has passed.
struct Passed {
    /// Place of the account's slot.
    slot: usize,
    closing: Closing,
    low: i64,
    high: i64,
    schedule: u32,
    reserved: Reservation,
}

impl Desk {
    /// Takes a new order of a strategy.
    pub fn new_order(&mut self, from: StrategyId, order: &NewOrder, now: Nanos) -> Verdict {
        let mut sent = *order;
        match self.admit(from, &mut sent, now) {
            Ok(()) => Verdict::Send(sent),
            Err(Reason::DuplicateOrder) => match self.answered(order) {
                Some(Ok(update)) => Verdict::Known(update),
                _ => Verdict::Refused(Reason::DuplicateOrder),
            },
            Err(reason) => Verdict::Refused(reason),
        }
    }

    /// The same in place: the order becomes as it goes out. An order that came before is refused; see [`Desk::answered`].
    ///
    /// # Errors
    /// Why it may not go out.
    pub fn admit(&mut self, from: StrategyId, order: &mut NewOrder, now: Nanos) -> Result<(), Reason> {
        if order.order_id.strategy() != from {
            return Err(Reason::NotYours);
        }
        if !self.orders.claim(order.order_id) {
            return Err(Reason::DuplicateOrder);
        }
        self.scopes.strategy(from);
        let Some(account) = self.place_or_own(order.account, from) else {
            self.refused(None, from, now, Reason::UnknownAccount.into());
            return Err(Reason::UnknownAccount);
        };
        match self.check(account, from, order, now) {
            Ok(passed) => {
                order.flags = self.insert(order, account, &passed);
                Ok(())
            }
            Err(refused) => {
                self.remember_refused(order, account, refused.reason);
                self.refused(Some(account), from, now, refused);
                Err(refused.reason)
            }
        }
    }

    /// Takes a new order that has gone out already: who follows the drop copy makes the same state of it. Rates and kill
    /// switches were asked before it went.
    ///
    /// # Errors
    /// Why it could not have gone out: the desk is not the one that it was taken by.
    pub fn accept(&mut self, order: &NewOrder) -> Result<(), Reason> {
        self.accept_for(order).map(drop)
    }

    /// The same; the place of its account.
    pub(crate) fn accept_for(&mut self, order: &NewOrder) -> Result<usize, Reason> {
        let from = order.order_id.strategy();
        if !self.orders.claim(order.order_id) {
            return Err(Reason::DuplicateOrder);
        }
        self.scopes.strategy(from);
        let account = self.place_or_own(order.account, from).ok_or(Reason::UnknownAccount)?;
        let slot = self.accounts.get(account).and_then(|account| account.touch(order.instrument));
        match self.check_content((account, slot), from, order) {
            Ok(passed) => {
                self.insert(order, account, &passed);
                Ok(account)
            }
            Err(reason) => {
                // Its id is used up: who hears of the refusal remembers it too.
                self.remember_refused(order, account, reason);
                Err(reason)
            }
        }
    }

    /// Takes in an order that has passed; its flags from now on, with the offset that was chosen.
    fn insert(&mut self, order: &NewOrder, account: usize, passed: &Passed) -> u8 {
        let flags = order.flags & !(NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE);
        let flags = flags | passed.closing.offset.flags();
        let place = self.orders.insert(taken(order, account, passed));
        if let Some(order) = self.orders.get_mut(place) {
            order.request.flags = flags;
        }
        self.take_in(place, passed.slot);
        if flags & NewOrder::FORCED != 0 {
            self.balance_closes(place);
        }
        flags
    }

    /// What the checks say of an order, without taking it in: nothing is reserved, its id stays unused. Rates count it.
    ///
    /// # Errors
    /// Why it might not go out.
    pub fn probe(&mut self, from: StrategyId, order: &NewOrder, now: Nanos) -> Result<(), Reason> {
        if order.order_id.strategy() != from {
            return Err(Reason::NotYours);
        }
        if self.orders.find(order.order_id).is_some() {
            return Err(Reason::DuplicateOrder);
        }
        let account = self.place_of(order.account, from).ok_or(Reason::UnknownAccount)?;
        self.check(account, from, order, now).map(drop).map_err(|refused| refused.reason)
    }

    /// All checks of a new order, in their order.
    fn check(
        &mut self,
        place: usize,
        from: StrategyId,
        order: &NewOrder,
        now: Nanos,
    ) -> Result<Passed, Refused> {
        let known = self.accounts.get(place).and_then(|account| account.touch(order.instrument));
        order.offset().ok_or(Reason::Malformed)?;
        if let Err(refused) = self.check_standing(place, from, now) {
            if let Some(scope) = refused.runaway() {
                self.kill_who_runs_away(place, from, scope);
            }
            return Err(refused);
        }
        Ok(self.check_content((place, known), from, order)?)
    }

    /// The checks but for kill switches and rates; `known` is the place of the account's slot, if there is one.
    fn check_content(
        &mut self,
        (place, known): (usize, Option<usize>),
        from: StrategyId,
        order: &NewOrder,
    ) -> Result<Passed, Reason> {
        let offset = order.offset().ok_or(Reason::Malformed)?;
        checks::tradable(self.contracts.get(order.instrument).ok_or(Reason::UnknownInstrument)?)?;
        let slot = match known {
            Some(slot) => slot,
            None => self.make_slot(place, order.instrument).ok_or(Reason::UnknownInstrument)?,
        };
        if let Some(account) = self.accounts.get_mut(place) {
            account.look(&self.contracts);
        }
        self.check_order((place, slot), from, order, offset)
    }

    /// All that depends on what the order says.
    fn check_order(
        &mut self,
        (place, at): (usize, usize),
        from: StrategyId,
        order: &NewOrder,
        offset: Offset,
    ) -> Result<Passed, Reason> {
        let disabled = self.disabled;
        let makes = |check: LimitKind| disabled & 1 << check as u32 == 0;
        let Desk { accounts, scopes, contracts, currencies, fees, margins, orders, .. } = self;
        let account = accounts.get_mut(place).ok_or(Reason::UnknownAccount)?;
        let contract = contracts.get(order.instrument).ok_or(Reason::UnknownInstrument)?;
        let quantity = order.quantity.0;
        let side = index(order.side);

        let mut scopes = scopes.of(account.group, from);
        // What closes by force is held up by no limit.
        let is_forced = order.flags & NewOrder::FORCED != 0;
        checks::order_quantity(account.watch.quantity.get().filter(|_| !is_forced), quantity)?;
        for scope in scopes.iter().flatten().filter(|_| !is_forced) {
            checks::order_quantity(scope.watch.quantity.get(), quantity)?;
        }
        let (low, high) = checks::worst_prices(contract, order)?;
        if makes(LimitKind::PriceBand) {
            let limit = order.order_type.has_price().then_some(order.price);
            let trigger = order.order_type.has_trigger().then_some(order.trigger);
            limit.into_iter().chain(trigger).try_for_each(|price| checks::price(contract, price))?;
        }
        let worth = notional(contract, order.side, (low, high), quantity)?;
        if account.watch.notional.get().is_some() && !is_forced {
            let worth = -currencies.convert(-worth, contract.currency, account.home.currency);
            checks::order_notional(account.watch.notional.get(), worth)?;
        }
        let limited = |scope: &&&mut crate::scope::Scope| scope.watch.notional.get().is_some() && !is_forced;
        for scope in scopes.iter().flatten().filter(limited) {
            checks::order_notional(
                scope.watch.notional.get(),
                -currencies.to_platform(-worth, contract.currency),
            )?;
        }
        checks::open_orders(account.watch.most_open.filter(|_| !is_forced), account.watch.open)?;
        for scope in scopes.iter().flatten().filter(|_| !is_forced) {
            checks::open_orders(scope.watch.most_open, scope.watch.open)?;
        }
        let slot = account.slots.get(at).ok_or(Reason::UnknownInstrument)?;
        if makes(LimitKind::SelfTrade) && !is_forced {
            let first = slot.first[1 - side];
            meets(orders, slot.edge, first, order.side, (low, high), from)?;
        }
        let closing = closing(
            account.kind,
            offset,
            order.side,
            &slot.holdings[1 - side],
            quantity,
            (contract.is_apart(), is_forced),
        )?;
        let opening = quantity - closing.lots;
        // A cash account sells what it holds, whatever is checked.
        if makes(LimitKind::ShortSale) || account.kind == AccountKind::Cash {
            let may_short = account.kind != AccountKind::Cash && contract.is(ContractTerms::SHORTABLE);
            checks::short_sale(order.side, opening, may_short)?;
        }
        let is_measured = Measured { by_money: makes(LimitKind::Money) && !is_forced, is_forced };
        if opening > 0 && is_measured.needs_worst_sale(order.side, contract, account, &scopes) {
            return Err(Reason::NoWorstPrice);
        }
        let quantity = if is_forced { 0 } else { quantity };
        checks::position(
            slot.most.get().or(account.watch.position.get()),
            slot.net(),
            slot.working,
            order.side,
            quantity,
        )?;
        for scope in scopes.iter_mut().flatten() {
            let default = scope.watch.position.get();
            let exposure = scope.exposure(order.instrument);
            checks::position(
                exposure.most.get().or(default),
                exposure.net,
                exposure.working,
                order.side,
                quantity,
            )?;
        }
        let terms = Terms {
            kind: account.kind,
            contract,
            rates: margins.rates(slot.rates),
            fees,
            schedule: slot.schedule,
        };
        let claim = Claim {
            side: order.side,
            prices: (low, high),
            open: order.quantity.0,
            closing: closing.lots,
            closes: closing.of,
            is_closing: closing.lots > 0,
            traded: &Traded::default(),
        };
        let reserved = reservation::of(&terms, &claim);
        let schedule = slot.schedule;
        // Sums of what all is worth, and money.
        let change = Change {
            currency: contract.currency,
            gross: reserved.gross,
            money: reserved.money,
            is_closing: opening == 0,
            makes_money: makes(LimitKind::Money) && !account.is_own(),
        };
        if !is_forced {
            change.check(account, &scopes, contracts, currencies)?;
        }
        Ok(Passed { slot: at, closing, low, high, schedule, reserved })
    }
}

/// An order as it is kept, before it is known what it closes.
pub(super) fn taken_plain(order: &NewOrder, account: usize) -> Order {
    Order {
        request: *order,
        account: account as u32,
        stage: Stage::Sent,
        status: OrderStatus::Accepted,
        reason: Reason::None,
        price: order.price,
        total: order.quantity.0,
        ceiling: order.quantity.0,
        low: order.price.0,
        high: order.price.0,
        filled: 0,
        replaces: 0,
        cancels: 0,
        closes: Closes::Any,
        is_closing: false,
        closing: 0,
        schedule: 0,
        traded: Traded::default(),
        reserved: Reservation::default(),
        trades: [0; 4],
        next: NOTHING,
        previous: NOTHING,
    }
}

fn taken(order: &NewOrder, account: usize, passed: &Passed) -> Order {
    Order {
        low: passed.low,
        high: passed.high,
        closes: passed.closing.of,
        is_closing: passed.closing.lots > 0,
        closing: passed.closing.lots,
        schedule: passed.schedule,
        reserved: passed.reserved,
        ..taken_plain(order, account)
    }
}
