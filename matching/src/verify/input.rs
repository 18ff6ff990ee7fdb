//! What is compared with.

use std::fmt;

use wire::{Aggressor, Nanos, Price, Quantity, Side};

use super::day::Day;
use crate::exchange::MarketRules;

/// What a feed says of trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Both orders, and which came in: [`Action::Trade`].
    Both,
    /// The resting order only: [`Action::Execution`].
    Resting {
        /// Numbers of orders grow with their arrival: an order that is published late, or never, comes in where its number
        /// says.
        numbers_grow: bool,
    },
}

/// A security's day.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// What the feed says of trades.
    pub feed: Feed,
    /// The rules of its market.
    pub market: MarketRules,
    /// Its tick.
    pub tick: Price,
    /// Phases by time.
    pub day: Day,
    /// Its rows, in the order in which they happened.
    pub rows: &'a [Row],
    /// Snapshots of continuous trading, in the order of time.
    pub snapshots: &'a [Snapshot],
}

/// A file of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// Orders and cancels.
    Orders,
    /// Trades.
    Trades,
    /// Everything in one.
    Messages,
    /// Books.
    Snapshots,
}

/// A row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which file.
    pub file: File,
    /// Its line, from 1.
    pub row: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match self.file {
            File::Orders => "orders",
            File::Trades => "trades",
            File::Messages => "messages",
            File::Snapshots => "snapshots",
        };
        write!(formatter, "{file}, row {}", self.row)
    }
}

/// What the market published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands.
    pub place: Place,
    /// When it happened.
    pub time: Nanos,
    /// The time that the row has, which may lie out of order.
    pub stated: Nanos,
    /// A trade's own product of price and quantity is not theirs.
    pub off_money: bool,
    /// What happened.
    pub action: Action,
}

/// What a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An order rests, with this quantity.
    Order {
        /// Its number.
        id: u64,
        /// Its side.
        side: Side,
        /// Its limit.
        price: Price,
        /// What rests of it.
        quantity: Quantity,
    },
    /// An order ended, with this rest.
    Cancel {
        /// Its number.
        id: u64,
        /// What was left.
        quantity: Quantity,
        /// Its side and limit, where the row says so; the limit alone may be missing ([`Price::NONE`]).
        resting: Option<(Side, Price)>,
    },
    /// An order became smaller by this much; it ends with nothing left.
    Reduce {
        /// Its number.
        id: u64,
        /// By how much.
        quantity: Quantity,
        /// Its side and limit, where the row says so.
        resting: Option<(Side, Price)>,
    },
    /// Two orders traded.
    Trade {
        /// The buyer's.
        buy: u64,
        /// The seller's.
        sell: u64,
        /// Price.
        price: Price,
        /// Quantity.
        quantity: Quantity,
        /// Which of them came in; none in an auction.
        aggressor: Aggressor,
    },
    /// A resting order traded.
    Execution {
        /// Its number.
        id: u64,
        /// Its side.
        side: Side,
        /// Price.
        price: Price,
        /// Quantity.
        quantity: Quantity,
    },
    /// A trade with an order that was never shown, which no exchange could repeat.
    Hidden,
    /// All orders are gone.
    Clear,
}

/// What has traded, as far as a snapshot says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traded {
    /// Volume.
    pub volume: Option<i64>,
    /// What was paid for it.
    pub turnover: Option<f64>,
    /// Price of the last trade.
    pub last: Option<Price>,
    /// Highest price.
    pub high: Option<Price>,
    /// Lowest price.
    pub low: Option<Price>,
}

/// A book as the market showed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Where it stands.
    pub place: Place,
    /// Trades of the day up to it.
    pub trades: u64,
    /// Best first.
    pub bids: Vec<SnapshotLevel>,
    /// Best first.
    pub asks: Vec<SnapshotLevel>,
    /// Buyers and sellers in total, if given.
    pub totals: Option<[SnapshotTotal; 2]>,
    /// What has traded in the day up to it.
    pub traded: Traded,
}

/// All of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotTotal {
    /// Volume.
    pub quantity: i64,
    /// Number of orders.
    pub orders: u64,
    /// Number of prices.
    pub levels: u64,
}

/// A level of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLevel {
    /// Its price.
    pub price: Price,
    /// Its volume.
    pub quantity: Quantity,
    /// Its number of orders, if given.
    pub orders: Option<u64>,
}
