//! Messages as they stand in the file.

use std::path::Path;

use wire::{InstrumentId, Nanos, Quantity};

use super::row::{self, Kind};
use super::{EXPECTED, Table, first_pass, symbol};
use crate::source::listing::{Listing, TickRule};
use crate::source::published::{Published, PublishedDay, PublishedFile, PublishedRow, straighten};
use crate::source::{Options, SourceError, fields, input};

/// Reads a message file: all rows.
///
/// # Errors
/// [`SourceError`]: a file that cannot be used, a row that cannot be understood.
pub fn read(messages: &Path, options: &Options) -> Result<PublishedDay, SourceError> {
    input::check_content(messages, input::Content::LobsterMessages, EXPECTED)?;
    let mut listing = Listing::new(&[], TickRule::Cents);
    let instrument: InstrumentId = listing.id(symbol(messages, options)?, messages)?.unwrap_or_default();
    first_pass(messages, options)?;
    let midnight = options.date.map(|date| date.0).or_else(|| fields::date_in_path(messages)).unwrap_or(0);
    let mut day = PublishedDay { instruments: listing.finish()?, ..PublishedDay::default() };
    let mut table = Table::open(messages, EXPECTED)?;
    while let Some(line) = table.next()? {
        let message = row::message(table.record()).map_err(|fault| fault.at(messages, line))?;
        let (order, side, quantity) = (message.order, message.side, Quantity(message.quantity));
        let resting = Some((side, message.price));
        let body = match message.kind {
            Kind::New => Published::Order { order, side, price: message.price, quantity },
            Kind::PartialCancel => Published::Reduce { order, quantity, resting },
            Kind::Delete => Published::Cancel { order, quantity, resting },
            Kind::Execute => Published::Execution { order, side, price: message.price, quantity },
            Kind::ExecuteHidden => Published::Hidden { quantity },
            Kind::Cross | Kind::Phase(_) => {
                day.without_effect += 1;
                continue;
            }
        };
        let time = Nanos(midnight + message.time);
        day.rows.push(PublishedRow {
            file: PublishedFile::Messages,
            row: line,
            instrument,
            time,
            stated: time,
            off_money: false,
            body,
        });
    }
    straighten(&mut day.rows);
    Ok(day)
}
