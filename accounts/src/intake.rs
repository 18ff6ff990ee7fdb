//! Requests: what comes from strategies, and whether it may go out.

use wire::{
    AccountKind, CancelOrder, ContractTerms, LimitKind, Nanos, NewOrder, Offset, OrderStatus, OrderUpdate,
    Price, Reason, ReplaceOrder, Side, StrategyId,
};

use crate::amount::value;
use crate::checks;
use crate::desk::Desk;
use crate::fees::Traded;
use crate::limits::{KillCause, Watch};
use crate::orders::{Closes, Order, Reservation, Stage};
use crate::positions::{Holding, NOTHING, index};
use crate::reservation::{self, Claim, Terms};

/// What becomes of a new order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack for the length of one call")]
pub enum Verdict {
    /// It may go out, like this: an offset that was left open is chosen.
    Send(NewOrder),
    /// It came before, with the same content: this is what became of it.
    Known(OrderUpdate),
    /// It may not.
    Refused(Reason),
}

/// What a new order has found to close.
#[derive(Clone, Copy, Debug)]
struct Closing {
    lots: i64,
    of: Closes,
    offset: Offset,
}

/// A new order that has passed.
struct Passed {
    closing: Closing,
    low: i64,
    high: i64,
    schedule: u32,
    reserved: Reservation,
}

impl Desk {
    /// Takes a new order of a strategy.
    pub fn new_order(&mut self, from: StrategyId, order: &NewOrder, now: Nanos) -> Verdict {
        if order.order_id.strategy() != from {
            return Verdict::Refused(Reason::NotYours);
        }
        if let Some(known) = self.orders.find(order.order_id).and_then(|place| self.orders.get(place)) {
            return match known.is_same(order) {
                true => Verdict::Known(known.update()),
                false => Verdict::Refused(Reason::DuplicateOrder),
            };
        }
        if !self.orders.claim(order.order_id) {
            return Verdict::Refused(Reason::DuplicateOrder);
        }
        self.scopes.strategy(from);
        let Some(account) = self.place_or_own(order.account, from) else {
            self.refused(None, from, now);
            return Verdict::Refused(Reason::UnknownAccount);
        };
        match self.check(account, from, order, now) {
            Ok(passed) => {
                let place = self.orders.insert(taken(order, account, &passed));
                self.link(place);
                self.hold(place, passed.reserved);
                let flags = order.flags & !(NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE);
                Verdict::Send(NewOrder { flags: flags | passed.closing.offset.flags(), ..*order })
            }
            Err(reason) => {
                self.remember_refused(order, account, reason);
                self.refused(Some(account), from, now);
                Verdict::Refused(reason)
            }
        }
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
        self.check(account, from, order, now).map(drop)
    }

    /// All checks of a new order, in their order.
    fn check(
        &mut self,
        place: usize,
        from: StrategyId,
        order: &NewOrder,
        now: Nanos,
    ) -> Result<Passed, Reason> {
        let offset = order.offset().ok_or(Reason::Malformed)?;
        if let Err((reason, runaway)) = self.check_standing(place, from, now) {
            if let Some(cause) = runaway {
                self.kill_who_runs_away(place, from, cause);
            }
            return Err(reason);
        }
        checks::tradable(self.contracts.get(order.instrument).ok_or(Reason::UnknownInstrument)?)?;
        self.make_slot(place, order.instrument).ok_or(Reason::UnknownInstrument)?;
        if let Some(account) = self.accounts.get_mut(place) {
            account.look(&self.contracts);
        }
        self.check_order(place, from, order, offset)
    }

