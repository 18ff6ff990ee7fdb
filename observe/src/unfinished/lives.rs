//! Which orders work, by the executions that are left and the ledger's last snapshot.

use std::collections::BTreeSet;

use wire::{Execution, OrderId, OrderStatus};

use crate::view::InstanceView;

/// Orders that the executions accept or end.
#[derive(Debug, Default)]
pub(super) struct Lives {
    accepted: BTreeSet<OrderId>,
    ended: BTreeSet<OrderId>,
    /// Position of the oldest execution that is left.
    oldest: Option<u64>,
}

impl Lives {
    pub(super) fn take(&mut self, position: u64, execution: &Execution) {
        self.oldest.get_or_insert(position);
        // A fill says nothing: a late one stands behind the end of its order.
        let Execution::Update(update) = execution else { return };
        if update.status.is_final() {
            self.ended.insert(update.order_id);
        } else if update.status == OrderStatus::Accepted {
            self.accepted.insert(update.order_id);
        }
    }

    /// Orders that were accepted and have not ended, and whether others may be missing.
    pub(super) fn working(&self, view: &InstanceView, journal: &str) -> (BTreeSet<OrderId>, bool) {
        let snapshot = node::last_snapshot(view.instance()).ok().flatten();
        let from_begin = || view.journal(journal).is_ok_and(|(opened, _)| node::begin_of(&opened).is_some());
        let is_whole = match &snapshot {
            Some(snapshot) => self.oldest.is_none_or(|oldest| oldest <= snapshot.begin.execution),
            None => false,
        };
        let kept = snapshot.into_iter().flat_map(|snapshot| snapshot.orders).map(|order| order.order_id);
        let all = self.accepted.iter().copied().chain(kept);
        (all.filter(|order| !self.ended.contains(order)).collect(), !is_whole && !from_begin())
    }
}
