//! One row of an orders or a trades file.

use wire::{Aggressor, Price, Side, Symbol};

use super::columns::{Columns, Part};
use crate::source::error::{Fault, quote};
use crate::source::fields::{self, noisy_price, quantity, whole};
use crate::source::table::Table;

/// A row, in the units of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Nanoseconds after midnight, or since the epoch when the row names its date.
    pub(super) time: u64,
    pub(super) dated: bool,
    pub(super) sequence: u64,
    pub(super) symbol: Symbol,
    pub(super) body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Add {
        order: u64,
        side: Side,
        price: Price,
        quantity: i64,
    },
    Cancel {
        order: u64,
        side: Side,
        /// [`Price::NONE`] where the row has none.
        price: Price,
        quantity: i64,
    },
    Trade {
        buy: u64,
        sell: u64,
        price: Price,
        quantity: i64,
        aggressor: Aggressor,
        /// The file's own product of price and quantity differs.
        off_money: bool,
    },
    /// A change of the trading phase; the book does not change.
    Status,
}

/// Reads the row in `record`.
pub(super) fn read(record: &csv::ByteRecord, columns: &Columns) -> Result<Row, Fault> {
    Table::check_width(record, columns.width())?;
    let text = |role| columns.value(record, role);
    let named = |role| move |fault| columns.named(role, fault);
    let clock = fields::time_of_day(text(0))
        .ok_or_else(|| named(0)(Fault::text("", text(0), "a time of day, HH:MM:SS.mmm or HHMMSSmmm")))?;
    let date = match columns.date(record) {
        None => None,
        Some(date) => Some(fields::date(date).ok_or_else(|| Fault::new("date", quote(date), "YYYYMMDD"))?),
    };
    Ok(Row {
        time: date.unwrap_or(0) + clock,
        dated: date.is_some(),
        sequence: whole("", text(1)).map_err(named(1))?,
        symbol: symbol(text(2)).ok_or_else(|| {
            named(2)(Fault::text("", text(2), "a stock's number, such as 600519 or 600519.SH"))
        })?,
        body: match columns.part {
            Part::Orders => order(columns, &text)?,
            Part::Trades => trade(columns, &text, columns.money(record))?,
        },
    })
}

fn order<'a>(columns: &Columns, text: &dyn Fn(usize) -> &'a [u8]) -> Result<Body, Fault> {
    let named = |role| move |fault| columns.named(role, fault);
    let cancel = match text(3) {
        b"A" | b"2" => false,
        b"D" | b"10" => true,
        b"S" => return Ok(Body::Status),
        other => {
            return Err(named(3)(Fault::text("", other, "A or 2 (add), D or 10 (cancel), S (status)")));
        }
    };
    let side = match text(7) {
        b"B" | b"1" => Side::Buy,
        b"S" | b"2" => Side::Sell,
        other => return Err(named(7)(Fault::text("", other, "B or 1 (buy), S or 2 (sell)"))),
    };
    let order = whole("", text(4)).map_err(named(4))?;
    let quantity = quantity("", text(6)).map_err(named(6))?;
    if cancel {
        // Some vendors leave the price out.
        let price = noisy_price("", text(5)).unwrap_or(Price::NONE);
        return Ok(Body::Cancel { order, side, price, quantity });
    }
    let price = noisy_price("", text(5)).map_err(named(5))?;
    Ok(Body::Add { order, side, price, quantity })
}

fn trade<'a>(
    columns: &Columns,
    text: &dyn Fn(usize) -> &'a [u8],
    money: Option<&[u8]>,
) -> Result<Body, Fault> {
    let named = |role| move |fault| columns.named(role, fault);
    let aggressor = match text(7) {
        b"B" | b"1" => Aggressor::Buy,
        b"S" | b"2" => Aggressor::Sell,
        b"N" | b"0" => Aggressor::None,
        other => {
            return Err(named(7)(Fault::text("", other, "B or 1 (buy), S or 2 (sell), N or 0 (auction)")));
        }
    };
    let price = noisy_price("", text(5)).map_err(named(5))?;
    let quantity = quantity("", text(6)).map_err(named(6))?;
    Ok(Body::Trade {
        buy: whole("", text(3)).map_err(named(3))?,
        sell: whole("", text(4)).map_err(named(4))?,
        price,
        quantity,
        aggressor,
        off_money: money.is_some_and(|money| !is_product(money, price, quantity)),
    })
}

