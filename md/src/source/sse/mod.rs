//! Shanghai Stock Exchange Level 2: tick-by-tick orders and trades, two files a day.
//!
//! Facts, after the exchange's Level 2 tick-by-tick orders and trades as vendors pass them on, and checked on a
//! recorded day, all of whose trades and snapshots they reproduce:
//!
//! - Orders (`A`) and cancels (`D`) stand in one file, trades in the other; a joint sequence (`BizIndex`, at other
//!   vendors `ApplSeqNum`) orders both.
//! - An order that trades at once is published **only with what is left of it after its trades**, behind them; one
//!   that trades whole is never published. So a trade in continuous trading executes the order of the side that
//!   was *not* the aggressor; the aggressor is not in the book yet, and its remainder comes as an `A` of its own.
//! - In call auctions (09:15–09:25, 14:57–15:00) orders are published whole and the book crosses; the auction's
//!   trades carry no aggressor (`N`) and reduce **both** orders.
//! - What is not continuous trading (09:30–11:30, 13:00–14:57) is marked [`wire::BookEvent::CALL_AUCTION`], by the row's
//!   time: matching takes no new orders then, since the exchange trades nothing but at an auction's end.
//! - Prices of files that went through floating point carry noise; the tick is 0.01 for stocks, 0.001 for funds.
//!
//! | column (this layout) | (that layout) | is | unit |
//! |---|---|---|---|
//! | OrderTime, TradTime | MDTime | time of day, Shanghai | `HH:MM:SS.mmm` or `HHMMSSmmm` |
//! | OrderType A, D, S | 2, 10 | add, cancel, status (skipped) | |
//! | OrderNO | OrderNO | the order | number |
//! | OrderPrice, TradPrice | OrderPrice, TradePrice | price | yuan |
//! | Balance, TradVolume | OrderQty, TradeQty | quantity | shares |
//! | OrderBSFlag B, S | 1, 2 | side | |
//! | TradeBuyNo, TradeSellNo | the same | the two orders | number |
//! | TradeBSFlag B, S, N | 1, 2, 0 | aggressor, or auction | |
//! | BizIndex | ApplSeqNum | joint sequence | number |
//! | SecurityID 600519 | 605580.SH | stock; listed as `600519.SH` either way | |
//! | | MDDate | date, if there is one | `YYYYMMDD` |
//!
//! Columns are found by their names, so that their order does not matter and both layouts are one reader.
//!
//! Choices: a cancel deletes what is left of the order. A trade whose resting order is not known (the recording
//! began later) is a `Trade` with its print. A row whose sequence is not above the last one of its stock is a bad
//! row: a doubled line. The lot is listed as 1, since the remainders of orders may be odd.

mod columns;
mod merge;
mod phase;
mod row;
pub(crate) mod snapshot;

use std::path::{Path, PathBuf};

use wire::{Aggressor, BookAction, Instrument, InstrumentId, Price, Side};

use self::columns::{Columns, Part};
use self::merge::{File, Merge, OrderCheck, Placed};
use self::row::Body;
use super::error::Fault;
use super::listing::{Listing, TickRule};
use super::orders::{OrderTable, Resting};
use super::recorded::{Place, Window};
use super::table::Table;
use super::{Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, files, input};

const EXPECTED: &str = "Shanghai Level 2 orders and trades";

/// Replays a day of orders and trades.
pub struct SseSource {
    merge: Merge,
    listing: Listing,
    instruments: Vec<Instrument>,
    orders: OrderTable<(InstrumentId, u64)>,
    last_sequence: Vec<Option<u64>>,
    paths: [PathBuf; 2],
    window: Window,
    on_bad_row: OnBadRow,
    counts: Counts,
}

impl SseSource {
    /// Opens the two files, named or in a folder (found there by their columns), and lists the stocks.
    ///
    /// # Errors
    /// [`SourceError`].
    pub fn open(files: &Files, options: &Options) -> Result<SseSource, SourceError> {
        let [orders, trades] = find(files)?;
        let date = options.date.map(|date| date.0);
        let mut listing = Listing::new(&options.symbols, TickRule::Cents);
        let mut sorted = true;
        let mut understood = false;
        for (path, part) in [(&orders, Part::Orders), (&trades, Part::Trades)] {
            let mut file = File::open(path, part, date)?;
            let (rows, ordered) = first_pass(&mut file, options, &mut listing)?;
            understood |= rows > 0;
            sorted &= ordered;
        }
        if !understood {
            return Err(SourceError::Empty { path: orders, expected: EXPECTED.to_owned() });
        }
        let instruments = listing.finish()?;
        let mut counts = Counts::default();
        let open = |path: &Path, part| File::open(path, part, date);
        let (first, second) = (open(&orders, Part::Orders)?, open(&trades, Part::Trades)?);
        let merge = if sorted {
            Merge::streamed(first, second)
        } else {
            Merge::sorted(first, second, &listing, &mut counts, options.on_bad_row)?
        };
        Ok(SseSource {
            merge,
            last_sequence: vec![None; instruments.len() + 1],
            instruments,
            listing,
            orders: OrderTable::new(),
            paths: [orders, trades],
            window: Window::new(options)?,
            on_bad_row: options.on_bad_row,
            counts,
        })
    }

