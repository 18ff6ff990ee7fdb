//! A market of no rules: whatever it was sent may trade. It answers late, twice, out of order and not at all.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use wire::{Instrument, InstrumentId, Nanos, Price, Quantity, Reason, Side};

use super::{Draw, Rig};
use crate::average::Average;
use crate::market::{Command, Lots, News, OrderState, Report, Says, Venue};
use crate::unbooked::LOT;

/// How badly it behaves: each so often in a hundred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// A report is told twice.
    pub twice: u64,
    /// A report is lost, although the line is there.
    pub lost: u64,
    /// Reports overtake those of the same order too.
    pub out_of_order: bool,
    /// After a line was cut, what was not heard is told again on the next one.
    pub told_again: bool,
    /// In each piece of time: it does something that markets do seldom, and no fill can say: it cancels or corrects a trade, trades after
    /// an order's end or more than is left of it, a part of a lot, or for an order of another program; it rejects an order that works, restates
    /// one, is done with one for the day. These reports come twice and late, and are never lost: no other message reports them. Beside reports that are lost a market may only be rude to positions: an order that is filled is asked for no more.
    pub rude: u64,
    /// In each piece of time: the price of a trade is corrected, also of an order that has ended, and the report is lost with the line.
    /// Only average prices tell it.
    pub lost_corrections: u64,
}

impl Faults {
    /// Twice, late, out of order and lost at once.
    pub const ALL: Faults =
        Faults { twice: 10, lost: 10, out_of_order: true, told_again: false, rude: 0, lost_corrections: 0 };
    /// What markets do seldom, with reports twice, late and out of order, over lines that are cut.
    pub const RUDE: Faults =
        Faults { twice: 10, lost: 0, out_of_order: true, told_again: true, rude: 6, lost_corrections: 0 };
    /// As a session of FIX: nothing is lost, and all is in order.
    pub const NONE: Faults =
        Faults { twice: 0, lost: 0, out_of_order: false, told_again: true, rude: 0, lost_corrections: 0 };
}

#[derive(Clone, Debug)]
struct Resting {
    /// The name that it was sent with.
    root: String,
    /// What it is called now.
    name: String,
    price: Price,
    quantity: i64,
    filled: i64,
    value: i128,
    state: OrderState,
    side: Side,
    instrument: InstrumentId,
    /// Halves of lots that have traded beside `filled`.
    halves: i64,
    trades: Vec<(String, Price, i64)>,
}

impl Resting {
    /// In lots of 1e-9.
    fn traded(&self) -> i128 {
        i128::from(self.filled) * LOT + i128::from(self.halves) * LOT / 2
    }

    fn average(&self) -> Option<Average> {
        let price = || self.value * LOT * LOT / self.traded();
        (self.traded() > 0).then(|| Average { price: price(), decimals: 18 })
    }
}

/// On its way to the other side.
#[derive(Debug)]
struct Underway {
    at: u64,
    news: News,
    is_sure: bool,
}

#[derive(Debug)]
struct Floor {
    draw: Draw,
    faults: Faults,
    is_calm: bool,
    now: u64,
    orders: BTreeMap<String, Resting>,
    /// What each name is called at first.
    roots: BTreeMap<String, String>,
    /// On their way to the market.
    commands: VecDeque<(u64, Command)>,
    /// On their way back: when it is there, and what. In order of arrival, where order is kept.
    reports: Vec<Underway>,
    /// What was given last and must not be lost: a process that was killed may not have noted it.
    given: Vec<News>,
    /// What other programs have traded for the account, in lots.
    foreign: i64,
    last_arrival: u64,
    trades: u64,
    /// Grows with everything that is said: the market's clock.
    said: u64,
    /// Lines are numbered; only the last is there.
    line: u64,
    /// When the last one is up; `None`: it was cut.
    up_at: Option<u64>,
}

/// The market, as its owner holds it.
#[derive(Debug)]
pub struct MadeUp {
    floor: Rc<RefCell<Floor>>,
}

/// A line to it.
#[derive(Debug)]
pub struct Line {
    floor: Rc<RefCell<Floor>>,
    number: u64,
    is_up: bool,
}

