//! The checks in the order of `docs/accounts.md`: whether an order goes out, and if not, why.

use wire::*;

use super::money::{Held, convert};
use super::{Model, Subject, Working, World, subject};

impl Model {
    fn subjects(account: u32, strategy: StrategyId) -> [Subject; 4] {
        [
            subject(AccountScope::Account, account),
            subject(AccountScope::Group, World::GROUP),
            subject(AccountScope::Strategy, strategy.0.into()),
            subject(AccountScope::Platform, 0),
        ]
    }

    pub(crate) fn most(&self, of: Subject, kind: LimitKind) -> Option<&AccountLimit> {
        self.limits.get(&(of, kind as u32, 0))
    }

    fn makes(&self, check: LimitKind) -> bool {
        !self.disabled.contains(&(check as u32))
    }

    fn token(&mut self, of: Subject, kind: LimitKind, now: Nanos) -> bool {
        self.tokens.get_mut(&(of, kind as u32)).is_none_or(|tokens| tokens.take(now.0))
    }

    /// What becomes of a new order: what goes out, or why it does not. Counts it for the rates, and kills who passes a limit.
    pub(crate) fn decide(&mut self, order: &NewOrder, now: Nanos) -> Result<NewOrder, Reason> {
        let strategy = order.order_id.strategy();
        if !self.world.accounts.contains_key(&order.account.0) {
            self.refused(None, strategy, now, (Reason::UnknownAccount, None));
            return Err(Reason::UnknownAccount);
        }
        let decided =
            self.standing(order, now).and_then(|()| self.order(order).map_err(|reason| (reason, None)));
        if let Err(refused) = decided {
            self.refused(Some(order.account.0), strategy, now, refused);
        }
        decided.map_err(|(reason, _)| reason)
    }

    /// An order was refused: too many kill. What a switch or a rate refuses counts at none above it, and a rate at its own.
    pub(crate) fn refused(
        &mut self,
        account: Option<u32>,
        strategy: StrategyId,
        now: Nanos,
        (reason, by): (Reason, Option<Subject>),
    ) {
        let all = Model::subjects(account.unwrap_or_default(), strategy);
        // Without an account there is no group either.
        for of in all.into_iter().skip(if account.is_some() { 0 } else { 2 }) {
            let counts = match reason {
                Reason::Killed => false,
                Reason::AccountFrozen => of.0 == 1,
                Reason::MessageRate | Reason::OrderRate => Some(of) == by,
                Reason::NotTradable => of.0 == 1 || of.0 == 3,
                _ => true,
            };
            if counts && !self.token(of, LimitKind::RejectRate, now) {
                self.kill(of);
            }
        }
    }

    fn standing(&mut self, order: &NewOrder, now: Nanos) -> Result<(), (Reason, Option<Subject>)> {
        let all = Model::subjects(order.account.0, order.order_id.strategy());
        if all.iter().any(|of| self.killed.contains(of)) {
            return Err((Reason::Killed, None));
        }
        if self.frozen.contains(&order.account.0) {
            return Err((Reason::AccountFrozen, None));
        }
        for of in all {
            if !self.token(of, LimitKind::MessageRate, now) {
                return Err((Reason::MessageRate, Some(of)));
            }
            if !self.token(of, LimitKind::OrderRate, now) {
                return Err((Reason::OrderRate, Some(of)));
            }
            if !self.token(of, LimitKind::RunawayRate, now) {
                self.kill(of);
                return Err((Reason::OrderRate, Some(of)));
            }
        }
        Ok(())
    }

    fn order(&self, order: &NewOrder) -> Result<NewOrder, Reason> {
        let terms = self.world.terms.get(&order.instrument.0).ok_or(Reason::UnknownInstrument)?;
        self.tradable_and_small(terms, order, order.quantity.0)?;
        let has_band = terms.price_low.is_some() && terms.price_high.is_some();
        if !order.order_type.has_price() && !has_band {
            return Err(Reason::NoWorstPrice);
        }
        let mut new = Working::new(*order);
        if order.order_type.has_price() {
            self.band(terms, order.price)?;
        }
        self.notional(terms, &new)?;
        for of in Model::subjects(order.account.0, order.order_id.strategy()) {
            let open = self.working.iter().filter(|other| is_in(of, &other.order)).count() as u64;
            if self.most(of, LimitKind::OpenOrders).is_some_and(|limit| open >= limit.number) {
                return Err(Reason::WorkingOrders);
            }
        }
        self.meets(terms, &new)?;
        new.order = self.with_offset(terms, order)?;
        new.closing = self.may_close(&new);
        self.adds(terms, &new, new.open(), new.open() - new.closing, Held::default())?;
        Ok(new.order)
    }

