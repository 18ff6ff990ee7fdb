//! The fold of executions: which orders work, and how far executions are contained.

use std::collections::BTreeMap;

use crate::{Execution, Fill, OrderId, OrderStatus, OrderUpdate, Reason, SnapshotBegin, StrategyId};

use super::Snapshot;

/// An execution that contradicts those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// Of an order that does not work. An update that is not final makes it work.
    UnknownOrder,
    /// A fill of more than was left. Applied.
    OverFill,
    /// An order is accepted twice, or rejected while it works. Both are applied, but for a rejection with
    /// [`Reason::DuplicateOrder`], which is about a second copy of the order.
    OutOfStep,
}

/// The orders that work, as the executions up to a position leave them.
///
/// ```
/// use wire::fold::WorkingOrders;
/// use wire::*;
///
/// let id = OrderId::new(StrategyId(7), 1, 1);
/// let accepted = OrderUpdate {
///     quantity: Quantity(300),
///     remaining: Quantity(300),
///     ..OrderUpdate::about(id, InstrumentId(1), OrderStatus::Accepted, Reason::None)
/// };
/// let mut orders = WorkingOrders::default();
/// for (position, execution) in [(64, Execution::Update(accepted)), (64, Execution::Update(accepted))] {
///     // The same frame again is not new.
///     if orders.advance(position, &execution) && orders.fits(&execution) {
///         assert_eq!(orders.apply(position, &execution), None);
///     }
/// }
/// assert_eq!(orders.get(id).map(|order| (order.remaining, order.execution)), Some((Quantity(300), 64)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkingOrders {
    /// The latest about each, with `execution` set.
    orders: BTreeMap<OrderId, OrderUpdate>,
    next_execution: u64,
    last_trade: u64,
}

impl WorkingOrders {
    /// The working orders of a snapshot of everybody. Executions from its position on are new.
    pub fn of(snapshot: &Snapshot) -> WorkingOrders {
        WorkingOrders {
            orders: snapshot.orders.iter().map(|order| (order.order_id, *order)).collect(),
            next_execution: snapshot.begin.execution,
            last_trade: snapshot.begin.trade,
        }
    }

    /// Executions before this position are contained.
    pub fn next_execution(&self) -> u64 {
        self.next_execution
    }

    /// Greatest number of a trade so far.
    pub fn last_trade(&self) -> u64 {
        self.last_trade
    }

    /// One order, while it works.
    pub fn get(&self, id: OrderId) -> Option<&OrderUpdate> {
        self.orders.get(&id)
    }

    /// By id.
    pub fn iter(&self) -> impl Iterator<Item = &OrderUpdate> {
        self.orders.values()
    }

    /// By id; of one strategy or of [`SnapshotBegin::EVERYBODY`].
    pub fn of_strategy(&self, strategy: StrategyId) -> impl Iterator<Item = &OrderUpdate> {
        let (first, last) = match strategy {
            SnapshotBegin::EVERYBODY => (StrategyId(0), strategy),
            one => (one, one),
        };
        let ids = OrderId::new(first, 0, 0)..=OrderId::new(last, u16::MAX, u32::MAX);
        self.orders.range(ids).map(|(_, order)| order)
    }

    /// Notes that the frame at `position` was read. False when it is contained already, and must not be applied.
    pub fn advance(&mut self, position: u64, execution: &Execution) -> bool {
        if let Execution::Fill(fill) = execution {
            // Also of a fill that cannot be applied: its number is used up.
            self.last_trade = self.last_trade.max(fill.trade_id);
        }
        self.advance_unreadable(position)
    }

    /// The same for a frame that is no execution.
    pub fn advance_unreadable(&mut self, position: u64) -> bool {
        let is_new = position >= self.next_execution;
        if is_new {
            self.next_execution = position.saturating_add(1);
        }
        is_new
    }

