//! The obvious way: everything is computed from the whole history, on every question, by one function a rule.
//!
//! It holds for a market that keeps to what was sent. It knows nothing of how the crate keeps its sums.

use std::collections::BTreeMap;

use wire::*;

/// What has happened, in order.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Money in (or out, negative), in a currency.
    Money(u32, Currency, i128),
    /// An order that went out, with its charges and what it was found to close.
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

/// Lots of one opening fill.
#[derive(Clone, Debug)]
struct Lot {
    lots: i64,
    cost: i128,
    settled: i128,
    is_old: bool,
    price: i64,
    base: i64,
}

/// One account in one instrument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// Long, short; in the order of opening.
    sides: [Vec<Lot>; 2],
    pub(crate) realised: i128,
    pub(crate) variation: i128,
    pub(crate) invested: i128,
    /// What each order has traded: lots and value by class (open, close, close today).
    traded: BTreeMap<OrderId, [(i64, i128); 3]>,
}

impl Position {
    pub(crate) fn lots(&self, side: usize, is_old: bool) -> i64 {
        self.sides[side].iter().filter(|lot| lot.is_old == is_old).map(|lot| lot.lots).sum()
    }

    pub(crate) fn total(&self, side: usize) -> i64 {
        self.sides[side].iter().map(|lot| lot.lots).sum()
    }

    pub(crate) fn cost(&self, side: usize) -> i128 {
        self.sides[side].iter().map(|lot| lot.cost).sum()
    }

    fn basis(&self, side: usize) -> i128 {
        self.sides[side].iter().map(|lot| lot.cost + lot.settled).sum()
    }

    /// Lots of one day leave; with which cost, the method says.
    fn close(
        &mut self,
        method: CostMethod,
        side: usize,
        is_old: bool,
        lots: i64,
        multiplier: i128,
    ) -> (i128, i128) {
        let is_pool = |lot: &Lot| method == CostMethod::Average || lot.is_old == is_old;
        let (mut cost, mut settled) = (0, 0);
        if method != CostMethod::Fifo {
            let pool: Vec<&Lot> = self.sides[side].iter().filter(|lot| is_pool(lot)).collect();
            let all: i128 = pool.iter().map(|lot| i128::from(lot.lots)).sum();
            let sum = |of: fn(&Lot) -> i128| pool.iter().map(|lot| of(lot)).sum::<i128>();
            (cost, settled) = (
                sum(|lot| lot.cost) * i128::from(lots) / all,
                sum(|lot| lot.settled) * i128::from(lots) / all,
            );
        }
        let mut left = lots;
        for lot in self.sides[side].iter_mut().filter(|lot| lot.is_old == is_old) {
            let taken = lot.lots.min(left);
            if method == CostMethod::Fifo {
                let (part, paid) = (
                    i128::from(lot.price) * i128::from(taken) * multiplier,
                    i128::from(lot.base - lot.price) * i128::from(taken) * multiplier,
                );
                (cost, settled) = (cost + part, settled + paid);
                (lot.cost, lot.settled) = (lot.cost - part, lot.settled - paid);
            }
            lot.lots -= taken;
            left -= taken;
        }
        assert_eq!(left, 0, "the model closes what is there");
        if method != CostMethod::Fifo {
            // Only the sum of the pool has a meaning: its first lot carries what has left.
            if let Some(first) = self.sides[side].iter_mut().find(|lot| is_pool(lot)) {
                (first.cost, first.settled) = (first.cost - cost, first.settled - settled);
            }
            let rest: Vec<Lot> = self.sides[side].iter().filter(|lot| is_pool(lot)).cloned().collect();
            if let Some(keeper) = self.sides[side].iter_mut().find(|lot| is_pool(lot) && lot.lots > 0) {
                keeper.cost = rest.iter().map(|lot| lot.cost).sum();
                keeper.settled = rest.iter().map(|lot| lot.settled).sum();
                let mut is_kept = false;
                for lot in self.sides[side].iter_mut().filter(|lot| is_pool(lot)) {
                    if lot.lots > 0 && !is_kept {
                        is_kept = true;
                    } else {
                        (lot.cost, lot.settled) = (0, 0);
                    }
                }
            }
        }
        self.sides[side].retain(|lot| lot.lots > 0);
        (cost, settled)
    }
}

fn ceil(amount: i128, by: i128) -> i128 {
    if amount % by == 0 { amount / by } else { amount / by + 1 }
}