    /// Kill switches, the account's state, rates. With a refusal: whether a switch has to fall, of which scope.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn check_standing(
        &mut self,
        place: usize,
        from: StrategyId,
        now: Nanos,
    ) -> Result<(), (Reason, Option<usize>)> {
        let plain = |reason| (reason, None);
        let Some(account) = self.accounts.get_mut(place) else { return Err(plain(Reason::UnknownAccount)) };
        let (is_frozen, is_closed) = (account.is_frozen, account.is_closed);
        let scopes = self.scopes.of(account.group, from);
        let scopes = scopes.into_iter().map(|scope| scope.map(|scope| &mut scope.watch));
        let watches: [Option<&mut Watch>; 4] = {
            let mut all = scopes;
            [Some(&mut account.watch), all.next().flatten(), all.next().flatten(), all.next().flatten()]
        };
        if watches.iter().flatten().any(|watch| watch.killed.is_some()) {
            return Err(plain(Reason::Killed));
        }
        checks::account(is_frozen, is_closed).map_err(plain)?;
        for (scope, watch) in watches.into_iter().enumerate() {
            let Some(watch) = watch else { continue };
            checks::rate(watch.messages.as_mut(), now, Reason::MessageRate).map_err(plain)?;
            checks::rate(watch.orders.as_mut(), now, Reason::OrderRate).map_err(plain)?;
            if watch.runs_away(now) {
                return Err((Reason::OrderRate, Some(scope)));
            }
        }
        Ok(())
    }

    /// All that depends on what the order says.
    fn check_order(
        &mut self,
        place: usize,
        from: StrategyId,
        order: &NewOrder,
        offset: Offset,
    ) -> Result<Passed, Reason> {
        let disabled = self.disabled;
        let makes = |check: LimitKind| disabled & 1 << check as u32 == 0;
        let Desk { accounts, scopes, contracts, currencies, fees, orders, .. } = self;
        let account = accounts.get_mut(place).ok_or(Reason::UnknownAccount)?;
        let contract = contracts.get(order.instrument).ok_or(Reason::UnknownInstrument)?;
        let quantity = order.quantity.0;
        let side = index(order.side);

        let mut scopes = scopes.of(account.group, from);
        checks::order_quantity(account.watch.quantity, quantity)?;
        for scope in scopes.iter().flatten() {
            checks::order_quantity(scope.watch.quantity, quantity)?;
        }
        let (low, high) = checks::worst_prices(contract, order)?;
        if makes(LimitKind::PriceBand) {
            let limit = order.order_type.has_price().then_some(order.price);
            let trigger = order.order_type.has_trigger().then_some(order.trigger);
            limit.into_iter().chain(trigger).try_for_each(|price| checks::price(contract, price))?;
        }
        let worth = notional(contract.multiplier, low, high, quantity)?;
        if account.watch.notional.is_some() {
            let worth = -currencies.convert(-worth, contract.currency, account.home.currency);
            checks::order_notional(account.watch.notional, worth)?;
        }
        for scope in scopes.iter().flatten().filter(|scope| scope.watch.notional.is_some()) {
            checks::order_notional(scope.watch.notional, -currencies.to_platform(-worth, contract.currency))?;
        }
        checks::open_orders(account.watch.most_open, account.watch.open)?;
        for scope in scopes.iter().flatten() {
            checks::open_orders(scope.watch.most_open, scope.watch.open)?;
        }
        let slot = account.slot(order.instrument).ok_or(Reason::UnknownInstrument)?;
        if makes(LimitKind::SelfTrade) {
            let first = slot.first[1 - side];
            meets(orders, slot.edge, first, order.side, (low, high), from)?;
        }
        let closing = closing(
            account.kind,
            offset,
            order.side,
            &slot.holdings[1 - side],
            quantity,
            contract.is_apart(),
        )?;
        let opening = quantity - closing.lots;
        if makes(LimitKind::ShortSale) {
            let may_short = account.kind != AccountKind::Cash && contract.is(ContractTerms::SHORTABLE);
            checks::short_sale(order.side, opening, may_short)?;
        }
        checks::position(
            slot.most.or(account.watch.position),
            slot.net(),
            slot.working,
            order.side,
            quantity,
        )?;
        for scope in scopes.iter_mut().flatten() {
            let default = scope.watch.position;
            let exposure = scope.exposure(order.instrument);
            checks::position(
                exposure.most.or(default),
                exposure.net,
                exposure.working,
                order.side,
                quantity,
            )?;
        }
        let terms = Terms { kind: account.kind, contract, rates: &slot.rates, fees, schedule: slot.schedule };
        let claim = Claim {
            side: order.side,
            high,
            open: quantity,
            closing: closing.lots,
            closes: closing.of,
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
        change.check(account, &scopes, contracts, currencies)?;
        Ok(Passed { closing, low, high, schedule, reserved })
    }

    /// Takes a request to change an order at work.
    ///
    /// # Errors
    /// Why it may not go out.
    pub fn replace(&mut self, from: StrategyId, replace: &ReplaceOrder, now: Nanos) -> Result<(), Reason> {
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
        let account = order.account as usize;
        self.check_replace_standing(account, from, now)?;
        if let Some(account) = self.accounts.get_mut(account) {
            account.look(&self.contracts);
        }
        let (closing, reserved) = self.check_replace(place, from, replace)?;
        let Desk { orders, accounts, .. } = self;
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
        self.hold(place, reserved);
        Ok(())
    }

    fn check_replace_standing(&mut self, place: usize, from: StrategyId, now: Nanos) -> Result<(), Reason> {
        let account = self.accounts.get_mut(place).ok_or(Reason::UnknownAccount)?;
        let scopes = self.scopes.of(account.group, from);
        let watches = || scopes.iter().flatten().map(|scope| &scope.watch);
        if account.watch.killed.is_some() || watches().any(|watch| watch.killed.is_some()) {
            return Err(Reason::Killed);
        }
        checks::account(account.is_frozen, account.is_closed)?;
        checks::rate(account.watch.messages.as_mut(), now, Reason::MessageRate)?;
        for scope in scopes.into_iter().flatten() {
            checks::rate(scope.watch.messages.as_mut(), now, Reason::MessageRate)?;
        }
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
        let Desk { accounts, scopes, contracts, currencies, fees, orders, .. } = self;
        let order = orders.get(place).ok_or(Reason::UnknownOrder)?;
        let account = accounts.get(order.account as usize).ok_or(Reason::UnknownAccount)?;
        let contract = contracts.get(replace.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::tradable(contract)?;
        let total = replace.quantity.0;
        checks::order_quantity(account.watch.quantity, total)?;
        let mut scopes = scopes.of(account.group, from);
        for scope in scopes.iter().flatten() {
            checks::order_quantity(scope.watch.quantity, total)?;
        }
        if total <= order.filled {
            return Err(Reason::Quantity);
        }
        if makes(LimitKind::PriceBand) {
            checks::price(contract, replace.price)?;
        }
        let (low, high) = (order.low.min(replace.price.0), order.high.max(replace.price.0));
        let worth = notional(contract.multiplier, low, high, total)?;
        let in_home = -currencies.convert(-worth, contract.currency, account.home.currency);
        checks::order_notional(account.watch.notional, in_home)?;
        for scope in scopes.iter().flatten() {
            checks::order_notional(scope.watch.notional, -currencies.to_platform(-worth, contract.currency))?;
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
        if makes(LimitKind::ShortSale) {
            let may_short = account.kind != AccountKind::Cash && contract.is(ContractTerms::SHORTABLE);
            checks::short_sale(order.side(), added - more, may_short)?;
        }
        checks::position(
            slot.most.or(account.watch.position),
            slot.net(),
            slot.working,
            order.side(),
            added,
        )?;
        for scope in scopes.iter_mut().flatten() {
            let default = scope.watch.position;
            let exposure = scope.exposure(replace.instrument);
            checks::position(exposure.most.or(default), exposure.net, exposure.working, order.side(), added)?;
        }
        let terms =
            Terms { kind: account.kind, contract, rates: &slot.rates, fees, schedule: order.schedule };
        let claim =
            Claim { side: order.side(), high, open, closing, closes: order.closes, traded: &order.traded };
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

    /// Takes a request to cancel an order at work. It counts for the rate of requests, and is never refused for it: a cancel
    /// takes risk away.
    ///
    /// # Errors
    /// Why it may not go out.
    pub fn cancel(&mut self, from: StrategyId, cancel: &CancelOrder, now: Nanos) -> Result<(), Reason> {
        if cancel.order_id.strategy() != from {
            return Err(Reason::NotYours);
        }
        let place = self.orders.find(cancel.order_id).ok_or(Reason::UnknownOrder)?;
        let order = self.orders.get_mut(place).filter(|order| order.is_open()).ok_or(Reason::UnknownOrder)?;
        if order.instrument() != cancel.instrument {
            return Err(Reason::Malformed);
        }
        order.cancels = order.cancels.saturating_add(1);
        let account = order.account as usize;
        let Some(account) = self.accounts.get_mut(account) else { return Ok(()) };
        let scopes = self.scopes.of(account.group, from);
        let watches = scopes.into_iter().flatten().map(|scope| &mut scope.watch);
        let buckets = std::iter::once(&mut account.watch).chain(watches);
        buckets.filter_map(|watch| watch.messages.as_mut()).for_each(|bucket| bucket.drain(now));
        Ok(())
    }

    /// Keeps a refused order, so that it is answered the same when it comes again.
    fn remember_refused(&mut self, order: &NewOrder, account: usize, reason: Reason) {
        let mut kept = taken_plain(order, account);
        (kept.stage, kept.status, kept.reason) = (Stage::Ended, OrderStatus::Rejected, reason);
        let place = self.orders.insert(kept);
        self.orders.ended(place);
    }

    /// Counts a refused order, and kills who passes the limit of refusals.
    pub(crate) fn refused(&mut self, place: Option<usize>, from: StrategyId, now: Nanos) {
        let account = place.and_then(|place| self.accounts.get_mut(place));
        let group = account.as_ref().map_or(crate::account::NO_GROUP, |account| account.group);
        let passes = [account.is_some_and(|account| account.watch.rejects_pass(now))].into_iter().chain(
            self.scopes.of(group, from).map(|scope| scope.is_some_and(|scope| scope.watch.rejects_pass(now))),
        );
        let passes: [bool; 4] = {
            let mut all = passes;
            [(); 4].map(|()| all.next().unwrap_or_default())
        };
        for (scope, _) in passes.into_iter().enumerate().filter(|(_, passes)| *passes) {
            self.kill_one(place, from, scope, KillCause::RejectRate);
        }
    }

    fn kill_who_runs_away(&mut self, place: usize, from: StrategyId, scope: usize) {
        self.kill_one(Some(place), from, scope, KillCause::RunawayRate);
    }

    /// Kills the account, the group, the strategy or the platform: 0 to 3.
    fn kill_one(&mut self, place: Option<usize>, from: StrategyId, scope: usize, cause: KillCause) {
        use wire::AccountScope;
        let group = place.and_then(|place| self.accounts.get(place)).map(|account| account.group);
        match (scope, place) {
            (0, Some(place)) => self.kill_account(place, cause),
            (1, _) => {
                let group = group.and_then(|group| self.scopes.groups.get(group as usize));
                if let Some(number) = group.map(|(number, _)| *number) {
                    self.kill(AccountScope::Group, number, cause);
                }
            }
            (2, _) => drop(self.kill(AccountScope::Strategy, from.0.into(), cause)),
            (3, _) => drop(self.kill(AccountScope::Platform, 0, cause)),
            _ => {}
        }
    }
}

/// What an order adds, for the checks of sums.
struct Change {
    currency: u8,
    gross: i128,
    money: i128,
    is_closing: bool,
    makes_money: bool,
}

impl Change {
    fn check(
        &self,
        account: &crate::account::Account,
        scopes: &[Option<&mut crate::scope::Scope>; 3],
        contracts: &crate::contracts::Contracts,
        currencies: &crate::currencies::Currencies,
    ) -> Result<(), Reason> {
        let home = account.home.currency;
        if account.watch.gross.is_some() {
            let added = -currencies.convert(-self.gross, self.currency, home);
            checks::gross(account.watch.gross, added, || {
                account.purses().map(|purse| -currencies.convert(-purse.gross, purse.currency, home)).sum()
            })?;
        }
        for scope in scopes.iter().flatten().filter(|scope| scope.watch.gross.is_some()) {
            let added = -currencies.to_platform(-self.gross, self.currency);
            checks::gross(scope.watch.gross, added, || {
                let all = scope.gross.iter().enumerate();
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

/// What an order is worth at most, whatever it trades at.
fn notional(multiplier: u64, low: i64, high: i64, quantity: i64) -> Result<i128, Reason> {
    let at =
        |price: i64| value(Price(price), quantity, multiplier).map(i128::abs).ok_or(Reason::OrderNotional);
    let worth = at(high)?;
    if low == high { Ok(worth) } else { Ok(worth.max(at(low)?)) }
}

/// Widens the edge of a side by the prices of an order.
pub(crate) fn widen(edge: &mut [i64; 2], side: usize, low: i64, high: i64) {
    match side {
        0 => edge[0] = edge[0].max(high),
        _ => edge[1] = edge[1].min(low),
    }
}

/// Whether an order would trade with one of another strategy of its account. `first` is the other side's list.
fn meets(
    orders: &crate::orders::Orders,
    edge: [i64; 2],
    first: u32,
    side: Side,
    prices: (i64, i64),
    from: StrategyId,
) -> Result<(), Reason> {
    let nearest = edge[1 - index(side)];
    if first == NOTHING || !checks::crosses(side, prices, (nearest, nearest)) {
        return Ok(());
    }
    let mut next = first;
    while let Some(other) = orders.get(next) {
        if other.strategy() != from && checks::crosses(side, prices, (other.low, other.high)) {
            return Err(Reason::SelfTrade);
        }
        next = other.next;
    }
    Ok(())
}

/// What an order closes, by the rules of its account's kind. Nothing is split where offsets are told apart: what does not
/// fit whole into a close opens.
fn closing(
    kind: AccountKind,
    offset: Offset,
    side: Side,
    opposite: &Holding,
    quantity: i64,
    is_apart: bool,
) -> Result<Closing, Reason> {
    let [today, yesterday, any] = opposite.closable();
    let net = |lots: i64| Closing { lots, of: Closes::Any, offset: Offset::Auto };
    match (kind, side) {
        (AccountKind::Cash | AccountKind::Margin, _) => return Ok(net(quantity.min(any))),
        (AccountKind::Futures, _) => {}
    }
    let whole = |of: Closes, offset: Offset| Closing { lots: quantity, of, offset };
    let open = Closing { lots: 0, of: Closes::Any, offset: Offset::Open };
    let fits = |closable: i64, closing: Closing| {
        if quantity <= closable { Ok(closing) } else { Err(Reason::NotClosable) }
    };
    let of_today = whole(Closes::Today, Offset::CloseToday);
    let of_yesterday = whole(Closes::Yesterday, Offset::CloseYesterday);
    let of_any = whole(Closes::Any, Offset::Close);
    match offset {
        Offset::Open => Ok(open),
        Offset::Auto if is_apart => {
            Ok(fits(today, of_today).or_else(|_| fits(yesterday, of_yesterday)).unwrap_or(open))
        }
        Offset::Auto => Ok(fits(any, of_any).unwrap_or(open)),
        Offset::CloseToday => fits(today, of_today),
        Offset::CloseYesterday => fits(yesterday, of_yesterday),
        Offset::Close if is_apart => fits(yesterday, of_yesterday),
        Offset::Close => fits(any, of_any),
    }
}

/// An order as it is kept, before it is known what it closes.
fn taken_plain(order: &NewOrder, account: usize) -> Order {
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
        ..taken_plain(order, account)
    }
}
