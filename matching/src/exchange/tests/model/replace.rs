//! Changing a working order.

use wire::{Price, Reason};

use super::Model;
use super::checks::{parts, prices, quantity};
use super::order::{Place, Working};
use crate::exchange::{Event, Lifetime, Refusal, Replace};

impl Model {
    pub(super) fn replace_order(&mut self, request: &Replace) {
        if let Err(reason) = self.try_replace(request) {
            self.say(Event::Refused { id: request.id, refused: Refusal::Replace, reason });
        }
    }

    fn try_replace(&mut self, request: &Replace) -> Result<(), Reason> {
        let Some(before) = self.working(request.id).copied() else { return Err(Reason::UnknownOrder) };
        let market = self.market(before.order.instrument);
        let permission = market.rules.market.permission(market.phase);
        if !permission.enter || !permission.cancel {
            return Err(Reason::MarketClosed);
        }
        if !quantity(&market.rules, request.quantity) {
            return Err(Reason::Quantity);
        }
        if !parts(request.quantity, before.order.display) {
            return Err(Reason::Quantity);
        }
        if request.quantity.0 <= before.filled {
            self.end(request.id, Reason::Requested);
            return Ok(());
        }
        let limit: Option<Price> = before.price.map(|_| request.price);
        if let Some(reason) = prices(&market.rules, &[limit]) {
            return Err(reason);
        }
        let place_is_kept = market.rules.market.replace_keeps_place;
        let open = request.quantity.0 - before.filled;
        let price = limit.map(|limit| limit.0);
        let keeps = price == before.price && open <= before.open;
        let changed = Working { price, open, ..before };
        if changed.place != Place::Book {
            self.replace_waiting(changed, keeps);
        } else if keeps && place_is_kept {
            self.replace_in_place(changed);
        } else if self.would_trade(&changed.order, limit) {
            return Err(Reason::WouldTrade);
        } else {
            self.replace_anew(changed);
        }
        Ok(())
    }

    fn replace_waiting(&mut self, mut changed: Working, keeps: bool) {
        if !keeps {
            changed.turn = self.arrival();
            changed.age = changed.turn;
        }
        let from = (!keeps).then(|| self.price_of(changed.order.id));
        self.say(Event::Replaced(changed.state(), from));
        *self.working_mut(changed.order.id) = changed;
    }

    fn replace_in_place(&mut self, mut changed: Working) {
        changed.shown = changed.shown.min(changed.open);
        self.say(Event::Replaced(changed.state(), None));
        *self.working_mut(changed.order.id) = changed;
    }

    fn price_of(&mut self, id: u64) -> Price {
        self.working_mut(id).price.map_or(Price::NONE, Price)
    }

    fn replace_anew(&mut self, changed: Working) {
        let from = self.price_of(changed.order.id);
        self.take_out(changed.order.id);
        self.say(Event::Replaced(changed.state(), Some(from)));
        let age = self.arrival();
        let instrument = changed.order.instrument;
        let anew = Working { place: Place::Incoming, shown: 0, minimum: 0, age, turn: age, ..changed };
        if anew.order.lifetime == Lifetime::AtTheClose {
            // It was in the book already, and does not wait again.
            self.rest(anew);
        } else {
            self.come_in(anew);
        }
        self.trigger_stops(instrument);
    }
}
