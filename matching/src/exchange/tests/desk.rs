//! Short ways to write orders and to read what comes of them. Prices and quantities are plain numbers.

use wire::{InstrumentId, Nanos, Price, Quantity, Side, StrategyId};

use super::venue::Venue;
use crate::exchange::{
    Auction, DynamicBand, Equilibrium, Event, Filter, InstrumentRules, Kind, Lifetime, MarketRules, Order,
    Phase, Refusal, Replace, Width,
};

pub(super) const STOCK: InstrumentId = InstrumentId(1);

/// An exchange with one instrument, [`STOCK`].
#[derive(Debug)]
pub(super) struct Desk<V> {
    pub(super) venue: V,
}

impl<V: Venue> Desk<V> {
    pub(super) fn with(rules: InstrumentRules) -> Desk<V> {
        let mut venue = V::open();
        assert!(venue.list(rules));
        Desk { venue }
    }

    /// Plain rules, a tick and a lot of 1, no limits.
    pub(super) fn plain() -> Desk<V> {
        Desk::with(stock())
    }

    pub(super) fn of_market(market: MarketRules) -> Desk<V> {
        Desk::with(InstrumentRules { market, ..stock() })
    }

    pub(super) fn enter(&mut self, order: Order) -> Vec<String> {
        lines(&self.venue.submit(&order))
    }

    /// Enters orders of which only the state after them matters.
    pub(super) fn stand(&mut self, orders: impl IntoIterator<Item = Order>) {
        orders.into_iter().for_each(|order| drop(self.venue.submit(&order)));
    }

    pub(super) fn cancel(&mut self, id: u64) -> Vec<String> {
        lines(&self.venue.cancel(id))
    }

    pub(super) fn replace(&mut self, id: u64, price: i64, quantity: i64) -> Vec<String> {
        lines(&self.venue.replace(&Replace { id, price: Price(price), quantity: Quantity(quantity) }))
    }

    pub(super) fn mass_cancel(&mut self, filter: Filter) -> (u64, u64, Vec<String>) {
        let (done, events) = self.venue.mass_cancel(&filter);
        (done.cancelled, done.passed_over, lines(&events))
    }

    pub(super) fn phase(&mut self, phase: Phase) -> Vec<String> {
        let (listed, events) = self.venue.set_phase(STOCK, phase);
        assert!(listed);
        lines(&events)
    }

    pub(super) fn advance(&mut self, now: u64) -> Vec<String> {
        lines(&self.venue.advance(Nanos(now)))
    }

    pub(super) fn schedule(&mut self, phases: &[(u64, Phase)]) {
        let phases = phases.iter().map(|(time, phase)| (Nanos(*time), *phase)).collect();
        assert!(self.venue.schedule(STOCK, phases));
    }

    /// A trade at this price between two others, which leaves the book as it was if nothing stands in between.
    pub(super) fn last_price(&mut self, price: i64) {
        self.stand([sell(9_001, price, 1), buy(9_002, price, 1)]);
        assert_eq!(self.venue.last_price(STOCK), Some(Price(price)));
    }

    /// The orders of a side in priority, as `number: shown of open @ price`.
    pub(super) fn book(&self, side: Side) -> Vec<String> {
        let orders = self.venue.orders(STOCK, side).unwrap();
        orders
            .iter()
            .map(|order| format!("{}: {} of {} @ {}", order.id, order.shown.0, order.open.0, at(order.price)))
            .collect()
    }

    pub(super) fn indication(&self) -> String {
        balance(&self.venue.equilibrium(STOCK).unwrap())
    }
}

pub(super) fn stock() -> InstrumentRules {
    InstrumentRules::new(STOCK, Price(1))
}

/// A band so wide on each side of the reference, followed by an auction of 10 ns.
pub(super) fn with_band(reference: i64, width: i64) -> InstrumentRules {
    let band = DynamicBand { width: Width::Price(Price(width)), auction: Nanos(10) };
    InstrumentRules { reference_price: Price(reference), dynamic_band: Some(band), ..stock() }
}

/// A limit order for the day, by a strategy of its own.
pub(super) fn buy(id: u64, price: i64, quantity: i64) -> Order {
    let order = Order::limit(id, STOCK, Side::Buy, Price(price), Quantity(quantity));
    Order { strategy: StrategyId((id % 60_000) as u16), ..order }
}

/// See [`buy`].
pub(super) fn sell(id: u64, price: i64, quantity: i64) -> Order {
    Order { side: Side::Sell, ..buy(id, price, quantity) }
}