    /// What becomes of a request to change an order.
    pub(crate) fn decide_replace(&mut self, replace: &ReplaceOrder, now: Nanos) -> Result<(), Reason> {
        let old = self.find(replace.order_id).clone();
        let order = &old.order;
        if !order.order_type.has_price() {
            return Err(Reason::Malformed);
        }
        let all = Model::subjects(order.account.0, order.order_id.strategy());
        if all.iter().any(|of| self.killed.contains(of)) {
            return Err(Reason::Killed);
        }
        if self.frozen.contains(&order.account.0) {
            return Err(Reason::AccountFrozen);
        }
        if !all.into_iter().all(|of| self.token(of, LimitKind::MessageRate, now)) {
            return Err(Reason::MessageRate);
        }
        let (terms, total) = (&self.world.terms[&order.instrument.0], replace.quantity.0);
        self.tradable_and_small(terms, order, total)?;
        if total <= old.filled {
            return Err(Reason::Quantity);
        }
        self.band(terms, replace.price)?;
        let mut new = old.clone();
        new.asked.push((replace.price.0, total));
        let mut whole = new.clone();
        (whole.filled, whole.total, whole.asked) =
            (0, total, vec![(replace.price.0, total), (old.low(terms), 0), (old.high(terms), 0)]);
        self.notional(terms, &whole)?;
        self.meets(terms, &new)?;
        let added = new.open() - old.open();
        let (kind, more) = (self.kind(order.account.0), self.more_to_close(&old, total));
        if let (AccountKind::Futures, Some(class)) = (kind, old.closes(kind))
            && added > self.closable(&old)[class]
        {
            return Err(Reason::NotClosable);
        }
        new.closing += more;
        self.adds(terms, &new, added, added - more, self.held(&old))
    }

    fn tradable_and_small(&self, terms: &ContractTerms, order: &NewOrder, lots: i64) -> Result<(), Reason> {
        if terms.flags & ContractTerms::TRADABLE == 0 {
            return Err(Reason::NotTradable);
        }
        let all = Model::subjects(order.account.0, order.order_id.strategy());
        let most = all.iter().filter_map(|of| self.most(*of, LimitKind::OrderQuantity));
        if lots <= 0 || most.into_iter().any(|limit| lots as u64 > limit.number) {
            return Err(Reason::Quantity);
        }
        Ok(())
    }

    fn band(&self, terms: &ContractTerms, price: Price) -> Result<(), Reason> {
        let is_out = terms.price_low.is_some() && price < terms.price_low
            || terms.price_high.is_some() && price > terms.price_high;
        if is_out && self.makes(LimitKind::PriceBand) { Err(Reason::PriceBand) } else { Ok(()) }
    }

    /// What the whole order is worth. Accounts and the platform count in one currency here.
    fn notional(&self, terms: &ContractTerms, new: &Working) -> Result<(), Reason> {
        let dearest = self.may_trade_at(new).into_iter().map(i64::abs).max().unwrap();
        let worth = i128::from(dearest) * i128::from(new.open()) * i128::from(terms.multiplier);
        let worth = -convert(-worth, self.world.rates[&terms.currency], World::HOME);
        for of in Model::subjects(new.order.account.0, new.order.order_id.strategy()) {
            if self.most(of, LimitKind::OrderNotional).is_some_and(|limit| worth > limit.amount.wide()) {
                return Err(Reason::OrderNotional);
            }
        }
        Ok(())
    }

    /// It would trade with another strategy of its account.
    fn meets(&self, terms: &ContractTerms, new: &Working) -> Result<(), Reason> {
        let order = &new.order;
        let others = self.working.iter().filter(|other| {
            (other.order.account, other.order.instrument) == (order.account, order.instrument)
                && other.order.side != order.side
                && other.order.order_id.strategy() != order.order_id.strategy()
        });
        let crosses = |other: &Working| match order.side {
            Side::Buy => new.high(terms) >= other.low(terms),
            Side::Sell => new.low(terms) <= other.high(terms),
        };
        let does = others.into_iter().any(crosses);
        if does && self.makes(LimitKind::SelfTrade) { Err(Reason::SelfTrade) } else { Ok(()) }
    }

