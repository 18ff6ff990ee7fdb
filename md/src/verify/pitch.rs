//! Checks that no share is lost: every added share is cancelled, executed, or still resting.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use wire::{BookAction, Symbol};

use super::{VerifyError, contradictions};
use crate::book::Books;
use crate::source::pitch::PitchSource;
use crate::source::pitch::message::{self, Body};
use crate::source::{Counts, Files, Lines, Options, Source, SourceError, SourceEvent};

/// Shares of one symbol, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SymbolTotals {
    /// Added.
    pub adds: i64,
    /// Cancelled, also by a symbol clear.
    pub cancels: i64,
    /// Executed, without trades of hidden orders.
    pub executions: i64,
    /// Neither cancelled nor executed: resting in our book at the end, or removed because the order's number was
    /// assigned again.
    pub resting: i64,
}

/// A symbol whose sums do not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PitchDifference {
    /// The symbol.
    pub symbol: String,
    /// Its shares. `adds` is not the sum of the other three.
    pub totals: SymbolTotals,
}

/// The result of the check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PitchReport {
    /// Symbols in the file.
    pub symbols: u64,
    /// Shares added, in all symbols.
    pub adds: i64,
    /// Shares cancelled.
    pub cancels: i64,
    /// Shares executed.
    pub executions: i64,
    /// Shares neither cancelled nor executed.
    pub resting: i64,
    /// Of these: not in our book, because the number of their order was assigned again while they rested. This happens
    /// in a file put together from several sessions, not in a single one.
    pub displaced: i64,
    /// adds = cancels + executions + resting, in every symbol.
    pub conserved: bool,
    /// The first symbol, by name, in which that fails.
    pub first_difference: Option<PitchDifference>,
    /// Events that did not fit our book; anything but zero is an error of the reader.
    pub anomalies: u64,
    /// The counts of the messages.
    pub counts: Counts,
    /// The first rows that contradict others, at most five.
    pub contradictions: Vec<String>,
}

/// Counts shares twice and compares: adds, cancels and executions directly from the messages, the rest from the books
/// that the replay builds.
///
/// # Errors
/// [`VerifyError`]: a file that cannot be used, or one without an order.
pub fn verify_pitch(file: &Path) -> Result<PitchReport, VerifyError> {
    let files = Files::Path(file.to_owned());
    let mut source = PitchSource::open(&files, &Options::default())?;
    let mut totals = from_messages(source.path())?;
    let listed: Vec<_> =
        source.instruments().iter().map(|instrument| (instrument.id, instrument.symbol)).collect();
    let mut books = Books::new(source.instruments());
    let mut displaced = 0;
    let mut event = SourceEvent::default();
    while source.next(&mut event)? {
        let symbol = listed[event.instrument.0 as usize - 1].1;
        let entry = totals.entry(symbol).or_default();
        let Some(book) = books.book(event.instrument) else { continue };
        if event.book_events.first().is_some_and(|part| part.action == BookAction::Clear) {
            entry.cancels += book.resting();
        }
        if books.apply(&event).crossed {
            source.crossed(&event)?;
        }
    }
    for &(id, symbol) in &listed {
        let resting = books.book(id).map_or(0, |book| book.resting());
        totals.entry(symbol).or_default().resting += resting + source.displaced(id);
        displaced += source.displaced(id);
    }
    let first_difference = totals
        .iter()
        .find(|(_, totals)| !totals.conserved())
        .map(|(symbol, &totals)| PitchDifference { symbol: symbol.to_string(), totals });
    let sum = totals.values().fold(SymbolTotals::default(), |sum, one| sum.plus(one));
    if sum.adds == 0 {
        let reason = "no message adds an order".to_owned();
        return Err(VerifyError::Nothing { file: file.display().to_string(), reason });
    }
    Ok(PitchReport {
        symbols: totals.len() as u64,
        adds: sum.adds,
        cancels: sum.cancels,
        executions: sum.executions,
        resting: sum.resting,
        displaced,
        conserved: first_difference.is_none(),
        first_difference,
        anomalies: books.anomalies().total(),
        counts: *source.counts(),
        contradictions: contradictions(&source),
    })
}

impl SymbolTotals {
    pub(super) fn plus(self, other: &SymbolTotals) -> SymbolTotals {
        SymbolTotals {
            adds: self.adds + other.adds,
            cancels: self.cancels + other.cancels,
            executions: self.executions + other.executions,
            resting: self.resting + other.resting,
        }
    }

    pub(super) fn conserved(&self) -> bool {
        self.adds == self.cancels + self.executions + self.resting
    }
}

/// The direct count: without a book, only the last symbol of each order number. Cancels and executions of numbers that
/// were never added concern shares from before the file and are left out, as in the replay.
fn from_messages(path: &Path) -> Result<BTreeMap<Symbol, SymbolTotals>, SourceError> {
    let mut totals: BTreeMap<Symbol, SymbolTotals> = BTreeMap::new();
    let mut symbols: BTreeMap<u64, Symbol> = BTreeMap::new();
    let mut lines = Lines::open(path, "BATS PITCH messages as text")?;
    while let Some((row, line)) = lines.next(path)? {
        match message::parse(line).map_err(|fault| fault.at(path, row))?.body {
            Body::Add { order, quantity, symbol, .. } => {
                symbols.insert(order, symbol);
                totals.entry(symbol).or_default().adds += quantity;
            }
            Body::Cancel { order, quantity } => {
                if let Some(symbol) = symbols.get(&order) {
                    totals.entry(*symbol).or_default().cancels += quantity;
                }
            }
            Body::Execute { order, quantity, .. } => {
                if let Some(symbol) = symbols.get(&order) {
                    totals.entry(*symbol).or_default().executions += quantity;
                }
            }
            Body::HiddenTrade { symbol, .. } => {
                totals.entry(symbol).or_default();
            }
            Body::Clear { .. } | Body::Status { .. } | Body::NoEffect => {}
        }
    }
    Ok(totals)
}