    /// False for an execution that cannot be: with the wrong side or instrument for its order, or with an impossible
    /// quantity. It must not be applied.
    pub fn fits(&self, execution: &Execution) -> bool {
        match execution {
            Execution::Fill(fill) => {
                let is_same =
                    |order: &OrderUpdate| order.instrument == fill.instrument && order.side == fill.side;
                fill.quantity.0 > 0 && fill.remaining.0 >= 0 && self.get(fill.order_id).is_none_or(is_same)
            }
            Execution::Update(update) => {
                let is_same =
                    |order: &OrderUpdate| order.instrument == update.instrument && order.side == update.side;
                // A refusal of an unknown order, a rejection and a mass cancel need not know the order that works.
                let is_about_the_order = !update.status.is_refusal()
                    && !matches!(update.status, OrderStatus::Rejected | OrderStatus::MassCancelled);
                update.quantity.0 >= 0
                    && update.filled.0 >= 0
                    && update.remaining.0 >= 0
                    && (!is_about_the_order || self.get(update.order_id).is_none_or(is_same))
            }
        }
    }

    /// Applies an execution that is new and fits. Returns what it contradicts, if anything.
    pub fn apply(&mut self, position: u64, execution: &Execution) -> Option<Contradiction> {
        match execution {
            Execution::Fill(fill) => self.apply_fill(position, fill),
            Execution::Update(update) => self.apply_update(position, update),
        }
    }

    fn apply_fill(&mut self, position: u64, fill: &Fill) -> Option<Contradiction> {
        let Some(order) = self.orders.get_mut(&fill.order_id) else {
            return Some(Contradiction::UnknownOrder);
        };
        let is_over = fill.quantity > order.remaining;
        // Matching's own update follows. Until then the order must not lag behind the position that the fill made.
        order.status = OrderStatus::PartiallyFilled;
        order.filled += fill.quantity;
        order.remaining = fill.remaining;
        order.event_time = fill.event_time;
        order.execution = position;
        is_over.then_some(Contradiction::OverFill)
    }

    fn apply_update(&mut self, position: u64, update: &OrderUpdate) -> Option<Contradiction> {
        let is_known = self.orders.contains_key(&update.order_id);
        let contradiction = match update.status {
            // The cancels of a mass cancel are reported one by one.
            OrderStatus::CancelRejected | OrderStatus::ReplaceRejected | OrderStatus::MassCancelled => {
                return None;
            }
            OrderStatus::Rejected if update.reason == Reason::DuplicateOrder => {
                return is_known.then_some(Contradiction::OutOfStep);
            }
            OrderStatus::Rejected | OrderStatus::Accepted => is_known.then_some(Contradiction::OutOfStep),
            _ => (!is_known).then_some(Contradiction::UnknownOrder),
        };
        if update.status.is_final() {
            self.orders.remove(&update.order_id);
        } else {
            self.orders.insert(update.order_id, OrderUpdate { execution: position, ..*update });
        }
        contradiction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InstrumentId, Liquidity, Nanos, Price, Quantity, Side};

    fn id(sequence: u32) -> OrderId {
        OrderId::new(StrategyId(5), 1, sequence)
    }

    fn update(sequence: u32, status: OrderStatus, filled: i64) -> Execution {
        Execution::Update(OrderUpdate {
            price: Price(10),
            quantity: Quantity(9),
            filled: Quantity(filled),
            remaining: Quantity(if status.is_final() { 0 } else { 9 - filled }),
            ..OrderUpdate::about(id(sequence), InstrumentId(1), status, Reason::None)
        })
    }

    fn fill(sequence: u32, quantity: i64, remaining: i64) -> Execution {
        Execution::Fill(Fill {
            order_id: id(sequence),
            trade_id: 40 + u64::from(sequence),
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(quantity),
            remaining: Quantity(remaining),
            event_time: Nanos(8),
            execution: 0,
            answered_up_to: 0,
        })
    }

    fn take(orders: &mut WorkingOrders, position: u64, execution: Execution) -> Option<Contradiction> {
        assert!(orders.advance(position, &execution) && orders.fits(&execution));
        orders.apply(position, &execution)
    }

    #[test]
    fn an_order_works_from_its_acceptance_to_its_end() {
        let mut orders = WorkingOrders::default();
        assert_eq!(take(&mut orders, 64, update(1, OrderStatus::Accepted, 0)), None);
        assert_eq!(take(&mut orders, 192, fill(1, 4, 5)), None);
        let order = orders.get(id(1)).unwrap();
        assert_eq!(
            (order.status, order.filled, order.remaining),
            (OrderStatus::PartiallyFilled, Quantity(4), Quantity(5))
        );
        assert_eq!((order.execution, order.event_time, orders.last_trade()), (192, Nanos(8), 41));
        assert_eq!(take(&mut orders, 320, update(1, OrderStatus::PartiallyFilled, 4)), None);
        assert_eq!(take(&mut orders, 448, update(1, OrderStatus::ReplaceRejected, 0)), None);
        assert_eq!(orders.get(id(1)).unwrap().execution, 320, "a refusal leaves the order as it stands");
        assert_eq!(take(&mut orders, 576, update(1, OrderStatus::Cancelled, 4)), None);
        assert_eq!((orders.iter().count(), orders.next_execution()), (0, 577));
    }