/// What an order pays for what it has traded.
fn charges(world: &World, order: &NewOrder, traded: &[(i64, i128); 3]) -> i128 {
    let mut sum = 0;
    for rule in &world.fees {
        if !rule.side.covers(order.side) {
            continue;
        }
        let class = |index: usize| match rule.event {
            FeeEvent::Any => true,
            FeeEvent::Open => index == 0,
            FeeEvent::Close => index == 1,
            FeeEvent::CloseToday => index == 2,
        };
        let parts: Vec<_> = traded.iter().enumerate().filter(|(index, _)| class(*index)).collect();
        let lots: i64 = parts.iter().map(|(_, part)| part.0).sum();
        let value: i128 = parts.iter().map(|(_, part)| part.1.abs()).sum();
        if lots > 0 {
            let exact =
                i128::from(lots) * rule.per_lot.wide() + ceil(value * i128::from(rule.rate), 1_000_000_000);
            let unit = i128::from(rule.unit.max(1));
            sum += (ceil(exact, unit) * unit).max(rule.minimum.wide());
        }
    }
    sum
}

/// An order at work, as the events say.
#[derive(Clone, Debug)]
pub(crate) struct Working {
    pub(crate) order: NewOrder,
    pub(crate) price: i64,
    pub(crate) total: i64,
    pub(crate) filled: i64,
    asked: Vec<(i64, i64)>,
    is_rolled: bool,
}

impl Working {
    pub(crate) fn high(&self, terms: &ContractTerms) -> i64 {
        match self.order.order_type.has_price() {
            true => self.asked.iter().map(|(price, _)| *price).fold(self.price, i64::max),
            false => terms.price_high.0,
        }
    }

    pub(crate) fn open(&self) -> i64 {
        self.asked.iter().map(|(_, total)| *total).fold(self.total, i64::max) - self.filled
    }

    /// Which lots it closes: of today, of yesterday, of either.
    fn closes(&self, kind: AccountKind) -> Option<usize> {
        match (kind, self.order.offset().unwrap()) {
            (AccountKind::Cash, _) => (self.order.side == Side::Sell).then_some(2),
            (AccountKind::Margin, _) => unreachable!("the model has no reservations of margin accounts"),
            (_, Offset::Open | Offset::Auto) => None,
            (_, Offset::CloseToday) => Some(usize::from(self.is_rolled)),
            (_, Offset::CloseYesterday) => Some(1),
            (_, Offset::Close) => Some(2),
        }
    }
}

pub(crate) fn working(history: &[Event]) -> BTreeMap<OrderId, Working> {
    let mut orders: BTreeMap<OrderId, Working> = BTreeMap::new();
    for event in history {
        match event {
            Event::Sent(order) => {
                let working = Working {
                    order: *order,
                    price: order.price.0,
                    total: order.quantity.0,
                    filled: 0,
                    asked: Vec::new(),
                    is_rolled: false,
                };
                orders.insert(order.order_id, working);
            }
            Event::Fill(id, _, lots) => orders.get_mut(id).unwrap().filled += lots,
            Event::Asked(id, price, total) => orders.get_mut(id).unwrap().asked.push((price.0, *total)),
            Event::Total(id, price, total) => {
                let order = orders.get_mut(id).unwrap();
                (order.price, order.total) = (price.0, *total);
                order.asked.clear();
            }
            Event::Denied(id) => orders.get_mut(id).unwrap().asked.clear(),
            Event::End(id) => drop(orders.remove(id)),
            Event::Settle(_) => orders.values_mut().for_each(|order| order.is_rolled = true),
            Event::Money(..) | Event::Mark(..) => {}
        }
    }
    orders
}

/// All orders that ever went out.
fn sent(history: &[Event]) -> BTreeMap<OrderId, NewOrder> {
    let orders = history.iter().filter_map(|event| match event {
        Event::Sent(order) => Some((order.order_id, *order)),
        _ => None,
    });
    orders.collect()
}

