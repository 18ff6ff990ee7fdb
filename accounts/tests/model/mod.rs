//! The obvious way: lots and orders at work are lists, and every sum and every decision is made from them anew on each question,
//! by one function a rule.
//!
//! It holds for a market that keeps to what was sent. It knows nothing of how the crate keeps its sums.

mod checks;
mod money;
mod position;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use money::convert;
use position::Position;
use tokens::Tokens;
use wire::*;

/// What has happened, in order.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Money in (or out, negative), in a currency.
    Money(u32, Currency, i128),
    /// An order that went out, with what it was found to close.
    Sent(NewOrder),
    /// A fill.
    Fill(OrderId, Price, i64),
    /// The confirmed total and price have changed.
    Total(OrderId, Price, i64),
    /// A replace went out.
    Asked(OrderId, Price, i64),
    /// A replace was refused.
    Denied(OrderId),
    /// The order has ended.
    End(OrderId),
    /// A mark.
    Mark(InstrumentId, Price),
    /// A day is settled at these prices.
    Settle(BTreeMap<u32, Price>),
    /// A limit is set or lifted, a check switched.
    Limit(AccountLimit),
    /// A kill switch falls, or is lifted.
    Kill(Subject, bool),
    /// An account is frozen, or is no longer.
    Freeze(u32, bool),
}

/// What does not change in a life.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) accounts: BTreeMap<u32, (AccountKind, CostMethod)>,
    pub(crate) terms: BTreeMap<u32, ContractTerms>,
    pub(crate) fees: Vec<FeeRule>,
    /// Part of the value, by instrument.
    pub(crate) margin: BTreeMap<u32, u64>,
    pub(crate) rates: BTreeMap<Currency, u64>,
}

impl World {
    /// Rate of the currency of all accounts and of the platform.
    pub(crate) const HOME: u64 = 1_000_000_000;
    /// The group of all accounts.
    pub(crate) const GROUP: u32 = 1;
}

/// A scope with its number: account 1, group 2, strategy 3, platform 4, so that they sort in the order of the checks.
pub(crate) type Subject = (u8, u32);

pub(crate) fn subject(scope: AccountScope, number: u32) -> Subject {
    match scope {
        AccountScope::Account => (1, number),
        AccountScope::Group => (2, number),
        AccountScope::Strategy => (3, number),
        AccountScope::Platform => (4, 0),
    }
}

/// An order at work, as the events say.
#[derive(Clone, Debug)]
pub(crate) struct Working {
    pub(crate) order: NewOrder,
    pub(crate) price: i64,
    pub(crate) total: i64,
    pub(crate) filled: i64,
    /// How much of what is open may close.
    pub(crate) closing: i64,
    pub(crate) asked: Vec<(i64, i64)>,
    is_rolled: bool,
}

impl Working {
    pub(crate) fn new(order: NewOrder) -> Working {
        let (price, total) = (order.price.0, order.quantity.0);
        Working { order, price, total, filled: 0, closing: 0, asked: Vec::new(), is_rolled: false }
    }

    pub(crate) fn high(&self, terms: &ContractTerms) -> i64 {
        match self.order.order_type.has_price() {
            true => self.asked.iter().map(|(price, _)| *price).fold(self.price, i64::max),
            false => terms.price_high.0,
        }
    }

    pub(crate) fn low(&self, terms: &ContractTerms) -> i64 {
        match self.order.order_type.has_price() {
            true => self.asked.iter().map(|(price, _)| *price).fold(self.price, i64::min),
            false => terms.price_low.0,
        }
    }

    pub(crate) fn open(&self) -> i64 {
        self.asked.iter().map(|(_, total)| *total).fold(self.total, i64::max) - self.filled
    }

    /// Which lots it closes: of today, of yesterday, of either.
    pub(crate) fn closes(&self, kind: AccountKind) -> Option<usize> {
        match (kind, self.order.offset().unwrap()) {
            (AccountKind::Cash | AccountKind::Margin, _) => Some(2),
            (_, Offset::Open | Offset::Auto) => None,
            (_, Offset::CloseToday) => Some(usize::from(self.is_rolled)),
            (_, Offset::CloseYesterday) => Some(1),
            (_, Offset::Close) => Some(2),
        }
    }
}

/// The state that the events so far lead to.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) world: World,
    paid: BTreeMap<(u32, Currency), i128>,
    positions: BTreeMap<(u32, u32), Position>,
    /// In the order in which they came in.
    pub(crate) working: Vec<Working>,
    /// All that ever went out.
    sent: BTreeMap<OrderId, NewOrder>,
    marks: BTreeMap<u32, Price>,
    /// Net position of a strategy in an instrument, and what it cost.
    strategies: BTreeMap<(u16, u32), (i64, i128)>,
    /// By account: results at the begin of the day.
    opened: BTreeMap<u32, Vec<i128>>,
    limits: BTreeMap<(Subject, u32, u32), AccountLimit>,
    tokens: BTreeMap<(Subject, u32), Tokens>,
    disabled: BTreeSet<u32>,
    frozen: BTreeSet<u32>,
    pub(crate) killed: BTreeSet<Subject>,
    /// Kill switches that have fallen since somebody looked.
    pub(crate) fallen: Vec<Subject>,
}

