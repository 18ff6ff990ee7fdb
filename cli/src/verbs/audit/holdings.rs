//! Lots of one account in one instrument, by side and day, and what margin counts them at.

use std::collections::VecDeque;

use wire::{AccountKind, CostMethod, Offset, Price, Side};

use super::books::worth;
use super::charges::Class;

/// Amounts and rates are in 1e-9.
pub(super) const ONE: i128 = 1_000_000_000;

pub(super) const LONG: usize = 0;
pub(super) const SHORT: usize = 1;
pub(super) const TODAY: usize = 0;
pub(super) const EARLIER: usize = 1;

/// Lots by side (long, short) and day (today, earlier).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lots {
    pub(super) lots: [[i64; 2]; 2],
    /// Orders closed of one day, and orders closed of either: which day a fill of the latter closes is no matter of fills
    /// alone.
    pub(super) by_day: bool,
    pub(super) by_any: bool,
    /// What they were worth when they were traded or settled. Of `average` all of a side stands under today.
    basis: [[i128; 2]; 2],
    /// Of `fifo`: day, lots and price of each purchase or sale that is open.
    oldest: [VecDeque<(usize, i64, Price)>; 2],
}

impl Lots {
    pub(super) fn total(&self, side: usize) -> i64 {
        self.lots[side][TODAY] + self.lots[side][EARLIER]
    }

    pub(super) fn net(&self) -> i64 {
        self.total(LONG) - self.total(SHORT)
    }

    /// What margin of a side counts.
    pub(super) fn basis(&self, side: usize) -> i128 {
        self.basis[side][TODAY] + self.basis[side][EARLIER]
    }

    /// What all of it is worth at a mark; without one what it cost.
    pub(super) fn value(&self, mark: Option<Price>, multiplier: u64) -> i128 {
        match mark {
            Some(mark) => worth(mark, self.net(), multiplier),
            None => self.basis(LONG) - self.basis(SHORT),
        }
    }

    /// Moves a fill's lots; what each part was.
    pub(super) fn trade(
        &mut self,
        (kind, method, multiplier): (AccountKind, CostMethod, u64),
        side: Side,
        offset: Offset,
        (lots, price): (i64, Price),
    ) -> Vec<(Class, i64)> {
        let (mine, other) = if side == Side::Buy { (LONG, SHORT) } else { (SHORT, LONG) };
        let days: &[usize] = match (kind, offset) {
            (AccountKind::Futures, Offset::Open) => &[],
            (AccountKind::Futures, Offset::CloseToday) => &[TODAY],
            (AccountKind::Futures, Offset::CloseYesterday) => &[EARLIER],
            _ => &[EARLIER, TODAY],
        };
        let (mut left, mut parts) = (lots, Vec::new());
        for &day in days {
            let closed = self.lots[other][day].min(left);
            if closed > 0 {
                self.leave((other, day), closed, method, multiplier);
                left -= closed;
                parts.push((if day == TODAY { Class::CloseToday } else { Class::Close }, closed));
            }
        }
        if left > 0 {
            self.lots[mine][TODAY] += left;
            self.basis[mine][TODAY] += worth(price, left, multiplier);
            if method == CostMethod::Fifo {
                self.oldest[mine].push_back((TODAY, left, price));
            }
            parts.push((Class::Open, left));
        }
        parts
    }

    /// Lots of a side and day are closed, of which there are as many.
    fn leave(&mut self, (side, day): (usize, usize), lots: i64, method: CostMethod, multiplier: u64) {
        let share = |basis: i128, of: i64| basis.saturating_mul(i128::from(lots)) / i128::from(of.max(1));
        match method {
            CostMethod::Average => {
                self.basis[side][TODAY] -= share(self.basis[side][TODAY], self.total(side));
            }
            CostMethod::Settlement => {
                self.basis[side][day] -= share(self.basis[side][day], self.lots[side][day]);
            }
            CostMethod::Fifo => {
                let mut left = lots;
                for (_, open, price) in self.oldest[side].iter_mut().filter(|(of, ..)| *of == day) {
                    let taken = left.min(*open);
                    *open -= taken;
                    left -= taken;
                    self.basis[side][day] -= worth(*price, taken, multiplier);
                }
                self.oldest[side].retain(|(_, open, _)| *open > 0);
            }
        }
        self.lots[side][day] -= lots;
    }

    /// The end of a day: futures are paid up to the price, and by `settlement` it is the cost from now on.
    pub(super) fn settle(
        &mut self,
        kind: AccountKind,
        method: CostMethod,
        price: Option<Price>,
        multiplier: u64,
    ) {
        for side in [LONG, SHORT] {
            let total = self.total(side);
            if let Some(price) = price.filter(|_| total > 0)
                && (kind == AccountKind::Futures || method == CostMethod::Settlement)
            {
                self.basis[side] = [worth(price, total, multiplier), 0];
                self.oldest[side].iter_mut().for_each(|(_, _, base)| *base = price);
            }
            self.lots[side] = [0, total];
            if method != CostMethod::Average {
                self.basis[side] = [0, self.basis(side)];
            }
            self.oldest[side].iter_mut().for_each(|(day, ..)| *day = EARLIER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Price = Price(100);

    #[test]
    fn earlier_days_close_first_and_the_rest_opens() {
        let mut lots = Lots { lots: [[3, 2], [0, 0]], ..Lots::default() };
        let rules = (AccountKind::Margin, CostMethod::Average, 1);
        let parts = lots.trade(rules, Side::Sell, Offset::Auto, (7, AT));
        assert_eq!(parts, [(Class::Close, 2), (Class::CloseToday, 3), (Class::Open, 2)]);
        assert_eq!((lots.lots, lots.net()), ([[0, 0], [2, 0]], -2));
        let mut futures = Lots { lots: [[3, 2], [0, 0]], ..Lots::default() };
        let rules = (AccountKind::Futures, CostMethod::Average, 1);
        futures.trade(rules, Side::Sell, Offset::Open, (1, AT));
        futures.trade(rules, Side::Sell, Offset::CloseToday, (2, AT));
        assert_eq!(futures.lots, [[1, 2], [1, 0]]);
    }

    #[test]
    fn what_margin_counts_leaves_by_the_cost_method_and_is_the_price_after_a_settlement() {
        for (method, left) in [
            (CostMethod::Average, 150 * 15),
            (CostMethod::Fifo, 50 * 10 + 100 * 20),
            (CostMethod::Settlement, 150 * 15),
        ] {
            let rules = (AccountKind::Futures, method, 1);
            let mut lots = Lots::default();
            lots.trade(rules, Side::Buy, Offset::Open, (100, Price(10)));
            lots.trade(rules, Side::Buy, Offset::Open, (100, Price(20)));
            lots.trade(rules, Side::Sell, Offset::Close, (50, Price(18)));
            assert_eq!(lots.basis(LONG), left, "{method:?}");
            lots.settle(AccountKind::Futures, method, Some(Price(16)), 1);
            assert_eq!((lots.basis(LONG), lots.lots[LONG]), (150 * 16, [0, 150]), "{method:?}");
            lots.trade(rules, Side::Sell, Offset::Close, (150, Price(1)));
            assert_eq!((lots.basis(LONG), lots.net()), (0, 0), "{method:?}");
        }
    }
}
