//! What came of a comparison.

use super::input::Place;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A trade of continuous trading.
    Trade,
    /// An auction, or one of its trades.
    Auction,
    /// An order that the exchange refused.
    Order,
    /// A cancel.
    Cancel,
    /// A snapshot.
    Snapshot,
    /// The totals of a snapshot.
    Totals,
    /// What a snapshot says has traded.
    Statistics,
    /// The time of an order or a cancel.
    Clock,
    /// The exchange's own book, against the one that its events make.
    Book,
}

impl What {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            What::Trade => "trade",
            What::Auction => "auction",
            What::Order => "order",
            What::Cancel => "cancel",
            What::Snapshot => "snapshot",
            What::Totals => "totals",
            What::Statistics => "statistics",
            What::Clock => "clock",
            What::Book => "book",
        }
    }
}

/// Where exchange and market differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub what: What,
    /// The row of the market.
    pub place: Place,
    /// The order that came in or is cancelled (of an auction's trade: the buyer's); of a snapshot the last order before the
    /// moment that is most like it. `None`: it has no number.
    pub order: Option<u64>,
    /// What the market says.
    pub expected: String,
    /// What the exchange did.
    pub found: String,
}

/// The comparison of one security.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Orders that came in.
    pub orders: u64,
    /// Of these: refused by the exchange.
    pub refused: u64,
    /// Trades that the market published, those of auctions included.
    pub trades: u64,
    /// Of these: identical.
    pub trades_identical: u64,
    /// Trades that only the exchange made.
    pub trades_extra: u64,
    /// Trades with orders that the feed never shows: not compared, and not in `trades`.
    pub trades_hidden: u64,
    /// Cancels, in whole or in part.
    pub cancels: u64,
    /// Of these: identical.
    pub cancels_identical: u64,
    /// Auctions that the rows cover.
    pub auctions: u64,
    /// Of these: identical.
    pub auctions_identical: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Of these: identical.
    pub snapshots_identical: u64,
    /// Snapshots that are identical and give totals of both sides.
    pub totals: u64,
    /// Of these: with identical totals.
    pub totals_identical: u64,
    /// Snapshots that say what has traded, and that are compared with what the exchange has traded.
    pub statistics: u64,
    /// Of these: identical.
    pub statistics_identical: u64,
    /// Orders and cancels whose time does not lie between those of the rows before and behind them.
    pub clocks_off: u64,
    /// The rows end before the day's last auction: what would have come then is not compared.
    pub is_cut: bool,
    /// Orders of the exchange that were set to what the feed says, after a difference ([`super::Feed::Resting`] only).
    pub corrected: u64,
    /// All differences.
    pub differences: u64,
    /// The first of them.
    pub listed: Vec<Difference>,
}

/// Differences that a report lists at most.
const LISTED: usize = 10_000;

impl Report {
    /// Everything that was compared is identical, and something was.
    pub fn is_identical(&self) -> bool {
        self.differences == 0 && self.trades + self.auctions + self.cancels + self.snapshots > 0
    }

    /// The first difference that was found.
    pub fn first_difference(&self) -> Option<&Difference> {
        self.listed.first()
    }

    pub(super) fn differ(&mut self, difference: impl FnOnce() -> Difference) {
        self.differences += 1;
        if self.listed.len() < LISTED {
            self.listed.push(difference());
        }
    }
}
