//! The market's snapshots, searched for in the exchange's books.
//!
//! A snapshot says how many trades there were before it, and was taken at an unknown moment while there were no more. So
//! it is compared with every state of the book at that number of trades. Those that are found must follow each other as
//! in the file; if they cannot all, as many as possible count.

use wire::{LEVELS, Price, Quantity, Side, Statistics};

use super::depth::{Depth, Level};
use super::input::{Snapshot, SnapshotLevel, SnapshotTotal};
use super::report::{Difference, Report, What};

/// Searches for the snapshots of one security.
pub(super) struct Search<'a> {
    /// By number of trades, as in the file.
    wanted: Vec<&'a Snapshot>,
    /// Those that stand behind one of later trades, and the number of these.
    misplaced: Vec<(&'a Snapshot, u64)>,
    /// The first that is not decided.
    next: usize,
    /// Compared states so far.
    states: u64,
    /// Of those with the present number of trades.
    window: Vec<Candidate>,
    bids: Vec<Level>,
    asks: Vec<Level>,
}

/// A snapshot and where it was found.
#[derive(Default)]
struct Candidate {
    states: Vec<u64>,
    nearest: Option<Near>,
    /// Its totals too are those of a state where its levels agree.
    totals: bool,
    /// The totals of the first of these states.
    found_totals: Option<[SnapshotTotal; 2]>,
}

/// The state that is most like a snapshot.
#[derive(Clone, Copy)]
struct Near {
    /// Prices, volumes and numbers of orders that differ.
    wrong: usize,
    side: Side,
    level: usize,
    expected: Option<SnapshotLevel>,
    found: Option<Level>,
    order: Option<u64>,
}

