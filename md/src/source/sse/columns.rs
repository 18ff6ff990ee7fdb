//! One map for both column layouts: the meaning of each header, in any order and any case.

use super::super::error::Fault;
use super::super::{SourceError, input};
use super::EXPECTED;
use crate::source::table::Table;

/// A column's meaning, and its possible names.
struct Role {
    name: &'static str,
    headers: &'static [&'static str],
}

const TIME: Role = Role { name: "time", headers: &["ordertime", "tradtime", "tradetime", "mdtime"] };
const SEQUENCE: Role = Role { name: "joint sequence", headers: &["bizindex", "applseqnum"] };
const SYMBOL: Role = Role { name: "stock", headers: &["securityid", "htscsecurityid"] };
const DATE: Role = Role { name: "date", headers: &["mddate", "tradedate", "tradingday", "actionday"] };

const MONEY: Role = Role { name: "money", headers: &["trademoney", "tradmoney"] };

const ORDERS: [Role; 8] = [
    TIME,
    SEQUENCE,
    SYMBOL,
    Role { name: "order type", headers: &["ordertype"] },
    Role { name: "order number", headers: &["orderno"] },
    Role { name: "price", headers: &["orderprice"] },
    Role { name: "quantity", headers: &["balance", "orderqty"] },
    Role { name: "side", headers: &["orderbsflag"] },
];

const TRADES: [Role; 8] = [
    TIME,
    SEQUENCE,
    SYMBOL,
    Role { name: "buy order", headers: &["tradebuyno"] },
    Role { name: "sell order", headers: &["tradesellno"] },
    Role { name: "price", headers: &["tradprice", "tradeprice"] },
    Role { name: "quantity", headers: &["tradvolume", "tradevolume", "tradeqty"] },
    Role { name: "aggressor", headers: &["tradebsflag"] },
];

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Orders,
    Trades,
}

impl Part {
    fn roles(self) -> &'static [Role; 8] {
        match self {
            Part::Orders => &ORDERS,
            Part::Trades => &TRADES,
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
    pub(super) fn of(header: &csv::ByteRecord) -> Option<Result<Columns, (Part, Vec<&'static str>)>> {
        let headers: Vec<String> = header
            .iter()
            .map(|column| String::from_utf8_lossy(column).trim_matches(['"', ' ', '\u{feff}']).to_owned())
            .collect();
        let lower: Vec<String> = headers.iter().map(|header| header.to_ascii_lowercase()).collect();
        let find =
            |role: &Role| role.headers.iter().find_map(|name| lower.iter().position(|header| header == name));
        // Columns that no other table of the market has decide which part it is.
        let part = [(Part::Orders, [3, 4]), (Part::Trades, [3, 4])]
            .into_iter()
            .find(|(part, decisive)| decisive.iter().any(|&role| find(&part.roles()[role]).is_some()))?
            .0;
        let mut places = [0; 8];
        let mut missing = Vec::new();
        for (place, role) in places.iter_mut().zip(part.roles()) {
            match find(role) {
                Some(found) => *place = found,
                None => missing.push(role.name),
            }
        }
        if !missing.is_empty() {
            return Some(Err((part, missing)));
        }
        let (date, money) = (find(&DATE), find(&MONEY));
        Some(Ok(Columns { part, places, headers, date, money }))
    }

    /// Reads the header line of a table that must be `part`.
    pub(super) fn read(table: &mut Table, part: Part) -> Result<Columns, SourceError> {
        let path = table.path().to_owned();
        if table.next()?.is_none() {
            return Err(SourceError::Empty { path, expected: EXPECTED.to_owned() });
        }
        let expected = || {
            let roles: Vec<String> = part.roles().iter().map(|role| role.headers.join(" or ")).collect();
            format!("the {} file of Shanghai Level 2, with the columns {}", part.name(), roles.join(", "))
        };
        match Columns::of(table.record()) {
            Some(Ok(columns)) if columns.part == part => Ok(columns),
            Some(Ok(columns)) => Err(SourceError::Format {
                path,
                found: format!("this is the {} file", columns.part.name()),
                expected: expected(),
            }),
            Some(Err((found, missing))) if found == part => Err(SourceError::Format {
                path,
                found: format!("no column for {}", missing.join(", ")),
                expected: expected(),
            }),
            _ => Err(input::nothing_understood(&path, &expected())),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Result<Columns, (Part, Vec<&'static str>)>> {
        Columns::of(&csv::ByteRecord::from(text.split(',').collect::<Vec<_>>()))
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
