//! The rows of a recorded day as the market published them, all at once, without any book made from them.
//!
//! A [`Source`](super::Source) turns rows into the events of a book that fits. For a comparison with an exchange that
//! would be too much help: here every row stays what it is, also where it contradicts others.

use wire::{Aggressor, Instrument, InstrumentId, Nanos, Price, Quantity, Side};

/// A day.
#[derive(Clone, Debug, Default)]
pub struct PublishedDay {
    /// The instruments, by id from 1.
    pub instruments: Vec<Instrument>,
    /// The rows. Those of one instrument are in the order in which they happened.
    pub rows: Vec<PublishedRow>,
    /// Rows without a meaning for orders: changes of a status, halts, notes.
    pub without_effect: u64,
    /// Rows about orders that no row adds and whose instrument is therefore unknown.
    pub unknown_order: u64,
}

/// Which of a day's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedFile {
    /// Orders and cancels.
    Orders,
    /// Trades.
    Trades,
    /// Everything in one file.
    Messages,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedRow {
    /// Where it stands.
    pub file: PublishedFile,
    /// Line, from 1; a header line counts.
    pub row: u64,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Its time, on the clock of [`super`].
    pub time: Nanos,
    /// The time that the row has, where that one lies out of order and `time` does not.
    pub stated: Nanos,
    /// A trade's own product of price and quantity is not theirs.
    pub off_money: bool,
    /// What it says.
    pub body: Published,
}

/// Gives each row whose time does not lie between those of its neighbours one that does; what the row has stays in `stated`.
pub(super) fn straighten(rows: &mut [PublishedRow]) {
    let mut latest = Nanos(0);
    for index in 0..rows.len() {
        let next = rows.get(index + 1).map(|row| row.time).filter(|&next| next >= latest);
        let row = &mut rows[index];
        row.time = row.time.min(next.unwrap_or(Nanos(u64::MAX))).max(latest);
        latest = row.time;
    }
}

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// An order rests, with this quantity.
    Order {
        /// Its number.
        order: u64,
        /// Its side.
        side: Side,
        /// Its limit.
        price: Price,
        /// What rests of it.
        quantity: Quantity,
    },
    /// An order ended; this was left of it.
    Cancel {
        /// Its number.
        order: u64,
        /// Its rest.
        quantity: Quantity,
        /// Its side and limit, where the row says so; the limit alone may be missing ([`Price::NONE`]).
        resting: Option<(Side, Price)>,
    },
    /// An order became smaller by this much.
    Reduce {
        /// Its number.
        order: u64,
        /// How much was cancelled.
        quantity: Quantity,
        /// Its side and limit, where the row says so.
        resting: Option<(Side, Price)>,
    },
    /// Two orders traded.
    Trade {
        /// The buyer's order.
        buy: u64,
        /// The seller's order.
        sell: u64,
        /// Its price.
        price: Price,
        /// Its quantity.
        quantity: Quantity,
        /// Whose order came in; none in an auction.
        aggressor: Aggressor,
    },
    /// A resting order traded with one that is not named.
    Execution {
        /// The resting order.
        order: u64,
        /// Its side.
        side: Side,
        /// The price: that of the resting order, where the feed gives none.
        price: Price,
        /// The quantity.
        quantity: Quantity,
    },
    /// A trade with an order that was never shown.
    Hidden {
        /// Its quantity.
        quantity: Quantity,
    },
    /// All orders of the instrument are gone: a new session, or the market says so.
    Clear,
}