/// The position of an account in an instrument.
pub(crate) fn position(world: &World, history: &[Event], account: u32, instrument: u32) -> Position {
    let (kind, method) = world.accounts[&account];
    let multiplier = i128::from(world.terms[&instrument].multiplier);
    let orders = sent(history);
    let mut position = Position::default();
    let (mut seen, mut rolled) = (Vec::new(), Vec::new());
    for (at, event) in history.iter().enumerate() {
        match event {
            Event::Sent(order) => seen.push(order.order_id),
            Event::Fill(id, price, lots) => {
                let order = &orders[id];
                if (order.account.0, order.instrument.0) == (account, instrument) {
                    let frozen = if kind == AccountKind::Futures {
                        frozen(world, &history[..at], *id)
                    } else {
                        [0; 2]
                    };
                    fill(
                        &mut position,
                        kind,
                        method,
                        multiplier,
                        order,
                        price.0,
                        *lots,
                        (frozen, rolled.contains(id)),
                    );
                }
            }
            Event::Settle(prices) => {
                if let Some(price) = prices.get(&instrument) {
                    settle(&mut position, kind, method, multiplier, price.0);
                }
                position.sides.iter_mut().flatten().for_each(|lot| lot.is_old = true);
                rolled.clone_from(&seen);
            }
            _ => {}
        }
    }
    position
}

/// Lots of yesterday and of today that other orders may close of just that day.
fn frozen(world: &World, history: &[Event], but: OrderId) -> [i64; 2] {
    let orders = working(history);
    let Some(this) = orders.get(&but).map(|working| working.order) else { return [0; 2] };
    let kind = world.accounts[&this.account.0].0;
    let others = orders.values().filter(|other| {
        let order = &other.order;
        order.order_id != but
            && (order.account, order.instrument, order.side) == (this.account, this.instrument, this.side)
    });
    let mut frozen = [0; 2];
    for other in others {
        match other.closes(kind) {
            Some(0) => frozen[1] += other.open(),
            Some(1) => frozen[0] += other.open(),
            _ => {}
        }
    }
    frozen
}

#[allow(clippy::too_many_arguments, reason = "the rule needs all of it")]
fn fill(
    position: &mut Position,
    kind: AccountKind,
    method: CostMethod,
    multiplier: i128,
    order: &NewOrder,
    price: i64,
    lots: i64,
    (frozen, is_rolled): ([i64; 2], bool),
) {
    let (mine, other, sign) = if order.side == Side::Buy { (0, 1, -1) } else { (1, 0, 1) };
    let (old, new) = (position.lots(other, true), position.lots(other, false));
    let is_net = kind != AccountKind::Futures;
    let (from_old, from_new) = match order.offset().unwrap() {
        _ if is_net => (old.min(lots), new.min(lots - old.min(lots))),
        Offset::Open | Offset::Auto => (0, 0),
        Offset::Close => {
            let first = (old - frozen[0]).max(0).min(lots);
            (first, lots - first)
        }
        Offset::CloseToday if !is_rolled => (0, lots),
        Offset::CloseToday | Offset::CloseYesterday => (lots, 0),
    };
    let worth = |lots: i64| i128::from(price) * i128::from(lots) * multiplier;
    for (is_old, lots, class) in [(true, from_old, 1), (false, from_new, 2)] {
        if lots > 0 {
            let (cost, settled) = position.close(method, other, is_old, lots, multiplier);
            position.realised += sign * (worth(lots) - cost);
            position.variation -= sign * settled;
            position.invested -= sign * cost;
            let traded = &mut position.traded.entry(order.order_id).or_default()[class];
            *traded = (traded.0 + lots, traded.1 + worth(lots).abs());
        }
    }
    let opened = lots - from_old - from_new;
    if opened > 0 {
        position.sides[mine].push(Lot {
            lots: opened,
            cost: worth(opened),
            settled: 0,
            is_old: false,
            price,
            base: price,
        });
        position.invested -= sign * worth(opened);
        let traded = &mut position.traded.entry(order.order_id).or_default()[0];
        *traded = (traded.0 + opened, traded.1 + worth(opened).abs());
    }
}

fn settle(position: &mut Position, kind: AccountKind, method: CostMethod, multiplier: i128, price: i64) {
    for (side, sign) in [(0, 1), (1, -1)] {
        let basis = position.basis(side);
        let mut worth = 0;
        for lot in &mut position.sides[side] {
            let value = i128::from(price) * i128::from(lot.lots) * multiplier;
            worth += value;
            if method == CostMethod::Settlement {
                (lot.cost, lot.settled) = (value, 0);
            } else if kind == AccountKind::Futures {
                (lot.settled, lot.base) = (value - lot.cost, price);
            }
        }
        let moved = sign * (worth - basis);
        match (method, kind) {
            (CostMethod::Settlement, _) => {
                position.realised += moved;
                position.invested += moved;
            }
            (_, AccountKind::Futures) => position.variation += moved,
            _ => {}
        }
    }
}

