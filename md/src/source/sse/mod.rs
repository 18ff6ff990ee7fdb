//! Shanghai Stock Exchange Level 2: tick-by-tick orders and trades, two files a day.
//!
//! Facts from the exchange's Level 2 tick-by-tick orders and trades as vendors distribute them, verified with a
//! recorded day, whose trades and snapshots they all reproduce:
//!
//! - Orders (`A`) and cancels (`D`) are in one file, trades in the other; a joint sequence (`BizIndex`, at other
//!   vendors `ApplSeqNum`) orders both.
//! - An order that trades at once is published **only with its remainder**, after its trades; one that
//!   trades completely is never published. So a trade in continuous trading executes the order of the side that was
//!   *not* the aggressor; the aggressor is not in the book yet, and its remainder comes as an `A` of its own.
//! - In call auctions (09:15–09:25, 14:57–15:00) orders are published whole and the book crosses; the auction's trades
//!   have no aggressor (`N`) and reduce **both** orders.
//! - Times outside continuous trading (09:30–11:30, 13:00–14:57) are marked [`wire::BookEvent::CALL_AUCTION`], by the
//!   row's time: matching accepts no new orders then, since the exchange trades only at an auction's end.
//! - The phases of the exchange's day begin by the clock (`phase.rs`), for every stock: each before the first row of that time or later, with
//!   its own time and the number of the row before.
//! - Prices of files that went through floating point contain noise; the tick is 0.01 for stocks, 0.001 for funds.
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
//! Columns are found by their names, so that their order does not matter and one reader serves both layouts.
//!
//! Choices: a cancel deletes the rest of the order. A trade whose resting order is not known (the recording began
//! later) is a `Trade` with its print. A row whose sequence is not above the last one of its stock is a bad row: a
//! duplicate line. The lot is listed as 1, since the remainders of orders may be odd.
//!
//! When a trade or a cancel is missing, its order stays in the book and the book crosses. In continuous trading the
//! exchange trades the best price first, and an order that it publishes does not cross resting ones: an order that
//! contradicts a trade or a new order has ended, is dropped, and counted ([`Counts::crossed`]).

mod columns;
mod day;
mod layout;
mod merge;
mod phase;
mod published;
mod ranks;
mod row;
pub(crate) mod snapshot;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wire::{Aggressor, BookAction, Instrument, InstrumentId, Price, Side, TradingPhase};

use self::columns::{Columns, Part};
pub use self::layout::Layout;
use self::merge::{File, Merge, OrderCheck, Placed};
pub use self::published::{read, read_snapshots};
use self::ranks::Ranks;
use self::row::Body;
pub use self::snapshot::{Snapshot, SnapshotLevel, SnapshotTotal, Traded};
use super::error::Fault;
use super::listing::{Listing, TickRule};
use super::orders::{OrderTable, Resting};
use super::recorded::{Place, Window, is_far};
use super::table::Table;
use super::tolerance::Watch;
use super::{BadRow, Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, files, input};

const EXPECTED: &str = "Shanghai Level 2 orders and trades";

/// Replays a day of orders and trades.
pub(crate) struct SseSource {
    merge: Merge,
    listing: Listing,
    instruments: Vec<Instrument>,
    orders: OrderTable<(InstrumentId, u64)>,
    /// By instrument.
    ranks: Vec<Ranks>,
    /// Price of the last trade, by instrument.
    last_price: Vec<Option<Price>>,
    last_sequence: Vec<Option<u64>>,
    last_time: Vec<u64>,
    /// Numbers of all orders so far.
    used: HashSet<(InstrumentId, u64)>,
    /// Every named order must have been added: the files begin before continuous trading, or the trades begin long
    /// before the orders, whose first rows are then missing.
    is_whole: bool,
    watch: Watch,
    paths: [Arc<Path>; 2],
    /// The first row, or the latest phase that began.
    clock: Option<u64>,
    /// When a phase begins that stocks enter, and the index of the next of them.
    entering: Option<(u64, TradingPhase, usize)>,
    /// Time and line of the latest row.
    last: (u64, u64),
    is_closed: bool,
    /// The row that comes behind it.
    held: Option<Placed>,
    window: Window,
    on_bad_row: OnBadRow,
    counts: Counts,
}

