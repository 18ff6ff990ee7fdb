//! The phases of the day.

use wire::{InstrumentId, Reason};

use super::Model;
use super::order::{Place, Working};
use crate::exchange::{Auction, Event, Lifetime, Phase, auction_of};

impl Model {
    pub(super) fn change(&mut self, instrument: InstrumentId, to: Phase) {
        let from = self.market(instrument).phase;
        if from == to {
            return;
        }
        let ended = auction_of(from).filter(|auction| auction_of(to) != Some(*auction) && to != Phase::Halt);
        if ended.is_some() || to == Phase::Continuous && self.needs_uncross(instrument) {
            self.uncross(instrument, ended);
            self.end_all(self.oldest_first(instrument, rests_at_market), Reason::NoLiquidity);
        }
        let begins = to == Phase::Continuous;
        if begins || ended == Some(Auction::Opening) {
            self.end_all(self.oldest_first(instrument, is_at_the_open), Reason::Expired);
        }
        if begins || ended == Some(Auction::Closing) {
            self.end_all(self.oldest_first(instrument, rests_at_the_close), Reason::Expired);
        }
        let market = self.market_mut(instrument);
        (market.phase, market.volatility_ends) = (to, None);
        self.say(Event::PhaseChanged { instrument, from, to });
        if auction_of(to) == Some(Auction::Closing) && auction_of(from) != Some(Auction::Closing) {
            self.bring_in_at_the_close(instrument);
        }
        if to == Phase::Closed {
            self.end_all(self.oldest_first(instrument, ends_with_the_day), Reason::Expired);
        }
        if to == Phase::Continuous {
            self.trigger_stops(instrument);
        }
    }

    /// The band has stopped an order.
    pub(super) fn interrupt(&mut self, instrument: InstrumentId) {
        self.change(instrument, Phase::VolatilityAuction);
        let lasts = self.market(instrument).rules.dynamic_band.unwrap().auction.0;
        let ends = self.now.saturating_add(lasts);
        self.market_mut(instrument).volatility_ends = Some(ends);
    }

    /// Best bid and ask cross, or market orders rest.
    fn needs_uncross(&self, instrument: InstrumentId) -> bool {
        let market_orders = !self.oldest_first(instrument, rests_at_market).is_empty();
        let bid = self.first(instrument, wire::Side::Buy).map(|order| order.price);
        let ask = self.first(instrument, wire::Side::Sell).map(|order| order.price);
        let crossed = matches!((bid, ask), (Some(bid), Some(ask)) if bid >= ask);
        market_orders || crossed
    }

    fn bring_in_at_the_close(&mut self, instrument: InstrumentId) {
        let waits = |order: &&Working| order.place == Place::Close && order.is_of(instrument);
        let mut waiting: Vec<Working> = self.orders.iter().filter(waits).copied().collect();
        waiting.sort_by_key(|order| order.turn);
        for order in waiting {
            let order = self.take_out(order.order.id);
            self.rest(order);
        }
    }
}

fn rests_at_market(working: &Working) -> bool {
    working.is_in_book() && working.is_market()
}

fn is_at_the_open(working: &Working) -> bool {
    working.order.lifetime == Lifetime::AtTheOpen
}

fn rests_at_the_close(working: &Working) -> bool {
    working.is_in_book() && working.order.lifetime == Lifetime::AtTheClose
}

fn ends_with_the_day(working: &Working) -> bool {
    !matches!(working.order.lifetime, Lifetime::GoodTillCancel | Lifetime::GoodTillDate(_))
}
