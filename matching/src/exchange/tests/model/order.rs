//! A working order.

use wire::{InstrumentId, Price, Quantity, Side};

use crate::exchange::{Order, OrderState};

/// Where an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is being carried out.
    Incoming,
    /// In the book.
    Book,
    /// Waits for a trade.
    Stop,
    /// Waits for the closing auction.
    Close,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Working {
    /// As it came in.
    pub(super) order: Order,
    /// Its limit.
    pub(super) price: Option<i64>,
    /// What it waits for.
    pub(super) trigger: Option<i64>,
    /// How much it must trade at once.
    pub(super) minimum: i64,
    pub(super) filled: i64,
    pub(super) open: i64,
    pub(super) shown: i64,
    pub(super) place: Place,
    /// Orders the queue at its price, and the stops.
    pub(super) turn: u64,
    /// Orders those that end together.
    pub(super) age: u64,
    /// A stop: a trade has reached it.
    pub(super) reached: bool,
}

impl Working {
    pub(super) fn new(order: &Order, arrival: u64) -> Working {
        Working {
            order: *order,
            price: order.kind.price().map(|price| price.0),
            trigger: order.kind.trigger().map(|trigger| trigger.0),
            minimum: order.minimum.0,
            filled: 0,
            open: order.quantity.0,
            shown: 0,
            place: Place::Incoming,
            turn: arrival,
            age: arrival,
            reached: false,
        }
    }

    pub(super) fn state(&self) -> OrderState {
        OrderState {
            id: self.order.id,
            instrument: self.order.instrument,
            side: self.order.side,
            account: self.order.account,
            strategy: self.order.strategy,
            price: self.price.map_or(Price::NONE, Price),
            filled: Quantity(self.filled),
            open: Quantity(self.open),
            shown: Quantity(self.shown),
        }
    }

    pub(super) fn is_of(&self, instrument: InstrumentId) -> bool {
        self.order.instrument == instrument
    }

    pub(super) fn is_in_book(&self) -> bool {
        self.place == Place::Book
    }

    /// It has neither a limit nor anything to wait for.
    pub(super) fn is_market(&self) -> bool {
        self.price.is_none() && self.trigger.is_none()
    }

    pub(super) fn hidden(&self) -> i64 {
        self.open - self.shown
    }

    /// How much of what is open the book may show.
    pub(super) fn part(&self) -> i64 {
        if self.order.display.0 == 0 { self.open } else { self.open.min(self.order.display.0) }
    }

    /// Smallest first: market orders, then the better price, then the earlier turn.
    pub(super) fn priority(&self) -> (bool, i128, u64) {
        let price = i128::from(self.price.unwrap_or(0));
        let worse = if self.order.side == Side::Buy { -price } else { price };
        (self.price.is_some(), worse, self.turn)
    }

    /// Whether its limit allows this price.
    pub(super) fn allows(&self, price: i64) -> bool {
        match (self.price, self.order.side) {
            (None, _) => true,
            (Some(limit), Side::Buy) => price <= limit,
            (Some(limit), Side::Sell) => price >= limit,
        }
    }

    /// So much of it has traded.
    pub(super) fn fill(&mut self, quantity: i64) {
        self.filled += quantity;
        self.open -= quantity;
        if self.place == Place::Book {
            self.shown -= quantity;
        }
    }
}
