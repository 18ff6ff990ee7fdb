//! The calls of an exchange.

use wire::{InstrumentId, Nanos, Price, Quantity, Reason, Side};

use super::Model;
use crate::exchange::tests::venue::{Level, Venue};
use crate::exchange::{
    Equilibrium, Event, Filter, InstrumentRules, MassCancelled, Order, OrderState, Phase, Refusal, Replace,
};

impl Model {
    fn answers(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }

    fn try_cancel(&mut self, id: u64) -> Result<(), Reason> {
        let Some(working) = self.working(id) else { return Err(Reason::UnknownOrder) };
        let market = self.market(working.order.instrument);
        if !market.rules.market.permission(market.phase).cancel {
            return Err(Reason::MarketClosed);
        }
        self.end(id, Reason::Requested);
        Ok(())
    }

    /// All that the filter takes, oldest first.
    fn taken_by(&self, filter: &Filter) -> Vec<u64> {
        let mut taken: Vec<(u64, u64)> = self
            .orders
            .iter()
            .filter(|working| filter.strategy.is_none_or(|strategy| strategy == working.order.strategy))
            .filter(|working| filter.account.is_none_or(|account| account == working.order.account))
            .filter(|working| filter.instrument.is_none_or(|instrument| working.is_of(instrument)))
            .filter(|working| filter.side.is_none_or(|side| side == working.order.side))
            .map(|working| (working.age, working.order.id))
            .collect();
        taken.sort_unstable();
        taken.into_iter().map(|(_, id)| id).collect()
    }
}

impl Venue for Model {
    fn open() -> Model {
        Model::default()
    }

    fn list(&mut self, rules: InstrumentRules) -> bool {
        self.add(rules)
    }

    fn submit(&mut self, order: &Order) -> Vec<Event> {
        if let Some(reason) = self.refuse(order) {
            self.say(Event::Rejected(*order, reason));
            return self.answers();
        }
        let incoming = self.new_working(order);
        self.say(Event::Accepted(incoming.state()));
        self.come_in(incoming);
        self.trigger_stops(order.instrument);
        self.answers()
    }

    fn cancel(&mut self, id: u64) -> Vec<Event> {
        if let Err(reason) = self.try_cancel(id) {
            self.say(Event::Refused { id, refused: Refusal::Cancel, reason });
        }
        self.answers()
    }

    fn replace(&mut self, request: &Replace) -> Vec<Event> {
        self.replace_order(request);
        self.answers()
    }

    fn mass_cancel(&mut self, filter: &Filter) -> (MassCancelled, Vec<Event>) {
        let mut done = MassCancelled::default();
        for id in self.taken_by(filter) {
            match self.try_cancel(id) {
                Ok(()) => done.cancelled += 1,
                Err(_) => done.passed_over += 1,
            }
        }
        (done, self.answers())
    }

    fn set_phase(&mut self, instrument: InstrumentId, phase: Phase) -> (bool, Vec<Event>) {
        let listed = self.is_listed(instrument);
        if listed {
            self.change(instrument, phase);
        }
        (listed, self.answers())
    }

    fn schedule(&mut self, instrument: InstrumentId, phases: Vec<(Nanos, Phase)>) -> bool {
        let listed = self.is_listed(instrument);
        if listed {
            self.plan(instrument, phases);
        }
        listed
    }

    fn advance(&mut self, now: Nanos) -> Vec<Event> {
        self.go_to(now.0);
        self.answers()
    }

    fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    fn phase(&self, instrument: InstrumentId) -> Option<Phase> {
        self.is_listed(instrument).then(|| self.market(instrument).phase)
    }

    fn equilibrium(&self, instrument: InstrumentId) -> Option<Equilibrium> {
        self.is_listed(instrument).then(|| self.clearing(instrument).equilibrium())
    }

    fn last_price(&self, instrument: InstrumentId) -> Option<Price> {
        self.is_listed(instrument).then(|| self.market(instrument).last.map(Price)).flatten()
    }

    fn order(&self, id: u64) -> Option<OrderState> {
        self.working(id).map(|working| working.state())
    }

    fn working_orders(&self) -> usize {
        self.orders.len()
    }

    fn orders(&self, instrument: InstrumentId, side: Side) -> Option<Vec<OrderState>> {
        let queue = || self.queue(instrument, side).into_iter().map(|working| working.state()).collect();
        self.is_listed(instrument).then(queue)
    }

    fn levels(&self, instrument: InstrumentId, side: Side) -> Option<Vec<Level>> {
        let mut levels: Vec<Level> = Vec::new();
        for working in self.is_listed(instrument).then(|| self.queue(instrument, side))? {
            let Some(price) = working.price.map(Price) else { continue };
            if levels.last().is_none_or(|level| level.0 != price) {
                levels.push((price, Quantity::ZERO, Quantity::ZERO, 0));
            }
            let level = levels.last_mut().unwrap();
            level.1.0 += working.shown;
            level.2.0 += working.hidden();
            level.3 += 1;
        }
        Some(levels)
    }
}