    #[test]
    fn a_rejection_of_a_second_order_with_the_same_id_does_not_end_the_first() {
        let mut orders = WorkingOrders::default();
        take(&mut orders, 64, update(1, OrderStatus::Accepted, 0));
        let rejected = update(1, OrderStatus::Rejected, 0);
        let Execution::Update(of_a_copy) = rejected else { panic!("no update") };
        let of_a_copy = Execution::Update(OrderUpdate { reason: Reason::DuplicateOrder, ..of_a_copy });
        assert_eq!(take(&mut orders, 192, of_a_copy), Some(Contradiction::OutOfStep));
        assert!(orders.get(id(1)).is_some());
        assert_eq!(take(&mut orders, 320, update(2, OrderStatus::Rejected, 0)), None, "it never worked");
        assert_eq!(take(&mut orders, 448, rejected), Some(Contradiction::OutOfStep), "of itself");
        assert!(orders.get(id(1)).is_none());
        assert_eq!(take(&mut orders, 576, of_a_copy), None, "it has ended");
    }

    #[test]
    fn what_contradicts_is_applied_and_named() {
        let mut orders = WorkingOrders::default();
        assert_eq!(take(&mut orders, 64, fill(1, 4, 5)), Some(Contradiction::UnknownOrder));
        assert_eq!(
            take(&mut orders, 192, update(1, OrderStatus::Replaced, 0)),
            Some(Contradiction::UnknownOrder)
        );
        assert_eq!(
            take(&mut orders, 320, update(1, OrderStatus::Accepted, 0)),
            Some(Contradiction::OutOfStep)
        );
        assert_eq!(take(&mut orders, 448, fill(1, 10, 0)), Some(Contradiction::OverFill));
    }

    #[test]
    fn what_cannot_be_does_not_fit() {
        let mut orders = WorkingOrders::default();
        take(&mut orders, 64, update(1, OrderStatus::Accepted, 0));
        assert!(!orders.fits(&fill(1, 0, 9)) && !orders.fits(&fill(1, 1, -1)));
        let Execution::Fill(sold) = fill(1, 1, 8) else { panic!() };
        assert!(!orders.fits(&Execution::Fill(Fill { side: Side::Sell, ..sold })));
        let Execution::Update(other) = update(1, OrderStatus::Cancelled, 0) else { panic!() };
        let other = OrderUpdate { instrument: InstrumentId(2), ..other };
        assert!(!orders.fits(&Execution::Update(other)));
        let refusal = OrderUpdate { status: OrderStatus::CancelRejected, ..other };
        assert!(orders.fits(&Execution::Update(refusal)), "a refusal need not know the order");
    }

    #[test]
    fn executions_that_a_snapshot_contains_are_not_new() {
        let begin = SnapshotBegin {
            snapshot: 3,
            execution: 1_000,
            strategy: SnapshotBegin::EVERYBODY,
            reserved: [0; 3],
            generation: 0,
            trade: 854,
        };
        let Execution::Update(order) = update(1, OrderStatus::Accepted, 0) else { panic!() };
        let snapshot = Snapshot { begin, positions: Vec::new(), orders: vec![order], quotes: Vec::new() };
        let mut orders = WorkingOrders::of(&snapshot);
        assert!(!orders.advance(960, &fill(1, 4, 5)) && orders.advance(1_024, &fill(1, 4, 5)));
        assert_eq!((orders.last_trade(), orders.iter().count()), (854, 1), "also without a fill behind it");
        assert_eq!(orders.of_strategy(StrategyId(5)).count(), 1);
        assert_eq!(orders.of_strategy(StrategyId(4)).count(), 0);
        assert_eq!(orders.of_strategy(SnapshotBegin::EVERYBODY).count(), 1);
    }
}