pub(super) fn market(order: Order) -> Order {
    Order { kind: Kind::Market, ..order }
}

/// Waits for `trigger`; then a market order.
pub(super) fn stop(order: Order, trigger: i64) -> Order {
    Order { kind: Kind::Stop { trigger: Price(trigger) }, ..order }
}

/// Waits for `trigger`; then as it was.
pub(super) fn stop_limit(order: Order, trigger: i64) -> Order {
    let price = order.kind.price().unwrap();
    Order { kind: Kind::StopLimit { trigger: Price(trigger), price }, ..order }
}

pub(super) fn lasting(order: Order, lifetime: Lifetime) -> Order {
    Order { lifetime, ..order }
}

pub(super) fn iceberg(order: Order, display: i64) -> Order {
    Order { display: Quantity(display), ..order }
}

pub(super) fn at_least(order: Order, minimum: i64) -> Order {
    Order { minimum: Quantity(minimum), ..order }
}

pub(super) fn post_only(order: Order) -> Order {
    Order { post_only: true, ..order }
}

pub(super) fn of_strategy(order: Order, strategy: u16) -> Order {
    Order { strategy: StrategyId(strategy), ..order }
}

fn at(price: Price) -> String {
    if price.is_some() { price.0.to_string() } else { "market".into() }
}

fn balance(equilibrium: &Equilibrium) -> String {
    if equilibrium.price.is_some() {
        format!("{} @ {}, imbalance {}", equilibrium.volume.0, equilibrium.price.0, equilibrium.imbalance)
    } else {
        assert_eq!((equilibrium.volume.0, equilibrium.imbalance), (0, 0));
        "nothing".into()
    }
}

pub(super) fn lines(events: &[Event]) -> Vec<String> {
    events.iter().map(line).collect()
}

/// One event in a line. What is left out here, the comparison of engine and model covers.
fn line(event: &Event) -> String {
    match event {
        Event::Accepted(state) => format!("{} accepted", state.id),
        Event::Rejected(order, reason) => format!("{} rejected: {reason}", order.id),
        Event::Rested(state) if state.shown == state.open => {
            format!("{} rests: {} @ {}", state.id, state.open.0, at(state.price))
        }
        Event::Rested(state) => {
            format!("{} rests: {} of {} @ {}", state.id, state.shown.0, state.open.0, at(state.price))
        }
        Event::Traded(trade) => {
            let (buy, sell) = (trade.buy, trade.sell);
            let left = format!("left {} and {}", buy.open.0, sell.open.0);
            format!("{} buys {} @ {} from {}, {left}", buy.id, trade.quantity.0, trade.price.0, sell.id)
        }
        Event::Refreshed(state, behind) => {
            let place = if *behind { "behind" } else { "in place" };
            format!("{} shows {} of {}, {place}", state.id, state.shown.0, state.open.0)
        }
        Event::Replaced(state, from) => {
            let place = if from.is_none() { "in place" } else { "anew" };
            format!("{} replaced: {} @ {}, {place}", state.id, state.open.0, at(state.price))
        }
        Event::Decremented(state) => format!("{} decremented: {} left", state.id, state.open.0),
        Event::Triggered(state) => format!("{} triggered", state.id),
        Event::Cancelled(state, reason) => format!("{} cancelled: {} left, {reason}", state.id, state.open.0),
        Event::Refused { id, refused: Refusal::Cancel, reason } => format!("{id} not cancelled: {reason}"),
        Event::Refused { id, refused: Refusal::Replace, reason } => format!("{id} not replaced: {reason}"),
        Event::Uncrossed { auction, equilibrium, .. } => {
            let auction = match auction {
                Some(Auction::Opening) => "opening",
                Some(Auction::Volatility) => "volatility",
                Some(Auction::Closing) => "closing",
                None => "no auction",
            };
            format!("{auction}: {}", balance(equilibrium))
        }
        Event::PhaseChanged { from, to, .. } => format!("{} to {}", from.as_str(), to.as_str()),
    }
}

/// What is said when nothing is.
pub(super) const NOTHING: [&str; 0] = [];

/// Makes two tests of each function that is generic over the venue: the rule holds for the model, and for the engine.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod model {
            $(#[test] fn $name() { super::$name::<crate::exchange::tests::model::Model>(); })*
        }
        mod engine {
            $(#[test] fn $name() { super::$name::<crate::exchange::Exchange>(); })*
        }
    };
}
pub(super) use on_both;
