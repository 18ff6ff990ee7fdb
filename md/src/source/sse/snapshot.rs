//! The exchange's own ten-level snapshots, for comparison with the rebuilt book.

use std::path::Path;

use wire::{LEVELS, Price, Side, Symbol};

use super::row::symbol;
use crate::source::SourceError;
use crate::source::error::Fault;
use crate::source::fields::{digits, noisy_price, whole};
use crate::source::input;
use crate::source::table::Table;

const EXPECTED: &str = "the snapshot file of Shanghai Level 2, with its header line";

/// A level of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLevel {
    /// Its price.
    pub price: Price,
    /// Its volume.
    pub quantity: i64,
    /// Number of orders, if the file has it.
    pub orders: Option<u64>,
}

/// All of a side, also beyond ten levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotTotal {
    /// Its volume.
    pub quantity: i64,
    /// Number of orders.
    pub orders: u64,
    /// Number of prices.
    pub levels: u64,
}

/// What has traded in the day, as far as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traded {
    /// Volume.
    pub volume: Option<i64>,
    /// What was paid for it.
    pub turnover: Option<f64>,
    /// Price of the last trade.
    pub last: Option<Price>,
    /// Highest price.
    pub high: Option<Price>,
    /// Lowest price.
    pub low: Option<Price>,
}

/// One snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Line, from 1; the header line counts.
    pub row: u64,
    /// Its stock.
    pub symbol: Symbol,
    /// Taken in continuous trading. Others have no levels.
    pub continuous: bool,
    /// Number of trades of the day up to it.
    pub trades: u64,
    /// What has traded up to it.
    pub traded: Traded,
    bids: Vec<SnapshotLevel>,
    asks: Vec<SnapshotLevel>,
    totals: Option<[SnapshotTotal; 2]>,
}

