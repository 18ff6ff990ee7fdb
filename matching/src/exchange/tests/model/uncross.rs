//! The trades of an auction.

use wire::{Aggressor, InstrumentId, Price, Quantity, Side};

use super::Model;
use crate::exchange::{Auction, Event, IcebergRefresh, Trade};

impl Model {
    pub(super) fn uncross(&mut self, instrument: InstrumentId, auction: Option<Auction>) {
        let clearing = self.clearing(instrument);
        self.say(Event::Uncrossed { instrument, auction, equilibrium: clearing.equilibrium() });
        let Some(price) = clearing.price else { return };
        let mut left = clearing.volume;
        while left > 0 {
            left -= i128::from(self.pair(instrument, price, left));
        }
    }

    /// The first buyer trades with the first seller.
    fn pair(&mut self, instrument: InstrumentId, price: i64, left: i128) -> i64 {
        let buy = self.first(instrument, Side::Buy).unwrap().order.id;
        let sell = self.first(instrument, Side::Sell).unwrap().order.id;
        let both = self.working(buy).unwrap().shown.min(self.working(sell).unwrap().shown);
        let quantity = i128::from(both).min(left) as i64;
        self.working_mut(buy).fill(quantity);
        self.working_mut(sell).fill(quantity);
        self.trades += 1;
        self.say(Event::Traded(Trade {
            id: self.trades,
            price: Price(price),
            quantity: Quantity(quantity),
            aggressor: Aggressor::None,
            buy: self.working(buy).unwrap().state(),
            sell: self.working(sell).unwrap().state(),
        }));
        self.after_trade(instrument, price);
        self.tidy(buy);
        self.tidy(sell);
        quantity
    }

    /// The next part of an iceberg is shown.
    pub(super) fn refresh(&mut self, id: u64) {
        let turn = self.arrival();
        let instrument = self.working(id).unwrap().order.instrument;
        let behind = self.market(instrument).rules.market.iceberg == IcebergRefresh::Behind;
        let working = self.working_mut(id);
        working.shown = working.part();
        if behind {
            working.turn = turn;
        }
        let state = working.state();
        self.say(Event::Refreshed(state, behind));
    }
}
