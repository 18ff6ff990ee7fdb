//! Incoming orders, from rows that name only the resting order of a trade.

use std::collections::{BTreeMap, HashSet};

use wire::{Aggressor, Price, Quantity, Side};

use super::flow::{Builder, Flow, Incoming, Published, Request, When, plus};
use super::input::{Action, Row};

/// Puts executions together into incoming orders. With `numbers_grow` an order that is published later than its number
/// says, or only mentioned, comes in where its number says.
pub(super) fn of_resting(rows: &[Row], numbers_grow: bool) -> Flow {
    let mut builder = Builder::default();
    let mut late = if numbers_grow { late(rows) } else { BTreeMap::new() };
    // An incoming order without a published remainder has no number; these are not in use.
    let mut number = u64::MAX;
    let mut next = 0;
    // What rested before the first order came in: rows may say something about it at once.
    let first = rows.iter().find_map(|row| match row.action {
        Action::Order { id, .. } => Some(id),
        _ => None,
    });
    if let Some(row) = rows.first() {
        enter_below(&mut builder, &mut late, row, first.unwrap_or(u64::MAX));
    }
    while let Some(row) = rows.get(next) {
        next += 1;
        match row.action {
            Action::Order { id, side, price, quantity } => {
                enter_below(&mut builder, &mut late, row, id);
                let incoming = Incoming { id, side, price: Some(price), quantity, published: When::Then };
                builder.step(row, Request::Enter(incoming));
            }
            Action::Cancel { id, quantity, resting } => {
                builder.step(row, Request::Cancel { id, quantity, resting });
            }
            Action::Reduce { id, quantity, resting } => {
                builder.step(row, Request::Reduce { id, quantity, resting });
            }
            Action::Execution { side, .. } => {
                number -= 1;
                next = execute(&mut builder, rows, next - 1, side, number);
            }
            Action::Trade { .. } | Action::Hidden => builder.hidden(),
            Action::Clear => {
                builder.step(row, Request::Clear);
            }
        }
    }
    builder.finish()
}

/// Brings in what has a number below `id`.
fn enter_below(builder: &mut Builder, late: &mut BTreeMap<u64, Incoming>, row: &Row, id: u64) {
    let rest = late.split_off(&id);
    for (_, incoming) in std::mem::replace(late, rest) {
        builder.step(row, Request::Enter(incoming));
    }
}

/// One incoming order: the executions from `begin` on, and its remainder. The first row that is not part of it.
fn execute(builder: &mut Builder, rows: &[Row], begin: usize, side: Side, number: u64) -> usize {
    let time = rows[begin].time;
    let taker = side.opposite();
    let incoming =
        Incoming { id: number, side: taker, price: None, quantity: Quantity::ZERO, published: When::Then };
    let step = builder.step(&rows[begin], Request::Enter(incoming));
    let (mut next, mut before, mut worst) = (begin, None, None);
    let mut found = Vec::new();
    while let Some(row) = rows.get(next).filter(|row| row.time == time) {
        match row.action {
            Action::Hidden => builder.hidden(),
            // An order cannot trade twice in succession with the same one.
            Action::Execution { id, side: same, price, quantity } if same == side && before != Some(id) => {
                (before, worst) = (Some(id), Some(price));
                found.push((row, id, price, quantity));
            }
            _ => break,
        }
        next += 1;
    }
    let remainder = rows.get(next).filter(|row| row.time == time).and_then(|row| match row.action {
        Action::Order { id, side, price, quantity } if side == taker => {
            let reaches = worst.is_some_and(|worst| match taker {
                Side::Buy => price >= worst,
                Side::Sell => price <= worst,
            });
            reaches.then_some((id, price, quantity))
        }
        _ => None,
    });
    let traded = found.iter().fold(Quantity::ZERO, |sum, &(_, _, _, quantity)| plus(sum, quantity));
    if let Some(incoming) = builder.incoming(step) {
        incoming.quantity = traded;
        if let Some((id, price, quantity)) = remainder {
            incoming.id = id;
            incoming.price = Some(price);
            incoming.quantity = plus(traded, quantity);
        }
    }
    for (row, id, price, quantity) in found {
        let named = remainder.map(|(id, _, _)| id);
        let (buy, sell, aggressor) = match taker {
            Side::Buy => (named, Some(id), Aggressor::Buy),
            Side::Sell => (Some(id), named, Aggressor::Sell),
        };
        let (place, time) = (row.place, row.time);
        let (goes_back, off_money) = (row.stated < row.time, false);
        let trade =
            Published { index: 0, place, time, goes_back, off_money, buy, sell, price, quantity, aggressor };
        builder.trade(Some(step), trade);
    }
    next + usize::from(remainder.is_some())
}

