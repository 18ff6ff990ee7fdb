//! The volume known from a LOBSTER file: orders by number, and volume of which only price and size are known
//! ("anonymous": it rests from before the first message, or came into view from outside of the file's levels).

use std::collections::{BTreeMap, HashMap};

use wire::{BookAction, Price, Side};

use crate::source::SourceEvent;

/// References of anonymous volume have this bit; they are made of side and price.
pub(crate) const ANONYMOUS: u64 = 1 << 63;
const SELL: u64 = 1 << 62;

fn anonymous_ref(side: Side, price: Price) -> u64 {
    let side = if side == Side::Sell { SELL } else { 0 };
    ANONYMOUS | side | (price.0 as u64 / 100_000)
}

/// True when `price` is further from the market than `than`.
pub(crate) fn is_worse(side: Side, price: Price, than: Price) -> bool {
    match side {
        Side::Buy => price < than,
        Side::Sell => price > than,
    }
}

#[derive(Clone, Copy, Debug)]
struct Order {
    side: Side,
    price: Price,
    remaining: i64,
    /// It rests from before the first row, and only later rows name it.
    is_prior: bool,
}

#[derive(Clone, Debug, Default)]
struct LevelVolume {
    anonymous: i64,
    total: i64,
    /// Of that: of orders from before the first row.
    prior: i64,
    /// Numbers of the known orders, oldest first.
    orders: Vec<u64>,
}

/// Both sides; changes add their events.
#[derive(Debug, Default)]
pub(crate) struct Depth {
    orders: HashMap<u64, Order>,
    bids: BTreeMap<Price, LevelVolume>,
    asks: BTreeMap<Price, LevelVolume>,
    /// An orderbook file gives the volume at each price, so the totals here are right.
    totals: bool,
}

/// The result of a cancel or an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The part of the row's quantity that was there.
    pub(crate) quantity: i64,
    /// The row takes more than was left of a known order.
    pub(crate) excess: bool,
}

impl Depth {
    pub(crate) fn new(totals: bool) -> Depth {
        Depth { totals, ..Depth::default() }
    }

    fn side(&mut self, side: Side) -> &mut BTreeMap<Price, LevelVolume> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    pub(crate) fn knows(&self, order: u64) -> bool {
        self.orders.contains_key(&order)
    }

    /// Side, price and remaining quantity of a known order.
    pub(crate) fn order(&self, order: u64) -> Option<(Side, Price, i64)> {
        self.orders.get(&order).map(|order| (order.side, order.price, order.remaining))
    }

    /// The best price of a side.
    pub(crate) fn best(&self, side: Side) -> Option<Price> {
        match side {
            Side::Buy => self.bids.last_key_value(),
            Side::Sell => self.asks.first_key_value(),
        }
        .map(|(&price, _)| price)
    }

    /// Whether the best bid is at or above the best ask.
    pub(crate) fn is_crossed(&self) -> bool {
        self.best(Side::Buy).is_some_and(|bid| self.crosses(Side::Buy, bid))
    }

    /// Whether an order at this price would trade instead of resting.
    pub(crate) fn crosses(&self, side: Side, price: Price) -> bool {
        self.best(side.opposite()).is_some_and(|best| !is_worse(side, price, best))
    }

    pub(crate) fn add(&mut self, event: &mut SourceEvent, id: u64, side: Side, price: Price, quantity: i64) {
        self.orders.insert(id, Order { side, price, remaining: quantity, is_prior: false });
        let level = self.side(side).entry(price).or_default();
        level.total += quantity;
        level.orders.push(id);
        event.push(BookAction::Add, side, id, price, quantity);
    }

    /// An order from before the first row, which a later row names.
    pub(crate) fn add_prior(
        &mut self,
        event: &mut SourceEvent,
        id: u64,
        side: Side,
        price: Price,
        quantity: i64,
    ) {
        self.add(event, id, side, price, quantity);
        if let Some(order) = self.orders.get_mut(&id) {
            order.is_prior = true;
        }
        self.side(side).entry(price).or_default().prior += quantity;
    }

    /// Whether the best level of a side holds an order from before the first row.
    pub(crate) fn stands_on_prior(&self) -> bool {
        let best = [self.bids.last_key_value(), self.asks.first_key_value()];
        best.into_iter().flatten().any(|(_, level)| level.prior > 0)
    }

    /// Deletes a known order completely.
    pub(crate) fn delete(&mut self, event: &mut SourceEvent, id: u64) {
        if let Some(order) = self.orders.get(&id).copied() {
            self.take_known(event, BookAction::Delete, id, order.price, order.remaining);
        }
    }

    /// Removes volume: from the order with this number; otherwise from the anonymous volume at the price; otherwise, if
    /// totals are right, from the known orders there, newest first (one of them must have ended out of view).
    pub(crate) fn take(
        &mut self,
        event: &mut SourceEvent,
        action: BookAction,
        id: u64,
        side: Side,
        price: Price,
        quantity: i64,
    ) -> Found {
        if let Some(order) = self.orders.get(&id).copied() {
            // A deletion removes the whole order. If the row names less than is known, the difference left unseen
            // before; where totals are right, other volume is in its place.
            let whole = action == BookAction::Delete;
            let taken = if whole { order.remaining } else { quantity.min(order.remaining) };
            self.take_known(event, action, id, price, taken);
            if whole && self.totals && order.remaining > quantity {
                let kept = self.anonymous(order.side, order.price) + order.remaining - quantity;
                self.set_anonymous(event, order.side, order.price, kept);
            }
            let over = quantity - taken;
            if over > 0 && self.totals {
                self.take_unknown(event, action, order.side, order.price, over);
            }
            return Found { quantity: taken.min(quantity), excess: over > 0 };
        }
        Found { quantity: self.take_unknown(event, action, side, price, quantity), excess: false }
    }

