//! What all rules share: the records, the numbers of trades, and the two ways in which own orders trade.

use wire::{AccountId, Fill, Liquidity, Nanos, Price, Quantity, Side};

use super::EngineOptions;
use super::anomalies::{Anomalies, count};
use super::arena::Arena;
use super::book::Book;
use super::index::IdMap;
use super::ladder::Ladder;
use super::options::Queue;
use super::order::{Order, Trade};
use super::own::OwnOrders;
use super::sink::Sink;
use super::slab::{Slab, Slot};

/// Everything but the books themselves.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) options: EngineOptions,
    pub(crate) arena: Arena,
    pub(crate) own: OwnOrders,
    pub(crate) anomalies: Anomalies,
    /// Of working orders, where self-trades are prevented by account; else empty.
    pub(crate) accounts: IdMap<AccountId>,
    trades: u64,
}

/// Volume that comes in from the market and meets own resting orders first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggression {
    /// Rank of the last level that it reaches.
    pub(crate) floor: i64,
    /// It stops before this order; [`Slot::NONE`]: it takes the whole level.
    pub(crate) stop: Slot,
    /// How much of it there is.
    pub(crate) quantity: Quantity,
    /// The auction's price, which every order gets that asked for no better one.
    pub(crate) auction: Option<Price>,
}

impl Core {
    pub(crate) fn new(options: EngineOptions) -> Core {
        let mut own = OwnOrders::default();
        own.reserve(options.expected_orders);
        Core {
            options,
            arena: Arena {
                orders: Slab::with_capacity(options.expected_orders, options.huge_pages),
                levels: Slab::with_capacity(options.expected_orders, options.huge_pages),
            },
            own,
            anomalies: Anomalies::default(),
            accounts: IdMap::default(),
            trades: 0,
        }
    }

    pub(crate) fn number_trades_after(&mut self, trade: u64) {
        self.trades = trade;
    }

    pub(crate) fn last_trade(&self) -> u64 {
        self.trades
    }

    /// Numbers a trade.
    pub(crate) fn trade(&mut self, price: Price, quantity: Quantity) -> Trade {
        self.trades = self.trades.wrapping_add(1);
        Trade { id: self.trades, price, quantity }
    }

    /// An own resting order trades; once filled it leaves the book.
    pub(crate) fn fill_resting<S: Sink>(
        &mut self,
        ladder: &mut Ladder,
        slot: Slot,
        trade: Trade,
        time: Nanos,
        sink: &mut S,
    ) {
        let open = self.arena.orders[slot].open - trade.quantity;
        let order = self.arena.set(slot, open, Quantity::ZERO);
        report(&order, trade, Liquidity::Maker, time, sink);
        if open == Quantity::ZERO {
            self.remove_own(ladder, slot);
            self.forget_account(order.id);
        }
    }

    /// Takes an own order out of the book and out of its strategy's list.
    pub(crate) fn remove_own(&mut self, ladder: &mut Ladder, slot: Slot) -> Order {
        self.own.unlink(&mut self.arena, slot);
        ladder.remove(&mut self.arena, slot)
    }

    /// Fills the own orders that `aggression` meets, best price and longest wait first, each at its own price
    /// (in an auction: at the auction's, where that is better for it). Market orders are skipped. Returns
    /// the quantity that was filled.
    pub(crate) fn serve<S: Sink>(
        &mut self,
        ladder: &mut Ladder,
        aggression: Aggression,
        time: Nanos,
        sink: &mut S,
    ) -> Quantity {
        let mut left = aggression.quantity;
        let mut index = ladder.len();
        while index > 0 && ladder.own > 0 && left > Quantity::ZERO {
            index -= 1;
            if ladder.rank_at(index) < aggression.floor {
                break;
            }
            let level = self.arena.levels[ladder.level_at(index)];
            if level.own == 0 {
                continue;
            }
            let price = match aggression.auction {
                Some(auction) if ladder.rank(auction) < ladder.rank(level.price) => auction,
                _ => level.price,
            };
            let mut slot = level.head;
            while slot.is_some() && slot != aggression.stop && left > Quantity::ZERO {
                let order = self.arena.orders[slot];
                if order.is_own() {
                    let trade = self.trade(price, order.open.min(left));
                    left -= trade.quantity;
                    self.fill_resting(ladder, slot, trade, time, sink);
                }
                slot = order.next;
            }
        }
        aggression.quantity - left
    }

    /// A trade against volume that is not in the book, on `side`: own orders at strictly better prices would have
    /// been first. At the same price the engine cannot know who was, and fills nobody, unless `at_price` says that own
    /// orders were first there too.
    pub(crate) fn trade_through<S: Sink>(
        &mut self,
        book: &mut Book,
        side: Side,
        (price, quantity): (Price, Quantity),
        at_price: bool,
        sink: &mut S,
    ) {
        if !price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        let time = book.event_time;
        let ladder = &mut book.half_mut(side).ladder;
        if let Some(floor) = ladder.rank(price).checked_add(i64::from(!at_price)) {
            let aggression = Aggression { floor, stop: Slot::NONE, quantity, auction: None };
            self.serve(ladder, aggression, time, sink);
        }
    }

    /// A trade of which no side came in, and no cross: own orders of both sides at strictly better prices trade up to its quantity.
    pub(crate) fn trade_without_side<S: Sink>(
        &mut self,
        book: &mut Book,
        (price, quantity): (Price, Quantity),
        sink: &mut S,
    ) {
        if !price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        self.trade_on_both_sides(book, price, [quantity; 2], None, sink);
    }

    /// Own orders at strictly better prices than `price` trade up to the quantity of their side, buyers first, at `auction`
    /// where that is better for them. At the same price only an order that is before all ([`Queue::Touch`]) trades, and not in a cross.
    /// Returns the quantities.
    pub(crate) fn trade_on_both_sides<S: Sink>(
        &mut self,
        book: &mut Book,
        price: Price,
        quantities: [Quantity; 2],
        auction: Option<Price>,
        sink: &mut S,
    ) -> [Quantity; 2] {
        let time = book.event_time;
        let at_price = auction.is_none() && self.options.queue == Queue::Touch;
        let mut filled = [Quantity::ZERO; 2];
        for ((side, quantity), filled) in [Side::Buy, Side::Sell].into_iter().zip(quantities).zip(&mut filled)
        {
            let ladder = &mut book.half_mut(side).ladder;
            if quantity > Quantity::ZERO
                && let Some(floor) = ladder.rank(price).checked_add(i64::from(!at_price))
            {
                let aggression = Aggression { floor, stop: Slot::NONE, quantity, auction };
                *filled = self.serve(ladder, aggression, time, sink);
            }
        }
        filled
    }
}

/// Reports to the sink that `order`, already reduced, traded, and its new state.
pub(crate) fn report<S: Sink>(order: &Order, trade: Trade, liquidity: Liquidity, time: Nanos, sink: &mut S) {
    let fill: Fill = order.fill(trade, liquidity, time);
    sink.fill(&fill);
    sink.update(&order.update_after_fill(time));
}
