//! Checks that no share is lost, and that no book is crossed while its stock trades.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use wire::{InstrumentId, Symbol};

use super::pitch::SymbolTotals;
use super::{VerifyError, contradictions};
use crate::book::Books;
use crate::source::itch::message::Body;
use crate::source::itch::{self, ItchSource};
use crate::source::{Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent};

/// A stock whose sums do not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItchDifference {
    /// The stock.
    pub symbol: String,
    /// Its shares. `adds` is not the sum of the other three.
    pub totals: SymbolTotals,
}

/// The result of the check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItchReport {
    /// Messages in the file; each was decoded.
    pub messages: u64,
    /// Stocks in the file.
    pub symbols: u64,
    /// Shares added, in all stocks.
    pub adds: i64,
    /// Shares cancelled, deleted or replaced.
    pub cancels: i64,
    /// Shares executed, without trades of hidden orders.
    pub executions: i64,
    /// Shares neither cancelled nor executed.
    pub resting: i64,
    /// Of these: not in our book, because the number of their order was given out again while they rested.
    pub displaced: i64,
    /// Trades of hidden orders, and crosses.
    pub unseen_trades: u64,
    /// Events behind which a book was crossed though its stock traded.
    pub crossed: u64,
    /// adds = cancels + executions + resting, in every stock.
    pub conserved: bool,
    /// The first stock, by name, in which that fails.
    pub first_difference: Option<ItchDifference>,
    /// Events that did not fit our book; anything but zero is an error of the reader.
    pub anomalies: u64,
    /// The counts of the messages.
    pub counts: Counts,
    /// The first messages that contradict others, at most five.
    pub contradictions: Vec<String>,
}

/// Counts shares twice and compares: adds, cancels and executions directly from the messages, the rest from the books that the
/// replay builds.
///
/// # Errors
/// [`VerifyError`]: a file that cannot be used, or one without an order.
pub fn verify_itch(file: &Path) -> Result<ItchReport, VerifyError> {
    let mut source = ItchSource::open(&Files::Path(file.to_owned()), &Options::default())?;
    let (mut totals, messages, unseen_trades) = from_messages(source.path())?;
    let listed: Vec<(InstrumentId, Symbol)> =
        source.instruments().iter().map(|instrument| (instrument.id, instrument.symbol)).collect();
    let mut books = Books::new(source.instruments());
    let mut event = SourceEvent::default();
    while source.next(&mut event)? {
        if books.apply(&event).crossed {
            source.crossed(&event)?;
        }
    }
    let mut displaced = 0;
    for &(id, symbol) in &listed {
        let resting = books.book(id).map_or(0, |book| book.resting());
        totals.entry(symbol).or_default().resting += resting + source.displaced(id);
        displaced += source.displaced(id);
    }
    let first_difference = totals
        .iter()
        .find(|(_, totals)| !totals.conserved())
        .map(|(symbol, &totals)| ItchDifference { symbol: symbol.to_string(), totals });
    let sum = totals.values().fold(SymbolTotals::default(), |sum, one| sum.plus(one));
    if sum.adds == 0 {
        let reason = "no message adds an order".to_owned();
        return Err(VerifyError::Nothing { file: file.display().to_string(), reason });
    }
    Ok(ItchReport {
        messages,
        symbols: totals.len() as u64,
        adds: sum.adds,
        cancels: sum.cancels,
        executions: sum.executions,
        resting: sum.resting,
        displaced,
        unseen_trades,
        crossed: source.counts().crossed,
        conserved: first_difference.is_none(),
        first_difference,
        anomalies: books.anomalies().total(),
        counts: *source.counts(),
        contradictions: contradictions(&source),
    })
}

/// The direct count, without a book: of each order only what is left. What is about orders that were never added is left out, as in the
/// replay.
fn from_messages(path: &Path) -> Result<(BTreeMap<Symbol, SymbolTotals>, u64, u64), SourceError> {
    let mut totals: BTreeMap<Symbol, SymbolTotals> = BTreeMap::new();
    let mut left: HashMap<u64, (Symbol, i64)> = HashMap::new();
    let mut unseen = 0;
    let messages = itch::visit(path, OnBadRow::Stop, |message| {
        let mut add = |left: &mut HashMap<u64, (Symbol, i64)>, order, stock, quantity| {
            left.insert(order, (stock, quantity));
            totals.entry(stock).or_default().adds += quantity;
        };
        match message.body {
            Body::Add { order, quantity, stock, .. } => add(&mut left, order, stock, quantity),
            Body::Replace { order, new, quantity, .. } => {
                if let Some((stock, rest)) = left.remove(&order) {
                    add(&mut left, new, stock, quantity);
                    totals.entry(stock).or_default().cancels += rest;
                }
            }
            Body::Cancel { order, quantity } => {
                if let Some((stock, rest)) = left.get_mut(&order) {
                    *rest -= quantity;
                    totals.entry(*stock).or_default().cancels += quantity;
                }
            }
            Body::Delete { order } => {
                if let Some((stock, rest)) = left.remove(&order) {
                    totals.entry(stock).or_default().cancels += rest;
                }
            }
            Body::Execute { order, quantity, .. } => {
                if let Some((stock, rest)) = left.get_mut(&order) {
                    *rest -= quantity;
                    totals.entry(*stock).or_default().executions += quantity;
                }
            }
            Body::HiddenTrade { stock, .. } => {
                totals.entry(stock).or_default();
                unseen += 1;
            }
            Body::Cross { quantity, .. } => unseen += u64::from(quantity > 0),
            Body::Directory { .. }
            | Body::State { .. }
            | Body::Operation { .. }
            | Body::System { .. }
            | Body::NoEffect => {}
        }
        Ok(())
    })?;
    Ok((totals, messages, unseen))
}