/// Whether the column of money is price times quantity, except for float noise and rounding to 0.01; true for an empty
/// one.
fn is_product(money: &[u8], price: Price, quantity: i64) -> bool {
    let product = price.to_f64() * quantity as f64;
    let money = std::str::from_utf8(money).ok().map(str::trim).filter(|text| !text.is_empty());
    match money.map(str::parse::<f64>) {
        None => true,
        Some(Ok(money)) => (money - product).abs() <= 0.011 + product * 1e-9,
        Some(Err(_)) => false,
    }
}

/// `600519` and `600519.SH` are one stock. Anything but six digits and the market is a row that was cut or garbled.
pub(super) fn symbol(text: &[u8]) -> Option<Symbol> {
    let text = std::str::from_utf8(text).ok()?;
    let (number, market) = text.split_once('.').unwrap_or((text, "SH"));
    let is_known = matches!(market.to_ascii_uppercase().as_str(), "SH" | "SS" | "XSHG");
    if !is_known || number.len() != 6 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Symbol::new(&format!("{number}.{market}"))
}

#[cfg(test)]
mod tests {
    use super::super::layout::Layout;
    use super::*;

    fn columns(header: &str) -> Columns {
        Columns::of(&record(header), &Layout::recognised()).unwrap().unwrap()
    }

    fn record(text: &str) -> csv::ByteRecord {
        csv::ByteRecord::from(text.split(',').collect::<Vec<_>>())
    }

    #[test]
    fn both_layouts_read_to_the_same_row() {
        let first = columns("SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex");
        let second =
            columns("MDTime,OrderType,OrderPrice,OrderQty,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID");
        let a = read(&record("600519,09:15:00.220,A,1248,1801.00999999999999,100,B,76839"), &first).unwrap();
        let b = read(&record("91500220,2,1801.01,100,1,76839,1248,600519.SH"), &second).unwrap();
        assert_eq!(a, b);
        assert!(matches!(a.body, Body::Add { order: 1248, side: Side::Buy, quantity: 100, .. }));
        let gone = read(&record("91500220,10,0,100,1,76840,1248,600519.SH"), &second).unwrap();
        let (side, price) = (Side::Buy, Price::NONE);
        assert_eq!(gone.body, Body::Cancel { order: 1248, side, price, quantity: 100 });
    }

    #[test]
    fn money_is_price_times_quantity() {
        let price = Price(18_549_800_000_000 / 10);
        for (money, fits) in
            [("185498", true), ("185498.000000001", true), ("185497", false), ("x", false), ("", true)]
        {
            assert_eq!(is_product(money.as_bytes(), price, 100), fits, "{money}");
        }
    }

    #[test]
    fn each_bad_column_is_named_as_in_the_file() {
        let columns =
            columns("MDTime,TradeBuyNo,TradeSellNo,TradeBSFlag,TradePrice,TradeQty,ApplSeqNum,SecurityID");
        assert!(read(&record("93000000,1,2,1,10.5,100,7,605580.SH,"), &columns).is_ok());
        for (text, column) in [
            ("9300,1,2,1,10.5,100,7,605580.SH", "MDTime"),
            ("93000000,x,2,1,10.5,100,7,605580.SH", "TradeBuyNo"),
            ("93000000,1,-2,1,10.5,100,7,605580.SH", "TradeSellNo"),
            ("93000000,1,2,3,10.5,100,7,605580.SH", "TradeBSFlag"),
            ("93000000,1,2,1,ten,100,7,605580.SH", "TradePrice"),
            ("93000000,1,2,1,10.5,0,7,605580.SH", "TradeQty"),
            ("93000000,1,2,1,10.5,100,,605580.SH", "ApplSeqNum"),
            ("93000000,1,2,1,10.5,100,7,", "SecurityID"),
            ("93000000,1,2,1,10.5,100,7,6055", "SecurityID"),
            ("93000000,1,2,1,10.5,100,7,605580.S", "SecurityID"),
            ("93000000,1,2,1,10.5,100,7", "the row"),
            ("93000000,1,2,1,10.5,100,7,605580.SH,9", "the row"),
        ] {
            assert_eq!(read(&record(text), &columns).unwrap_err().column, column, "{text}");
        }
    }
}
