//! Call auctions of the recorded market.

use wire::*;

use super::{CallAuctions, FillModel, Naive, Resting};

impl Naive {
    pub(super) fn uncrosses(&self) -> bool {
        self.options.call_auctions == CallAuctions::Uncross
    }

    pub(super) fn collects(&self) -> bool {
        self.uncrosses() && !self.uncrossed
    }

    /// Of the next message.
    pub(super) fn phase(&mut self, auction: bool) {
        let ends = std::mem::replace(&mut self.auction, auction) && !auction;
        if ends && self.uncrosses() {
            self.uncrossed = false;
            let cross = |buy: &Resting, sell: &Resting| (buy.price >= sell.price).then_some(None);
            self.pair_while(|order| order.own || order.side == Side::Sell, cross);
            self.pair_while(|order| order.own == (order.side == Side::Sell), cross);
        } else if ends && self.options.fill == FillModel::Book {
            for side in [Side::Buy, Side::Sell] {
                for order in self.sorted(side).into_iter().filter(|order| !order.own) {
                    self.offer_anew(order.id);
                }
            }
        }
    }

    pub(super) fn uncross_at(&mut self, price: i64) {
        if !std::mem::replace(&mut self.uncrossed, true) {
            let both = |buy: &Resting, sell: &Resting| buy.price >= price && sell.price <= price;
            self.pair_while(|_| true, |buy, sell| both(buy, sell).then_some(Some(price)));
        }
    }

    pub(super) fn print_of_auction(&mut self, price: i64, quantity: i64) {
        if self.auction && self.uncrosses() && quantity > 0 {
            self.uncross_at(price);
            self.serve(Side::Buy, quantity, Some(price), |own| own.price > price);
            self.serve(Side::Sell, quantity, Some(price), |own| own.price < price);
        }
    }

    /// One share after the other: the first buyer that has a share left with the first such seller. What two orders of the
    /// market trade with each other is not written down. Shares that the same two trade in a row are one trade.
    fn pair_while(
        &mut self,
        takes_part: impl Fn(&Resting) -> bool,
        may: impl Fn(&Resting, &Resting) -> Option<Option<i64>>,
    ) {
        let shares = |orders: Vec<Resting>| -> Vec<Resting> {
            let shares = orders.into_iter().filter(&takes_part).flat_map(|order| {
                std::iter::repeat_n(order, usize::try_from(order.open - order.taken).unwrap())
            });
            shares.collect()
        };
        let (buys, sells) = (shares(self.sorted(Side::Buy)), shares(self.sorted(Side::Sell)));
        let mut trades: Vec<(Resting, Resting, i64, i64)> = Vec::new();
        for (buy, sell) in buys.into_iter().zip(sells) {
            let Some(price) = may(&buy, &sell) else { break };
            if !buy.own && !sell.own {
                continue;
            }
            let limit = if !buy.own { buy.price } else { sell.price };
            let same = |trade: &&mut (Resting, Resting, i64, i64)| {
                (trade.0.own, trade.0.id, trade.1.own, trade.1.id) == (buy.own, buy.id, sell.own, sell.id)
            };
            match trades.last_mut().filter(same) {
                Some(trade) => trade.3 += 1,
                None => trades.push((buy, sell, price.unwrap_or(limit), 1)),
            }
        }
        for (buy, sell, price, quantity) in trades {
            self.trades += 1;
            for order in [buy, sell] {
                let mut order = self.get(order.own, order.id).unwrap();
                if order.own {
                    self.traded(&mut order, price, quantity, Liquidity::Maker);
                } else {
                    order.taken += quantity;
                    self.store(order);
                }
            }
        }
    }
}
