//! One side of a position.

use std::collections::VecDeque;

use wire::{CostMethod, Price};

use crate::amount::{MOST, share, value};
use crate::margin::Rates;
use crate::state::state;

pub(crate) const LONG: usize = 0;
pub(crate) const SHORT: usize = 1;
pub(crate) const TODAY: usize = 0;
pub(crate) const YESTERDAY: usize = 1;

/// Lots that were opened by one fill, for accounts that close the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lot {
    lots: i64,
    price: Price,
    /// The price up to which its gain is paid.
    base: Price,
    day: u8,
}
state!(Lot { lots, price, base, day });

/// What leaves with a part that is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) cost: i128,
    pub(crate) settled: i128,
}

/// Long or short. Costs are what was traded, without a sign for the side: `price × lots × multiplier`.
///
/// With [`CostMethod::Average`] there is one average over both days, and amounts stand under today; otherwise they stand
/// under their day.
///
/// The lots come first: checks read no more than one line of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Holding {
    /// Today's, yesterday's.
    pub(crate) lots: [i64; 2],
    /// What orders at work may close: of today, of yesterday, of either.
    pub(crate) frozen: [i64; 3],
    /// Boxed: most accounts have none, and every slot has two holdings.
    #[allow(clippy::box_collection, reason = "a quarter of the size where there is none")]
    oldest: Option<Box<VecDeque<Lot>>>,
    pub(crate) margin: i128,
    cost: [i128; 2],
    /// What the value has moved from the cost up to the last settlement, where that was paid.
    settled: [i128; 2],
}
const _: () = assert!(std::mem::offset_of!(Holding, cost) == 64 && size_of::<Holding>() == 128);
state!(Holding { lots, cost, settled, frozen, margin, oldest });

impl Holding {
    pub(crate) fn total(&self) -> i64 {
        self.lots[TODAY].saturating_add(self.lots[YESTERDAY])
    }

    pub(crate) fn cost(&self) -> i128 {
        self.cost[TODAY] + self.cost[YESTERDAY]
    }

    pub(crate) fn settled(&self) -> i128 {
        self.settled[TODAY] + self.settled[YESTERDAY]
    }

    /// What it was worth when it was last traded or settled.
    pub(crate) fn basis(&self) -> i128 {
        self.cost() + self.settled()
    }

    /// Lots that no order at work may close already: of today, of yesterday, of either.
    pub(crate) fn closable(&self) -> [i64; 3] {
        let of = |day: usize| self.lots[day].saturating_sub(self.frozen[day]).max(0);
        let any = self.total().saturating_sub(self.frozen_total()).max(0);
        [of(TODAY).min(any), of(YESTERDAY).min(any), any]
    }

    /// Lots of today, of yesterday, of either, whatever orders at work may close.
    pub(crate) fn held(&self) -> [i64; 3] {
        [self.lots[TODAY], self.lots[YESTERDAY], self.total()]
    }

    pub(crate) fn frozen_total(&self) -> i64 {
        self.frozen.iter().fold(0, |sum: i64, part| sum.saturating_add(*part))
    }

    /// By how much orders at work may close more than there is, of each class.
    pub(crate) fn excess(&self) -> [i64; 3] {
        let all = self.frozen_total().saturating_sub(self.total()).max(0);
        let of = |day: usize| self.frozen[day].saturating_sub(self.lots[day]).max(all);
        [of(TODAY), of(YESTERDAY), all]
    }

    /// Opens lots of today.
    pub(crate) fn open(&mut self, method: CostMethod, price: Price, lots: i64, amount: i128) {
        self.lots[TODAY] = self.lots[TODAY].saturating_add(lots);
        self.cost[TODAY] += amount;
        if method == CostMethod::Fifo {
            let queue = self.oldest.get_or_insert_default();
            queue.push_back(Lot { lots, price, base: price, day: TODAY as u8 });
        }
    }

    /// Closes lots of a day, of which there are as many.
    pub(crate) fn close(&mut self, method: CostMethod, day: usize, lots: i64, multiplier: u64) -> Closed {
        let closed = match method {
            CostMethod::Average => {
                let total = self.total();
                self.leave(
                    TODAY,
                    share(self.cost[TODAY], lots, total),
                    share(self.settled[TODAY], lots, total),
                )
            }
            CostMethod::Settlement => {
                let total = self.lots[day];
                self.leave(day, share(self.cost[day], lots, total), share(self.settled[day], lots, total))
            }
            CostMethod::Fifo => {
                let out = self.take_oldest(day, lots, multiplier);
                self.leave(day, out.cost, out.settled)
            }
        };
        self.lots[day] -= lots;
        closed
    }

    fn leave(&mut self, day: usize, cost: i128, settled: i128) -> Closed {
        self.cost[day] -= cost;
        self.settled[day] -= settled;
        Closed { cost, settled }
    }