impl Model {
    pub(crate) fn new(world: World) -> Model {
        Model {
            world,
            paid: BTreeMap::new(),
            positions: BTreeMap::new(),
            working: Vec::new(),
            sent: BTreeMap::new(),
            marks: BTreeMap::new(),
            strategies: BTreeMap::new(),
            opened: BTreeMap::new(),
            limits: BTreeMap::new(),
            tokens: BTreeMap::new(),
            disabled: BTreeSet::new(),
            frozen: BTreeSet::new(),
            killed: BTreeSet::new(),
            fallen: Vec::new(),
        }
    }

    pub(crate) fn position(&self, account: u32, instrument: u32) -> Position {
        self.positions.get(&(account, instrument)).cloned().unwrap_or_default()
    }

    pub(crate) fn find(&self, id: OrderId) -> &Working {
        self.working.iter().find(|working| working.order.order_id == id).unwrap()
    }

    pub(crate) fn mark(&self, instrument: InstrumentId) -> Option<Price> {
        self.marks.get(&instrument.0).copied()
    }

    fn find_mut(&mut self, id: OrderId) -> &mut Working {
        self.working.iter_mut().find(|working| working.order.order_id == id).unwrap()
    }

    pub(crate) fn kind(&self, account: u32) -> AccountKind {
        self.world.accounts[&account].0
    }

    pub(crate) fn kill(&mut self, subject: Subject) {
        if self.killed.insert(subject) {
            self.fallen.push(subject);
        }
    }

    /// What has happened changes the state.
    pub(crate) fn on(&mut self, event: Event) {
        match event {
            Event::Money(account, currency, amount) => {
                *self.paid.entry((account, currency)).or_default() += amount;
            }
            Event::Sent(order) => {
                let mut working = Working::new(order);
                working.closing = self.may_close(&working);
                self.sent.insert(order.order_id, order);
                self.working.push(working);
            }
            Event::Fill(id, price, lots) => self.fill(id, price, lots),
            Event::Asked(id, price, total) => {
                let more = self.more_to_close(self.find(id), total);
                let working = self.find_mut(id);
                working.asked.push((price.0, total));
                working.closing += more;
            }
            Event::Total(id, price, total) => {
                let working = self.find_mut(id);
                (working.price, working.total) = (price.0, total);
                working.asked.clear();
                working.closing = working.closing.min(working.open());
            }
            Event::Denied(id) => {
                let working = self.find_mut(id);
                working.asked.clear();
                working.closing = working.closing.min(working.open());
            }
            Event::End(id) => self.working.retain(|working| working.order.order_id != id),
            Event::Mark(instrument, price) => _ = self.marks.insert(instrument.0, price),
            Event::Settle(prices) => self.settle(&prices),
            Event::Limit(limit) => self.limit(limit),
            Event::Kill(subject, true) => self.kill(subject),
            Event::Kill(subject, false) => drop(self.killed.remove(&subject)),
            Event::Freeze(account, true) => drop(self.frozen.insert(account)),
            Event::Freeze(account, false) => drop(self.frozen.remove(&account)),
        }
    }

    fn limit(&mut self, limit: AccountLimit) {
        let (subject, kind) = (subject(limit.scope, limit.subject), limit.limit as u32);
        match limit.change {
            LimitChange::Enable => drop(self.disabled.remove(&kind)),
            LimitChange::Disable => drop(self.disabled.insert(kind)),
            LimitChange::Lift => {
                self.limits.remove(&(subject, kind, limit.instrument.0));
                self.tokens.remove(&(subject, kind));
            }
            LimitChange::Set => {
                self.limits.insert((subject, kind, limit.instrument.0), limit);
                self.tokens.insert((subject, kind), Tokens::new(limit.number, limit.burst));
            }
        }
    }

    /// Other orders of the same account, instrument and side.
    fn beside<'a>(&'a self, this: &'a Working) -> impl Iterator<Item = &'a Working> {
        let of = |order: &NewOrder| (order.account, order.instrument, order.side);
        self.working.iter().filter(move |other| {
            other.order.order_id != this.order.order_id && of(&other.order) == of(&this.order)
        })
    }

    /// Lots that no order at work may close already: of today, of yesterday, of either.
    pub(crate) fn closable(&self, this: &Working) -> [i64; 3] {
        let order = &this.order;
        let side = if order.side == Side::Buy { 1 } else { 0 };
        let position = self.position(order.account.0, order.instrument.0);
        let mut free = [position.lots(side, false), position.lots(side, true), position.total(side)];
        // What this order itself may close is not free either.
        let itself = self.working.iter().filter(|other| other.order.order_id == order.order_id);
        for other in self.beside(this).chain(itself) {
            if let Some(class) = other.closes(self.kind(order.account.0)) {
                free[2] -= other.closing;
                if class < 2 {
                    free[class] -= other.closing;
                }
            }
        }
        let any = free[2].max(0);
        [free[0].max(0).min(any), free[1].max(0).min(any), any]
    }

