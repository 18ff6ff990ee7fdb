//! A market of no rules: whatever it was sent may trade. It answers late, twice, out of order and not at all.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use wire::{Instrument, Nanos, Price, Quantity, Reason};

use super::{Draw, Rig};
use crate::market::{Command, News, OrderState, Report, Says, Venue};

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
}

impl Faults {
    /// Everything at once.
    pub const ALL: Faults = Faults { twice: 10, lost: 10, out_of_order: true, told_again: false };
    /// As a session of FIX: nothing is lost, and all is in order.
    pub const NONE: Faults = Faults { twice: 0, lost: 0, out_of_order: false, told_again: true };
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
    reports: Vec<(u64, Report)>,
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

    fn traded(&self) -> Option<BTreeMap<String, i64>> {
        let floor = self.floor.borrow();
        Some(floor.orders.iter().map(|(name, order)| (name.clone(), order.filled)).collect())
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
            self.reports.iter_mut().for_each(|(at, _)| *at = now);
        } else {
            self.reports.clear();
        }
    }

    fn pass(&mut self) {
        self.now += 1;
        while let Some((_, command)) = self.commands.front().filter(|(at, _)| *at <= self.now).cloned() {
            self.commands.pop_front();
            self.obey(&command);
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
        let Some(order) = self.orders.get_mut(name) else { return };
        let left = order.quantity - order.filled;
        let quantity = 1 + self.draw.below(left.max(1) as u64) as i64;
        order.filled += quantity;
        order.value += i128::from(order.price.0) * i128::from(quantity);
        if order.filled >= order.quantity {
            order.state = OrderState::Filled;
        }
        self.trades += 1;
        let (id, price) = (format!("T{}", self.trades), order.price);
        self.say(name, Says::Trade { id, price, quantity: Quantity(quantity) });
    }

    fn end(&mut self, root: &str, reason: Reason, name: &str) {
        let Some(order) = self.orders.get_mut(root) else { return };
        order.state = OrderState::Ended(reason);
        let filled = Some(Quantity(order.filled));
        self.say(name, Says::Ended { reason, filled });
    }

    fn say(&mut self, name: &str, says: Says) {
        self.said += 1;
        let faults = if self.is_calm { Faults { lost: 0, twice: 0, ..self.faults } } else { self.faults };
        if self.draw.percent(faults.lost) {
            return;
        }
        for _ in 0..1 + u64::from(self.draw.percent(faults.twice)) {
            let mut at = self.now + self.draw.below(8);
            if !faults.out_of_order {
                at = at.max(self.last_arrival);
                self.last_arrival = at;
            }
            let time = Nanos(self.said);
            self.reports.push((at, Report { name: name.to_owned(), time, says: says.clone() }));
        }
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
            Command::Ask { of } => {
                let order = self.root(&of.name).and_then(|root| self.orders.get(&root));
                let says = match order {
                    None => Says::Status {
                        state: OrderState::None,
                        filled: Quantity(0),
                        average: None,
                        terms: None,
                    },
                    Some(order) => Says::Status {
                        state: order.state,
                        filled: Quantity(order.filled),
                        average: (order.filled > 0)
                            .then(|| Price((order.value / i128::from(order.filled)) as i64)),
                        terms: Some((order.price, Quantity(order.quantity))),
                    },
                };
                let called = order.map_or_else(|| of.name.clone(), |order| order.name.clone());
                self.say(&called, says);
            }
        }
    }

    fn working(&self, name: &str) -> Option<String> {
        let order = self.orders.get(&self.root(name)?)?;
        (order.state == OrderState::Working).then(|| order.root.clone())
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
        let mut place = 0;
        while place < floor.reports.len() {
            if floor.reports[place].0 <= now {
                let (_, report) = floor.reports.remove(place);
                news.push(News::Report(report));
            } else {
                place += 1;
            }
        }
        Ok(())
    }
}
