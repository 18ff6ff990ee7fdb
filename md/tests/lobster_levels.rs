//! LOBSTER files of few levels, as LOBSTER would write them of an invented market whose whole book is known.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use md::source::{Options, SourceKind};
use md::verify::{LobsterReport, VerifyError, verify_lobster};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Price in ticks of 100 (a cent in LOBSTER's unit), quantity, bought.
type Order = (i64, i64, bool);

/// A market of one stock.
struct Market {
    random: ChaCha8Rng,
    orders: BTreeMap<u64, Order>,
    next: u64,
}

/// One message: its columns behind the time.
type Message = (u8, u64, i64, i64, i64);

impl Market {
    fn new(seed: u64) -> Market {
        let mut market = Market { random: ChaCha8Rng::seed_from_u64(seed), orders: BTreeMap::new(), next: 1 };
        for _ in 0..60 {
            market.add();
        }
        market
    }

    fn best(&self, buys: bool) -> Option<i64> {
        let prices = self.orders.values().filter(|order| order.2 == buys).map(|order| order.0);
        if buys { prices.max() } else { prices.min() }
    }

    fn add(&mut self) -> Message {
        let buys = self.random.random::<bool>();
        // Up to 25 ticks behind the other side, so that the book is deeper than the files.
        let other = self.best(!buys).unwrap_or(if buys { 58_550 } else { 58_500 });
        let away = self.random.random_range(1..=25);
        let price = if buys { other - away } else { other + away };
        let quantity = self.random.random_range(1..=5) * 20;
        self.orders.insert(self.next, (price, quantity, buys));
        self.next += 1;
        (1, self.next - 1, quantity, price, if buys { 1 } else { -1 })
    }

    fn step(&mut self) -> Message {
        let kind = self.random.random_range(0..100);
        if kind < 45 || self.orders.len() < 40 {
            return self.add();
        }
        if kind < 50 {
            return (5, 0, 10, self.best(true).unwrap(), 1);
        }
        let buys = self.random.random::<bool>();
        let id = if kind < 85 {
            let index = self.random.random_range(0..self.orders.len());
            *self.orders.keys().nth(index).unwrap()
        } else {
            let best = self.best(buys).unwrap();
            *self.orders.iter().find(|(_, order)| order.0 == best && order.2 == buys).unwrap().0
        };
        let (price, left, buys) = self.orders[&id];
        let part = self.random.random_range(1..=left);
        let (kind, quantity) = match kind {
            50..60 if part < left => (2, part),
            85.. => (4, part),
            _ => (3, left),
        };
        if quantity == left {
            self.orders.remove(&id);
        } else {
            self.orders.get_mut(&id).unwrap().1 -= quantity;
        }
        (kind, id, quantity, price, if buys { 1 } else { -1 })
    }

    /// The row of an orderbook file.
    fn view(&self, levels: usize) -> String {
        let side = |buys: bool| {
            let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
            for order in self.orders.values().filter(|order| order.2 == buys) {
                *sums.entry(if buys { -order.0 } else { order.0 }).or_default() += order.1;
            }
            sums.into_iter().map(|(key, sum)| (key.abs() * 100, sum)).collect::<Vec<_>>()
        };
        let (asks, bids) = (side(false), side(true));
        let row: Vec<String> = (0..levels)
            .map(|level| {
                let (ask, size) = asks.get(level).copied().unwrap_or((9_999_999_999, 0));
                let (bid, bid_size) = bids.get(level).copied().unwrap_or((-9_999_999_999, 0));
                format!("{ask},{size},{bid},{bid_size}")
            })
            .collect();
        row.join(",")
    }
}

struct Files {
    folder: tempfile::TempDir,
    messages: String,
    orderbook: String,
}

impl Files {
    /// Only what changes the best `levels` levels is written, as LOBSTER does; all of it, where `whole`.
    fn new(seed: u64, steps: usize, levels: usize, whole: bool) -> Files {
        let mut market = Market::new(seed);
        let (mut messages, mut orderbook) = (String::new(), String::new());
        let mut before = market.view(levels);
        for step in 0..steps {
            let (kind, id, quantity, price, direction) = market.step();
            let now = market.view(levels);
            if whole || now != before || kind == 5 {
                let nanos = step * 1_000;
                let price = price * 100;
                writeln!(messages, "34200.{nanos:09},{kind},{id},{quantity},{price},{direction}").unwrap();
                writeln!(orderbook, "{now}").unwrap();
            }
            before = now;
        }
        Files { folder: tempfile::tempdir().unwrap(), messages, orderbook }
    }

    fn paths(&self) -> (PathBuf, PathBuf) {
        let paths = (self.folder.path().join("message.csv"), self.folder.path().join("orderbook.csv"));
        std::fs::write(&paths.0, &self.messages).unwrap();
        std::fs::write(&paths.1, &self.orderbook).unwrap();
        paths
    }

    fn verify(&self, levels: usize) -> Result<LobsterReport, VerifyError> {
        let (messages, orderbook) = self.paths();
        verify_lobster(&messages, &orderbook, levels)
    }
}

#[test]
fn the_best_level_holds_in_files_of_few_levels() {
    for seed in 0..4 {
        for levels in [2, 5, 10] {
            let files = Files::new(seed, 6_000, levels, false);
            let report = files.verify(1).unwrap();
            assert!(report.rows > 1_000);
            assert_eq!(report.identical, report.rows, "seed {seed}, {levels} levels: {report:?}");
            assert_eq!((report.anomalies, report.counts.balanced()), (0, true));
        }
    }
}

#[test]
fn what_comes_into_view_is_all_that_differs() {
    for seed in 0..4 {
        for levels in [1, 3, 10] {
            for whole in [false, true] {
                let report = Files::new(seed, 4_000, levels, whole).verify(levels).unwrap();
                assert_eq!(report.identical + report.revealed, report.rows, "seed {seed}: {report:?}");
                assert!(report.identical * 10 > report.rows * 6, "seed {seed}: {report:?}");
            }
        }
    }
}

#[test]
fn without_an_orderbook_file_the_book_never_crosses_and_rows_add_up() {
    let mut stale = 0;
    for seed in 0..4 {
        for levels in [1, 5] {
            let files = Files::new(seed, 4_000, levels, false);
            let (messages, _) = files.paths();
            let replayed =
                support::replay(SourceKind::Lobster, &support::file(messages), &Options::default()).unwrap();
            assert_eq!(replayed.books.crossed(), 0);
            stale += replayed.counts.stale;
        }
    }
    assert!(stale > 0, "the made-up market never left an order behind");
}

#[test]
fn a_wrong_size_is_found_where_it_stands() {
    let mut files = Files::new(3, 3_000, 10, true);
    let row = 1_000;
    let mut lines: Vec<String> = files.messages.lines().map(str::to_owned).collect();
    let at = (row..).find(|&at| lines[at].split(',').nth(1) == Some("4")).unwrap();
    let mut columns: Vec<String> = lines[at].split(',').map(str::to_owned).collect();
    columns[1] = "1".to_owned();
    columns[2] = "999999".to_owned();
    lines[at] = columns.join(",");
    files.messages = lines.join("\n");
    let report = files.verify(10).unwrap();
    let difference = report.first_difference.clone().unwrap();
    assert!(report.identical + report.revealed < report.rows, "{report:?}");
    let earlier = Files::new(3, 3_000, 10, true).verify(10).unwrap().first_difference;
    assert!(difference.row == at as u64 + 1 || Some(&difference) == earlier.as_ref(), "{difference:?}");
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let mut files = Files::new(1, 500, 2, true);
    assert!(files.verify(3).unwrap_err().to_string().contains("has 2; ask for 1 to 2"));
    assert!(matches!(files.verify(0), Err(VerifyError::Levels { .. })));
    let whole = files.orderbook.clone();
    files.orderbook = whole.lines().take(499).collect::<Vec<_>>().join("\n");
    assert!(files.verify(1).unwrap_err().to_string().contains("499 rows, but row 500"));
    files.orderbook = format!("{whole}{whole}");
    assert!(files.verify(1).unwrap_err().to_string().contains("more than the 500 rows"));
    files.orderbook = whole.replacen(',', ",x", 1);
    let error = files.verify(1).unwrap_err().to_string();
    assert!(error.contains("orderbook.csv"), "{error}");
}
