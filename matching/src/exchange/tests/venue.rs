//! What the engine and the model have in common, so that both can be asked the same.

use wire::{InstrumentId, Nanos, Price, Quantity, Side};

use crate::exchange::{
    Equilibrium, Event, Exchange, ExchangeOptions, Filter, InstrumentRules, MassCancelled, Order, OrderState,
    Phase, Replace,
};

/// A price level: price, shown, hidden, number of orders.
pub(super) type Level = (Price, Quantity, Quantity, u32);

/// An exchange that answers with the events of each call.
pub(super) trait Venue {
    fn open() -> Self;
    /// False: the rules were refused.
    fn list(&mut self, rules: InstrumentRules) -> bool;
    fn submit(&mut self, order: &Order) -> Vec<Event>;
    fn cancel(&mut self, id: u64) -> Vec<Event>;
    fn replace(&mut self, request: &Replace) -> Vec<Event>;
    fn mass_cancel(&mut self, filter: &Filter) -> (MassCancelled, Vec<Event>);
    fn set_phase(&mut self, instrument: InstrumentId, phase: Phase) -> (bool, Vec<Event>);
    fn schedule(&mut self, instrument: InstrumentId, phases: Vec<(Nanos, Phase)>) -> bool;
    fn advance(&mut self, now: Nanos) -> Vec<Event>;
    fn now(&self) -> Nanos;
    fn phase(&self, instrument: InstrumentId) -> Option<Phase>;
    fn equilibrium(&self, instrument: InstrumentId) -> Option<Equilibrium>;
    fn last_price(&self, instrument: InstrumentId) -> Option<Price>;
    fn order(&self, id: u64) -> Option<OrderState>;
    fn working_orders(&self) -> usize;
    /// In priority; `None`: not listed.
    fn orders(&self, instrument: InstrumentId, side: Side) -> Option<Vec<OrderState>>;
    /// Best first; `None`: not listed.
    fn levels(&self, instrument: InstrumentId, side: Side) -> Option<Vec<Level>>;
}

impl Venue for Exchange {
    fn open() -> Exchange {
        Exchange::new(ExchangeOptions { expected_orders: 16, ..ExchangeOptions::default() })
    }

    fn list(&mut self, rules: InstrumentRules) -> bool {
        Exchange::list(self, rules).is_ok()
    }

    fn submit(&mut self, order: &Order) -> Vec<Event> {
        collect(|events| Exchange::submit(self, order, events)).1
    }

    fn cancel(&mut self, id: u64) -> Vec<Event> {
        collect(|events| Exchange::cancel(self, id, events)).1
    }

    fn replace(&mut self, request: &Replace) -> Vec<Event> {
        collect(|events| Exchange::replace(self, request, events)).1
    }

    fn mass_cancel(&mut self, filter: &Filter) -> (MassCancelled, Vec<Event>) {
        collect(|events| Exchange::mass_cancel(self, filter, events))
    }

    fn set_phase(&mut self, instrument: InstrumentId, phase: Phase) -> (bool, Vec<Event>) {
        collect(|events| Exchange::set_phase(self, instrument, phase, events))
    }

    fn schedule(&mut self, instrument: InstrumentId, phases: Vec<(Nanos, Phase)>) -> bool {
        Exchange::schedule(self, instrument, phases)
    }

    fn advance(&mut self, now: Nanos) -> Vec<Event> {
        collect(|events| Exchange::advance(self, now, events)).1
    }

    fn now(&self) -> Nanos {
        Exchange::now(self)
    }

    fn phase(&self, instrument: InstrumentId) -> Option<Phase> {
        Exchange::phase(self, instrument)
    }

    fn equilibrium(&self, instrument: InstrumentId) -> Option<Equilibrium> {
        Exchange::equilibrium(self, instrument)
    }

    fn last_price(&self, instrument: InstrumentId) -> Option<Price> {
        Exchange::last_price(self, instrument)
    }

    fn order(&self, id: u64) -> Option<OrderState> {
        Exchange::order(self, id)
    }

    fn working_orders(&self) -> usize {
        Exchange::working_orders(self)
    }

    fn orders(&self, instrument: InstrumentId, side: Side) -> Option<Vec<OrderState>> {
        Some(self.book(instrument)?.orders(side).collect())
    }

    fn levels(&self, instrument: InstrumentId, side: Side) -> Option<Vec<Level>> {
        let book = self.book(instrument)?;
        let levels: Vec<Level> =
            book.levels(side).map(|level| (level.price, level.shown, level.hidden, level.orders)).collect();
        let best = book.best(side).map(|level| (level.price, level.shown, level.hidden, level.orders));
        assert_eq!(best.as_ref(), levels.first(), "the best level is the first");
        Some(levels)
    }
}

fn collect<T>(call: impl FnOnce(&mut Vec<Event>) -> T) -> (T, Vec<Event>) {
    let mut events = Vec::new();
    let answer = call(&mut events);
    (answer, events)
}
