//! Converts the records of one venue event into book events.

use std::collections::BTreeMap;

use dbn::MboMsg;
use wire::{Aggressor, BookAction, BookEvent, InstrumentId, Price, Side};

use crate::source::error::Fault;
use crate::source::orders::{OrderTable, Resting};
use crate::source::{Counts, SourceEvent};

/// A record that passed the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) action: Action,
    pub(super) side: Option<Side>,
    pub(super) order: u64,
    pub(super) price: Price,
    pub(super) size: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add,
    Cancel,
    Modify,
    Fill,
    Trade,
    Clear,
    None,
}

/// Checks a record.
pub(super) fn check(message: &MboMsg) -> Result<Record, Fault> {
    let letter = |raw: std::ffi::c_char| (raw as u8).escape_ascii().to_string();
    let action = match message.action as u8 {
        b'A' => Action::Add,
        b'C' => Action::Cancel,
        b'M' => Action::Modify,
        b'F' => Action::Fill,
        b'T' => Action::Trade,
        b'R' => Action::Clear,
        b'N' => Action::None,
        _ => return Err(Fault::new("action", letter(message.action), "one of A C M F T R N")),
    };
    let side = match message.side as u8 {
        b'A' => Some(Side::Sell),
        b'B' => Some(Side::Buy),
        b'N' => None,
        _ => return Err(Fault::new("side", letter(message.side), "A, B or N")),
    };
    let rests = matches!(action, Action::Add | Action::Modify);
    if rests && side.is_none() {
        return Err(Fault::new("side", "N", "A or B for an order that rests"));
    }
    let priced = rests || action == Action::Trade;
    if priced && (message.price == dbn::UNDEF_PRICE || message.price == Price::NONE.0) {
        return Err(Fault::new("price", "none", "a price"));
    }
    if message.size == dbn::UNDEF_ORDER_SIZE && !matches!(action, Action::Clear | Action::None) {
        return Err(Fault::new("size", "none (4294967295)", "a number above zero"));
    }
    if message.size == 0 && !matches!(action, Action::Clear | Action::None) {
        return Err(Fault::new("size", 0, "a number above zero"));
    }
    let price = if message.price == dbn::UNDEF_PRICE { Price::NONE } else { Price(message.price) };
    let (order, size) = (message.order_id, i64::from(message.size));
    Ok(Record { action, side, order, price, size })
}

/// Converts the records of one event into `event`, whose head is set, and counts them.
///
/// Fills do not change the book by themselves; a later cancel or modification of the same order in the same event does.
/// The two together become one execution here, and what the cancel takes beyond the fills is a cancel.
pub(super) fn convert(
    records: &[Record],
    event: &mut SourceEvent,
    orders: &mut OrderTable<(InstrumentId, u64)>,
    counts: &mut Counts,
    mut note: impl FnMut(Fault),
) {
    let instrument = event.instrument;
    // How much of each order was executed before its cancel or modification.
    let mut executed: BTreeMap<u64, i64> = BTreeMap::new();
    // A trade whose fills touched no order is against volume that is not displayed.
    let mut trade: Option<Traded> = None;
    for (index, record) in records.iter().enumerate() {
        let key = (instrument, record.order);
        let side = record.side.unwrap_or(Side::Buy);
        let mut applied = true;
        match record.action {
            Action::None => {
                counts.skipped.no_effect += 1;
                applied = false;
            }
            Action::Clear => {
                orders.clear(instrument);
                event.push(BookAction::Clear, Side::Buy, 0, Price::NONE, 0);
            }
            Action::Trade => {
                finish_trade(trade.take(), event);
                trade = Some(Traded { record: *record, filled: [0; 2], touched: false });
                let aggressor = aggressor(record.side);
                event.print(aggressor, record.price, record.size, 0);
            }
            Action::Fill => {
                let followed = records[index + 1..].iter().any(|later| {
                    later.order == record.order && matches!(later.action, Action::Cancel | Action::Modify)
                });
                let taken = if followed { orders.take(key, record.size) } else { None };
                let own = taken.map(|taken| taken.order);
                let (price, fault) = compare_fill(record, own, trade.as_mut());
                match fault {
                    Some(Contradiction::Price(fault)) => {
                        counts.off_price += 1;
                        note(fault);
                    }
                    Some(Contradiction::Size(fault)) => {
                        counts.excess += 1;
                        note(fault);
                    }
                    None => {}
                }
                if let Some(taken) = taken {
                    *executed.entry(record.order).or_insert(0) += taken.quantity;
                    event.push(BookAction::Execute, taken.order.side, record.order, price, taken.quantity);
                    if let Some(trade) = &mut trade {
                        trade.touched = true;
                    }
                }
            }
            Action::Add => {
                let resting = Resting { instrument, side, price: record.price, remaining: record.size };
                if let Some(old) = orders.add(key, resting) {
                    counts.displaced += 1;
                    note(Fault::new("order id", record.order, "a number that is free"));
                    event.push(BookAction::Delete, old.side, record.order, old.price, old.remaining);
                }
                event.push(BookAction::Add, side, record.order, record.price, record.size);
            }
            Action::Cancel => {
                let before = executed.remove(&record.order).unwrap_or(0);
                let rest = record.size - before.min(record.size);
                if rest == 0 {
                    // The fills have taken all of it.
                } else if let Some(taken) = orders.take(key, rest) {
                    counts.excess += u64::from(taken.excess);
                    let is_off = record.price.is_some() && record.price != taken.order.price
                        || record.side.is_some_and(|side| side != taken.order.side);
                    counts.off_price += u64::from(is_off);
                    if is_off || taken.excess {
                        let Resting { side, price, remaining, .. } = taken.order;
                        let expected = format!(
                            "at most {remaining} at {price} {side}, as order {} has it",
                            record.order
                        );
                        note(Fault::new("the cancel", format!("{rest} at {}", record.price), expected));
                    }
                    let action = if taken.last { BookAction::Delete } else { BookAction::Reduce };
                    event.push(action, taken.order.side, record.order, taken.order.price, taken.quantity);
                } else if before == 0 {
                    counts.skipped.unknown_order += 1;
                    applied = false;
                } else {
                    counts.excess += 1;
                    let expected = format!("no more than the fills of order {} left", record.order);
                    note(Fault::new("size of a cancel", record.size, expected));
                }
            }
            Action::Modify => {
                executed.remove(&record.order);
                let resting = Resting { instrument, side, price: record.price, remaining: record.size };
                modify(record.order, resting, orders.add(key, resting), event);
            }
        }
        if applied {
            counts.apply(event);
        }
    }
    finish_trade(trade, event);
}

