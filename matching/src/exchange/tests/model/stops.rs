//! Orders that wait for a trade.

use wire::{InstrumentId, Side};

use super::Model;
use super::order::{Place, Working};
use crate::exchange::{Event, Phase};

impl Model {
    pub(super) fn wait_for_trigger(&mut self, incoming: Working) {
        let last = self.market(incoming.order.instrument).last;
        let reached = last.is_some_and(|last| is_reached(&incoming, last));
        self.orders.push(Working { place: Place::Stop, reached, ..incoming });
    }

    /// A trade reaches those that wait for its price.
    pub(super) fn reach_stops(&mut self, instrument: InstrumentId, price: i64) {
        let waiting = |stop: &&mut Working| stop.place == Place::Stop && stop.is_of(instrument);
        for stop in self.orders.iter_mut().filter(waiting) {
            stop.reached |= is_reached(stop, price);
        }
    }

    /// Triggers all that were reached, in continuous trading. Those that the trades of one reach go behind the others.
    pub(super) fn trigger_stops(&mut self, instrument: InstrumentId) {
        let mut line = self.reached_stops(instrument);
        while !line.is_empty() && self.market(instrument).phase == Phase::Continuous {
            self.trigger(line.remove(0));
            let reached = self.reached_stops(instrument);
            let new = reached.into_iter().filter(|id| !line.contains(id)).collect::<Vec<u64>>();
            line.extend(new);
        }
    }

    /// The earliest first.
    fn reached_stops(&self, instrument: InstrumentId) -> Vec<u64> {
        let reached = |stop: &&Working| stop.place == Place::Stop && stop.is_of(instrument) && stop.reached;
        let mut stops: Vec<&Working> = self.orders.iter().filter(reached).collect();
        stops.sort_by_key(|stop| stop.turn);
        stops.iter().map(|stop| stop.order.id).collect()
    }

    fn trigger(&mut self, id: u64) {
        let stop = self.take_out(id);
        let age = self.arrival();
        self.say(Event::Triggered(stop.state()));
        self.carry_out(Working { trigger: None, place: Place::Incoming, age, ..stop });
    }
}

fn is_reached(stop: &Working, price: i64) -> bool {
    match (stop.trigger, stop.order.side) {
        (Some(trigger), Side::Buy) => price >= trigger,
        (Some(trigger), Side::Sell) => price <= trigger,
        (None, _) => false,
    }
}
