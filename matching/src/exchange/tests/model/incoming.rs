//! What an order does when it comes in.

use wire::{Aggressor, InstrumentId, Price, Quantity, Reason, Side};

use super::Model;
use super::band::is_beyond;
use super::order::{Place, Working};
use crate::exchange::{Auction, Event, Lifetime, MarketRemainder, Phase, Trade, auction_of};

/// Why an incoming order trades no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    /// It is filled, or nothing more is within its limit.
    Done,
    /// The next price is beyond the band.
    Band,
    /// It has ended: its owner's order was next.
    SelfTrade,
}

impl Model {
    /// An order comes in, or comes in anew: it waits, trades, or rests.
    pub(super) fn come_in(&mut self, incoming: Working) {
        let phase = self.market(incoming.order.instrument).phase;
        if incoming.trigger.is_some() {
            self.wait_for_trigger(incoming);
        } else if incoming.order.lifetime == Lifetime::AtTheClose
            && auction_of(phase) != Some(Auction::Closing)
        {
            self.orders.push(Working { place: Place::Close, ..incoming });
        } else if phase == Phase::Continuous {
            self.carry_out(incoming);
        } else {
            self.rest(incoming);
        }
    }

    /// In continuous trading.
    pub(super) fn carry_out(&mut self, mut incoming: Working) {
        let needed =
            if incoming.order.lifetime == Lifetime::FillOrKill { incoming.open } else { incoming.minimum };
        if self.fillable(&incoming) < i128::from(needed) {
            return self.say(Event::Cancelled(incoming.state(), Reason::NotFillable));
        }
        let (stopped, last) = self.trade(&mut incoming);
        if stopped == Stopped::SelfTrade || incoming.open == 0 {
            return;
        }
        let (instrument, is_market) = (incoming.order.instrument, incoming.is_market());
        if stopped == Stopped::Band && !is_market {
            self.interrupt(instrument);
        }
        match self.rests_at(&incoming, last) {
            Some(price) => self.rest(Working { price: Some(price), ..incoming }),
            None => self.say(Event::Cancelled(incoming.state(), Reason::NoLiquidity)),
        }
    }

    /// At which price the rest goes into the book, if it does.
    fn rests_at(&self, incoming: &Working, last: Option<i64>) -> Option<i64> {
        if matches!(incoming.order.lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill) {
            return None;
        }
        let remainder = self.market(incoming.order.instrument).rules.market.market_remainder;
        match remainder {
            _ if !incoming.is_market() => incoming.price,
            MarketRemainder::Cancel => None,
            MarketRemainder::RestAtLastPrice => last,
        }
    }

    /// Trades until something stops it; the price of the last trade.
    fn trade(&mut self, incoming: &mut Working) -> (Stopped, Option<i64>) {
        let instrument = incoming.order.instrument;
        let band = self.band(instrument);
        let mut last = None;
        while incoming.open > 0 {
            let Some(next) = self.first(instrument, incoming.order.side.opposite()).copied() else { break };
            let price = next.price.expect("market orders do not rest in continuous trading");
            if !incoming.allows(price) {
                break;
            }
            if is_beyond(band, price) {
                return (Stopped::Band, last);
            }
            if self.is_prevented(incoming, &next) {
                if self.prevent(incoming, &next) {
                    return (Stopped::SelfTrade, last);
                }
                continue;
            }
            self.trade_with(incoming, next.order.id, price);
            last = Some(price);
        }
        (Stopped::Done, last)
    }

    fn trade_with(&mut self, incoming: &mut Working, id: u64, price: i64) {
        let quantity = incoming.open.min(self.working(id).unwrap().shown);
        incoming.fill(quantity);
        self.working_mut(id).fill(quantity);
        let (own, other) = (incoming.state(), self.working(id).unwrap().state());
        let (buy, sell, aggressor) = match incoming.order.side {
            Side::Buy => (own, other, Aggressor::Buy),
            Side::Sell => (other, own, Aggressor::Sell),
        };
        self.trades += 1;
        let (price, quantity) = (Price(price), Quantity(quantity));
        self.say(Event::Traded(Trade { id: self.trades, price, quantity, aggressor, buy, sell }));
        self.after_trade(incoming.order.instrument, price.0);
        self.tidy(id);
    }

    /// The price of a trade counts.
    pub(super) fn after_trade(&mut self, instrument: InstrumentId, price: i64) {
        self.market_mut(instrument).last = Some(price);
        self.reach_stops(instrument, price);
    }

    /// After a trade of a resting order: it is filled, or an iceberg may show its next part.
    pub(super) fn tidy(&mut self, id: u64) {
        let working = self.working(id).unwrap();
        if working.open == 0 {
            self.take_out(id);
        } else if working.shown == 0 {
            self.refresh(id);
        }
    }

    /// Goes into the book, behind all others at its price.
    pub(super) fn rest(&mut self, incoming: Working) {
        let turn = self.arrival();
        let working = Working { place: Place::Book, shown: incoming.part(), turn, ..incoming };
        if !self.has_room(&working) {
            return self.say(Event::Cancelled(incoming.state(), Reason::Overload));
        }
        self.say(Event::Rested(working.state()));
        self.orders.push(working);
    }

    /// What is open at one price fits a number.
    fn has_room(&self, working: &Working) -> bool {
        let queue = self.queue(working.order.instrument, working.order.side);
        let level = queue.into_iter().filter(|other| other.price == working.price);
        let open: i128 = level.map(|other| i128::from(other.open)).sum();
        open + i128::from(working.open) <= i128::from(i64::MAX)
    }
}