    fn take_known(
        &mut self,
        event: &mut SourceEvent,
        action: BookAction,
        id: u64,
        trade_price: Price,
        quantity: i64,
    ) {
        let Some(order) = self.orders.get_mut(&id) else { return };
        order.remaining -= quantity;
        let Order { side, price, remaining, is_prior } = *order;
        let (action, shown) = match action {
            BookAction::Execute => (BookAction::Execute, trade_price),
            _ if remaining == 0 => (BookAction::Delete, price),
            _ => (BookAction::Reduce, price),
        };
        if remaining == 0 {
            self.orders.remove(&id);
        }
        let levels = self.side(side);
        if let Some(level) = levels.get_mut(&price) {
            level.total -= quantity;
            if is_prior {
                level.prior -= quantity;
            }
            if remaining == 0 {
                level.orders.retain(|&other| other != id);
            }
            if level.total == 0 {
                levels.remove(&price);
            }
        }
        event.push(action, side, id, shown, quantity);
    }

    fn take_unknown(
        &mut self,
        event: &mut SourceEvent,
        action: BookAction,
        side: Side,
        price: Price,
        quantity: i64,
    ) -> i64 {
        let anonymous = self.anonymous(side, price);
        let mut taken = quantity.min(anonymous);
        if taken > 0 {
            let levels = self.side(side);
            if let Some(level) = levels.get_mut(&price) {
                level.anonymous -= taken;
                level.total -= taken;
                if level.total == 0 {
                    levels.remove(&price);
                }
            }
            let action = match action {
                BookAction::Execute => BookAction::Execute,
                _ if taken == anonymous => BookAction::Delete,
                _ => BookAction::Reduce,
            };
            event.push(action, side, anonymous_ref(side, price), price, taken);
        }
        while self.totals && taken < quantity {
            let newest = self.side(side).get(&price).and_then(|level| level.orders.last().copied());
            let Some((id, order)) = newest.and_then(|id| self.orders.get(&id).map(|order| (id, *order)))
            else {
                break;
            };
            let part = order.remaining.min(quantity - taken);
            self.take_known(event, action, id, price, part);
            taken += part;
        }
        taken
    }

    fn anonymous(&mut self, side: Side, price: Price) -> i64 {
        self.side(side).get(&price).map_or(0, |level| level.anonymous)
    }

    fn set_anonymous(&mut self, event: &mut SourceEvent, side: Side, price: Price, quantity: i64) {
        let before = self.anonymous(side, price);
        if before == quantity {
            return;
        }
        let levels = self.side(side);
        let level = levels.entry(price).or_default();
        level.total += quantity - before;
        level.anonymous = quantity;
        if level.total == 0 {
            levels.remove(&price);
        }
        let (action, shown) = match (before, quantity) {
            (0, _) => (BookAction::Add, quantity),
            (_, 0) => (BookAction::Delete, before),
            _ => (BookAction::Modify, quantity),
        };
        event.push(action, side, anonymous_ref(side, price), price, shown);
    }

    /// Sets the total at a price to that of the orderbook file; false when it was equal already. If more is known, it
    /// cannot be determined which orders are gone: all of the level becomes anonymous.
    pub(crate) fn set_total(
        &mut self,
        event: &mut SourceEvent,
        side: Side,
        price: Price,
        total: i64,
    ) -> bool {
        let (known, anonymous) = self
            .side(side)
            .get(&price)
            .map_or((0, 0), |level| (level.total - level.anonymous, level.anonymous));
        if known + anonymous == total {
            return false;
        }
        if known > total {
            self.drop_known(event, side, price);
            self.set_anonymous(event, side, price, total);
        } else {
            self.set_anonymous(event, side, price, total - known);
        }
        true
    }

    fn drop_known(&mut self, event: &mut SourceEvent, side: Side, price: Price) -> u64 {
        let ids = self.side(side).get(&price).map(|level| level.orders.clone()).unwrap_or_default();
        ids.iter().for_each(|&id| self.delete(event, id));
        ids.len() as u64
    }

    /// Removes every level of `side` that is better than `price`, or equal: they cannot exist. Returns the number of
    /// removed orders.
    pub(crate) fn drop_refuted(
        &mut self,
        event: &mut SourceEvent,
        side: Side,
        price: Price,
        or_equal: bool,
    ) -> u64 {
        let mut dropped = 0;
        loop {
            let best = match side {
                Side::Buy => self.bids.last_key_value(),
                Side::Sell => self.asks.first_key_value(),
            };
            let refuted = best
                .map(|(&best, _)| best)
                .filter(|&best| is_worse(side, price, best) || (or_equal && best == price));
            let Some(best) = refuted else { return dropped };
            dropped += self.drop_known(event, side, best);
            if self.anonymous(side, best) > 0 {
                dropped += 1;
                self.set_anonymous(event, side, best, 0);
            }
        }
    }

    /// Prices of `side` from `better` (exclusive) down to `worst`, where `None` means no bound.
    pub(crate) fn prices_between(
        &self,
        side: Side,
        better: Option<Price>,
        worst: Option<Price>,
    ) -> Vec<Price> {
        let levels = if side == Side::Buy { &self.bids } else { &self.asks };
        levels
            .keys()
            .copied()
            .filter(|&price| better.is_none_or(|better| is_worse(side, price, better)))
            .filter(|&price| worst.is_none_or(|worst| !is_worse(side, price, worst)))
            .collect()
    }
}