/// Money of an account in a currency: balance, realised, variation, invested, charges, margin.
pub(crate) fn money(world: &World, history: &[Event], account: u32, currency: Currency) -> [i128; 6] {
    let kind = world.accounts[&account].0;
    let orders = sent(history);
    let paid = history.iter().filter_map(|event| match event {
        Event::Money(of, known, amount) if (*of, *known) == (account, currency) => Some(*amount),
        _ => None,
    });
    let (mut realised, mut variation, mut invested, mut charged, mut margin) = (0, 0, 0, 0, 0);
    for (instrument, _) in world.terms.iter().filter(|(_, terms)| terms.currency == currency) {
        let position = position(world, history, account, *instrument);
        realised += position.realised;
        variation += position.variation;
        invested += if kind == AccountKind::Cash { position.invested } else { 0 };
        charged +=
            position.traded.iter().map(|(id, traded)| charges(world, &orders[id], traded)).sum::<i128>();
        if kind != AccountKind::Cash {
            let rate = i128::from(world.margin[instrument]);
            margin += (0..2).map(|side| ceil(position.basis(side).abs() * rate, 1_000_000_000)).sum::<i128>();
        }
    }
    let balance = paid.sum::<i128>() + realised + variation - invested - charged;
    [balance, realised, variation, invested, charged, margin]
}

/// What orders at work hold back of a currency; not for margin accounts.
pub(crate) fn reserved(world: &World, history: &[Event], account: u32, currency: Currency) -> i128 {
    let kind = world.accounts[&account].0;
    let mut sum = 0;
    for working in working(history).values().filter(|working| working.order.account.0 == account) {
        let instrument = working.order.instrument.0;
        let terms = &world.terms[&instrument];
        if terms.currency != currency || working.open() <= 0 {
            continue;
        }
        let position = position(world, history, account, instrument);
        let traded = position.traded.get(&working.order.order_id).copied().unwrap_or_default();
        let worth =
            i128::from(working.high(terms)) * i128::from(working.open()) * i128::from(terms.multiplier);
        let with = |class: usize| {
            let mut all = traded;
            all[class] = (all[class].0 + working.open(), all[class].1 + worth.abs());
            charges(world, &working.order, &all) - charges(world, &working.order, &traded)
        };
        let closes = working.closes(kind);
        let charge = match closes {
            None => with(0),
            Some(0) => with(2),
            Some(1) => with(1),
            Some(_) => with(1).max(with(2)),
        };
        sum += match (kind, working.order.side, closes) {
            (AccountKind::Cash, Side::Buy, _) => worth + charge,
            (AccountKind::Cash, Side::Sell, _) => (charge - worth).max(0),
            (_, _, None) => ceil(worth * i128::from(world.margin[&instrument]), 1_000_000_000) + charge,
            _ => charge,
        };
    }
    sum
}

/// Money that new orders may use, in the first currency; not for margin accounts.
pub(crate) fn available(world: &World, history: &[Event], account: u32, home: Currency) -> i128 {
    let kind = world.accounts[&account].0;
    let mut sum = 0;
    for (currency, rate) in &world.rates {
        let [balance, _, _, _, _, margin] = money(world, history, account, *currency);
        let mut gain = 0;
        for (instrument, terms) in world.terms.iter().filter(|(_, terms)| terms.currency == *currency) {
            let mark = history.iter().rev().find_map(|event| match event {
                Event::Mark(of, price) if of.0 == *instrument => Some(*price),
                Event::Settle(prices) => prices.get(instrument).copied(),
                _ => None,
            });
            let Some(mark) = mark.filter(|_| kind != AccountKind::Cash) else { continue };
            let position = position(world, history, account, *instrument);
            for (side, sign) in [(0, 1), (1, -1)] {
                let worth =
                    i128::from(mark.0) * i128::from(position.total(side)) * i128::from(terms.multiplier);
                gain += sign * (worth - position.basis(side));
            }
        }
        let free = balance - margin - reserved(world, history, account, *currency) + gain.min(0);
        sum += (free * i128::from(*rate)).div_euclid(i128::from(world.rates[&home]));
    }
    sum
}