    fn apply(&mut self, placed: Placed, event: &mut SourceEvent) -> Result<bool, SourceError> {
        let Placed { part, line, time, sequence, instrument, body } = placed;
        if instrument == InstrumentId::default() {
            self.counts.skipped.other_symbol += 1;
            return Ok(false);
        }
        let place = self.window.place(time);
        if place == Place::After {
            self.counts.skipped.after_window += 1;
            return Ok(false);
        }
        let last = &mut self.last_sequence[instrument.0 as usize];
        if last.is_some_and(|last| sequence <= last) {
            let expected =
                format!("a number above {}, the one before it (is the row doubled?)", last.unwrap_or(0));
            let fault = Fault::new("joint sequence", sequence, expected);
            let path = &self.paths[usize::from(part == Part::Trades)];
            self.counts.reject(self.on_bad_row, fault, path, line)?;
            return Ok(false);
        }
        *last = Some(sequence);
        event.begin(instrument, time, sequence, line, place);
        event.call_auction = phase::is_call_auction(time);
        match body {
            Body::Status => {
                self.counts.skipped.no_effect += 1;
                return Ok(false);
            }
            Body::Add { order, side, price, quantity } => {
                let resting = Resting { instrument, side, price, remaining: quantity };
                if let Some(old) = self.orders.add((instrument, order), resting) {
                    self.counts.displaced += 1;
                    event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
                }
                event.push(BookAction::Add, side, order, price, quantity);
            }
            Body::Cancel { order, quantity } => {
                let Some(old) = self.orders.remove((instrument, order)) else {
                    self.counts.skipped.unknown_order += 1;
                    return Ok(false);
                };
                self.counts.excess += u64::from(quantity > old.remaining);
                event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
            }
            Body::Trade { buy, sell, price, quantity, aggressor } => {
                let mut touched = false;
                if aggressor != Aggressor::Buy {
                    touched |= self.execute(event, Side::Buy, buy, price, quantity);
                }
                if aggressor != Aggressor::Sell {
                    touched |= self.execute(event, Side::Sell, sell, price, quantity);
                }
                if touched {
                    event.print(aggressor, price, quantity, sequence);
                } else {
                    event.unseen_trade(aggressor, price, quantity, sequence);
                }
            }
        }
        self.counts.apply(event);
        Ok(event.finish())
    }

    fn execute(
        &mut self,
        event: &mut SourceEvent,
        side: Side,
        order: u64,
        price: Price,
        quantity: i64,
    ) -> bool {
        let Some(taken) = self.orders.take((event.instrument, order), quantity) else { return false };
        self.counts.excess += u64::from(taken.excess);
        event.push(BookAction::Execute, side, order, price, taken.quantity);
        true
    }
}

impl Source for SseSource {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        while let Some(placed) = self.merge.next(&self.listing, &mut self.counts, self.on_bad_row)? {
            if self.apply(placed, event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// Lists the stocks of one file; answers how many rows were good, and whether they are in order.
fn first_pass(file: &mut File, options: &Options, listing: &mut Listing) -> Result<(u64, bool), SourceError> {
    let (mut rows, mut check, mut counts) = (0, OrderCheck::new(), Counts::default());
    let path = file.path().to_owned();
    while let Some((line, row)) = file.next()? {
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                counts.reject(options.on_bad_row, fault, &path, line)?;
                continue;
            }
        };
        rows += 1;
        check.row(&row);
        if let Some(id) = listing.id(row.symbol, &path)? {
            match row.body {
                Body::Add { price, .. } => listing.order(id, price),
                Body::Trade { price, .. } => listing.trade(id, price),
                Body::Cancel { .. } | Body::Status => {}
            }
        }
    }
    Ok((rows, check.sorted))
}

/// The orders file and the trades file.
fn find(files: &Files) -> Result<[PathBuf; 2], SourceError> {
    let folder = match files {
        Files::Named(named) => {
            let [orders, trades] = Files::roles(named, ["orders", "trades"], 2)?;
            return Ok([orders.unwrap_or_default(), trades.unwrap_or_default()]);
        }
        Files::Path(path) => path,
    };
    if !folder.exists() {
        let expected = "a folder with the orders file and the trades file".to_owned();
        return Err(SourceError::Missing { path: folder.clone(), expected });
    }
    if !folder.is_dir() {
        return Err(SourceError::Format {
            path: folder.clone(),
            found: "this is one file".to_owned(),
            expected: "a folder with the orders file and the trades file, or files = { orders = \"...\", trades = \"...\" }"
                .to_owned(),
        });
    }
    let mut found: [Vec<PathBuf>; 2] = [Vec::new(), Vec::new()];
    for path in files::list(folder)? {
        if let Some(part) = part_of(&path) {
            found[usize::from(part == Part::Trades)].push(path);
        }
    }
    let [orders, trades] = &found;
    match (&orders[..], &trades[..]) {
        ([order], [trade]) => Ok([order.clone(), trade.clone()]),
        ([], []) => Err(SourceError::Folder {
            path: folder.clone(),
            found: "no orders file and no trades file in either column layout".to_owned(),
            advice: "put both there as .csv or .csv.gz with their header lines, or name them: files.orders, files.trades"
                .to_owned(),
        }),
        (orders, trades) => {
            let many = |files: &[PathBuf]| if files.is_empty() { "none".to_owned() } else { files::names(files) };
            Err(SourceError::Folder {
                path: folder.clone(),
                found: format!("orders files: {}; trades files: {}", many(orders), many(trades)),
                advice: "one of each is needed: name the ones to replay with files.orders and files.trades".to_owned(),
            })
        }
    }
}

/// What a file of a folder is, by its header line. A file that cannot be read is none of ours here: when it was
/// meant, the message says that it is missing.
fn part_of(path: &Path) -> Option<Part> {
    let name = files::unpacked_name(path);
    if !(name.ends_with(".csv") || name.ends_with(".txt")) {
        return None;
    }
    let head = input::head(path, EXPECTED).ok()?;
    if input::content(&head) == input::Content::Binary {
        return None;
    }
    let mut table = Table::open(path, EXPECTED).ok()?;
    table.next().ok()??;
    Columns::of(table.record())?.ok().map(|columns| columns.part)
}
