//! A step of the exchange beside what the market made of it.

use wire::{Price, Quantity, Side};

use super::INSTRUMENT;
use super::depth::Level;
use super::flow::Published;
use super::input::Action;
use super::pair;
use super::replay::{Answer, Replay, is_of};
use super::report::{Difference, What};

/// Levels of the exchange's book that are compared with the book that its events make.
const COMPARED: usize = 10;

impl Replay<'_> {
    pub(super) fn compare_trades(&mut self, expected: &[Published]) {
        self.report.trades += expected.len() as u64;
        let found = std::mem::take(&mut self.found);
        for index in 0..expected.len().max(found.len()) {
            let (trade, ours) = (expected.get(index), found.get(index));
            let in_order = trade.is_none_or(|trade| self.latest.is_none_or(|latest| trade.index > latest));
            let (place, order) = (trade.map_or(self.place, |trade| trade.place), self.order);
            let mut differ = |expected: String, found: String| {
                let of = || Difference { what: What::Trade, place, order: named(order), expected, found };
                self.report.differ(of);
            };
            match (trade, ours) {
                (Some(trade), Some(ours)) if pair::is_same(trade, ours) && trade.goes_back => {
                    self.latest = Some(trade.index);
                    differ(pair::BACK.to_owned(), pair::of_exchange(ours));
                }
                (Some(trade), Some(ours)) if pair::is_same(trade, ours) && trade.off_money => {
                    self.latest = Some(trade.index);
                    differ(pair::MONEY.to_owned(), pair::of_exchange(ours));
                }
                (Some(trade), Some(ours)) if pair::is_same(trade, ours) && in_order => {
                    self.report.trades_identical += 1;
                    self.latest = Some(trade.index);
                }
                (Some(trade), Some(ours)) if pair::is_same(trade, ours) => differ(
                    format!("{}, behind trades of orders that came in later", pair::of_market(trade)),
                    "the same trade, before theirs".to_owned(),
                ),
                (Some(trade), ours) => {
                    differ(pair::of_market(trade), ours.map_or("no trade".to_owned(), pair::of_exchange));
                    self.report.trades_extra += u64::from(ours.is_some());
                }
                (None, Some(ours)) => {
                    differ("no trade".to_owned(), pair::of_exchange(ours));
                    self.report.trades_extra += 1;
                }
                (None, None) => {}
            }
        }
        self.found = found;
    }

    pub(super) fn compare_cancel(&mut self, id: u64, quantity: Quantity, resting: Option<(Side, Price)>) {
        self.report.cancels += 1;
        let is_same = match self.answer {
            Answer::Cancelled(rest, side, price) => rest == quantity && is_of(resting, (side, price)),
            _ => false,
        };
        if is_same {
            self.report.cancels_identical += 1;
        } else {
            self.differ_cancel(id, quantity, resting);
        }
    }

    pub(super) fn differ_cancel(&mut self, id: u64, quantity: Quantity, resting: Option<(Side, Price)>) {
        let (place, answer) = (self.place, self.answer);
        let order = |(side, price): (Side, Price)| {
            let side = if side == Side::Buy { "a bid" } else { "an ask" };
            if price.is_some() { format!(" of {side} at {price}") } else { format!(" of {side}") }
        };
        self.report.differ(|| Difference {
            what: What::Cancel,
            place,
            order: Some(id),
            expected: format!("{quantity} cancelled{}", resting.map(order).unwrap_or_default()),
            found: match answer {
                Answer::Cancelled(rest, side, price) => format!("{rest} left{}", order((side, price))),
                Answer::Refused(reason) => format!("refused: {reason}"),
                Answer::Reduced => "an order of another side or limit".to_owned(),
                Answer::None => "no answer".to_owned(),
            },
        });
    }

    /// Clocks of orders and cancels; those of trades are compared with the trades.
    pub(super) fn compare_clocks(&mut self) {
        let recording = self.recording;
        let is_trade = |action| matches!(action, Action::Trade { .. } | Action::Execution { .. });
        for row in recording.rows.iter().filter(|row| row.stated != row.time && !is_trade(row.action)) {
            self.report.clocks_off += 1;
            let order = match row.action {
                Action::Order { id, .. } | Action::Cancel { id, .. } | Action::Reduce { id, .. } => Some(id),
                _ => None,
            };
            self.report.differ(|| Difference {
                what: What::Clock,
                place: row.place,
                order,
                expected: "a time between those of the rows before and behind it".to_owned(),
                found: format!(
                    "one that is {} {} them",
                    gap(row.stated.0.abs_diff(row.time.0)),
                    if row.stated < row.time { "before" } else { "behind" }
                ),
            });
        }
    }

    /// The exchange's own book must be the one that its events make.
    pub(super) fn compare_book(&mut self) {
        let Some(book) = self.exchange.book(INSTRUMENT) else { return };
        for side in [Side::Buy, Side::Sell] {
            self.depth.best(side, COMPARED, &mut self.levels);
            self.own.clear();
            self.own.extend(book.levels(side).take(COMPARED).map(|level| Level {
                price: level.price,
                quantity: level.shown.0,
                orders: u64::from(level.orders),
            }));
            if self.own != self.levels {
                let (place, order) = (self.place, named(self.order));
                let (expected, found) = (format!("{:?}", self.levels), format!("{:?}", self.own));
                self.report.differ(|| Difference { what: What::Book, place, order, expected, found });
            }
        }
    }
}

fn gap(nanoseconds: u64) -> String {
    format!("{:.3} s", nanoseconds as f64 / 1e9)
}

/// Numbers that the market has not given are no names.
fn named(order: Option<u64>) -> Option<u64> {
    order.filter(|&order| pair::is_named(order))
}
