//! The exchange once more, as plainly as it can be written: one list of orders, sorted anew at every step, and one rule
//! a function. It was written from the text of the module's documentation, not from the engine.

use wire::{InstrumentId, Side};

use crate::exchange::{Event, InstrumentRules, Order, Phase};
use order::Working;

pub(super) mod auction;
mod band;
mod calls;
mod checks;
mod fillable;
mod incoming;
mod listing;
mod order;
mod phases;
mod replace;
mod self_trade;
mod stops;
pub(super) mod ticks;
mod time;
mod uncross;

/// All instruments and all working orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    markets: Vec<Market>,
    /// Those in a book and those that wait, in no order.
    orders: Vec<Working>,
    now: u64,
    trades: u64,
    /// Counts everything that gives an order a place.
    arrivals: u64,
    out: Vec<Event>,
}

/// One instrument.
#[derive(Clone, Debug)]
struct Market {
    rules: InstrumentRules,
    phase: Phase,
    last: Option<i64>,
    /// When the volatility auction ends that the band has begun.
    volatility_ends: Option<u64>,
    schedule: Vec<(u64, Phase)>,
}

impl Market {
    /// What auctions and bands start from.
    fn reference(&self) -> Option<i64> {
        self.last.or(self.rules.reference_price.is_some().then_some(self.rules.reference_price.0))
    }
}

impl Model {
    fn is_listed(&self, instrument: InstrumentId) -> bool {
        self.markets.iter().any(|market| market.rules.id == instrument)
    }

    /// Of a listed instrument.
    fn market(&self, instrument: InstrumentId) -> &Market {
        self.markets.iter().find(|market| market.rules.id == instrument).unwrap()
    }

    fn market_mut(&mut self, instrument: InstrumentId) -> &mut Market {
        self.markets.iter_mut().find(|market| market.rules.id == instrument).unwrap()
    }

    fn working(&self, id: u64) -> Option<&Working> {
        self.orders.iter().find(|working| working.order.id == id)
    }

    fn working_mut(&mut self, id: u64) -> &mut Working {
        self.orders.iter_mut().find(|working| working.order.id == id).unwrap()
    }

    fn take_out(&mut self, id: u64) -> Working {
        let index = self.orders.iter().position(|working| working.order.id == id).unwrap();
        self.orders.remove(index)
    }

    /// One side of a book, in priority.
    fn queue(&self, instrument: InstrumentId, side: Side) -> Vec<&Working> {
        let mut queue: Vec<&Working> = self
            .orders
            .iter()
            .filter(|working| working.is_in_book() && working.is_of(instrument) && working.order.side == side)
            .collect();
        queue.sort_by_key(|working| working.priority());
        queue
    }

    /// The next in line.
    fn first(&self, instrument: InstrumentId, side: Side) -> Option<&Working> {
        self.queue(instrument, side).first().copied()
    }

    fn arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    fn say(&mut self, event: Event) {
        self.out.push(event);
    }

    /// Those of an instrument that `which` takes, oldest first.
    fn oldest_first(&self, instrument: InstrumentId, which: impl Fn(&Working) -> bool) -> Vec<u64> {
        let mut found: Vec<&Working> =
            self.orders.iter().filter(|working| working.is_of(instrument) && which(working)).collect();
        found.sort_by_key(|working| working.age);
        found.iter().map(|working| working.order.id).collect()
    }

    /// Ends a working order.
    fn end(&mut self, id: u64, reason: wire::Reason) {
        let working = self.take_out(id);
        self.say(Event::Cancelled(working.state(), reason));
    }

    fn end_all(&mut self, ids: Vec<u64>, reason: wire::Reason) {
        ids.into_iter().for_each(|id| self.end(id, reason));
    }

    /// The numbers of all working orders, by age.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let mut found: Vec<(u64, u64)> =
            self.orders.iter().map(|working| (working.age, working.order.id)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    fn new_working(&mut self, order: &Order) -> Working {
        let arrival = self.arrival();
        Working::new(order, arrival)
    }
}
