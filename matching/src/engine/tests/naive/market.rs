//! What the market does to the naive model.

use wire::*;

use super::{Naive, Resting, priority};

impl Naive {
    /// Fills own orders of `side` for which `before` holds; the auction's price where that is better for them.
    pub(super) fn serve(
        &mut self,
        side: Side,
        quantity: i64,
        auction: Option<i64>,
        before: impl Fn(&Resting) -> bool,
    ) -> i64 {
        let mut left = quantity;
        for mut order in self.sorted(side).into_iter().filter(|order| order.own) {
            if left > 0 && before(&order) {
                let better = auction.filter(|&price| priority(side, price) > priority(side, order.price));
                let quantity = left.min(order.open);
                left -= quantity;
                self.trades += 1;
                let price = better.unwrap_or(order.price);
                self.traded(&mut order, price, quantity, Liquidity::Maker);
            }
        }
        quantity - left
    }

    pub(super) fn through(&mut self, side: Side, price: i64, quantity: i64, at_price: bool) {
        if quantity > 0 {
            self.serve(side, quantity, None, |order| {
                let (own, other) = (priority(side, order.price), priority(side, price));
                own < other || at_price && own == other
            });
        }
    }

    pub(super) fn offer_anew(&mut self, reference: u64) {
        if self.auction {
            return;
        }
        let order = self.market(reference).unwrap();
        let side = order.side.opposite();
        let crossed = |own: &Resting| match side {
            Side::Buy => own.price >= order.price,
            Side::Sell => own.price <= order.price,
        };
        let filled = self.serve(side, order.open - order.taken, None, crossed);
        self.store(Resting { taken: order.taken + filled, ..order });
    }

    pub(super) fn event(&mut self, event: &BookEvent) {
        if !matches!(event.action, BookAction::Add | BookAction::Clear) {
            self.swept.clear();
        }
        let known = self.market(event.order_ref);
        let quantity = event.quantity.0;
        let (is_hidden, is_sided) =
            (event.flags & BookEvent::HIDDEN != 0, event.flags & BookEvent::NO_SIDE == 0);
        let is_of_cross = !is_hidden && (self.auction || !is_sided);
        match (event.action, known) {
            (BookAction::Add, None) | (BookAction::Modify, None) if quantity > 0 => {
                let swept = self.swept.remove(&event.order_ref);
                let taken = swept.map_or(0, |order| order.taken.min(quantity));
                let order = Resting {
                    own: false,
                    id: event.order_ref,
                    side: event.side,
                    price: event.price.0,
                    open: quantity,
                    quantity: 0,
                    taken,
                    arrival: 0,
                    post_only: false,
                    account: AccountId::OWN,
                };
                match swept.filter(|old| {
                    old.side == order.side && old.price == order.price && old.open >= order.open
                }) {
                    Some(old) => self.orders.push(Resting { arrival: old.arrival, ..order }),
                    None => self.queue(order),
                }
                self.offer_anew(event.order_ref);
            }
            (BookAction::Reduce, Some(order)) if quantity > 0 => self.take_away(order, quantity),
            (BookAction::Delete, Some(order)) => self.remove(order),
            (BookAction::Execute, Some(order))
                if quantity > 0 && (self.auction || event.flags & BookEvent::UNPRINTED != 0) =>
            {
                if is_of_cross {
                    self.execute_in_cross(order.id, event.price.0, quantity);
                }
                let order = self.market(order.id).unwrap();
                self.take_away(order, quantity);
            }
            (BookAction::Execute, Some(order)) if quantity > 0 => {
                let auction = Some(event.price.0).filter(|&price| price != order.price);
                self.serve(order.side, quantity.min(order.open), auction, |own| {
                    (priority(own.side, own.price), own.arrival)
                        < (priority(order.side, order.price), order.arrival)
                });
                self.take_away(order, quantity);
            }
            (BookAction::Execute, None) | (BookAction::Trade, _) if is_of_cross => self.trade_in_cross(event),
            (BookAction::Execute, None) | (BookAction::Trade, _) if self.auction => {}
            (BookAction::Execute, None) | (BookAction::Trade, _) => {
                let hidden = event.action == BookAction::Trade && event.flags & BookEvent::HIDDEN != 0;
                if event.flags & BookEvent::NO_SIDE != 0 {
                    return [Side::Buy, Side::Sell].into_iter().for_each(|side| {
                        self.through(side, event.price.0, quantity, false);
                    });
                }
                let at_price = hidden && self.options.displayed_first;
                self.through(event.side, event.price.0, quantity, at_price);
            }
            (BookAction::Modify, Some(order)) if quantity == 0 => self.remove(order),
            (BookAction::Modify, Some(mut order)) if quantity > 0 => {
                let moves = event.price.0 != order.price || event.flags & BookEvent::LOSES_PRIORITY != 0;
                (order.price, order.open) = (event.price.0, quantity);
                order.taken = order.taken.min(quantity);
                if moves {
                    self.remove(order);
                    self.queue(order);
                } else {
                    self.store(order);
                }
                self.offer_anew(event.order_ref);
            }
            (BookAction::Clear, _) => {
                let swept = self.orders.iter().filter(|order| !order.own).map(|order| (order.id, *order));
                self.swept.extend(swept);
                self.orders.retain(|order| order.own);
            }
            _ => {}
        }
    }

    fn take_away(&mut self, mut order: Resting, quantity: i64) {
        order.open -= quantity;
        order.taken = order.taken.min(order.open);
        if order.open <= 0 { self.remove(order) } else { self.store(order) }
    }

    pub(super) fn take_quoted(&mut self, side: usize, price: i64, quantity: i64) {
        let level = self.quoted[side].iter_mut().find(|level| level.0 == price).unwrap();
        *self.taken[side].entry(price).or_insert(0) += quantity;
        level.1 -= quantity;
        if self.taken[side].len() > LEVELS {
            if side == 0 {
                self.taken[side].pop_first()
            } else {
                self.taken[side].pop_last()
            };
        }
    }

    pub(super) fn load(&mut self, quote: &Quote) {
        for (mine, shown) in self.quoted.iter_mut().zip([&quote.bids, &quote.asks]) {
            *mine = shown.iter().filter(|level| level.is_some()).map(|l| (l.price.0, l.quantity.0)).collect();
        }
        for (side, (mine, taken)) in
            [Side::Buy, Side::Sell].into_iter().zip(self.quoted.iter_mut().zip(&mut self.taken))
        {
            let worst = mine.iter().map(|level| priority(side, level.0)).max();
            taken.retain(|&price, _| {
                let is_shown = mine.iter().any(|level| level.0 == price);
                worst.is_some_and(|worst| is_shown || priority(side, price) > worst)
            });
            for level in mine {
                if let Some(quantity) = taken.get_mut(&level.0) {
                    *quantity = level.1.min(*quantity);
                    level.1 -= *quantity;
                }
            }
            taken.retain(|_, quantity| *quantity > 0);
        }
    }

    /// What the latest quote offers trades with the own orders that it reaches.
    pub(super) fn meet(&mut self) {
        for side in [Side::Buy, Side::Sell] {
            for level in 0..self.quoted[usize::from(side == Side::Buy)].len() {
                let (price, left) = self.quoted[usize::from(side == Side::Buy)][level];
                let filled = self.serve(side, left, None, |own| match side {
                    Side::Buy => own.price >= price,
                    Side::Sell => own.price <= price,
                });
                if filled > 0 {
                    self.take_quoted(usize::from(side == Side::Buy), price, filled);
                }
            }
        }
    }
}
