//! Books to measure, behind one trait, and plain ones to compare with.
//!
//! | book | is |
//! |---|---|
//! | [`Ladder`] | the floor: an array of ticks, a bitmap of those that have orders, orders at the places that the flow gives them; no rules beyond limit, market and cancel, no index of ids, no reports |
//! | [`SortedBook`] | a sorted vector of levels, a queue each, a hash map from id to level |
//! | [`TreeBook`] | the same with a `BTreeMap` of levels |

mod bitmap;
mod ladder;
mod queue;
mod sorted;
mod tree;

use serde::{Deserialize, Serialize};

use crate::flow::{Add, Cancel, Flow, Operation, Take};

pub use ladder::Ladder;
pub use sorted::SortedBook;
pub use tree::TreeBook;

/// What a book has done: all books must agree on it, or a figure of one of them means nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Trades.
    pub trades: u64,
    /// Sum of their quantities.
    pub traded: u64,
    /// Sum of quantity times tick: wrong once a trade has a wrong price.
    pub turnover: u64,
    /// Cancels that found a living order: wrong once a trade took the wrong order of a level.
    pub cancelled: u64,
}

impl Tally {
    /// Counts a trade.
    #[inline(always)]
    pub fn trade(&mut self, tick: u32, quantity: u32) {
        self.trades += 1;
        self.traded += u64::from(quantity);
        self.turnover = self.turnover.wrapping_add(u64::from(tick) * u64::from(quantity));
    }
}

/// A book with price-time priority, which starts empty. What it does it counts.
pub trait Book {
    /// A limit order comes in.
    fn add(&mut self, add: &Add, tally: &mut Tally);

    /// An order is cancelled.
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally);

    /// A market order comes in.
    fn take(&mut self, take: &Take, tally: &mut Tally);

    /// The flow begins anew, with the same ids: for engines that never take an id twice.
    fn begin(&mut self) {}
}

/// Does one operation.
#[inline(always)]
pub fn apply<B: Book>(book: &mut B, operation: &Operation, tally: &mut Tally) {
    match operation {
        Operation::Add(add) => book.add(add, tally),
        Operation::Cancel(cancel) => book.cancel(cancel, tally),
        Operation::Take(take) => book.take(take, tally),
    }
}

/// Does all of them, and says what came of it.
pub fn apply_all<B: Book>(book: &mut B, operations: &[Operation]) -> Tally {
    let mut tally = Tally::default();
    operations.iter().for_each(|operation| apply(book, operation, &mut tally));
    tally
}

/// A book did not do what the flow expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{book} does not match as it should: in the flow `{mix}` over {levels} levels it came to {found:?}, expected {expected:?}"
)]
pub struct Disagreement {
    /// Name of the book.
    pub book: String,
    /// Name of the mix.
    pub mix: &'static str,
    /// Levels of the flow.
    pub levels: u32,
    /// What the book counted.
    pub found: Tally,
    /// What it should have.
    pub expected: Tally,
}

impl Disagreement {
    /// Compares a book's tally with what the flow expects.
    ///
    /// # Errors
    /// The disagreement, when they differ.
    pub fn check(book: &str, flow: &Flow, found: Tally) -> Result<(), Disagreement> {
        if found == flow.expected { Ok(()) } else { Err(Disagreement::new(book, flow, found, flow.expected)) }
    }

    pub(crate) fn new(book: &str, flow: &Flow, found: Tally, expected: Tally) -> Disagreement {
        let (mix, levels) = (flow.plan.mix.name(), flow.plan.levels);
        Disagreement { book: book.to_owned(), mix, levels, found, expected }
    }
}