impl SseSource {
    /// Opens the two files, named or in a folder (found there by their columns), and lists the stocks.
    ///
    /// # Errors
    /// [`SourceError`].
    pub(crate) fn open(files: &Files, options: &Options) -> Result<SseSource, SourceError> {
        let [orders, trades] = find(files)?;
        let date = options.date.map(|date| date.0);
        let layout = Layout::recognised();
        let mut listing = Listing::new(&options.symbols, TickRule::Cents);
        let mut sorted = true;
        let mut total = 0;
        let mut earliest = [u64::MAX; 2];
        for (path, part) in [(&orders, Part::Orders), (&trades, Part::Trades)] {
            let mut file = File::open(path, part, date, &layout)?;
            let seen = first_pass(&mut file, options, &mut listing)?;
            total += seen.rows;
            earliest[usize::from(part == Part::Trades)] = seen.earliest;
            sorted &= seen.sorted;
        }
        // A quiet stock may have no trade; without orders there is no market.
        if earliest[0] == u64::MAX {
            return Err(SourceError::Empty { path: orders, expected: EXPECTED.to_owned() });
        }
        let instruments = listing.finish()?;
        let mut counts = Counts::default();
        let open = |path: &Path, part| File::open(path, part, date, &layout);
        let (first, second) = (open(&orders, Part::Orders)?, open(&trades, Part::Trades)?);
        let merge = if sorted {
            Merge::streamed(first, second)
        } else {
            Merge::sorted(first, second, &listing, &mut counts, options.on_bad_row)?
        };
        Ok(SseSource {
            merge,
            ranks: (0..=instruments.len()).map(|_| Ranks::default()).collect(),
            last_sequence: vec![None; instruments.len() + 1],
            last_time: vec![0; instruments.len() + 1],
            last_price: vec![None; instruments.len() + 1],
            used: HashSet::new(),
            is_whole: phase::holds_all_orders(earliest[0], earliest[1]),
            watch: Watch::new(options, total),
            instruments,
            listing,
            orders: OrderTable::new(),
            paths: [orders.into(), trades.into()],
            window: Window::new(options)?,
            on_bad_row: options.on_bad_row,
            counts,
            clock: None,
            entering: None,
            last: (0, 0),
            is_closed: false,
            held: None,
        })
    }