/// Orders that are published behind one with a higher number, or never. What is never published rested with all that was
/// taken from it.
fn late(rows: &[Row]) -> BTreeMap<u64, Incoming> {
    let mut late: BTreeMap<u64, Incoming> = BTreeMap::new();
    let mut known: HashSet<u64> = HashSet::new();
    let mut highest = 0;
    for row in rows {
        if let Action::Order { id, side, price, quantity } = row.action {
            known.insert(id);
            if id < highest {
                late.insert(id, Incoming { id, side, price: Some(price), quantity, published: When::Later });
            }
            highest = highest.max(id);
        }
    }
    let mut mentioned: BTreeMap<u64, (Option<(Side, Price)>, Quantity)> = BTreeMap::new();
    for row in rows {
        let (id, quantity, resting) = match row.action {
            Action::Execution { id, side, price, quantity } => (id, quantity, Some((side, price))),
            Action::Cancel { id, quantity, resting } => (id, quantity, resting),
            Action::Reduce { id, quantity, resting } => (id, quantity, resting),
            _ => continue,
        };
        if !known.contains(&id) {
            let entry = mentioned.entry(id).or_insert((None, Quantity::ZERO));
            entry.0 = entry.0.or(resting);
            entry.1 = plus(entry.1, quantity);
        }
    }
    late.extend(mentioned.into_iter().filter_map(|(id, (resting, quantity))| {
        let (side, price) = resting?;
        Some((id, Incoming { id, side, price: Some(price), quantity, published: When::Later }))
    }));
    late
}

#[cfg(test)]
mod tests {
    use wire::Nanos;

    use super::super::input::{File, Place};
    use super::*;

    fn rows(actions: &[(u64, Action)]) -> Vec<Row> {
        let place = |row| Place { file: File::Messages, row };
        let numbered = actions.iter().zip(1..);
        numbered
            .map(|(&(time, action), row)| Row {
                place: place(row),
                time: Nanos(time),
                stated: Nanos(time),
                off_money: false,
                action,
            })
            .collect()
    }

    fn order(id: u64, side: Side, price: i64) -> Action {
        Action::Order { id, side, price: Price(price), quantity: Quantity(10) }
    }

    fn execution(id: u64, price: i64) -> Action {
        Action::Execution { id, side: Side::Sell, price: Price(price), quantity: Quantity(10) }
    }

    fn incoming(flow: &Flow) -> Vec<(u64, Side, i64, bool)> {
        let entered = flow.steps.iter().filter_map(|step| match step.request {
            Request::Enter(incoming) => {
                Some((incoming.id, incoming.side, incoming.quantity.0, incoming.published == When::Later))
            }
            _ => None,
        });
        entered.collect()
    }

    #[test]
    fn executions_of_one_moment_are_one_order_and_what_rests_behind_them_its_remainder() {
        let sells = [(1, order(1, Side::Sell, 7)), (2, order(2, Side::Sell, 8))];
        let taken = [(3, execution(1, 7)), (3, Action::Hidden), (3, execution(2, 8))];
        let with = |last: (u64, Action)| {
            let flow = of_resting(&rows(&[&sells[..], &taken[..], &[last][..]].concat()), false);
            assert_eq!((flow.trades.len(), flow.hidden), (2, 1));
            incoming(&flow)[2..].to_vec()
        };
        assert_eq!(with((3, order(5, Side::Buy, 8))), [(5, Side::Buy, 30, false)]);
        // Later, or at a price that did not reach so far: another order.
        assert_eq!(with((4, order(5, Side::Buy, 8))).len(), 2);
        assert_eq!(with((3, order(5, Side::Buy, 7))).len(), 2);
        assert_eq!(with((3, order(5, Side::Sell, 8))).len(), 2);
    }

    #[test]
    fn an_order_that_is_published_late_or_never_comes_in_where_its_number_says() {
        let flow = of_resting(
            &rows(&[
                (1, execution(3, 7)),
                (2, order(10, Side::Buy, 5)),
                (3, order(12, Side::Buy, 5)),
                (4, order(11, Side::Buy, 5)),
            ]),
            true,
        );
        let entered: Vec<(u64, bool)> =
            incoming(&flow).iter().map(|&(id, _, _, early)| (id, early)).collect();
        assert_eq!(
            entered,
            [(3, true), (u64::MAX - 1, false), (10, false), (11, true), (12, false), (11, false)]
        );
    }
}
