//! What an account holds of an instrument: a list of lots a side.

use std::collections::BTreeMap;

use wire::*;

/// Lots of one opening fill.
#[derive(Clone, Debug)]
pub(crate) struct Lot {
    lots: i64,
    cost: i128,
    settled: i128,
    pub(crate) is_old: bool,
    price: i64,
    base: i64,
}

/// One account in one instrument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// Long, short; in the order of opening.
    pub(crate) sides: [Vec<Lot>; 2],
    pub(crate) realised: i128,
    pub(crate) variation: i128,
    pub(crate) invested: i128,
    /// What each order has traded: lots and value by class (open, close, close today).
    pub(crate) traded: BTreeMap<OrderId, [(i64, i128); 3]>,
}

impl Position {
    pub(crate) fn lots(&self, side: usize, is_old: bool) -> i64 {
        self.sides[side].iter().filter(|lot| lot.is_old == is_old).map(|lot| lot.lots).sum()
    }

    pub(crate) fn total(&self, side: usize) -> i64 {
        self.sides[side].iter().map(|lot| lot.lots).sum()
    }

    pub(crate) fn cost(&self, side: usize) -> i128 {
        self.sides[side].iter().map(|lot| lot.cost).sum()
    }

    pub(crate) fn basis(&self, side: usize) -> i128 {
        self.sides[side].iter().map(|lot| lot.cost + lot.settled).sum()
    }

    /// Lots of one day leave; with which cost, the method says.
    fn close(
        &mut self,
        method: CostMethod,
        side: usize,
        is_old: bool,
        lots: i64,
        multiplier: i128,
    ) -> (i128, i128) {
        let is_pool = |lot: &Lot| method == CostMethod::Average || lot.is_old == is_old;
        let (mut cost, mut settled) = (0, 0);
        if method != CostMethod::Fifo {
            let pool: Vec<&Lot> = self.sides[side].iter().filter(|lot| is_pool(lot)).collect();
            let all: i128 = pool.iter().map(|lot| i128::from(lot.lots)).sum();
            let sum = |of: fn(&Lot) -> i128| pool.iter().map(|lot| of(lot)).sum::<i128>();
            (cost, settled) = (
                sum(|lot| lot.cost) * i128::from(lots) / all,
                sum(|lot| lot.settled) * i128::from(lots) / all,
            );
        }
        let mut left = lots;
        for lot in self.sides[side].iter_mut().filter(|lot| lot.is_old == is_old) {
            let taken = lot.lots.min(left);
            if method == CostMethod::Fifo {
                let (part, paid) = (
                    i128::from(lot.price) * i128::from(taken) * multiplier,
                    i128::from(lot.base - lot.price) * i128::from(taken) * multiplier,
                );
                (cost, settled) = (cost + part, settled + paid);
                (lot.cost, lot.settled) = (lot.cost - part, lot.settled - paid);
            }
            lot.lots -= taken;
            left -= taken;
        }
        assert_eq!(left, 0, "the model closes what is there");
        if method != CostMethod::Fifo {
            // Only the sum of the pool has a meaning: its first lot carries what has left.
            if let Some(first) = self.sides[side].iter_mut().find(|lot| is_pool(lot)) {
                (first.cost, first.settled) = (first.cost - cost, first.settled - settled);
            }
            let rest: Vec<Lot> = self.sides[side].iter().filter(|lot| is_pool(lot)).cloned().collect();
            if let Some(keeper) = self.sides[side].iter_mut().find(|lot| is_pool(lot) && lot.lots > 0) {
                keeper.cost = rest.iter().map(|lot| lot.cost).sum();
                keeper.settled = rest.iter().map(|lot| lot.settled).sum();
                let mut is_kept = false;
                for lot in self.sides[side].iter_mut().filter(|lot| is_pool(lot)) {
                    if lot.lots > 0 && !is_kept {
                        is_kept = true;
                    } else {
                        (lot.cost, lot.settled) = (0, 0);
                    }
                }
            }
        }
        self.sides[side].retain(|lot| lot.lots > 0);
        (cost, settled)
    }
}

#[allow(clippy::too_many_arguments, reason = "the rule needs all of it")]
pub(crate) fn fill(
    position: &mut Position,
    kind: AccountKind,
    method: CostMethod,
    multiplier: i128,
    order: &NewOrder,
    price: i64,
    lots: i64,
    (frozen, is_rolled): ([i64; 2], bool),
) {
    let (mine, other, sign) = if order.side == Side::Buy { (0, 1, -1) } else { (1, 0, 1) };
    let (old, new) = (position.lots(other, true), position.lots(other, false));
    let is_net = kind != AccountKind::Futures;
    let (from_old, from_new) = match order.offset().unwrap() {
        _ if is_net => (old.min(lots), new.min(lots - old.min(lots))),
        Offset::Open | Offset::Auto => (0, 0),
        Offset::Close => {
            let first = (old - frozen[0]).max(0).min(lots);
            (first, lots - first)
        }
        Offset::CloseToday if !is_rolled => (0, lots),
        Offset::CloseToday | Offset::CloseYesterday => (lots, 0),
    };
    let worth = |lots: i64| i128::from(price) * i128::from(lots) * multiplier;
    for (is_old, lots, class) in [(true, from_old, 1), (false, from_new, 2)] {
        if lots > 0 {
            let (cost, settled) = position.close(method, other, is_old, lots, multiplier);
            position.realised += sign * (worth(lots) - cost);
            position.variation -= sign * settled;
            position.invested -= sign * cost;
            let traded = &mut position.traded.entry(order.order_id).or_default()[class];
            *traded = (traded.0 + lots, traded.1 + worth(lots).abs());
        }
    }
    let opened = lots - from_old - from_new;
    if opened > 0 {
        position.sides[mine].push(Lot {
            lots: opened,
            cost: worth(opened),
            settled: 0,
            is_old: false,
            price,
            base: price,
        });
        position.invested -= sign * worth(opened);
        let traded = &mut position.traded.entry(order.order_id).or_default()[0];
        *traded = (traded.0 + opened, traded.1 + worth(opened).abs());
    }
}

pub(crate) fn settle(
    position: &mut Position,
    kind: AccountKind,
    method: CostMethod,
    multiplier: i128,
    price: i64,
) {
    for (side, sign) in [(0, 1), (1, -1)] {
        let basis = position.basis(side);
        let mut worth = 0;
        for lot in &mut position.sides[side] {
            let value = i128::from(price) * i128::from(lot.lots) * multiplier;
            worth += value;
            if method == CostMethod::Settlement {
                (lot.cost, lot.settled) = (value, 0);
            } else if kind == AccountKind::Futures {
                (lot.settled, lot.base) = (value - lot.cost, price);
            }
        }
        let moved = sign * (worth - basis);
        match (method, kind) {
            (CostMethod::Settlement, _) => {
                position.realised += moved;
                position.invested += moved;
            }
            (_, AccountKind::Futures) => position.variation += moved,
            _ => {}
        }
    }
}
