//! Order flow for matching engines: seeded, made before any clock starts, the same for every engine.
//!
//! A [`Flow`] is three lists of [`Operation`]s: `fill` makes the book, `run` is what is measured, `drain` cancels what is
//! left, so that the same book can go through it again and again without anything to build up. The generator has a small book of its
//! own ([`market`](self), not shared with any book that is measured): cancels hit living orders, all of them, and the
//! flow says what a book must have traded and cancelled at its end ([`Flow::expected`]).
//!
//! `levels` are price levels of both sides together: half of them are bids below the middle, half are asks above. Prices are
//! ticks from 0; quantities of adds are 1 to 100, evenly. A take is a market order.
//!
//! | mix | adds, cancels, takes | living orders | where adds go | which orders are cancelled | takes |
//! |---|---|---|---|---|---|
//! | `mixed` | 48 %, 42 %, 10 % | 10,000 | evenly over all levels of their side | any, evenly | 1 to 60 |
//! | `calm` | 50 %, 48 %, 2 % | one a level (at most 10,000), and 60 | nine of ten within the five levels next to the middle, for a short life; one of ten evenly | of the short-lived the oldest, when there are more than 60; else any | 1 to 100 |
//! | `volatile` | 46 %, 44 %, 10 % | two a level (200 to 10,000) | at the smaller of two even distances from the middle, which moves at every 32nd operation by up to a 200th of the levels (at least a tick); they trade when it has passed resting orders | of two any, the one that is farther from the middle | 1 to 100 |
//! | `crash` | rebuilding: 60 %, 35 %, 5 % | two a level (200 to 10,000) | as in `volatile`; the middle goes where a crash has ended | as in `volatile` | of every 2,000 operations the first 40 crash: eight sweeps, each through all orders (at most 100) of the best tenth of a side's levels, and 32 cancels on that side; later ones 1 to 100 |
//!
//! While fewer orders live than intended there are more adds and fewer cancels, in proportion. [`Shares`] counts what came out.
//!
//! ```
//! use bench_kit::flow::{Flow, Ids, Mix, Plan};
//!
//! let plan = Plan { mix: Mix::Mixed, levels: 1_000, operations: 5_000, seed: 1, ids: Ids::Ascending };
//! let flow = Flow::generate(&plan);
//! assert_eq!(flow.run.len(), 5_000);
//! assert_eq!(flow.shares.missed_cancels, 0);
//! assert_eq!(flow.run, Flow::generate(&plan).run);
//! ```

mod generate;
mod market;
mod mix;
mod operation;

use serde::{Deserialize, Serialize};

pub use mix::{Mix, UnknownMix};
pub use operation::{Add, Cancel, Operation, Side, Take};

use crate::book::Tally;

/// What a flow is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its kind.
    pub mix: Mix,
    /// Price levels of both sides together; 2 at least, 100,000 at most (others are taken as the nearest of these).
    pub levels: u32,
    /// Operations of [`Flow::run`].
    pub operations: usize,
    /// Another seed, another flow.
    pub seed: u64,
    /// How orders are numbered.
    pub ids: Ids,
}

/// How orders are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ids {
    /// 1, 2, 3 ...
    Ascending,
    /// The same, each put through a one-to-one scrambling of 64 bits: any number.
    Scattered,
}

/// Order flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// What it was to be.
    pub plan: Plan,
    /// Prices are below this many ticks.
    pub ticks: u32,
    /// [`Add::place`] is below this.
    pub places: u32,
    /// Makes the book: adds that do not trade.
    pub fill: Vec<Operation>,
    /// What is measured.
    pub run: Vec<Operation>,
    /// Cancels what is left.
    pub drain: Vec<Operation>,
    /// What a right book has traded and cancelled in `run`.
    pub expected: Tally,
    /// What `run` is made of.
    pub shares: Shares,
}

/// What the measured operations are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Limit orders.
    pub adds: u64,
    /// Of these: traded at once, in part or whole.
    pub crossing_adds: u64,
    /// Cancels.
    pub cancels: u64,
    /// Of these: without a living order.
    pub missed_cancels: u64,
    /// Market orders.
    pub takes: u64,
    /// Trades.
    pub trades: u64,
    /// Living orders: the fewest, the mean, the most.
    pub living: [u64; 3],
    /// Levels that have orders: the fewest, the mean, the most.
    pub levels: [u64; 3],
}