impl MadeUp {
    /// Without orders.
    pub fn new(seed: u64, faults: Faults) -> MadeUp {
        let floor = Floor {
            draw: Draw::new(seed ^ 0x5eed),
            faults,
            is_calm: false,
            now: 0,
            orders: BTreeMap::new(),
            roots: BTreeMap::new(),
            commands: VecDeque::new(),
            reports: Vec::new(),
            given: Vec::new(),
            foreign: 0,
            last_arrival: 0,
            trades: 0,
            said: 0,
            line: 0,
            up_at: None,
        };
        MadeUp { floor: Rc::new(RefCell::new(floor)) }
    }
}

impl Rig for MadeUp {
    type Line = Line;

    fn line(&mut self) -> Line {
        let mut floor = self.floor.borrow_mut();
        floor.hang_up();
        let now = floor.now;
        let again = std::mem::take(&mut floor.given);
        floor.reports.extend(again.into_iter().map(|news| Underway { at: now, news, is_sure: true }));
        floor.line += 1;
        Line { floor: Rc::clone(&self.floor), number: floor.line, is_up: false }
    }

    fn pass(&mut self) {
        self.floor.borrow_mut().pass();
    }

    fn cut(&mut self) {
        self.floor.borrow_mut().hang_up();
    }

    fn calm(&mut self) {
        self.floor.borrow_mut().is_calm = true;
    }

    fn traded(&self) -> Option<BTreeMap<String, i128>> {
        let floor = self.floor.borrow();
        Some(floor.orders.iter().map(|(name, order)| (name.clone(), order.traded())).collect())
    }

    fn values(&self) -> Option<BTreeMap<String, i128>> {
        let floor = self.floor.borrow();
        Some(floor.orders.iter().map(|(name, order)| (name.clone(), order.value)).collect())
    }

    fn foreign(&self) -> Option<i128> {
        Some(i128::from(self.floor.borrow().foreign) * LOT)
    }

    fn is_rude(&self) -> bool {
        let faults = self.floor.borrow().faults;
        faults.rude > 0 || faults.lost_corrections > 0
    }

    fn working(&self) -> Option<Vec<String>> {
        let floor = self.floor.borrow();
        let works = floor.orders.iter().filter(|(_, order)| order.state == OrderState::Working);
        Some(works.map(|(name, _)| name.clone()).collect())
    }
}

impl Floor {
    /// Some of what was under way arrives, the rest is lost.
    fn hang_up(&mut self) {
        self.up_at = None;
        while let Some((_, command)) = self.commands.pop_front() {
            if self.draw.percent(50) {
                self.commands.clear();
                break;
            }
            self.obey(&command);
        }
        if self.faults.told_again {
            let now = self.now;
            self.reports.iter_mut().for_each(|report| report.at = now);
        } else {
            self.reports.retain(|report| report.is_sure);
        }
    }

    fn pass(&mut self) {
        self.now += 1;
        while let Some((_, command)) = self.commands.front().filter(|(at, _)| *at <= self.now).cloned() {
            self.commands.pop_front();
            self.obey(&command);
        }
        if !self.is_calm && self.draw.percent(self.faults.rude) {
            self.be_rude();
        }
        // By then the average prices have shown their decimals.
        if !self.is_calm && self.trades > 100 && self.draw.percent(self.faults.lost_corrections) {
            self.correct_in_a_gap();
        }
        let working: Vec<String> = self
            .orders
            .iter()
            .filter(|(_, order)| order.state == OrderState::Working)
            .map(|(name, _)| name.clone())
            .collect();
        if working.is_empty() || !self.draw.percent(30) {
            return;
        }
        let name = working[self.draw.below(working.len() as u64) as usize].clone();
        if self.draw.percent(5) {
            return self.end(&name, Reason::Expired, &name.clone());
        }
        self.trade(&name);
    }

    fn trade(&mut self, name: &str) {
        let Some(order) = self.orders.get(name) else { return };
        let left = order.quantity - order.filled - order.halves;
        let quantity = 1 + self.draw.below(left.max(1) as u64) as i64;
        self.trade_of(name, quantity, false);
    }

