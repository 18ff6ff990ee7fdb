//! One row of a LOBSTER message file and of an orderbook file.

use wire::{Price, Side, TradingPhase};

use crate::source::error::Fault;
use crate::source::fields::{DAY, SECOND, digits, quantity};
use crate::source::table::Table;

/// LOBSTER writes dollars times 10,000.
const UNIT: i64 = 100_000;
/// The price of a missing level.
const NO_PRICE: i64 = 9_999_999_999;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    New,
    PartialCancel,
    Delete,
    Execute,
    ExecuteHidden,
    Cross,
    /// A halt, quoting for the cross that ends it, or trading again.
    Phase(TradingPhase),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Nanoseconds after midnight.
    pub(crate) time: u64,
    pub(crate) kind: Kind,
    pub(crate) order: u64,
    pub(crate) quantity: i64,
    pub(crate) price: Price,
    pub(crate) side: Side,
}

/// Reads a message: time, type, order, size, price, direction, and in newer files a participant.
pub(crate) fn message(record: &csv::ByteRecord) -> Result<Row, Fault> {
    Table::check_width(record, if record.len() == 7 { 7 } else { 6 })?;
    let column = |index| record.get(index).unwrap_or(b"");
    let time = seconds(column(0)).ok_or_else(|| {
        Fault::text("time (column 1)", column(0), "seconds after midnight, such as 34200.004241176")
    })?;
    let side = match column(5) {
        b"1" => Side::Buy,
        b"-1" => Side::Sell,
        other => return Err(Fault::text("direction (column 6)", other, "1 (buy) or -1 (sell)")),
    };
    let kind = match column(1) {
        b"1" => Kind::New,
        b"2" => Kind::PartialCancel,
        b"3" => Kind::Delete,
        b"4" => Kind::Execute,
        b"5" => Kind::ExecuteHidden,
        b"6" => Kind::Cross,
        b"7" => {
            let phase = match column(4) {
                b"-1" => TradingPhase::Halt,
                b"0" => TradingPhase::VolatilityAuction,
                b"1" => TradingPhase::Continuous,
                other => {
                    let expected = "-1 (halt), 0 (quoting resumes) or 1 (trading resumes)";
                    return Err(Fault::text("price (column 5) of a halt", other, expected));
                }
            };
            return Ok(Row {
                time,
                kind: Kind::Phase(phase),
                order: 0,
                quantity: 0,
                price: Price::NONE,
                side,
            });
        }
        other => return Err(Fault::text("type (column 2)", other, "1 to 7")),
    };
    let order = match kind {
        // Crosses carry a negative pseudo number.
        Kind::Cross => 0,
        _ => digits(column(2))
            .filter(|&order| order < super::depth::ANONYMOUS)
            .ok_or_else(|| Fault::text("order id (column 3)", column(2), "a whole number"))?,
    };
    let price = quantity("price (column 5)", column(4))
        .ok()
        .and_then(|price| price.checked_mul(UNIT))
        .filter(|&price| price < NO_PRICE * UNIT)
        .ok_or_else(|| Fault::text("price (column 5)", column(4), "dollars times 10,000, above zero"))?;
    Ok(Row {
        time,
        kind,
        order,
        quantity: quantity("size (column 4)", column(3))?,
        price: Price(price),
        side,
    })
}

fn seconds(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let seconds = digits(&text[..point]).filter(|&seconds| seconds < DAY / SECOND)?;
    let fraction = text.get(point + 1..).unwrap_or(b"0");
    let kept = &fraction[..fraction.len().min(9)];
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(seconds * SECOND + digits(kept)? * 10_u64.pow(9 - kept.len() as u32))
}

/// The visible levels of both sides: price in units of the wire, size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) bids: Vec<(Price, i64)>,
    pub(crate) asks: Vec<(Price, i64)>,
}