impl<'a> Search<'a> {
    pub(super) fn new(snapshots: &'a [Snapshot]) -> Search<'a> {
        let (mut wanted, mut misplaced) = (Vec::<&Snapshot>::new(), Vec::new());
        for snapshot in snapshots {
            match wanted.last() {
                Some(before) if before.trades > snapshot.trades => misplaced.push((snapshot, before.trades)),
                _ => wanted.push(snapshot),
            }
        }
        Search {
            wanted,
            misplaced,
            next: 0,
            states: 0,
            window: Vec::new(),
            bids: Vec::with_capacity(LEVELS),
            asks: Vec::with_capacity(LEVELS),
        }
    }

    /// The book after `trades` trades; `order` is the one that changed it last.
    pub(super) fn state(&mut self, trades: u64, depth: &Depth, order: Option<u64>) {
        let waiting = &self.wanted[self.next..];
        if waiting.first().is_none_or(|first| first.trades != trades) {
            return;
        }
        if self.window.is_empty() {
            let equal = waiting.iter().take_while(|snapshot| snapshot.trades == trades).count();
            self.window.resize_with(equal, Candidate::default);
        }
        depth.best(Side::Buy, LEVELS, &mut self.bids);
        depth.best(Side::Sell, LEVELS, &mut self.asks);
        let totals = depth.totals();
        let state = self.states;
        self.states += 1;
        for (candidate, snapshot) in self.window.iter_mut().zip(waiting) {
            match compare(snapshot, &self.bids, &self.asks, candidate.most()) {
                Like::Same => {
                    candidate.states.push(state);
                    candidate.totals |= snapshot.totals == Some(totals);
                    candidate.found_totals.get_or_insert(totals);
                }
                Like::Nearer(near) => candidate.nearest = Some(Near { order, ..near }),
                Like::Farther => {}
            }
        }
    }

    /// Decides the snapshots of fewer than `trades` trades; `traded` is what the trades so far come to.
    pub(super) fn pass(&mut self, trades: u64, traded: &Statistics, report: &mut Report) {
        for (snapshot, before) in self.misplaced.drain(..) {
            report.snapshots += 1;
            report.differ(|| Difference {
                what: What::Snapshot,
                place: snapshot.place,
                order: None,
                expected: format!("{} trades, behind a snapshot of {before}", snapshot.trades),
                found: "never fewer trades than before".to_owned(),
            });
        }
        while self.wanted.get(self.next).is_some_and(|snapshot| snapshot.trades < trades) {
            let at = self.wanted[self.next].trades;
            let group: Vec<&Snapshot> = self.wanted[self.next..]
                .iter()
                .take_while(|snapshot| snapshot.trades == at)
                .copied()
                .collect();
            self.next += group.len();
            let mut window = std::mem::take(&mut self.window);
            window.resize_with(group.len(), Candidate::default);
            let found = longest(&window);
            report.snapshots += group.len() as u64;
            for ((snapshot, candidate), found) in group.into_iter().zip(&window).zip(found) {
                if at == traded.trades {
                    compare_statistics(snapshot, traded, report);
                }
                if found {
                    report.snapshots_identical += 1;
                    compare_totals(snapshot, candidate, report);
                } else {
                    report.differ(|| difference(snapshot, candidate));
                }
            }
        }
    }
}

impl Candidate {
    /// Less than this is nearer.
    fn most(&self) -> usize {
        if self.states.is_empty() { self.nearest.map_or(usize::MAX, |near| near.wrong) } else { 0 }
    }
}

/// What a comparison gives.
enum Like {
    Same,
    /// Less differs than in any state before.
    Nearer(Near),
    Farther,
}

fn compare(snapshot: &Snapshot, bids: &[Level], asks: &[Level], most: usize) -> Like {
    let mut first: Option<Near> = None;
    for (side, levels, ours) in [(Side::Sell, &snapshot.asks, asks), (Side::Buy, &snapshot.bids, bids)] {
        for level in 0..LEVELS {
            let (expected, found) = (levels.get(level).copied(), ours.get(level).copied());
            let wrong = wrong(expected, found);
            if wrong == 0 {
                continue;
            }
            let near = Near { wrong: 0, side, level, expected, found, order: None };
            let near = first.get_or_insert(near);
            near.wrong += wrong;
            if near.wrong >= most.max(1) && most != usize::MAX {
                return Like::Farther;
            }
        }
    }
    first.map_or(Like::Same, Like::Nearer)
}

/// How much of a level differs.
fn wrong(expected: Option<SnapshotLevel>, found: Option<Level>) -> usize {
    match (expected, found) {
        (None, None) => 0,
        (Some(expected), Some(found)) => {
            let differs = [
                expected.price != found.price,
                expected.quantity.0 != found.quantity,
                expected.orders.is_some_and(|orders| orders != found.orders),
            ];
            differs.into_iter().filter(|&differs| differs).count()
        }
        _ => 3,
    }
}

/// Which snapshots are found if each is at the state of the one before it or later, for as many as possible: the longest
/// sequence of states that never goes back, with at most one a snapshot.
fn longest(window: &[Candidate]) -> Vec<bool> {
    // The sequence of each length that ends earliest, by its last entry; entries know the one before them.
    let mut ends: Vec<usize> = Vec::new();
    let mut entries: Vec<(usize, u64, Option<usize>)> = Vec::new();
    for (snapshot, candidate) in window.iter().enumerate() {
        // The latest first, so that none follows another of the same snapshot.
        for &state in candidate.states.iter().rev() {
            let length = ends.partition_point(|&end| entries[end].1 <= state);
            let before = length.checked_sub(1).map(|before| ends[before]);
            entries.push((snapshot, state, before));
            let entry = entries.len() - 1;
            match ends.get_mut(length) {
                Some(end) => *end = entry,
                None => ends.push(entry),
            }
        }
    }
    let mut found = vec![false; window.len()];
    let mut next = ends.last().copied();
    while let Some(entry) = next {
        let (snapshot, _, before) = entries[entry];
        found[snapshot] = true;
        next = before;
    }
    found
}

/// What a snapshot says of all trades so far.
fn compare_statistics(snapshot: &Snapshot, traded: &Statistics, report: &mut Report) {
    let said = snapshot.traded;
    // In the exchange's wide units: 1e-9 of the currency.
    let turnover = traded.turnover.wide() as f64 / 1e9;
    let price = |said: Option<Price>, found: Price| (said.map(|p| p.to_string()), found.to_string());
    let is_money = |said: f64| (said - turnover).abs() <= 0.011 + turnover * 1e-13;
    let compared = [
        ("volume", (said.volume.map(|volume| volume.to_string()), traded.volume.0.to_string())),
        (
            "turnover",
            // Float noise of the file is none of a difference.
            (
                said.turnover
                    .map(|said| if is_money(said) { format!("{turnover:.2}") } else { format!("{said:.2}") }),
                format!("{turnover:.2}"),
            ),
        ),
        ("last price", price(said.last, traded.last)),
        ("highest price", price(said.high, traded.high)),
        ("lowest price", price(said.low, traded.low)),
    ];
    if compared.iter().all(|(_, (said, _))| said.is_none()) {
        return;
    }
    report.statistics += 1;
    let wrong = compared.iter().find(|(_, (said, found))| said.as_ref().is_some_and(|said| said != found));
    match wrong {
        None => report.statistics_identical += 1,
        Some((name, (said, found))) => report.differ(|| Difference {
            what: What::Statistics,
            place: snapshot.place,
            order: None,
            expected: format!("{name} {}", said.as_deref().unwrap_or_default()),
            found: format!("{name} {found}"),
        }),
    }
}

fn compare_totals(snapshot: &Snapshot, candidate: &Candidate, report: &mut Report) {
    let Some(expected) = snapshot.totals else { return };
    report.totals += 1;
    if candidate.totals {
        report.totals_identical += 1;
        return;
    }
    let text = |[bids, asks]: [SnapshotTotal; 2]| {
        let of = |total: SnapshotTotal| {
            format!("{} in {} orders at {} prices", total.quantity, total.orders, total.levels)
        };
        format!("bids {}, asks {}", of(bids), of(asks))
    };
    report.differ(|| Difference {
        what: What::Totals,
        place: snapshot.place,
        order: None,
        expected: text(expected),
        found: text(candidate.found_totals.unwrap_or_default()),
    });
}

fn difference(snapshot: &Snapshot, candidate: &Candidate) -> Difference {
    let of = |order, expected: String, found: String| Difference {
        what: What::Snapshot,
        place: snapshot.place,
        order,
        expected,
        found,
    };
    match candidate.nearest {
        _ if !candidate.states.is_empty() => of(
            None,
            "this book behind that of the snapshot before it".to_owned(),
            "this book only before it".to_owned(),
        ),
        Some(Near { side, level, expected, found, order, .. }) => {
            let name = format!("{} {}", if side == Side::Buy { "bid" } else { "ask" }, level + 1);
            let with_orders = expected.is_none_or(|expected| expected.orders.is_some());
            let expected = expected.map(|level| text(level.quantity, level.price, level.orders));
            let found = found.map(|level| {
                text(Quantity(level.quantity), level.price, with_orders.then_some(level.orders))
            });
            let show = |level: Option<String>| format!("{name}: {}", level.as_deref().unwrap_or("nothing"));
            of(order, show(expected), show(found))
        }
        None => of(
            None,
            format!("a book after {} trades", snapshot.trades),
            "no such number of trades in continuous trading".to_owned(),
        ),
    }
}

fn text(quantity: Quantity, price: wire::Price, orders: Option<u64>) -> String {
    let orders = orders.map_or_else(String::new, |orders| {
        format!(" in {orders} order{}", if orders == 1 { "" } else { "s" })
    });
    format!("{quantity} at {price}{orders}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(states: &[&[u64]]) -> Vec<Candidate> {
        states.iter().map(|states| Candidate { states: states.to_vec(), ..Candidate::default() }).collect()
    }

    #[test]
    fn snapshots_follow_each_other_and_one_that_is_not_there_hides_no_other() {
        assert_eq!(longest(&window(&[&[1], &[1], &[2]])), [true, true, true]);
        assert_eq!(longest(&window(&[&[1], &[], &[2]])), [true, false, true]);
        assert_eq!(longest(&window(&[&[1, 3], &[2], &[3]])), [true, true, true]);
        // The first is only found behind all others.
        assert_eq!(longest(&window(&[&[9], &[1], &[2, 4], &[3]])), [false, true, true, true]);
        assert_eq!(longest(&window(&[&[0, 1, 2], &[0], &[0]])), [true, true, true]);
        assert!(longest(&[]).is_empty());
    }
}
