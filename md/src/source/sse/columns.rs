//! Where the columns of a file are: found by their headers, in any order and any case.

use super::super::error::Fault;
use super::super::{SourceError, input};
use super::EXPECTED;
use super::layout::{Layout, ORDER_ROLES, TRADE_ROLES};
use crate::source::table::Table;

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Orders,
    Trades,
}

impl Part {
    fn roles(self) -> &'static [&'static str; 8] {
        match self {
            Part::Orders => &ORDER_ROLES,
            Part::Trades => &TRADE_ROLES,
        }
    }

    fn headers(self, layout: &Layout) -> &[Vec<String>; 8] {
        match self {
            Part::Orders => &layout.orders,
            Part::Trades => &layout.trades,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Orders => "orders",
            Part::Trades => "trades",
        }
    }
}

/// Positions of a file's columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) part: Part,
    places: [usize; 8],
    /// The file's own headers, for messages.
    headers: Vec<String>,
    date: Option<usize>,
    money: Option<usize>,
}

impl Columns {
    /// The map of a header line: `None` when it is neither of orders nor of trades; otherwise which, or the names of
    /// the roles that have no column.
    pub(super) fn of(
        header: &csv::ByteRecord,
        layout: &Layout,
    ) -> Option<Result<Columns, (Part, Vec<&'static str>)>> {
        let (_, lower) = headers(header);
        // Columns that no other table of the market has decide which part it is.
        let decides = |part: Part, role: usize| position(&lower, &part.headers(layout)[role]).is_some();
        let part = [Part::Orders, Part::Trades]
            .into_iter()
            .find(|&part| [3, 4].into_iter().any(|role| decides(part, role)))?;
        Some(Columns::of_part(header, part, layout).map_err(|missing| (part, missing)))
    }

    fn of_part(header: &csv::ByteRecord, part: Part, layout: &Layout) -> Result<Columns, Vec<&'static str>> {
        let (headers, lower) = headers(header);
        let mut places = [0; 8];
        let mut missing = Vec::new();
        for ((place, names), role) in places.iter_mut().zip(part.headers(layout)).zip(part.roles()) {
            match position(&lower, names) {
                Some(found) => *place = found,
                None => missing.push(*role),
            }
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        let (date, money) = (position(&lower, &layout.date), position(&lower, &layout.money));
        Ok(Columns { part, places, headers, date, money })
    }

    /// Reads the header line of a table that must be `part`.
    pub(super) fn read(table: &mut Table, part: Part, layout: &Layout) -> Result<Columns, SourceError> {
        let path = table.path().to_owned();
        if table.next()?.is_none() {
            return Err(SourceError::Empty { path, expected: EXPECTED.to_owned() });
        }
        let missing = match Columns::of_part(table.record(), part, layout) {
            Ok(columns) => return Ok(columns),
            Err(missing) => missing,
        };
        let roles: Vec<String> = part.headers(layout).iter().map(|names| names.join(" or ")).collect();
        let expected =
            format!("the {} file of Shanghai Level 2, with the columns {}", part.name(), roles.join(", "));
        match Columns::of(table.record(), layout) {
            Some(Ok(columns)) => Err(SourceError::Format {
                path,
                found: format!("this is the {} file", columns.part.name()),
                expected,
            }),
            Some(Err((found, _))) if found == part => Err(SourceError::Format {
                path,
                found: format!("no column for {}", missing.join(", ")),
                expected,
            }),
            _ => Err(input::nothing_understood(&path, &expected)),
        }
    }

    /// Number of columns of a row.
    pub(super) fn width(&self) -> usize {
        self.headers.len()
    }

    /// The value of a role, by its index in the list of roles.
    pub(super) fn value<'a>(&self, record: &'a csv::ByteRecord, role: usize) -> &'a [u8] {
        record.get(self.places[role]).unwrap_or(b"")
    }

    pub(super) fn date<'a>(&self, record: &'a csv::ByteRecord) -> Option<&'a [u8]> {
        self.date.and_then(|place| record.get(place))
    }

    /// A trade's price times its quantity, if the file has it.
    pub(super) fn money<'a>(&self, record: &'a csv::ByteRecord) -> Option<&'a [u8]> {
        self.money.and_then(|place| record.get(place))
    }

    /// Adds the file's own header to a fault.
    pub(super) fn named(&self, role: usize, fault: Fault) -> Fault {
        Fault { column: self.headers[self.places[role]].clone().into(), ..fault }
    }
}

/// The headers as the file has them, and in lower case.
fn headers(header: &csv::ByteRecord) -> (Vec<String>, Vec<String>) {
    let headers: Vec<String> = header
        .iter()
        .map(|column| String::from_utf8_lossy(column).trim_matches(['"', ' ', '\u{feff}']).to_owned())
        .collect();
    let lower = headers.iter().map(|header| header.to_ascii_lowercase()).collect();
    (headers, lower)
}

fn position(headers: &[String], names: &[String]) -> Option<usize> {
    names.iter().find_map(|name| headers.iter().position(|header| header == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Result<Columns, (Part, Vec<&'static str>)>> {
        let header = csv::ByteRecord::from(text.split(',').collect::<Vec<_>>());
        Columns::of(&header, &Layout::recognised())
    }

    #[test]
    fn both_layouts_find_their_columns() {
        for (text, part) in [
            (
                "DataStatus,OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex",
                Part::Orders,
            ),
            ("MDTime,OrderType,OrderPrice,OrderQty,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID", Part::Orders),
            (
                "mdtime,tradebuyno,tradesellno,tradebsflag,tradeprice,tradeqty,applseqnum,htscsecurityid",
                Part::Trades,
            ),
            (
                "SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex",
                Part::Trades,
            ),
        ] {
            assert_eq!(of(text).unwrap().unwrap().part, part, "{text}");
        }
    }

    #[test]
    fn a_missing_column_is_named_and_another_table_is_none_of_ours() {
        let (part, missing) =
            of("MDTime,OrderType,OrderPrice,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID").unwrap().unwrap_err();
        assert_eq!((part, missing), (Part::Orders, vec!["quantity"]));
        assert!(of("UpdateTime,SecurityID,PreCloPrice,AskPrice1").is_none());
    }
}