impl View {
    pub(crate) fn side(&self, side: Side) -> &[(Price, i64)] {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    /// Reads an orderbook row of `levels` levels: ask price, ask size, bid price, bid size, level by level.
    pub(crate) fn read(&mut self, record: &csv::ByteRecord, levels: usize) -> Result<(), Fault> {
        Table::check_width(record, levels * 4)?;
        self.bids.clear();
        self.asks.clear();
        for index in 0..levels * 2 {
            let (name, side) = if index % 2 == 0 { ("ask", &mut self.asks) } else { ("bid", &mut self.bids) };
            let column = |offset: usize| record.get(index * 2 + offset).unwrap_or(b"");
            let size = digits(column(1)).and_then(|size| i64::try_from(size).ok());
            let price = column(0).strip_prefix(b"-").unwrap_or(column(0));
            let price = digits(price).and_then(|price| i64::try_from(price).ok());
            let (Some(price), Some(size)) = (price.and_then(|price| price.checked_mul(UNIT)), size) else {
                let bad = if price.is_none() { column(0) } else { column(1) };
                return Err(Fault::new(
                    format!("{name} of level {}", index / 2 + 1),
                    super::super::error::quote(bad),
                    "a whole number",
                ));
            };
            if size > 0 && price < NO_PRICE * UNIT {
                side.push((Price(price), size));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Result<Row, Fault> {
        message(&csv::ByteRecord::from(text.split(',').collect::<Vec<_>>()))
    }

    #[test]
    fn messages_read_exactly() {
        let read = row("34200.004241176,1,16113575,18,5853300,1").unwrap();
        assert_eq!(read.time, 34_200_004_241_176);
        assert_eq!((read.kind, read.order, read.quantity), (Kind::New, 16_113_575, 18));
        assert_eq!((read.price, read.side), (Price(585_330_000_000), Side::Buy));
        assert_eq!(row("34200,6,-1,500,5853300,-1").unwrap().kind, Kind::Cross);
        assert_eq!(row("34200.5,7,0,0,-1,-1").unwrap().kind, Kind::Phase(TradingPhase::Halt));
        assert_eq!(row("34200.5,7,0,0,0,-1").unwrap().kind, Kind::Phase(TradingPhase::VolatilityAuction));
        assert_eq!(row("34200.5,7,0,0,1,-1").unwrap().kind, Kind::Phase(TradingPhase::Continuous));
        assert!(row("34200.5,1,5,10,100,1,NSDQ").is_ok());
    }

    #[test]
    fn each_bad_column_is_named() {
        for (text, column) in [
            ("x,1,1,18,5853300,1", "time"),
            ("34200.x,1,1,18,5853300,1", "time"),
            ("99999,1,1,18,5853300,1", "time"),
            ("34200,8,1,18,5853300,1", "type"),
            ("34200,1,-1,18,5853300,1", "order id"),
            ("34200,1,99999999999999999999,18,5853300,1", "order id"),
            ("34200,1,1,0,5853300,1", "size"),
            ("34200,1,1,18,,1", "price"),
            ("34200,1,1,18,9223372036854775807,1", "price"),
            ("34200,1,1,18,5853300,0", "direction"),
            ("34200,7,0,0,5,-1", "halt"),
            ("34200,1,1,18,5853300", "the row"),
            ("34200,1,1,18,5853300,1,a,b", "the row"),
        ] {
            let fault = row(text).unwrap_err();
            assert!(fault.column.contains(column), "{text}: {fault:?}");
        }
    }

    #[test]
    fn views_leave_out_levels_that_are_not_there() {
        let mut view = View::default();
        let record =
            csv::ByteRecord::from(vec!["100", "5", "99", "6", "9999999999", "0", "-9999999999", "0"]);
        view.read(&record, 2).unwrap();
        assert_eq!(view.asks, [(Price(100 * UNIT), 5)]);
        assert_eq!(view.bids, [(Price(99 * UNIT), 6)]);
        assert!(view.read(&record, 3).is_err());
        assert!(view.read(&csv::ByteRecord::from(vec!["1", "2", "x", "4"]), 1).is_err());
    }
}