    fn trade_of(&mut self, name: &str, quantity: i64, is_sure: bool) {
        let better = 100_000 * self.draw.below(6) as i64;
        let Some(order) = self.orders.get_mut(name) else { return };
        let price = Price(order.price.0 - better * order.side.sign());
        order.filled += quantity;
        order.value += i128::from(price.0) * i128::from(quantity);
        if order.state == OrderState::Working && order.filled + order.halves >= order.quantity {
            order.state = OrderState::Filled;
        }
        self.trades += 1;
        let (id, filled) = (format!("T{}", self.trades), Some(Lots(order.traded())));
        order.trades.push((id.clone(), price, quantity));
        self.tell(name, Says::Trade { id, price, quantity: Quantity(quantity), filled }, is_sure);
    }

    fn end(&mut self, root: &str, reason: Reason, name: &str) {
        let Some(order) = self.orders.get_mut(root) else { return };
        order.state = OrderState::Ended(reason);
        let (filled, average) = (Some(Lots(order.traded())), order.average());
        self.say(name, Says::Ended { reason, filled, average });
    }

    fn say(&mut self, name: &str, says: Says) {
        self.tell(name, says, false);
    }

    fn tell(&mut self, name: &str, says: Says, is_sure: bool) {
        self.said += 1;
        let order = self.roots.get(name).and_then(|root| self.orders.get(root));
        let of = order.map(|order| (order.instrument, order.side));
        let report = Report { name: name.to_owned(), original: None, of, time: Nanos(self.said), says };
        self.put(News::Report(report), is_sure);
    }

    fn put(&mut self, news: News, is_sure: bool) {
        let faults = if self.is_calm { Faults { lost: 0, twice: 0, ..self.faults } } else { self.faults };
        if !is_sure && self.draw.percent(faults.lost) {
            return;
        }
        for _ in 0..1 + u64::from(self.draw.percent(faults.twice)) {
            let mut at = self.now + self.draw.below(8);
            if !faults.out_of_order {
                at = at.max(self.last_arrival);
                self.last_arrival = at;
            }
            self.reports.push(Underway { at, news: news.clone(), is_sure });
        }
    }

    /// An order, drawn from those for which this holds.
    fn one(&mut self, is_one: impl Fn(&Resting) -> bool) -> Option<String> {
        let names: Vec<&String> =
            self.orders.iter().filter(|(_, order)| is_one(order)).map(|(name, _)| name).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        (!names.is_empty()).then(|| names[self.draw.below(names.len() as u64) as usize].clone())
    }

    fn be_rude(&mut self) {
        let works = |order: &Resting| order.state == OrderState::Working;
        match self.draw.below(9) {
            0 => self.bust(),
            1 => self.correct(),
            2 => {
                // It trades behind its end.
                if let Some(name) = self.one(|order| matches!(order.state, OrderState::Ended(_))) {
                    self.trade_of(&name, 2, true);
                }
            }
            3 => {
                // It trades more than is left.
                if let Some(name) = self.one(works) {
                    let left = self.orders[&name].quantity - self.orders[&name].filled;
                    self.trade_of(&name, left + 3, true);
                }
            }
            // Out of order, the first position could hold it before its report comes.
            4 if self.orders.is_empty() => {}
            4 => {
                let of = (InstrumentId(1), if self.draw.percent(50) { Side::Buy } else { Side::Sell });
                (self.trades, self.said, self.foreign) =
                    (self.trades + 1, self.said + 1, self.foreign + 4 * of.1.sign());
                let id = format!("T{}", self.trades);
                let says = Says::Trade { id, price: Price(99), quantity: Quantity(4), filled: None };
                let name = format!("other {}", self.trades);
                let report = Report { name, original: None, of: Some(of), time: Nanos(self.said), says };
                self.put(News::Report(report), true);
            }
            5 => {
                let fits = |order: &Resting| works(order) && order.filled + order.halves + 1 < order.quantity;
                if let Some(name) = self.one(fits) {
                    self.trades += 1;
                    let id = format!("T{}", self.trades);
                    let Some(order) = self.orders.get_mut(&name) else { return };
                    order.halves += 1;
                    order.value += i128::from(order.price.0) / 2;
                    let (price, text) = (Some(order.price), "0.5".to_owned());
                    self.tell(&name, Says::Inexact { id, lots: LOT / 2, price, text }, true);
                }
            }
            6 => {
                if let Some(name) = self.one(works) {
                    let Some(order) = self.orders.get_mut(&name) else { return };
                    order.state = OrderState::Ended(Reason::OffTick);
                    let (reason, filled) = (Reason::OffTick, Some(Lots(order.traded())));
                    let says = match filled {
                        Some(Lots(0)) => Says::Rejected(reason),
                        filled => Says::Ended { reason, filled, average: order.average() },
                    };
                    self.tell(&name, says, true);
                }
            }
            7 => {
                if let Some(name) =
                    self.one(|order| works(order) && order.filled + order.halves + 1 < order.quantity)
                {
                    let Some(order) = self.orders.get_mut(&name) else { return };
                    order.quantity -= 1;
                    let (quantity, filled) = (Some(Quantity(order.quantity)), Some(Lots(order.traded())));
                    self.tell(&name, Says::Restated { price: None, quantity, filled }, true);
                }
            }
            _ => {
                if let Some(name) = self.one(works) {
                    let Some(order) = self.orders.get_mut(&name) else { return };
                    order.state = OrderState::Ended(Reason::Expired);
                    let (filled, average) = (Some(Lots(order.traded())), order.average());
                    self.tell(&name, Says::DoneForDay { filled, average }, true);
                }
            }
        }
    }