/// A trade and the sums of its fills so far.
#[derive(Clone, Copy, Debug)]
struct Traded {
    record: Record,
    /// Fills of bids and of asks: a trade has fills on both sides.
    filled: [i64; 2],
    touched: bool,
}

/// How a fill contradicts its order or its trade.
enum Contradiction {
    Price(Fault),
    Size(Fault),
}

/// The price of a fill, and its contradiction if there is one: a fill is at its trade's price, at its order's own or
/// (in an auction, which has no aggressor) at one that is better for the order, and not larger than its trade. An
/// iceberg may be filled beyond its displayed size, so the order's size is not compared.
fn compare_fill(
    fill: &Record,
    own: Option<Resting>,
    trade: Option<&mut Traded>,
) -> (Price, Option<Contradiction>) {
    let traded = trade.as_ref().map_or(Price::NONE, |trade| trade.record.price);
    let own_price = own.map_or(Price::NONE, |own| own.price);
    let price = [fill.price, own_price].into_iter().find(|price| price.is_some()).unwrap_or(traded);
    let aggressor = trade.as_ref().and_then(|trade| trade.record.side);
    let off_own = own.is_some_and(|own| match (aggressor, own.side) {
        // The incoming order, on its way to another price.
        (Some(aggressor), side) if aggressor == side => false,
        (Some(_), _) => price != own.price,
        (None, Side::Buy) => price > own.price,
        (None, Side::Sell) => price < own.price,
    });
    let off_trade = price.is_some() && traded.is_some() && price != traded;
    if off_own || off_trade {
        let order = fill.order;
        let expected = format!("{own_price}, the price of order {order}, and {traded}, that of its trade");
        return (price, Some(Contradiction::Price(Fault::new("price of a fill", price, expected))));
    }
    let side = own.map(|own| own.side).or(fill.side);
    if let (Some(trade), Some(side)) = (trade, side) {
        let filled = &mut trade.filled[usize::from(side == Side::Sell)];
        *filled += fill.size;
        if *filled > trade.record.size {
            let expected = format!("fills of at most {}, the size of their trade", trade.record.size);
            return (price, Some(Contradiction::Size(Fault::new("size of a fill", fill.size, expected))));
        }
    }
    (price, None)
}

