//! Incoming orders, from rows that name both orders of a trade.

use std::collections::HashSet;
use std::ops::Range;

use wire::{Aggressor, Nanos, Price, Quantity, Side};

use super::input::{Action, Place, Row};

/// What is asked of the exchange, in order, and what the market made of it.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) steps: Vec<Step>,
    /// Trades of continuous trading, by step, then in the order of the market.
    pub(super) trades: Vec<Published>,
    /// Trades of auctions, in the order of the market.
    pub(super) auctions: Vec<Published>,
    /// Trades that cannot be repeated: with orders that were never shown.
    pub(super) hidden: u64,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) place: Place,
    pub(super) time: Nanos,
    pub(super) request: Request,
    /// Its trades.
    pub(super) trades: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Enter(Incoming),
    Cancel { id: u64, quantity: Quantity, resting: Option<(Side, Price)> },
    Reduce { id: u64, quantity: Quantity, resting: Option<(Side, Price)> },
    Clear,
}

/// An order as it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incoming {
    pub(super) id: u64,
    pub(super) side: Side,
    /// `None`: never published.
    pub(super) price: Option<Price>,
    pub(super) quantity: Quantity,
    pub(super) published: When,
}

/// Where the rows have an order that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Where it came in.
    Then,
    /// Later than it came in: it must not trade now.
    Later,
    /// Once more, with rows of others between: it has traded as the incoming side before.
    Again,
}

/// A trade as the market published it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Published {
    /// Its place among the trades of the day, from 0.
    pub(super) index: u64,
    pub(super) place: Place,
    pub(super) time: Nanos,
    /// Its time lies before that of the trade before it.
    pub(super) goes_back: bool,
    /// The row's own product of price and quantity is another one.
    pub(super) off_money: bool,
    /// `None`: not named.
    pub(super) buy: Option<u64>,
    pub(super) sell: Option<u64>,
    pub(super) price: Price,
    pub(super) quantity: Quantity,
    pub(super) aggressor: Aggressor,
}

/// Collects steps, and trades with their steps.
#[derive(Default)]
pub(super) struct Builder {
    flow: Flow,
    /// The step of each trade.
    steps_of: Vec<usize>,
    trades: u64,
}

impl Builder {
    /// Adds a request; its number.
    pub(super) fn step(&mut self, row: &Row, request: Request) -> usize {
        self.flow.steps.push(Step { place: row.place, time: row.time, request, trades: 0..0 });
        self.flow.steps.len() - 1
    }

    /// The order of a step that brings one in.
    pub(super) fn incoming(&mut self, step: usize) -> Option<&mut Incoming> {
        match &mut self.flow.steps.get_mut(step)?.request {
            Request::Enter(incoming) => Some(incoming),
            _ => None,
        }
    }

    /// Adds a trade: of a step, or (`None`) of an auction.
    pub(super) fn trade(&mut self, step: Option<usize>, trade: Published) {
        let trade = Published { index: self.trades, ..trade };
        self.trades += 1;
        match step {
            Some(step) => {
                self.steps_of.push(step);
                self.flow.trades.push(trade);
            }
            None => self.flow.auctions.push(trade),
        }
    }

    pub(super) fn hidden(&mut self) {
        self.flow.hidden += 1;
    }

    pub(super) fn finish(self) -> Flow {
        let Builder { mut flow, steps_of, .. } = self;
        let mut by_step: Vec<(usize, Published)> = steps_of.into_iter().zip(flow.trades).collect();
        by_step.sort_by_key(|&(step, _)| step);
        let mut begin = 0;
        for group in by_step.chunk_by(|one, next| one.0 == next.0) {
            let end = begin + group.len();
            if let Some(step) = flow.steps.get_mut(group[0].0) {
                step.trades = begin..end;
            }
            begin = end;
        }
        flow.trades = by_step.into_iter().map(|(_, trade)| trade).collect();
        flow
    }
}

pub(super) fn plus(one: Quantity, other: Quantity) -> Quantity {
    Quantity(one.0.saturating_add(other.0))
}

