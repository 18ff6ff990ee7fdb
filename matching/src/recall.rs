//! What a killed matching had said, read back from its own journal, and what its successor has to add.
//!
//! The books die with their process. What they held is known all the same: an order that was accepted and has no end in
//! `matching.executions` worked. The successor ends each of them, in the same journal, before it says anything else. So
//! whoever reads the executions hears of every order's end once, in its place, however often matching is killed.

use std::collections::BTreeMap;

use node::{Node, RunError, fold_held, read_held};
use wire::{
    AnyMessage, Fill, LastSnapshot, Message, OrderId, OrderStatus, OrderUpdate, Quantity, Reason,
    SnapshotBegin, WireError,
};

/// A snapshot may be outdated before the executions behind it are read.
const TRIES: usize = 20;

/// The executions so far.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    /// Orders that have not ended, by id.
    working: BTreeMap<OrderId, OrderUpdate>,
    /// Requests up to this position in `td.orders` are answered.
    pub(crate) request: u64,
    /// Number of the last trade.
    pub(crate) trade: u64,
}

fn last_snapshot(node: &Node) -> Result<Vec<AnyMessage>, impl std::fmt::Display + use<>> {
    let found = fold_held(node.instance(), LastSnapshot::JOURNAL, LastSnapshot::take);
    found.map(LastSnapshot::into_messages)
}

impl Recall {
    /// Reads `executions` back from the ledger's last snapshot on; what that one needs is kept.
    pub(crate) fn read(node: &Node, executions: &str) -> Result<Recall, RunError> {
        let failed = |error: &dyn std::fmt::Display| {
            RunError::failed(format!("cannot take up where matching was: {error}"))
        };
        for _ in 0..TRIES {
            let snapshot = last_snapshot(node).map_err(|error| failed(&error))?;
            if let Some(recall) =
                Recall::behind(&snapshot, node, executions).map_err(|error| failed(&error))?
            {
                return Ok(recall);
            }
            // The ledger has written a newer one meanwhile.
        }
        log::error!("executions since the ledger's last snapshot are overwritten: older orders get no end");
        let recall = Recall::behind(&[], node, executions).map_err(|error| failed(&error))?;
        let mut recall = recall.unwrap_or_default();
        let snapshot = last_snapshot(node).map_err(|error| failed(&error))?;
        if let Some(AnyMessage::SnapshotBegin(begin)) = snapshot.first() {
            recall.trade = recall.trade.max(begin.trade);
        }
        Ok(recall)
    }

    /// A snapshot, and what follows it; `None` when that is not all there any more.
    fn behind(
        snapshot: &[AnyMessage],
        node: &Node,
        executions: &str,
    ) -> Result<Option<Recall>, impl std::fmt::Display + use<>> {
        let mut recall = Recall::default();
        let contained = recall.restore(snapshot);
        let from = (contained > 0).then_some(contained);
        let whole = read_held(node.instance(), executions, from, |frame| {
            if let Err(error) = recall.take(frame.message_id, frame.payload, frame.position >= contained) {
                log::error!("execution at position {}: {error}; passed over", frame.position);
            }
        });
        whole.map(|whole| whole.then_some(recall))
    }

    /// Answers from which position on executions are news.
    fn restore(&mut self, snapshot: &[AnyMessage]) -> u64 {
        let mut contained = 0;
        for message in snapshot {
            match message {
                AnyMessage::SnapshotBegin(SnapshotBegin { execution, trade, .. }) => {
                    contained = *execution;
                    // No fill may lie behind the snapshot, and the executions before it may be overwritten.
                    self.trade = self.trade.max(*trade);
                }
                AnyMessage::OrderUpdate(update) => drop(self.working.insert(update.order_id, *update)),
                _ => {}
            }
        }
        contained
    }

