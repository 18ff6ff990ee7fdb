//! Auctions: price, volume, and every trade in sequence.

use wire::{Nanos, Price};

use super::flow::{Flow, Published};
use super::input::{Place, Recording};
use super::pair;
use super::report::{Difference, Report, What};
use crate::exchange::{Auction, Equilibrium, Trade};

/// An auction of the exchange.
struct Uncrossed {
    auction: Option<Auction>,
    equilibrium: Equilibrium,
    trades: Vec<Trade>,
}

/// An auction of the market.
struct Expected {
    auction: Auction,
    trades: Vec<Published>,
    is_done: bool,
}

/// Compares the auctions of a day.
pub(super) struct Auctions {
    expected: Vec<Expected>,
    /// Trades without an aggressor that belong to none of them.
    stray: Vec<Published>,
    uncrossed: Vec<Uncrossed>,
    /// Where differences are placed that no trade of the market has.
    last: Place,
}

impl Auctions {
    /// The auctions that the rows cover.
    pub(super) fn new(recording: &Recording<'_>, flow: &Flow, last: Place) -> Auctions {
        let times = recording.rows.iter().map(|row| row.time);
        let (first, latest) = (times.clone().min().unwrap_or_default(), times.max().unwrap_or_default());
        let covers = |(_, begin, end): &(Auction, Nanos, Nanos)| first < *end && latest >= *begin;
        let covered = recording.day.auctions().into_iter().filter(covers);
        let mut expected: Vec<Expected> =
            covered.map(|(auction, _, _)| Expected { auction, trades: Vec::new(), is_done: false }).collect();
        let mut stray = Vec::new();
        for trade in &flow.auctions {
            let auction = recording.day.auction_of(trade.time);
            match expected.iter_mut().find(|expected| Some(expected.auction) == auction) {
                Some(expected) => expected.trades.push(*trade),
                None => stray.push(*trade),
            }
        }
        Auctions { expected, stray, uncrossed: Vec::new(), last }
    }

    /// The exchange uncrosses.
    pub(super) fn uncross(&mut self, auction: Option<Auction>, equilibrium: Equilibrium) {
        self.uncrossed.push(Uncrossed { auction, equilibrium, trades: Vec::new() });
    }

    /// One of its trades.
    pub(super) fn trade(&mut self, trade: Trade) {
        if let Some(uncrossed) = self.uncrossed.last_mut() {
            uncrossed.trades.push(trade);
        }
    }

    /// Compares what the exchange has uncrossed since the last call.
    pub(super) fn compare(&mut self, report: &mut Report) {
        for uncrossed in std::mem::take(&mut self.uncrossed) {
            let expected =
                self.expected.iter_mut().find(|expected| Some(expected.auction) == uncrossed.auction);
            match expected.filter(|expected| !expected.is_done) {
                Some(expected) => {
                    expected.is_done = true;
                    one(expected, &uncrossed, self.last, report);
                }
                None => {
                    report.trades_extra += uncrossed.trades.len() as u64;
                    for trade in &uncrossed.trades {
                        report.differ(|| extra(trade, self.last));
                    }
                }
            }
        }
    }

    /// At the end: what the exchange has not uncrossed at all.
    pub(super) fn finish(mut self, report: &mut Report) {
        self.compare(report);
        let missing = self.expected.iter().filter(|expected| !expected.is_done);
        for trade in missing.flat_map(|expected| &expected.trades).chain(&self.stray) {
            report.trades += 1;
            report.differ(|| lost(trade, "no auction at this time"));
        }
        report.auctions += self.expected.len() as u64;
    }
}

fn one(expected: &Expected, uncrossed: &Uncrossed, last: Place, report: &mut Report) {
    let before = report.differences;
    let volume: i64 = expected.trades.iter().fold(0, |sum, trade| sum.saturating_add(trade.quantity.0));
    let price = expected.trades.first().map_or(Price::NONE, |trade| trade.price);
    let equilibrium = uncrossed.equilibrium;
    if (price, volume) != (equilibrium.price, equilibrium.volume.0) {
        report.differ(|| Difference {
            what: What::Auction,
            place: expected.trades.first().map_or(last, |trade| trade.place),
            order: expected.trades.first().and_then(|trade| trade.buy),
            expected: summary(price, volume),
            found: summary(equilibrium.price, equilibrium.volume.0),
        });
    }
    report.trades += expected.trades.len() as u64;
    for (index, trade) in expected.trades.iter().enumerate() {
        match uncrossed.trades.get(index) {
            Some(found) if pair::is_same(trade, found) && trade.goes_back => {
                let difference = lost(trade, &pair::of_exchange(found));
                report.differ(|| Difference { expected: pair::BACK.to_owned(), ..difference });
            }
            Some(found) if pair::is_same(trade, found) && trade.off_money => {
                let difference = lost(trade, &pair::of_exchange(found));
                report.differ(|| Difference { expected: pair::MONEY.to_owned(), ..difference });
            }
            Some(found) if pair::is_same(trade, found) => report.trades_identical += 1,
            Some(found) => report.differ(|| lost(trade, &pair::of_exchange(found))),
            None => report.differ(|| lost(trade, "no trade")),
        }
    }
    for trade in uncrossed.trades.iter().skip(expected.trades.len()) {
        report.trades_extra += 1;
        report.differ(|| extra(trade, expected.trades.last().map_or(last, |trade| trade.place)));
    }
    report.auctions_identical += u64::from(report.differences == before);
}

fn summary(price: Price, volume: i64) -> String {
    if !price.is_some() {
        "an auction without trades".to_owned()
    } else {
        format!("an auction of {volume} at {price}")
    }
}

fn lost(trade: &Published, found: &str) -> Difference {
    Difference {
        what: What::Auction,
        place: trade.place,
        order: trade.buy,
        expected: pair::of_market(trade),
        found: found.to_owned(),
    }
}

fn extra(trade: &Trade, place: Place) -> Difference {
    Difference {
        what: What::Auction,
        place,
        order: Some(trade.buy.id),
        expected: "no further trade of the auction".to_owned(),
        found: pair::of_exchange(trade),
    }
}