/// Brings each order in where its first row stands: with its trades as the incoming side, and the remainder that is
/// published right behind them.
pub(super) fn of_both(rows: &[Row]) -> Flow {
    let mut builder = Builder::default();
    // Time of the trade before.
    let mut before = Nanos(0);
    // The order whose trades the last rows are, and its step.
    let mut open: Option<(u64, usize)> = None;
    // Orders that have traded when they came in.
    let mut traded: HashSet<u64> = HashSet::new();
    for row in rows {
        let coming = std::mem::take(&mut open);
        match row.action {
            Action::Order { id, side, price, quantity } => {
                let known = coming.filter(|(coming, _)| *coming == id);
                let known = known.and_then(|(_, step)| builder.incoming(step));
                if let Some(incoming) = known.filter(|incoming| incoming.side == side) {
                    incoming.price = Some(price);
                    incoming.quantity = plus(incoming.quantity, quantity);
                    continue;
                }
                let published = if traded.contains(&id) { When::Again } else { When::Then };
                let incoming = Incoming { id, side, price: Some(price), quantity, published };
                builder.step(row, Request::Enter(incoming));
            }
            Action::Cancel { id, quantity, resting } => {
                builder.step(row, Request::Cancel { id, quantity, resting });
            }
            Action::Reduce { id, quantity, resting } => {
                builder.step(row, Request::Reduce { id, quantity, resting });
            }
            Action::Trade { buy, sell, price, quantity, aggressor } => {
                let (id, side) = match aggressor {
                    Aggressor::Buy => (buy, Side::Buy),
                    Aggressor::Sell => (sell, Side::Sell),
                    Aggressor::None => (0, Side::Buy),
                };
                let step = (aggressor != Aggressor::None).then(|| {
                    match coming.filter(|(coming, _)| *coming == id) {
                        Some((_, step)) => {
                            if let Some(incoming) = builder.incoming(step) {
                                incoming.quantity = plus(incoming.quantity, quantity);
                            }
                            step
                        }
                        None => {
                            let published = if traded.insert(id) { When::Then } else { When::Again };
                            let incoming = Incoming { id, side, price: None, quantity, published };
                            builder.step(row, Request::Enter(incoming))
                        }
                    }
                });
                open = step.map(|step| (id, step));
                let trade = Published {
                    index: 0,
                    place: row.place,
                    time: row.time,
                    goes_back: row.stated < before,
                    off_money: row.off_money,
                    buy: Some(buy),
                    sell: Some(sell),
                    price,
                    quantity,
                    aggressor,
                };
                before = row.stated;
                builder.trade(step, trade);
            }
            Action::Execution { .. } | Action::Hidden => builder.hidden(),
            Action::Clear => {
                builder.step(row, Request::Clear);
            }
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::input::File;
    use super::*;

    fn row(number: u64, action: Action) -> Row {
        Row {
            place: Place { file: File::Trades, row: number },
            time: Nanos(number),
            stated: Nanos(number),
            off_money: false,
            action,
        }
    }

    fn trade(buy: u64, sell: u64, quantity: i64, aggressor: Aggressor) -> Action {
        Action::Trade { buy, sell, price: Price(7), quantity: Quantity(quantity), aggressor }
    }

    #[test]
    fn an_order_comes_in_with_its_trades_and_its_remainder() {
        let order = Action::Order { id: 9, side: Side::Buy, price: Price(8), quantity: Quantity(30) };
        let flow = of_both(&[
            row(1, trade(9, 1, 10, Aggressor::Buy)),
            row(2, trade(9, 2, 20, Aggressor::Buy)),
            row(3, order),
            row(4, trade(9, 5, 4, Aggressor::Sell)),
            row(5, trade(6, 5, 5, Aggressor::Sell)),
        ]);
        let entered = |step: usize| match flow.steps[step].request {
            Request::Enter(incoming) => (incoming.id, incoming.side, incoming.price, incoming.quantity.0),
            _ => panic!("{:?}", flow.steps[step]),
        };
        assert_eq!(flow.steps.len(), 2);
        assert_eq!(entered(0), (9, Side::Buy, Some(Price(8)), 60));
        assert_eq!(entered(1), (5, Side::Sell, None, 9));
        assert_eq!((flow.steps[0].trades.clone(), flow.steps[1].trades.clone()), (0..2, 2..4));
    }

    #[test]
    fn an_order_that_trades_again_behind_another_comes_in_again() {
        let flow = of_both(&[
            row(1, trade(9, 1, 10, Aggressor::Buy)),
            row(2, trade(8, 2, 10, Aggressor::Buy)),
            row(3, trade(9, 3, 10, Aggressor::Buy)),
            row(4, trade(4, 5, 10, Aggressor::None)),
        ]);
        let indexes: Vec<u64> = flow.trades.iter().map(|trade| trade.index).collect();
        assert_eq!(indexes, [0, 1, 2]);
        assert_eq!((flow.auctions.len(), flow.auctions[0].index), (1, 3));
        let published = |step: &Step| match step.request {
            Request::Enter(incoming) => (incoming.id, incoming.published),
            _ => panic!("{step:?}"),
        };
        let entered: Vec<(u64, When)> = flow.steps.iter().map(published).collect();
        assert_eq!(entered, [(9, When::Then), (8, When::Then), (9, When::Again)]);
    }
}