    /// The order with the offset that is chosen where it was left open: what fits whole into a close closes.
    fn with_offset(&self, terms: &ContractTerms, order: &NewOrder) -> Result<NewOrder, Reason> {
        let offset = order.offset().unwrap();
        let plain = order.flags & !(NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE);
        let with = |offset: Offset| NewOrder { flags: plain | offset.flags(), ..*order };
        if self.kind(order.account.0) != AccountKind::Futures {
            return Ok(with(Offset::Auto));
        }
        let is_apart = terms.flags & ContractTerms::TODAY_APART != 0;
        let [today, yesterday, any] =
            self.closable(&Working::new(*order)).map(|lots| order.quantity.0 <= lots);
        let (chosen, fits) = match (offset, is_apart) {
            (Offset::Open, _) => (Offset::Open, true),
            (Offset::Auto, true) if today => (Offset::CloseToday, true),
            (Offset::Auto, true) if yesterday => (Offset::CloseYesterday, true),
            (Offset::Auto, false) if any => (Offset::Close, true),
            (Offset::Auto, _) => (Offset::Open, true),
            (Offset::CloseToday, _) => (offset, today),
            (Offset::CloseYesterday, _) => (offset, yesterday),
            // Where days are told apart, a plain close is of yesterday.
            (Offset::Close, true) => (Offset::CloseYesterday, yesterday),
            (Offset::Close, false) => (offset, any),
        };
        if fits { Ok(with(chosen)) } else { Err(Reason::NotClosable) }
    }

    /// The checks of what `new` adds to what there was: lots, of these opening ones, and to what it held back before.
    fn adds(
        &self,
        terms: &ContractTerms,
        new: &Working,
        added: i64,
        opening: i64,
        before: Held,
    ) -> Result<(), Reason> {
        let order = &new.order;
        let (account, strategy) = (order.account.0, order.order_id.strategy());
        let may_short =
            self.kind(account) != AccountKind::Cash && terms.flags & ContractTerms::SHORTABLE != 0;
        let is_checked = self.makes(LimitKind::ShortSale) || self.kind(account) == AccountKind::Cash;
        if order.side == Side::Sell && opening > 0 && !may_short && is_checked {
            return Err(Reason::ShortSale);
        }
        let all = Model::subjects(account, strategy);
        let has_worst = terms.price_high.is_some() || self.marks.contains_key(&order.instrument.0);
        let is_measured = self.makes(LimitKind::Money)
            || all.iter().any(|of| {
                [LimitKind::GrossNotional, LimitKind::OrderNotional]
                    .iter()
                    .any(|kind| self.most(*of, *kind).is_some())
            });
        let opens_short = order.side == Side::Sell && new.open() > new.closing;
        if opens_short && !has_worst && is_measured && self.kind(account) != AccountKind::Cash {
            return Err(Reason::NoWorstPrice);
        }
        for of in all {
            let one = self.limits.get(&(of, LimitKind::Position as u32, order.instrument.0));
            let Some(limit) = one.or(self.most(of, LimitKind::Position)) else { continue };
            let sign = if order.side == Side::Buy { 1 } else { -1 };
            let at_work = self.working.iter().filter(|other| {
                is_in(of, &other.order)
                    && (other.order.instrument, other.order.side) == (order.instrument, order.side)
            });
            let at_work: i64 = at_work.map(Working::open).sum();
            let worst = sign * self.net(of, order.instrument.0) + at_work + added;
            if added > 0 && worst > limit.number as i64 {
                return Err(Reason::PositionLimit);
            }
        }
        let held = self.held(new);
        let rate = self.world.rates[&terms.currency];
        let gross = -convert(-(held.gross - before.gross), rate, World::HOME);
        for of in all {
            let Some(limit) = self.most(of, LimitKind::GrossNotional) else { continue };
            let by_currency = |(currency, rate): (&Currency, &u64)| {
                let accounts = self.world.accounts.keys().filter(|account| of.0 != 1 || **account == of.1);
                let sum = match of.0 {
                    3 => self.gross_of_strategy(strategy, *currency),
                    _ => accounts.map(|account| self.gross(*account, *currency)).sum(),
                };
                -convert(-sum, *rate, World::HOME)
            };
            let now: i128 = self.world.rates.iter().map(by_currency).sum();
            if gross > 0 && now + gross > limit.amount.wide() {
                return Err(Reason::NotionalLimit);
            }
        }
        let needed = -convert(-(held.money - before.money), rate, World::HOME);
        let is_closing = new.open() == new.closing;
        if self.makes(LimitKind::Money) && needed > 0 && !is_closing && self.available(account) < needed {
            return Err(Reason::InsufficientFunds);
        }
        Ok(())
    }

    /// Net position of a scope.
    fn net(&self, of: Subject, instrument: u32) -> i64 {
        if of.0 == 3 {
            return self.strategies.get(&(of.1 as u16, instrument)).map_or(0, |(net, _)| *net);
        }
        let ours = self
            .positions
            .iter()
            .filter(|((account, known), _)| *known == instrument && (of.0 != 1 || *account == of.1));
        ours.map(|(_, position)| position.total(0) - position.total(1)).sum()
    }
}

fn is_in(of: Subject, order: &NewOrder) -> bool {
    match of.0 {
        1 => order.account.0 == of.1,
        3 => u32::from(order.order_id.strategy().0) == of.1,
        _ => true,
    }
}
