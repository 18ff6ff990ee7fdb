//! Messages as they stand in the file, each with its symbol.

use std::collections::HashMap;
use std::path::Path;

use wire::{InstrumentId, Nanos, Price, Quantity, Side};

use super::message::{self, Body};
use super::{EXPECTED, GAP, SEAM, first_pass};
use crate::source::published::{Published, PublishedDay, PublishedFile, PublishedRow};
use crate::source::{Lines, Options, SourceError, fields, input};

/// What an order was added with: executions and cancels name only its number.
#[derive(Clone, Copy)]
struct Added {
    instrument: InstrumentId,
    side: Side,
    price: Price,
}

/// Reads a file: all rows. Where the clock goes back by more than a minute a new session begins, and every instrument
/// is cleared.
///
/// # Errors
/// [`SourceError`]: a file that cannot be used, a row that cannot be understood.
pub fn read(path: &Path, options: &Options) -> Result<PublishedDay, SourceError> {
    input::check_content(path, input::Content::Pitch, EXPECTED)?;
    let (listing, _) = first_pass(path, options)?;
    let midnight = options.date.map(|date| date.0).or_else(|| fields::date_in_path(path)).unwrap_or(0);
    let mut day = PublishedDay { instruments: listing.finish()?, ..PublishedDay::default() };
    let mut orders: HashMap<u64, Added> = HashMap::new();
    let (mut latest, mut shift) = (0, 0);
    let mut lines = Lines::open(path, EXPECTED)?;
    while let Some((row, line)) = lines.next(path)? {
        let message = message::parse(line).map_err(|fault| fault.at(path, row))?;
        let mut time = Nanos(midnight + shift + message.time);
        let is_seam = time.0 + SEAM < latest;
        if is_seam {
            shift += latest + GAP - time.0;
            time.0 = latest + GAP;
        }
        let publish = |instrument, body| PublishedRow {
            file: PublishedFile::Messages,
            row,
            instrument,
            time,
            stated: time,
            off_money: false,
            body,
        };
        if is_seam {
            orders.clear();
            let all = day.instruments.iter().map(|instrument| publish(instrument.id, Published::Clear));
            day.rows.extend(all.collect::<Vec<_>>());
        }
        latest = latest.max(time.0);
        let (instrument, body) = match message.body {
            Body::Status { .. } | Body::NoEffect => {
                day.without_effect += 1;
                continue;
            }
            Body::Add { order, side, quantity, symbol, price } => {
                let instrument = listing.get(&symbol).unwrap_or_default();
                orders.insert(order, Added { instrument, side, price });
                (instrument, Published::Order { order, side, price, quantity: Quantity(quantity) })
            }
            Body::Cancel { order, quantity } => {
                let Some(added) = orders.get(&order) else {
                    day.unknown_order += 1;
                    continue;
                };
                let resting = Some((added.side, added.price));
                (added.instrument, Published::Reduce { order, quantity: Quantity(quantity), resting })
            }
            Body::Execute { order, quantity, .. } => {
                let Some(&Added { instrument, side, price }) = orders.get(&order) else {
                    day.unknown_order += 1;
                    continue;
                };
                (instrument, Published::Execution { order, side, price, quantity: Quantity(quantity) })
            }
            Body::HiddenTrade { symbol, quantity, .. } => {
                let instrument = listing.get(&symbol).unwrap_or_default();
                (instrument, Published::Hidden { quantity: Quantity(quantity) })
            }
            Body::Clear { symbol } => (listing.get(&symbol).unwrap_or_default(), Published::Clear),
        };
        if instrument != InstrumentId::default() {
            day.rows.push(publish(instrument, body));
        }
    }
    Ok(day)
}
