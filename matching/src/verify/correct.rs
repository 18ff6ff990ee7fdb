//! Going on after a difference, where the rows of a feed do not tell all that the market knew.

use std::collections::HashMap;

use wire::{Price, Quantity, Side};

use super::INSTRUMENT;
use super::flow::Step;
use super::replay::Replay;
use crate::exchange::Order;

/// What rests by the rows: side, price and quantity of each order.
pub(super) type Resting = HashMap<u64, (Side, Price, i64)>;

impl Replay<'_> {
    /// After a step that differs: sets the levels of its orders to what the rows say, and keeps the places of orders.
    pub(super) fn correct(&mut self, step: &Step) {
        let expected = &self.flow.trades[step.trades.clone()];
        let of_market = expected.iter().flat_map(|trade| [trade.buy, trade.sell]).flatten();
        let found = std::mem::take(&mut self.found);
        let of_exchange = found.iter().flat_map(|trade| [trade.buy, trade.sell]);
        let mut levels: Vec<(Side, Price)> = of_exchange
            .clone()
            .map(|order| (order.side, order.price))
            .chain(of_market.chain(self.order).filter_map(|id| self.place_of(id)))
            .filter(|(_, price)| price.is_some())
            .collect();
        levels.sort_unstable_by_key(|&(side, price)| (side == Side::Buy, price));
        levels.dedup();
        for (side, price) in levels {
            // What the exchange has traded with was in front.
            let traded = of_exchange.clone().filter(|order| (order.side, order.price) == (side, price));
            let mut queue: Vec<u64> = Vec::new();
            for order in traded {
                if !queue.contains(&order.id) {
                    queue.push(order.id);
                }
            }
            if let Some(book) = self.exchange.book(INSTRUMENT) {
                let resting = book.orders(side).filter(|order| order.price == price).map(|order| order.id);
                queue.extend(resting.filter(|id| !queue.contains(id)).collect::<Vec<_>>());
            }
            let of_step = self.order.filter(|id| self.place_of(*id) == Some((side, price)));
            queue.extend(of_step.filter(|id| !queue.contains(id)));
            self.set_level(side, price, &queue);
        }
        let (differences, refused) = (self.report.differences, self.report.refused);
        self.take_events();
        // What the exchange says to a correction is no difference of its own.
        (self.report.differences, self.report.refused) = (differences, refused);
        self.report.listed.truncate(differences.try_into().unwrap_or(usize::MAX));
    }

    /// Side and price of an order that rests, by the rows or in the exchange.
    fn place_of(&self, id: u64) -> Option<(Side, Price)> {
        let by_rows = self.market.get(&id).map(|&(side, price, _)| (side, price));
        by_rows.or_else(|| self.exchange.order(id).map(|state| (state.side, state.price)))
    }

    /// Puts the orders of a level in anew, in this order, each with what is left of it by the rows.
    fn set_level(&mut self, side: Side, price: Price, queue: &[u64]) {
        for &id in queue {
            let open = self.exchange.order(id).map(|state| state.open.0);
            let left = self.market.get(&id).map(|&(_, _, left)| left);
            self.report.corrected += u64::from(open != left);
            if open.is_some() {
                self.exchange.cancel(id, &mut self.events);
            }
        }
        for id in queue {
            let Some(&(_, _, left)) = self.market.get(id) else { continue };
            // It rests in the market, so it must not trade here either.
            let order = Order::limit(*id, INSTRUMENT, side, price, Quantity(left));
            self.exchange.submit(&Order { post_only: true, ..order }, &mut self.events);
        }
    }
}

/// Takes a quantity from an order.
pub(super) fn lower(market: &mut Resting, id: u64, quantity: Quantity) {
    if let Some(resting) = market.get_mut(&id) {
        resting.2 = resting.2.saturating_sub(quantity.0);
        if resting.2 <= 0 {
            market.remove(&id);
        }
    }
}
