//! A recorded market as the judge of the [exchange](crate::exchange): its orders go in, and every trade, every auction
//! and every snapshot must come out as the market published them.
//!
//! ```text
//!   rows of the market ──▶ incoming orders ──▶ Exchange ──▶ trades, books ──┐
//!            │                                                              ├──▶ Report
//!            └── trades, auctions, snapshots ───────────────────────────────┘
//! ```
//!
//! # What is reconstructed
//!
//! Markets publish what rests in the book, not what came in. [`Feed::Both`] (Shanghai) names both orders of a trade:
//!
//! - An order that trades when it comes in is published only with its remainder, behind its trades, and not at all if
//!   nothing remains. **The incoming quantity is the remainder plus its trades**, and it comes in where its first row
//!   stands in the joint sequence.
//! - Its price is the published one. An order that is never published comes in without a limit: as a market order.
//! - In auctions every order is published whole. The auction's trades are not needed for anything.
//! - Cancels name an order. Phases follow the clock of the rows: no trade tells the exchange when to uncross. Within a second
//!   of a phase's edge, or in a break, a row that this phase could not have accepted belongs to the one beside it.
//!
//! [`Feed::Resting`] (LOBSTER, PITCH) names only the resting order of a trade. Executions on one side, at one time and next
//! to each other, are one incoming order; an order on the other side that is added right behind them at the same time,
//! at a price that reaches theirs, is its remainder.
//!
//! # Why this is no circle
//!
//! Of a trade, the exchange is given nothing but its part of the incoming quantity: not the resting order, not the price,
//! not how the quantity is divided, not how many trades there are. A limit order could also trade more, or less, than
//! the market says, and would be found. The exchange is never corrected while it runs, so an error stays in its book and
//! shows again. (With [`Feed::Resting`], whose rows do not tell all, it is corrected after each difference, which is
//! counted: [`Report::corrected`].) The rest of an order that the exchange holds is compared with each cancel, and its
//! book with the snapshots, which come from another channel of the market.
//!
//! # What is compared
//!
//! | | identical if |
//! |---|---|
//! | trade | resting order, incoming order (where the feed names it), price, quantity and place in the order of trades; with [`Feed::Both`] no earlier time than the trade before it |
//! | auction | price, volume and every trade in sequence |
//! | trade's money, if given | price times quantity |
//! | cancel | the order works, has the side and the limit of the row, and exactly so much is left of it |
//! | clock | of an order or cancel: a time between those of the rows before and behind it |
//! | snapshot | all levels: price, volume, number of orders if given. A snapshot is taken at an unknown moment; it must be the book at one while as many trades had happened as it says, and these moments must come in the order of the snapshots |
//! | statistics of a snapshot, if given | volume, turnover, last, highest and lowest price of all trades of the exchange up to it |
//! | totals of a snapshot, if given | volume, orders and prices of each side, in a book at which the levels agree |
//!
//! Beside them, no order may be refused, and the exchange may trade nothing that the market did not.

mod auction;
mod compare;
mod correct;
mod day;
mod depth;
mod flow;
mod input;
mod pair;
mod replay;
mod report;
mod resting;
mod snapshots;

use wire::InstrumentId;

use crate::exchange::{ExchangeOptions, InstrumentRules, ListError};

pub use day::Day;
pub use input::{Action, Feed, File, Place, Recording, Row, Snapshot, SnapshotLevel, SnapshotTotal, Traded};
pub use report::{Difference, Report, What};

/// The only instrument of its exchange.
const INSTRUMENT: InstrumentId = InstrumentId(1);

/// Sends the orders of one security through an exchange of its own, and compares.
///
/// # Errors
/// [`ListError`]: a tick that the exchange does not list.
pub fn verify(recording: &Recording<'_>) -> Result<Report, ListError> {
    let flow = match recording.feed {
        Feed::Both => flow::of_both(recording.rows),
        Feed::Resting { numbers_grow } => resting::of_resting(recording.rows, numbers_grow),
    };
    let mut rules = InstrumentRules::new(INSTRUMENT, recording.tick);
    rules.market = recording.market.clone();
    let options =
        ExchangeOptions { expected_orders: recording.rows.len().clamp(64, 1 << 20), huge_pages: false };
    replay::run(recording, &flow, rules, options)
}