    fn apply(&mut self, placed: Placed, event: &mut SourceEvent) -> Result<bool, SourceError> {
        let Placed { part, line, time, strayed, sequence, instrument, body, .. } = placed;
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
            let path = &*self.paths[usize::from(part == Part::Trades)];
            self.counts.reject(self.on_bad_row, fault, path, line)?;
            return Ok(false);
        }
        *last = Some(sequence);
        let path = &*Arc::clone(&self.paths[usize::from(part == Part::Trades)]);
        let before = std::mem::replace(&mut self.last_time[instrument.0 as usize], time);
        if strayed || time < before {
            self.counts.off_time += 1;
            self.watch.note(path, line, || {
                let expected = "a time between those of the rows before and behind it, by the joint sequence";
                Fault::new("time", "one that is out of order", expected)
            });
        }
        event.begin(instrument, time, sequence, line, place);
        event.call_auction = phase::is_call_auction(time);
        match body {
            Body::Status => {
                self.counts.skipped.no_effect += 1;
                return Ok(false);
            }
            Body::Add { order, side, price, quantity } => {
                let before = self.last_price[instrument.0 as usize];
                if is_far(price, before) {
                    self.counts.off_price += 1;
                    self.watch.note(path, line, || {
                        Fault::new("price", price, "a price between half and twice that of the trade before")
                    });
                    // It would remove all of the other side.
                    if !event.call_auction {
                        self.counts.apply(event);
                        return Ok(false);
                    }
                }
                if !event.call_auction {
                    let other = side.opposite();
                    while let Some(gone) = self.ranks[instrument.0 as usize].at_or_inside(other, price) {
                        self.refute(event, part, gone);
                    }
                }
                let resting = Resting { instrument, side, price, remaining: quantity };
                let is_new = self.used.insert((instrument, order));
                if let Some(old) = self.orders.add((instrument, order), resting) {
                    self.counts.displaced += 1;
                    self.ranks[instrument.0 as usize].remove(old.side, old.price, order);
                    event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
                } else if !is_new {
                    self.counts.reused += 1;
                }
                if !is_new {
                    self.watch.note(path, line, || {
                        Fault::new("order number", order, "a number that no order before has")
                    });
                }
                self.ranks[instrument.0 as usize].add(side, price, order);
                event.push(BookAction::Add, side, order, price, quantity);
            }
            Body::Cancel { order, quantity, .. } => {
                let Some(old) = self.orders.remove((instrument, order)) else {
                    self.counts.skipped.unknown_order += 1;
                    self.unmatched(part, line, order);
                    return Ok(false);
                };
                self.counts.excess += u64::from(quantity > old.remaining);
                self.counts.off_quantity += u64::from(quantity < old.remaining);
                if quantity != old.remaining {
                    self.watch.note(path, line, || {
                        Fault::new(
                            "quantity",
                            quantity,
                            format!("{}, what is left of order {order}", old.remaining),
                        )
                    });
                }
                self.ranks[instrument.0 as usize].remove(old.side, old.price, order);
                event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
            }
            Body::Trade { buy, sell, price, quantity, aggressor, off_money } => {
                if off_money {
                    self.counts.off_quantity += 1;
                    self.watch
                        .note(path, line, || Fault::new("money", "another number", "price times quantity"));
                }
                let mut touched = false;
                if aggressor != Aggressor::Buy {
                    touched |= self.execute(event, Side::Buy, buy, price, quantity, aggressor);
                }
                if aggressor != Aggressor::Sell {
                    touched |= self.execute(event, Side::Sell, sell, price, quantity, aggressor);
                }
                if touched {
                    event.print(aggressor, price, quantity, sequence);
                } else {
                    let last = &mut self.last_price[instrument.0 as usize];
                    if is_far(price, last.replace(price)) {
                        self.counts.off_price += 1;
                        self.watch.note(path, line, || {
                            Fault::new(
                                "price",
                                price,
                                "a price between half and twice that of the trade before",
                            )
                        });
                    }
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
        aggressor: Aggressor,
    ) -> bool {
        let Some(taken) = self.orders.take((event.instrument, order), quantity) else {
            self.unmatched(Part::Trades, event.row, order);
            return false;
        };
        let resting = taken.order;
        // In continuous trading the resting order's own price is paid, in an auction no worse than its price.
        let is_off = match (aggressor, resting.side) {
            _ if resting.side != side => true,
            (Aggressor::None, Side::Buy) => price > resting.price,
            (Aggressor::None, Side::Sell) => price < resting.price,
            _ => price != resting.price,
        };
        self.counts.off_price += u64::from(is_off);
        self.counts.excess += u64::from(taken.excess);
        if is_off || taken.excess {
            self.watch.note(&self.paths[1], event.row, || {
                let expected = format!(
                    "one of order {order}: {} {} at {}",
                    resting.side, resting.remaining, resting.price
                );
                Fault::new("trade", format!("{quantity} at {price}"), expected)
            });
        }
        self.last_price[event.instrument.0 as usize] = Some(if is_off { resting.price } else { price });
        if taken.last {
            self.ranks[event.instrument.0 as usize].remove(resting.side, resting.price, order);
        }
        // The best price trades first, so a better one cannot exist.
        if !is_off && aggressor != Aggressor::None && !event.call_auction {
            while let Some(gone) = self.ranks[event.instrument.0 as usize].inside(side, price) {
                self.refute(event, Part::Trades, gone);
            }
        }
        event.push(BookAction::Execute, side, order, price, taken.quantity);
        true
    }

    /// Drops a resting order that a row of continuous trading proves ended: the row that ended it is missing.
    fn refute(&mut self, event: &mut SourceEvent, part: Part, order: u64) {
        let Some(old) = self.orders.remove((event.instrument, order)) else { return };
        self.ranks[event.instrument.0 as usize].remove(old.side, old.price, order);
        self.counts.crossed += 1;
        self.watch.note(&self.paths[usize::from(part == Part::Trades)], event.row, || {
            let found = format!("one through order {order}: {} {} at {}", old.side, old.remaining, old.price);
            Fault::new("price", found, "no order left that it goes through (is a row missing?)")
        });
        event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
    }
}

impl SseSource {
    /// A row names an order that no row added.
    fn unmatched(&mut self, part: Part, line: u64, order: u64) {
        if self.is_whole {
            self.counts.unmatched += 1;
            self.watch.note(&self.paths[usize::from(part == Part::Trades)], line, || {
                Fault::new(
                    "order number",
                    order,
                    "an order that was added before and is not gone (is a row missing?)",
                )
            });
        }
    }
}

impl Source for SseSource {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        loop {
            let held = self.held.take();
            let next = match held {
                Some(placed) => Some(placed),
                None => self.merge.next(&self.listing, &mut self.counts, self.on_bad_row)?,
            };
            let Some(placed) = next else { return Ok(self.close(event)) };
            if self.enter(&placed, event) {
                self.held = Some(placed);
                return Ok(true);
            }
            let given = self.apply(placed, event)?;
            self.watch.check(&self.counts)?;
            if given {
                return Ok(true);
            }
        }
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn contradictions(&self) -> &[BadRow] {
        self.watch.first()
    }

    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        // The row of an event is that of its own file; one with a trade is of the trades file.
        let part = if event.trades.is_empty() { Part::Orders } else { Part::Trades };
        self.watch.crossed(&mut self.counts, &self.paths[usize::from(part == Part::Trades)], event.row)
    }
}

/// What the first pass found in a file.
struct Seen {
    rows: u64,
    /// Earliest time of a row; the greatest number when no row is good.
    earliest: u64,
    sorted: bool,
}

/// Lists the stocks of one file.
fn first_pass(file: &mut File, options: &Options, listing: &mut Listing) -> Result<Seen, SourceError> {
    let (mut rows, mut earliest) = (0, u64::MAX);
    let (mut check, mut counts) = (OrderCheck::new(), Counts::default());
    let path = file.path().to_owned();
    while let Some((line, row)) = file.next()? {
        rows += 1;
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                counts.reject(options.on_bad_row, fault, &path, line)?;
                continue;
            }
        };
        earliest = earliest.min(row.time);
        check.row(&row);
        listing.id(row.symbol, &path)?;
    }
    Ok(Seen { rows, earliest, sorted: check.sorted })
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
    let mut unread = String::new();
    for path in files::list(folder)? {
        match part_of(&path) {
            Some(part) => found[usize::from(part == Part::Trades)].push(path),
            None => unread.push_str(&why_not(&path)),
        }
    }
    let [orders, trades] = &found;
    match (&orders[..], &trades[..]) {
        ([order], [trade]) => Ok([order.clone(), trade.clone()]),
        ([], []) => Err(SourceError::Folder {
            path: folder.clone(),
            found: format!("no orders file and no trades file in either column layout{unread}"),
            advice: "put both there as .csv or .csv.gz with their header lines, or name them: files.orders, files.trades"
                .to_owned(),
        }),
        (orders, trades) => {
            let many = |files: &[PathBuf]| if files.is_empty() { "none".to_owned() } else { files::names(files) };
            Err(SourceError::Folder {
                path: folder.clone(),
                found: format!("orders files: {}; trades files: {}{unread}", many(orders), many(trades)),
                advice: "one of each is needed: name the ones to replay with files.orders and files.trades".to_owned(),
            })
        }
    }
}

/// Why a file of a folder could not be examined; nothing when it is only another table.
fn why_not(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match input::head(path, EXPECTED) {
        Err(SourceError::Format { found, .. }) => format!("; {name}: {found}"),
        Err(SourceError::Empty { .. }) => format!("; {name} is empty"),
        Ok(head) if head.is_empty() => format!("; {name} holds nothing, unpacked"),
        Err(_) => format!("; {name} cannot be read"),
        Ok(_) => String::new(),
    }
}

/// The part that a file of a folder is, by its header line. A file that cannot be read is ignored here: if it was
/// needed, the message says that it is missing.
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
    Columns::of(table.record(), &Layout::recognised())?.ok().map(|columns| columns.part)
}