    fn take_oldest(&mut self, day: usize, lots: i64, multiplier: u64) -> Closed {
        let (mut left, mut out) = (lots, Closed::default());
        let Some(queue) = self.oldest.as_deref_mut() else { return out };
        let mut index = 0;
        while left > 0 {
            let Some(lot) = queue.get_mut(index) else { break };
            if usize::from(lot.day) != day {
                index += 1;
                continue;
            }
            let taken = lot.lots.min(left);
            let cost = value(lot.price, taken, multiplier).unwrap_or(MOST);
            out.cost += cost;
            out.settled += value(lot.base, taken, multiplier).unwrap_or(MOST) - cost;
            lot.lots -= taken;
            left -= taken;
            if lot.lots == 0 {
                queue.remove(index);
            }
        }
        out
    }

    /// What it is worth at a price; `None` beyond the largest booking.
    pub(crate) fn value(&self, price: Price, multiplier: u64) -> Option<i128> {
        value(price, self.total(), multiplier)
    }

    /// Settles at a price: returns by how much the value has moved since the last time. The move is realised with
    /// [`CostMethod::Settlement`]; otherwise it is paid in advance if `is_paid`, and nothing changes if not.
    pub(crate) fn settle(
        &mut self,
        method: CostMethod,
        price: Price,
        multiplier: u64,
        is_paid: bool,
    ) -> i128 {
        let at = |lots: i64| value(price, lots, multiplier).unwrap_or(MOST);
        let bins = match method {
            CostMethod::Average => [at(self.total()), 0],
            CostMethod::Fifo | CostMethod::Settlement => [at(self.lots[TODAY]), at(self.lots[YESTERDAY])],
        };
        let moved = bins[TODAY] + bins[YESTERDAY] - self.basis();
        if method == CostMethod::Settlement {
            self.cost = bins;
        } else if is_paid {
            self.settled = [bins[TODAY] - self.cost[TODAY], bins[YESTERDAY] - self.cost[YESTERDAY]];
            self.oldest.iter_mut().flat_map(|queue| queue.iter_mut()).for_each(|lot| lot.base = price);
        } else {
            return 0;
        }
        moved
    }

    /// Today's becomes yesterday's.
    pub(crate) fn roll(&mut self, method: CostMethod) {
        self.lots = [0, self.total()];
        self.frozen = [0, self.frozen[TODAY].saturating_add(self.frozen[YESTERDAY]), self.frozen[2]];
        if method != CostMethod::Average {
            self.cost = [0, self.cost()];
            self.settled = [0, self.settled()];
        }
        let old = self.oldest.iter_mut().flat_map(|queue| queue.iter_mut());
        old.for_each(|lot| lot.day = YESTERDAY as u8);
    }

    /// The margin it takes now. Returns by how much that has changed.
    pub(crate) fn remargin(&mut self, rates: &Rates, side: usize) -> i128 {
        let before = self.margin;
        self.margin = rates.margin(side, self.basis(), self.total());
        self.margin - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bought(method: CostMethod) -> Holding {
        let mut holding = Holding::default();
        holding.open(method, Price(10), 100, 1_000);
        holding.roll(method);
        holding.open(method, Price(20), 100, 2_000);
        holding
    }

    #[test]
    fn each_method_lets_its_own_cost_leave() {
        for (method, cost) in
            [(CostMethod::Average, 750), (CostMethod::Fifo, 500), (CostMethod::Settlement, 500)]
        {
            let mut holding = bought(method);
            assert_eq!(holding.close(method, YESTERDAY, 50, 1), Closed { cost, settled: 0 }, "{method}");
            assert_eq!((holding.lots, holding.cost()), ([100, 50], 3_000 - cost));
        }
        let mut holding = bought(CostMethod::Fifo);
        assert_eq!(
            holding.close(CostMethod::Fifo, TODAY, 100, 1).cost,
            2_000,
            "of the day that is asked for"
        );
    }

    #[test]
    fn settlement_is_paid_once_and_comes_back_at_the_close() {
        for method in [CostMethod::Average, CostMethod::Fifo] {
            let mut holding = bought(method);
            assert_eq!(holding.settle(method, Price(30), 1, true), 3_000);
            assert_eq!(holding.settle(method, Price(30), 1, true), 0);
            holding.roll(method);
            let closed = holding.close(method, YESTERDAY, 200, 1);
            assert_eq!(closed, Closed { cost: 3_000, settled: 3_000 });
        }
        let mut holding = bought(CostMethod::Settlement);
        assert_eq!(holding.settle(CostMethod::Settlement, Price(30), 1, true), 3_000);
        holding.roll(CostMethod::Settlement);
        assert_eq!(holding.close(CostMethod::Settlement, YESTERDAY, 100, 1).cost, 3_000);
        let mut holding = bought(CostMethod::Average);
        assert_eq!(holding.settle(CostMethod::Average, Price(30), 1, false), 0, "nothing is paid");
    }
}