/// `before` is the order that rested under the number. If there was none, either fills took all that was displayed and
/// the order shows more of itself (iceberg), or it rested from before the recording; in both cases it is in the book
/// from now on.
fn modify(order: u64, now: Resting, before: Option<Resting>, event: &mut SourceEvent) {
    match before {
        None => event.push(BookAction::Add, now.side, order, now.price, now.remaining),
        Some(before) if before == now => {}
        Some(before) if before.side != now.side => {
            event.push(BookAction::Delete, before.side, order, before.price, before.remaining);
            event.push(BookAction::Add, now.side, order, now.price, now.remaining);
        }
        Some(before) => {
            event.push(BookAction::Modify, now.side, order, now.price, now.remaining);
            let behind = before.price != now.price || now.remaining > before.remaining;
            if let Some(part) = event.book_events.last_mut().filter(|_| behind) {
                part.flags |= BookEvent::LOSES_PRIORITY;
            }
        }
    }
}

fn finish_trade(trade: Option<Traded>, event: &mut SourceEvent) {
    if let Some(Traded { record, touched: false, .. }) = trade {
        let resting = record.side.map_or(Side::Buy, Side::opposite);
        event.push(BookAction::Trade, resting, 0, record.price, record.size);
    }
}

/// The side of a trade is that of the incoming order.
fn aggressor(side: Option<Side>) -> Aggressor {
    match side {
        Some(Side::Buy) => Aggressor::Buy,
        Some(Side::Sell) => Aggressor::Sell,
        None => Aggressor::None,
    }
}

#[cfg(test)]
mod tests {
    use wire::Quantity;

    use super::*;
    use crate::source::recorded::Place;

    fn record(action: Action, side: Side, order: u64, price: i64, size: i64) -> Record {
        Record { action, side: Some(side), order, price: Price(price), size }
    }

    /// Converts events one after the other; returns the parts of the last one.
    fn run(events: &[&[Record]]) -> (Vec<(BookAction, u64, i64)>, Counts) {
        let (mut event, mut orders, mut counts) =
            (SourceEvent::default(), OrderTable::new(), Counts::default());
        for records in events {
            counts.read += records.len() as u64;
            event.begin(InstrumentId(1), 1, 1, 1, Place::Inside);
            convert(records, &mut event, &mut orders, &mut counts, |_| {});
        }
        assert!(counts.balanced());
        let parts = event.book_events.iter().map(|part| {
            let Quantity(quantity) = part.quantity;
            (part.action, part.order_ref, quantity)
        });
        (parts.collect(), counts)
    }

    #[test]
    fn a_fill_and_its_cancel_are_one_execution() {
        let add = [record(Action::Add, Side::Sell, 7, 100, 5)];
        let fill = [
            record(Action::Trade, Side::Buy, 99, 100, 5),
            record(Action::Fill, Side::Sell, 7, 100, 5),
            record(Action::Cancel, Side::Sell, 7, 100, 5),
        ];
        assert_eq!(run(&[&add, &fill]).0, [(BookAction::Execute, 7, 5)]);
    }

    #[test]
    fn a_fill_and_a_smaller_order_are_one_execution() {
        let add = [record(Action::Add, Side::Sell, 7, 100, 5)];
        let fill = [
            record(Action::Trade, Side::Buy, 99, 100, 3),
            record(Action::Fill, Side::Sell, 7, 100, 3),
            record(Action::Modify, Side::Sell, 7, 100, 2),
        ];
        assert_eq!(run(&[&add, &fill]).0, [(BookAction::Execute, 7, 3)]);
    }

    #[test]
    fn an_iceberg_that_shows_more_of_itself_comes_back() {
        let add = [record(Action::Add, Side::Sell, 7, 100, 5)];
        let fill =
            [record(Action::Fill, Side::Sell, 7, 100, 8), record(Action::Modify, Side::Sell, 7, 100, 4)];
        assert_eq!(run(&[&add, &fill]).0, [(BookAction::Execute, 7, 5), (BookAction::Add, 7, 4)]);
    }

    #[test]
    fn a_fill_that_nothing_follows_leaves_the_book_alone() {
        let add = [record(Action::Add, Side::Sell, 7, 100, 5)];
        let fill =
            [record(Action::Trade, Side::Buy, 99, 100, 3), record(Action::Fill, Side::Sell, 7, 100, 3)];
        assert_eq!(run(&[&add, &fill]).0, [(BookAction::Trade, 0, 3)]);
    }

    #[test]
    fn cancels_of_unknown_orders_are_counted_and_changes_of_them_add() {
        let (parts, counts) = run(&[&[
            record(Action::Cancel, Side::Buy, 7, 100, 5),
            record(Action::Modify, Side::Buy, 8, 100, 5),
        ]]);
        assert_eq!(parts, [(BookAction::Add, 8, 5)]);
        assert_eq!(counts.skipped.unknown_order, 1);
    }
}
