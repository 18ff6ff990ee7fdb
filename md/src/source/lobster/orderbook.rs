//! LOBSTER's own book, one row a message: the best levels after it.

use std::path::Path;

use wire::{Price, Side};

use super::depth::{Depth, is_worse};
use super::row::{Kind, Row, View};
use crate::source::table::Table;
use crate::source::{SourceError, SourceEvent, input};

const EXPECTED: &str = "a LOBSTER orderbook file";

/// LOBSTER's book after each message.
pub(super) struct Orderbook {
    table: Table,
    levels: usize,
    previous: View,
    view: View,
    rows: u64,
}

impl Orderbook {
    pub(super) fn open(path: &Path) -> Result<Orderbook, SourceError> {
        let head = input::head(path, EXPECTED)?;
        match input::content(&head) {
            input::Content::LobsterOrderbook(levels) => Ok(Orderbook {
                table: Table::open(path, EXPECTED)?,
                levels,
                previous: View::default(),
                view: View::default(),
                rows: 0,
            }),
            // A first row longer than the examined head is cut in it: count its columns in full.
            _ => {
                let mut table = Table::open(path, EXPECTED)?;
                let width = table.next()?.map_or(0, |_| table.record().len());
                let levels = width / 4;
                let mut view = View::default();
                if width == 0 || width % 4 != 0 || view.read(table.record(), levels).is_err() {
                    return Err(input::nothing_understood(path, EXPECTED));
                }
                Ok(Orderbook {
                    table: Table::open(path, EXPECTED)?,
                    levels,
                    previous: View::default(),
                    view,
                    rows: 0,
                })
            }
        }
    }

    /// The row read last.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// Levels of the file.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Reads the row of a message.
    pub(super) fn next(&mut self, message_row: u64, messages: &Path) -> Result<(), SourceError> {
        std::mem::swap(&mut self.previous, &mut self.view);
        let Some(number) = self.table.next()? else {
            return Err(SourceError::Format {
                path: self.table.path().to_owned(),
                found: format!("{} rows, but row {message_row} of {}", self.rows, messages.display()),
                expected: "one row for each message".to_owned(),
            });
        };
        self.rows += 1;
        self.view
            .read(self.table.record(), self.levels)
            .map_err(|fault| fault.at(self.table.path(), number).into())
    }

    pub(super) fn check_end(&mut self, messages: &Path) -> Result<(), SourceError> {
        if self.table.next()?.is_none() {
            return Ok(());
        }
        Err(SourceError::Format {
            path: self.table.path().to_owned(),
            found: format!("more than the {} rows of {}", self.rows, messages.display()),
            expected: "one row for each message".to_owned(),
        })
    }

    /// The worst price in a view, if the view is full: prices behind it are not in the file.
    fn horizon(&self, view: &View, side: Side) -> Option<Price> {
        let levels = view.side(side);
        (levels.len() == self.levels).then(|| levels.last().map(|&(price, _)| price)).flatten()
    }

    /// Sets up the book before the first message: its row without the message's effect.
    pub(super) fn seed(&self, depth: &mut Depth, event: &mut SourceEvent, first: &Row) {
        for side in [Side::Buy, Side::Sell] {
            let mut levels = self.view.side(side).to_vec();
            let undo = match first.kind {
                Kind::New => -first.quantity,
                Kind::PartialCancel | Kind::Delete | Kind::Execute => first.quantity,
                _ => 0,
            };
            if first.side == side && undo != 0 {
                match levels.iter_mut().find(|(price, _)| *price == first.price) {
                    Some((_, total)) => *total = (*total + undo).max(0),
                    None if undo > 0 => levels.push((first.price, undo)),
                    None => {}
                }
            }
            set_region(depth, event, side, None, self.horizon(&self.view, side), &levels);
        }
    }

    /// Sets the prices that have come into view with this row.
    pub(super) fn reveal(&self, depth: &mut Depth, event: &mut SourceEvent) {
        if self.rows < 2 {
            return;
        }
        for side in [Side::Buy, Side::Sell] {
            if let Some(horizon) = self.horizon(&self.previous, side) {
                let worst = self.horizon(&self.view, side);
                set_region(depth, event, side, Some(horizon), worst, self.view.side(side));
            }
        }
    }
}

/// Sets all prices behind `better` down to `worst` to the totals in `levels`; other prices there are removed.
fn set_region(
    depth: &mut Depth,
    event: &mut SourceEvent,
    side: Side,
    better: Option<Price>,
    worst: Option<Price>,
    levels: &[(Price, i64)],
) {
    for price in depth.prices_between(side, better, worst) {
        if !levels.iter().any(|&(shown, _)| shown == price) {
            depth.set_total(event, side, price, 0);
        }
    }
    for &(price, total) in levels {
        if better.is_none_or(|better| is_worse(side, price, better)) {
            depth.set_total(event, side, price, total);
        }
    }
}
