//! The best bid and ask in 32 bytes: one cache line with the frame's header.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{Level, Nanos, Price, Quantity, Quote};

/// The best level of both sides after one event in the market. The instrument is the frame's topic.
///
/// ```text
///  0       8       16      20      24      32
///  │ bid   │ ask   │ bid   │ ask   │ due   │
///  │ price │ price │ qty   │ qty   │       │
/// ```
///
/// Quantities are in the units of [`Quote`]'s, up to [`Best::MOST`]: a greater one is shown as that, and then means "at
/// least so much". A strategy that has to know the rest asks for the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Best {
    /// Best bid's price, or [`Price::NONE`].
    pub bid: Price,
    /// Best ask's price, or [`Price::NONE`].
    pub ask: Price,
    /// Quantity at the best bid, zero where there is none; [`Best::MOST`]: at least so much.
    pub bid_quantity: u32,
    /// Quantity at the best ask, zero where there is none; [`Best::MOST`]: at least so much.
    pub ask_quantity: u32,
    /// When the schedule wanted it published, as in [`Quote::due`].
    #[field(column = "due_ns")]
    pub due: Nanos,
}

impl Best {
    /// The quantity that stands for itself and every greater one.
    pub const MOST: u32 = u32::MAX;

    /// The first levels of a quote.
    pub fn of(quote: &Quote) -> Best {
        let ([bid, ..], [ask, ..]) = (quote.bids, quote.asks);
        Best {
            bid: bid.price,
            ask: ask.price,
            bid_quantity: short(bid.quantity),
            ask_quantity: short(ask.quantity),
            due: quote.due,
        }
    }

    /// Best bid, if there is one.
    #[inline]
    pub fn best_bid(&self) -> Option<Level> {
        level(self.bid, self.bid_quantity)
    }

    /// Best ask, if there is one.
    #[inline]
    pub fn best_ask(&self) -> Option<Level> {
        level(self.ask, self.ask_quantity)
    }

    /// Half-way between best bid and best ask; `None` where one side is empty.
    pub fn mid(&self) -> Option<Price> {
        let (bid, ask) = (self.best_bid()?.price, self.best_ask()?.price);
        Some(Price(((i128::from(bid.0) + i128::from(ask.0)) / 2) as i64))
    }

    /// True where prices and quantities are the same, whenever they were due.
    pub fn is_same_level(&self, other: &Best) -> bool {
        *self == Best { due: self.due, ..*other }
    }
}

#[inline]
fn level(price: Price, quantity: u32) -> Option<Level> {
    price.is_some().then_some(Level { price, quantity: Quantity(i64::from(quantity)) })
}

/// No market offers less than nothing: what claims to is garbage, and shown as nothing.
fn short(quantity: Quantity) -> u32 {
    u32::try_from(quantity.0.max(0)).unwrap_or(Best::MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InstrumentId;

    fn quote(bid: i64, quantity: i64) -> Quote {
        let mut quote = Quote::empty(InstrumentId(1));
        quote.bids[0] = Level { price: Price(bid), quantity: Quantity(quantity) };
        quote.due = Nanos(7);
        quote
    }

    #[test]
    fn a_best_is_the_first_levels_and_half_a_line() {
        assert_eq!(size_of::<Best>(), 32);
        let best = Best::of(&quote(10, 300));
        assert_eq!(best.best_bid(), Some(Level { price: Price(10), quantity: Quantity(300) }));
        assert_eq!((best.best_ask(), best.mid(), best.due), (None, None, Nanos(7)));
    }

    #[test]
    fn a_quantity_beyond_the_greatest_is_the_greatest_and_never_wraps() {
        let most = i64::from(Best::MOST);
        for (quantity, shown) in
            [(most - 1, most - 1), (most, most), (most + 1, most), (i64::MAX, most), (-1, 0)]
        {
            let bid = Best::of(&quote(10, quantity)).best_bid().unwrap();
            assert_eq!(bid.quantity, Quantity(shown), "{quantity}");
        }
    }

    #[test]
    fn the_mid_is_that_of_the_quote() {
        let mut quote = quote(i64::MAX - 3, 1);
        quote.asks[0] = Level { price: Price(i64::MAX), quantity: Quantity(1) };
        assert_eq!(Best::of(&quote).mid(), quote.mid());
    }

    #[test]
    fn the_same_level_may_be_due_at_another_time() {
        let (one, other) = (Best::of(&quote(10, 3)), Best::of(&quote(10, 4)));
        assert!(one.is_same_level(&Best { due: Nanos(9), ..one }));
        assert!(!one.is_same_level(&other));
    }
}