    /// How much of a new order closes: of accounts with net positions what there is, of others all or nothing.
    fn may_close(&self, new: &Working) -> i64 {
        let (kind, lots) = (self.kind(new.order.account.0), new.order.quantity.0);
        match (kind, new.closes(kind)) {
            (_, None) => 0,
            (AccountKind::Futures, Some(_)) => lots,
            (_, Some(_)) => lots.min(self.closable(new)[2]),
        }
    }

    /// How much more an order may close with another total.
    fn more_to_close(&self, working: &Working, total: i64) -> i64 {
        let kind = self.kind(working.order.account.0);
        let added = (total - working.filled).max(working.open()) - working.open();
        match (kind, working.closes(kind)) {
            (_, None) => 0,
            (AccountKind::Futures, Some(_)) => added,
            (_, Some(_)) => added.min(self.closable(working)[2]),
        }
    }

    fn fill(&mut self, id: OrderId, price: Price, lots: i64) {
        let working = self.find(id).clone();
        let order = working.order;
        let (account, instrument) = (order.account.0, order.instrument.0);
        let (kind, method) = self.world.accounts[&account];
        let multiplier = i128::from(self.world.terms[&instrument].multiplier);
        // Lots of yesterday and of today that other orders may close of just that day.
        let mut frozen = [0; 2];
        for other in self.beside(&working) {
            match other.closes(kind) {
                Some(0) => frozen[1] += other.closing,
                Some(1) => frozen[0] += other.closing,
                _ => {}
            }
        }
        let position = self.positions.entry((account, instrument)).or_default();
        let how = (frozen, working.is_rolled);
        position::fill(position, kind, method, multiplier, &order, price.0, lots, how);
        self.trade(
            order.order_id.strategy(),
            &order,
            i128::from(price.0) * i128::from(lots) * multiplier,
            lots,
        );
        let working = self.find_mut(id);
        working.filled += lots;
        working.closing = (working.closing - lots).max(0).min(working.open());
        self.shrink(account, instrument);
        let loss = self.most(subject(AccountScope::Account, account), LimitKind::Loss);
        if loss.is_some_and(|loss| self.day_result(account) < -loss.amount.wide()) {
            self.kill(subject(AccountScope::Account, account));
        }
    }

    /// A strategy's own net position: what is closed leaves at the average.
    fn trade(&mut self, strategy: StrategyId, order: &NewOrder, amount: i128, lots: i64) {
        let (net, cost) = self.strategies.entry((strategy.0, order.instrument.0)).or_default();
        let sign = if order.side == Side::Buy { 1 } else { -1 };
        let closed = if *net * sign < 0 { lots.min(net.abs()) } else { 0 };
        if closed > 0 {
            *cost -= *cost * i128::from(closed) / i128::from(net.abs());
        }
        let left = amount - amount * i128::from(closed) / i128::from(lots);
        *cost += i128::from(sign) * left;
        *net += sign * lots;
    }

    /// Orders may close more than is left: the newest of them open instead.
    fn shrink(&mut self, account: u32, instrument: u32) {
        for (side, holding) in [(Side::Buy, 1), (Side::Sell, 0)] {
            let held = self.position(account, instrument).total(holding);
            let is_ours = |working: &&mut Working| {
                let order = &working.order;
                (order.account.0, order.instrument.0, order.side) == (account, instrument, side)
            };
            let mut excess = -held;
            excess += self.working.iter_mut().filter(is_ours).map(|working| working.closing).sum::<i64>();
            for working in self.working.iter_mut().rev().filter(is_ours) {
                let cut = excess.max(0).min(working.closing);
                working.closing -= cut;
                excess -= cut;
            }
        }
    }

    fn settle(&mut self, prices: &BTreeMap<u32, Price>) {
        for ((account, instrument), position) in &mut self.positions {
            let (kind, method) = self.world.accounts[account];
            let multiplier = i128::from(self.world.terms[instrument].multiplier);
            if let Some(price) = prices.get(instrument) {
                position::settle(position, kind, method, multiplier, price.0);
            }
            position.sides.iter_mut().flatten().for_each(|lot| lot.is_old = true);
        }
        self.working.iter_mut().for_each(|working| working.is_rolled = true);
        prices.iter().for_each(|(instrument, price)| _ = self.marks.insert(*instrument, *price));
        let accounts: Vec<u32> = self.world.accounts.keys().copied().collect();
        for account in accounts {
            let results = self.results(account);
            self.opened.insert(account, results);
        }
    }
}