    /// A trade is cancelled; an order that was filled by it may work again.
    fn bust(&mut self) {
        let Some(name) = self.one(|order| !order.trades.is_empty()) else { return };
        let (place, works, says_price) = (self.draw.below(100), self.draw.percent(50), self.draw.percent(50));
        let Some(order) = self.orders.get_mut(&name) else { return };
        let place = place as usize % order.trades.len();
        let (id, price, quantity) = order.trades.remove(place);
        order.filled -= quantity;
        order.value -= i128::from(price.0) * i128::from(quantity);
        if order.state == OrderState::Filled {
            order.state = if works { OrderState::Working } else { OrderState::Ended(Reason::Expired) };
        }
        let (filled, works) = (Some(Lots(order.traded())), order.state == OrderState::Working);
        let (price, quantity) = (says_price.then_some(price), Some(Quantity(quantity)));
        self.tell(&name, Says::Busted { id, price, quantity, filled, works }, true);
    }

    fn correct(&mut self) {
        let Some(name) = self.one(|order| !order.trades.is_empty()) else { return };
        let place = self.draw.below(100);
        self.trades += 1;
        let new_id = format!("T{}", self.trades);
        let Some(order) = self.orders.get_mut(&name) else { return };
        let place = place as usize % order.trades.len();
        let (id, was, before) = order.trades[place].clone();
        let (price, quantity) = (Price(was.0 + 1), (before - 1).max(1));
        order.trades[place] = (new_id.clone(), price, quantity);
        order.filled += quantity - before;
        order.value += i128::from(price.0) * i128::from(quantity) - i128::from(was.0) * i128::from(before);
        if order.state == OrderState::Filled && order.filled + order.halves < order.quantity {
            order.state = OrderState::Ended(Reason::Expired);
        }
        let (quantity, works) = (Quantity(quantity), order.state == OrderState::Working);
        self.tell(&name, Says::Corrected { id, new_id, price, quantity, works }, true);
    }

    fn correct_in_a_gap(&mut self) {
        let Some(name) = self.one(|order| !order.trades.is_empty()) else { return };
        let (place, more) = (self.draw.below(100) as usize, 1 + self.draw.below(9) as i64);
        let Some(order) = self.orders.get_mut(&name) else { return };
        let place = place % order.trades.len();
        let (_, price, quantity) = &mut order.trades[place];
        price.0 += 100_000 * more;
        order.value += i128::from(100_000 * more) * i128::from(*quantity);
        self.hang_up();
    }

    fn root(&self, name: &str) -> Option<String> {
        self.roots.get(name).cloned()
    }

