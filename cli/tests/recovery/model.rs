//! Positions and working orders, counted in the plainest way.

use std::collections::BTreeMap;

use wire::{AnyMessage, OrderId, OrderStatus, OrderUpdate, PositionState, SnapshotBegin, StrategyId};

use crate::witness::Record;

/// What the executions so far come to.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// By strategy and instrument.
    positions: BTreeMap<(u16, u32), Tally>,
    /// What has traded of each working order.
    working: BTreeMap<OrderId, i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    position: i64,
    bought: i64,
    sold: i64,
    fills: u64,
    orders: u64,
}

impl Model {
    pub(crate) fn take(&mut self, execution: &Record) {
        match &execution.message {
            AnyMessage::Fill(fill) => {
                let tally =
                    self.positions.entry((fill.order_id.strategy().0, fill.instrument.0)).or_default();
                tally.position += fill.side.sign() * fill.quantity.0;
                *(if fill.side.sign() > 0 { &mut tally.bought } else { &mut tally.sold }) += fill.quantity.0;
                tally.fills += 1;
                *self.working.entry(fill.order_id).or_default() += fill.quantity.0;
            }
            AnyMessage::OrderUpdate(update) if update.status.is_final() => {
                self.working.remove(&update.order_id);
            }
            AnyMessage::OrderUpdate(update) if update.status == OrderStatus::Accepted => {
                let holder = (update.order_id.strategy().0, update.instrument.0);
                self.positions.entry(holder).or_default().orders += 1;
                self.working.insert(update.order_id, update.filled.0);
            }
            _ => {}
        }
    }

    /// What a snapshot of `strategy`, or of everybody, has otherwise.
    pub(crate) fn difference(
        &self,
        strategy: StrategyId,
        positions: &[PositionState],
        working: &[OrderUpdate],
    ) -> Option<String> {
        let meant = |seat: u16| strategy == SnapshotBegin::EVERYBODY || strategy.0 == seat;
        let expected: BTreeMap<_, _> = self
            .positions
            .iter()
            .filter(|(key, _)| meant(key.0))
            .map(|(key, tally)| (*key, *tally))
            .collect();
        let found: BTreeMap<_, _> = positions
            .iter()
            .map(|state| {
                let (position, bought, sold) = (state.position.0, state.bought.0, state.sold.0);
                let tally = Tally { position, bought, sold, fills: state.fills, orders: state.orders };
                ((state.strategy.0, state.instrument.0), tally)
            })
            .collect();
        if expected != found {
            return Some(format!("positions are {found:?}, the fills say {expected:?}"));
        }
        let expected: BTreeMap<_, _> = self
            .working
            .iter()
            .filter(|(id, _)| meant(id.strategy().0))
            .map(|(id, filled)| (*id, *filled))
            .collect();
        let found: BTreeMap<_, _> = working.iter().map(|update| (update.order_id, update.filled.0)).collect();
        (expected != found).then(|| format!("working are {found:?}, the executions say {expected:?}"))
    }
}