    fn take(&mut self, message_id: u16, payload: &[u8], is_news: bool) -> Result<(), WireError> {
        match message_id {
            Fill::ID => {
                let fill = Fill::decode(payload)?;
                self.request = fill.execution;
                self.trade = self.trade.max(fill.trade_id);
                if is_news && let Some(order) = self.working.get_mut(&fill.order_id) {
                    order.filled += fill.quantity;
                    order.remaining = fill.remaining;
                }
            }
            OrderUpdate::ID => {
                let update = OrderUpdate::decode(payload)?;
                self.request = update.execution;
                if is_news {
                    self.update(&update);
                }
            }
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    fn update(&mut self, update: &OrderUpdate) {
        match update.status {
            OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => {}
            OrderStatus::Rejected | OrderStatus::Filled | OrderStatus::Cancelled => {
                self.working.remove(&update.order_id);
            }
            OrderStatus::Accepted | OrderStatus::PartiallyFilled | OrderStatus::Replaced => {
                self.working.insert(update.order_id, *update);
            }
        }
    }

    /// The ends of the orders that were lost with the books, by order id.
    pub(crate) fn into_ends(self) -> impl Iterator<Item = OrderUpdate> {
        let request = self.request;
        self.working.into_values().map(move |order| {
            // Of answers too long for one batch the last may be missing.
            let (status, reason) = match order.remaining {
                Quantity::ZERO => (OrderStatus::Filled, Reason::None),
                _ => (OrderStatus::Cancelled, Reason::MarketClosed),
            };
            OrderUpdate { status, reason, remaining: Quantity::ZERO, execution: request, ..order }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{InstrumentId, Liquidity, Nanos, Price, Side, StrategyId};

    fn update(sequence: u32, status: OrderStatus, filled: i64, request: u64) -> OrderUpdate {
        OrderUpdate {
            order_id: OrderId::new(StrategyId(5), 1, sequence),
            instrument: InstrumentId(1),
            side: Side::Buy,
            status,
            reason: Reason::None,
            reserved: 0,
            price: Price(10),
            quantity: Quantity(9),
            filled: Quantity(filled),
            remaining: Quantity(9 - filled),
            event_time: Nanos(0),
            execution: request,
            request: 0,
            told: 0,
        }
    }

    fn fill(sequence: u32, remaining: i64, request: u64) -> Fill {
        Fill {
            order_id: OrderId::new(StrategyId(5), 1, sequence),
            trade_id: 40 + u64::from(sequence),
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(4),
            remaining: Quantity(remaining),
            event_time: Nanos(0),
            execution: request,
        }
    }

    #[test]
    fn what_was_accepted_and_has_no_end_is_ended_once() {
        let mut recall = Recall::default();
        let says = |recall: &mut Recall, update: OrderUpdate, is_news: bool| {
            recall.take(OrderUpdate::ID, update.bytes(), is_news).unwrap();
        };
        // Of before the snapshot: known from there, or ended.
        says(&mut recall, update(1, OrderStatus::Accepted, 0, 64), false);
        recall.restore(&[AnyMessage::OrderUpdate(update(2, OrderStatus::Accepted, 0, 700))]);
        says(&mut recall, update(3, OrderStatus::Accepted, 0, 128), true);
        says(&mut recall, update(4, OrderStatus::Accepted, 0, 192), true);
        recall.take(Fill::ID, fill(3, 5, 192).bytes(), true).unwrap();
        says(&mut recall, update(3, OrderStatus::PartiallyFilled, 4, 192), true);
        says(&mut recall, update(4, OrderStatus::Cancelled, 0, 256), true);
        says(&mut recall, update(3, OrderStatus::ReplaceRejected, 0, 320), true);
        assert_eq!((recall.request, recall.trade), (320, 43));
        let ends: Vec<OrderUpdate> = recall.into_ends().collect();
        assert_eq!(ends.iter().map(|end| end.order_id.sequence()).collect::<Vec<_>>(), [2, 3]);
        assert!(ends.iter().all(|end| end.status == OrderStatus::Cancelled && end.execution == 320));
        assert_eq!((ends[1].filled, ends[1].remaining), (Quantity(4), Quantity(0)));
        // A successor that is killed after the first of them ends only the other.
        let mut again = Recall::default();
        ends.iter()
            .for_each(|end| says(&mut again, OrderUpdate { status: OrderStatus::Accepted, ..*end }, true));
        says(&mut again, ends[0], true);
        assert_eq!(again.into_ends().count(), 1);
    }

    #[test]
    fn trades_are_numbered_on_although_no_fill_lies_behind_the_snapshot() {
        let mut recall = Recall::default();
        let begin = SnapshotBegin {
            snapshot: 3,
            execution: 1_000,
            strategy: SnapshotBegin::EVERYBODY,
            reserved: [0; 3],
            generation: 0,
            trade: 854,
        };
        assert_eq!(recall.restore(&[AnyMessage::SnapshotBegin(begin)]), 1_000);
        let accepted = update(1, OrderStatus::Accepted, 0, 64);
        recall.take(OrderUpdate::ID, accepted.bytes(), true).unwrap();
        assert_eq!(recall.trade, 854);
        recall.take(Fill::ID, Fill { trade_id: 855, ..fill(1, 5, 128) }.bytes(), true).unwrap();
        assert_eq!(recall.trade, 855);
    }
}