impl Snapshot {
    /// Up to ten levels, best first.
    pub fn side(&self, side: Side) -> &[SnapshotLevel] {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    /// Buyers and sellers in total, if the file has it.
    pub fn totals(&self) -> Option<[SnapshotTotal; 2]> {
        self.totals
    }
}

/// Reads a snapshot file.
pub(crate) struct Snapshots {
    table: Table,
    width: usize,
    symbol: usize,
    phase: usize,
    trades: usize,
    bids: [Place; LEVELS],
    asks: [Place; LEVELS],
    /// Volume, orders and prices of a side.
    totals: Option<[[usize; 3]; 2]>,
    /// Volume, turnover, last, highest and lowest price.
    traded: [Option<usize>; 5],
}

/// The columns of one level.
#[derive(Clone, Copy, Debug)]
struct Place {
    price: usize,
    quantity: usize,
    orders: Option<usize>,
}

impl Snapshots {
    pub(crate) fn open(path: &Path) -> Result<Snapshots, SourceError> {
        let mut table = Table::open(path, EXPECTED)?;
        if table.next()?.is_none() {
            return Err(SourceError::Empty { path: path.to_owned(), expected: EXPECTED.to_owned() });
        }
        let header: Vec<Vec<u8>> = table.record().iter().map(<[u8]>::to_ascii_lowercase).collect();
        let find = |name: &str| header.iter().position(|column| column == name.as_bytes());
        let need = |name: String| {
            find(&name.to_ascii_lowercase()).ok_or_else(|| match find("securityid") {
                None => input::nothing_understood(path, EXPECTED),
                Some(_) => SourceError::Format {
                    path: path.to_owned(),
                    found: format!("no column {name}"),
                    expected: EXPECTED.to_owned(),
                },
            })
        };
        let places = |side: &str, letter: &str| -> Result<[Place; LEVELS], SourceError> {
            let mut places = [Place { price: 0, quantity: 0, orders: None }; LEVELS];
            for (place, level) in places.iter_mut().zip(1..) {
                *place = Place {
                    price: need(format!("{side}Price{level}"))?,
                    quantity: need(format!("{side}Volume{level}"))?,
                    orders: find(&format!("numorders{letter}{level}")),
                };
            }
            Ok(places)
        };
        Ok(Snapshots {
            width: header.len(),
            symbol: need("SecurityID".to_owned())?,
            phase: need("InstruStatus".to_owned())?,
            trades: need("TradNumber".to_owned())?,
            totals: [["totalbidvol", "totbidnum", "bidnum"], ["totalaskvol", "totsellnum", "sellnum"]]
                .iter()
                .map(|names| Some([find(names[0])?, find(names[1])?, find(names[2])?]))
                .collect::<Option<Vec<_>>>()
                .and_then(|totals| totals.try_into().ok()),
            traded: ["tradvolume", "turnover", "lastprice", "highprice", "lowprice"].map(find),
            bids: places("Bid", "b")?,
            asks: places("Ask", "s")?,
            table,
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Snapshot>, SourceError> {
        let Some(row) = self.table.next()? else { return Ok(None) };
        self.read(row).map(Some).map_err(|fault| fault.at(self.table.path(), row).into())
    }

    fn read(&self, row: u64) -> Result<Snapshot, Fault> {
        let record = self.table.record();
        Table::check_width(record, self.width)?;
        let text = |place: usize| record.get(place).unwrap_or(b"");
        let side = |places: &[Place; LEVELS]| -> Result<Vec<SnapshotLevel>, Fault> {
            let mut levels = Vec::with_capacity(LEVELS);
            for place in places {
                // A level that the book does not have is empty or zero.
                if text(place.quantity).iter().all(|&byte| byte == b'0') {
                    break;
                }
                levels.push(SnapshotLevel {
                    price: noisy_price("price of a level", text(place.price))?,
                    quantity: crate::source::fields::quantity("volume of a level", text(place.quantity))?,
                    orders: place.orders.map(|place| count(text(place))).transpose()?.flatten(),
                });
            }
            Ok(levels)
        };
        // Outside of continuous trading the levels hold an auction's indicative price instead.
        let continuous = text(self.phase) == b"TRADE";
        let levels = |places| if continuous { side(places) } else { Ok(Vec::new()) };
        let total = |[quantity, orders, levels]: [usize; 3]| -> Result<Option<SnapshotTotal>, Fault> {
            let numbers = (count(text(quantity))?, count(text(orders))?, count(text(levels))?);
            let (Some(quantity), Some(orders), Some(levels)) = numbers else { return Ok(None) };
            let quantity = i64::try_from(quantity).ok();
            Ok(quantity.map(|quantity| SnapshotTotal { quantity, orders, levels }))
        };
        let totals = self.totals.filter(|_| continuous);
        let [volume, turnover, last, high, low] = self.traded.map(|place| place.map(text));
        let price = |name, text: Option<&[u8]>| -> Result<Option<Price>, Fault> {
            // Before the first trade it is zero.
            let text = text.filter(|text| text.iter().any(|byte| !matches!(byte, b'0' | b'.')));
            text.map(|text| noisy_price(name, text)).transpose()
        };
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.trim().parse::<f64>().ok();
        let traded = Traded {
            volume: volume.and_then(digits).and_then(|volume| i64::try_from(volume).ok()),
            turnover: turnover.and_then(number),
            last: price("LastPrice", last)?,
            high: price("HighPrice", high)?,
            low: price("LowPrice", low)?,
        };
        Ok(Snapshot {
            row,
            totals: match totals {
                Some([bids, asks]) => total(bids)?.zip(total(asks)?).map(<[SnapshotTotal; 2]>::from),
                None => None,
            },
            symbol: symbol(text(self.symbol))
                .ok_or_else(|| Fault::text("SecurityID", text(self.symbol), "a stock's number"))?,
            continuous,
            trades: whole("TradNumber", text(self.trades))?,
            traded,
            bids: levels(&self.bids)?,
            asks: levels(&self.asks)?,
        })
    }
}

/// A number that a file may leave out.
fn count(text: &[u8]) -> Result<Option<u64>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    digits(text).map(Some).ok_or_else(|| Fault::text("a number of a snapshot", text, "a whole number"))
}