    fn obey(&mut self, command: &Command) {
        match command {
            Command::New { name, order } => {
                // The same name again is the same order.
                if self.orders.contains_key(name) {
                    return;
                }
                let is_refused = self.draw.percent(5);
                let state =
                    if is_refused { OrderState::Rejected(Reason::OffTick) } else { OrderState::Working };
                self.roots.insert(name.clone(), name.clone());
                self.orders.insert(
                    name.clone(),
                    Resting {
                        root: name.clone(),
                        name: name.clone(),
                        price: order.price,
                        quantity: order.quantity.0,
                        filled: 0,
                        value: 0,
                        state,
                        side: order.side,
                        instrument: order.instrument,
                        halves: 0,
                        trades: Vec::new(),
                    },
                );
                let says = if is_refused { Says::Rejected(Reason::OffTick) } else { Says::Accepted };
                self.say(name, says);
                if !is_refused && self.draw.percent(20) {
                    self.trade(name);
                }
            }
            Command::Cancel { name, of } => match self.working(&of.name) {
                Some(root) if !self.draw.percent(5) => {
                    self.roots.insert(name.clone(), root.clone());
                    self.end(&root, Reason::Requested, name);
                }
                _ => self.say(name, Says::Refused(Reason::UnknownOrder)),
            },
            Command::Replace { name, of, price, quantity } => match self.working(&of.name) {
                Some(root)
                    if self.orders.get(&root).is_some_and(|order| order.filled < quantity.0)
                        && !self.draw.percent(5) =>
                {
                    self.roots.insert(name.clone(), root.clone());
                    if let Some(order) = self.orders.get_mut(&root) {
                        (order.price, order.quantity, order.name) = (*price, quantity.0, name.clone());
                    }
                    self.say(name, Says::Replaced { price: *price, quantity: *quantity });
                }
                _ => self.say(name, Says::Refused(Reason::Quantity)),
            },
            Command::Ask { of, .. } => {
                let root = self.root(&of.name);
                let order = root.as_ref().and_then(|root| self.orders.get(root));
                let says = order.map_or(
                    Says::Status { state: OrderState::None, filled: None, average: None, terms: None },
                    status,
                );
                let called = order.map_or_else(|| of.name.clone(), |order| order.name.clone());
                self.say(&called, says);
            }
            Command::Reconcile => {
                let works = self.orders.values().filter(|order| order.state == OrderState::Working);
                let all: Vec<(String, Says)> =
                    works.map(|order| (order.name.clone(), status(order))).collect();
                for (name, says) in all {
                    self.say(&name, says);
                }
                let orders = self.orders.values();
                let net: i128 = orders.map(|order| order.traded() * i128::from(order.side.sign())).sum();
                let lots = net + i128::from(self.foreign) * LOT;
                // What was there before the first order must be known, or nothing can be held against it.
                let is_first = self.orders.is_empty();
                self.put(News::Position { instrument: InstrumentId(1), lots }, is_first);
            }
        }
    }

    fn working(&self, name: &str) -> Option<String> {
        let order = self.orders.get(&self.root(name)?)?;
        (order.state == OrderState::Working).then(|| order.root.clone())
    }
}

/// How an order stands.
fn status(order: &Resting) -> Says {
    Says::Status {
        state: order.state,
        filled: Some(Lots(order.traded())),
        average: order.average(),
        terms: Some((order.price, Quantity(order.quantity))),
    }
}

impl Venue for Line {
    fn list(&mut self, _instrument: &Instrument) {}

    fn send(&mut self, command: &Command) {
        let mut floor = self.floor.borrow_mut();
        if floor.line != self.number || !self.is_up || floor.up_at.is_none() {
            return;
        }
        let at = floor.now + floor.draw.below(4);
        let at = floor.commands.back().map_or(at, |(last, _)| at.max(*last));
        floor.commands.push_back((at, command.clone()));
    }

    fn poll(&mut self, _now: Nanos, news: &mut Vec<News>) -> Result<(), String> {
        let mut floor = self.floor.borrow_mut();
        if floor.line != self.number {
            return Err("another line was made".to_owned());
        }
        let now = floor.now;
        match floor.up_at {
            None => {
                if std::mem::replace(&mut self.is_up, false) {
                    news.push(News::Down);
                }
                let pause = floor.draw.below(20);
                floor.up_at = Some(now + pause);
                return Ok(());
            }
            Some(at) if at > now => return Ok(()),
            Some(_) if !self.is_up => {
                self.is_up = true;
                news.push(News::Up);
            }
            Some(_) => {}
        }
        // It is asked again: what it gave before is written down.
        floor.given.clear();
        let mut place = 0;
        while place < floor.reports.len() {
            if floor.reports[place].at <= now {
                let Underway { news: piece, is_sure, .. } = floor.reports.remove(place);
                if is_sure {
                    floor.given.push(piece.clone());
                }
                news.push(piece);
            } else {
                place += 1;
            }
        }
        Ok(())
    }
}
