//! Reports of executions that are overwritten in their ring.
//!
//! A report that waits in td's memory is lost with td once its execution is overwritten. Where accounts are kept, the drop copy
//! still has that execution: the executions are kept until they are in it, and its ring is longer. A successor makes these
//! reports again from there.

use std::collections::BTreeMap;

use node::{InstanceDir, OpenError, read_held};
use wire::{DROP_TAKEN, Execution, StrategyId};

use super::recall::Trace;
use crate::Delivery;
use crate::execution::is_passed_on;

/// What the drop copy has of executions that are overwritten.
#[derive(Debug)]
pub(super) struct Overwritten {
    /// Positions of executions that their owners have not been notified of, in order.
    pub(super) unreported: Vec<(u64, Delivery)>,
    /// Executions from here on are in the drop copy or in their own ring.
    pub(super) oldest: u64,
}

impl Overwritten {
    /// Reads the drop copy. `before` is the oldest execution that is still in its own ring; `is_begin`: the drop copy goes back
    /// to its begin.
    pub(super) fn read(
        instance: &InstanceDir,
        (drops, is_begin): (&str, bool),
        traces: &BTreeMap<StrategyId, Trace>,
        before: u64,
    ) -> Result<Overwritten, OpenError> {
        let mut found = Overwritten { unreported: Vec::new(), oldest: if is_begin { 0 } else { before } };
        // td alone writes it, and writes nothing meanwhile.
        read_held(instance, drops, None, |frame| {
            if frame.topic == DROP_TAKEN
                && let Ok(report) = Execution::decode(frame.message_id, frame.payload)
            {
                found.take(report, traces, before);
            }
        })?;
        Ok(found)
    }

    fn take(&mut self, report: Execution, traces: &BTreeMap<StrategyId, Trace>, before: u64) {
        // A refusal by td passes nothing on.
        let Some(position) = report.position().filter(|position| *position < before) else { return };
        self.oldest = self.oldest.min(position);
        let to = report.order_id().strategy();
        let is_unreported = traces.get(&to).is_some_and(|trace| position > trace.reported_up_to);
        if is_unreported && is_passed_on(&report) {
            self.unreported.push((position, Delivery { to, report }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{InstrumentId, OrderId, OrderStatus, OrderUpdate, Reason};

    #[test]
    fn only_what_is_overwritten_and_not_reported_is_reported_again() {
        let (me, other) = (StrategyId(5), StrategyId(6));
        let mut trace = Trace::default();
        trace.reported_up_to = 640;
        let traces = BTreeMap::from([(me, trace)]);
        let update = |owner, execution, reason| {
            let about =
                OrderUpdate::about(OrderId::new(owner, 1, 1), InstrumentId(1), OrderStatus::Rejected, reason);
            Execution::Update(OrderUpdate { execution, ..about })
        };
        let mut found = Overwritten { unreported: Vec::new(), oldest: 1_280 };
        let lost = update(me, 704, Reason::MarketClosed);
        for report in [
            update(me, 640, Reason::MarketClosed),
            lost,
            // A second copy of a request, a strategy without reports, a refusal by td, what is still in its ring.
            update(me, 768, Reason::DuplicateOrder),
            update(other, 832, Reason::MarketClosed),
            update(me, 0, Reason::PriceBand),
            update(me, 1_280, Reason::MarketClosed),
        ] {
            found.take(report, &traces, 1_280);
        }
        assert_eq!(found.unreported, [(704, Delivery { to: me, report: lost })]);
        assert_eq!(found.oldest, 640, "the oldest that is there");
    }
}
