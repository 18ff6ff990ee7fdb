//! A market elsewhere that outlives the process that talks to it: it decides at once, by the order alone, and tells again what
//! was not written down.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use venue::{Average, Command, News, OrderState, Report, Says, Target, Venue};
use wire::{Instrument, Nanos, Price, Quantity, Reason};

/// It does not take orders of a multiple of so many lots.
const UNLUCKY: i64 = 13;

/// An order there.
#[derive(Debug)]
struct Standing {
    /// What it is called now.
    name: String,
    price: Price,
    quantity: i64,
    filled: i64,
    /// At which price all of that has traded.
    average: Price,
    state: OrderState,
}

#[derive(Debug, Default)]
struct Floor {
    orders: Vec<Standing>,
    /// The order that each name belongs to.
    places: BTreeMap<String, usize>,
    /// What no line has written down yet.
    news: VecDeque<News>,
    trades: u64,
}

/// The market, as its owner holds it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Market(Rc<RefCell<Floor>>);

impl Market {
    /// A line of a new process.
    pub(crate) fn line(&self) -> Line {
        Line { floor: Rc::clone(&self.0), told: 0, is_up: false }
    }
}

/// A line to it.
#[derive(Debug)]
pub(crate) struct Line {
    floor: Rc<RefCell<Floor>>,
    /// How much of the news was told at the last look.
    told: usize,
    is_up: bool,
}

impl Floor {
    fn tell(&mut self, name: &str, says: Says) {
        let report = Report { name: name.to_owned(), original: None, of: None, time: Nanos(0), says };
        self.news.push_back(News::Report(report));
    }

    /// Half of an order at an even price trades at once, all of it where it is for an odd number of lots.
    fn take(&mut self, name: &str, price: Price, quantity: i64) {
        let is_refused = quantity % UNLUCKY == 0;
        let state = if is_refused { OrderState::Rejected(Reason::OffTick) } else { OrderState::Working };
        self.places.insert(name.to_owned(), self.orders.len());
        self.orders.push(Standing {
            name: name.to_owned(),
            price,
            quantity,
            filled: 0,
            average: price,
            state,
        });
        if is_refused {
            return self.tell(name, Says::Rejected(Reason::OffTick));
        }
        self.tell(name, Says::Accepted);
        let trades = if quantity % 2 == 1 { quantity } else { quantity / 2 };
        self.trades += 1;
        let id = format!("t{}", self.trades);
        let (traded, filled) = (Quantity(trades), Some(Quantity(trades).into()));
        self.tell(name, Says::Trade { id, price, quantity: traded, filled });
        let order = self.orders.last_mut().expect("it was put there");
        order.filled = trades;
        if trades == quantity {
            order.state = OrderState::Filled;
        }
    }

    fn place(&self, of: &Target) -> Option<usize> {
        self.places.get(&of.name).copied()
    }
}

/// A price as an average that is known to the last digit.
fn exact(price: Price) -> Average {
    Average { price: i128::from(price.0) * 1_000_000_000, decimals: 18 }
}

impl Venue for Line {
    fn list(&mut self, _: &Instrument) {}

    fn send(&mut self, command: &Command) {
        if !self.is_up {
            return;
        }
        let mut floor = self.floor.borrow_mut();
        match command {
            Command::New { name, order } => floor.take(name, order.price, order.quantity.0),
            Command::Cancel { name, of } => {
                let place = floor.place(of).filter(|place| floor.orders[*place].state == OrderState::Working);
                let Some(place) = place else { return floor.tell(name, Says::Refused(Reason::UnknownOrder)) };
                let order = &mut floor.orders[place];
                order.state = OrderState::Ended(Reason::Requested);
                let (called, reason) = (order.name.clone(), Reason::Requested);
                let (filled, average) = (Some(Quantity(order.filled).into()), Some(exact(order.average)));
                floor.tell(&called, Says::Ended { reason, filled, average });
            }
            Command::Replace { name, of, price, quantity } => {
                let place = floor.place(of).filter(|place| {
                    let order = &floor.orders[*place];
                    order.state == OrderState::Working && quantity.0 > order.filled
                });
                let Some(place) = place else { return floor.tell(name, Says::Refused(Reason::UnknownOrder)) };
                let order = &mut floor.orders[place];
                (order.name, order.price, order.quantity) = (name.clone(), *price, quantity.0);
                floor.places.insert(name.clone(), place);
                floor.tell(name, Says::Replaced { price: *price, quantity: *quantity });
            }
            // This market answers about single orders alone.
            Command::Reconcile => {}
            Command::Ask { of, .. } => {
                let says = |order: Option<&Standing>| Says::Status {
                    state: order.map_or(OrderState::None, |order| order.state),
                    filled: Some(Quantity(order.map_or(0, |order| order.filled)).into()),
                    average: order.map(|order| exact(order.average)),
                    terms: order.map(|order| (order.price, Quantity(order.quantity))),
                };
                let place = floor.place(of);
                let order = place.and_then(|place| floor.orders.get(place));
                let (name, says) = (order.map_or(&of.name, |order| &order.name).clone(), says(order));
                floor.tell(&name, says);
            }
        }
    }

    fn poll(&mut self, _: Nanos, news: &mut Vec<News>) -> Result<(), String> {
        let mut floor = self.floor.borrow_mut();
        drop(floor.news.drain(..self.told));
        if !std::mem::replace(&mut self.is_up, true) {
            news.push(News::Up);
        }
        news.extend(floor.news.iter().cloned());
        self.told = floor.news.len();
        Ok(())
    }
}
