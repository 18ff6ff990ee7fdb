//! Requests whose refusal a predecessor has copied, and perhaps not reported.
//!
//! A refusal goes to the drop copy first, then to the strategy's reports, and then the cursor passes the request. A successor
//! that reads the request again answers it as the drop copy says, and copies nothing.

use node::{Frame, Input, InstanceDir, OpenError, read_held};
use wire::{Message, OrderUpdate, Reason, StrategyId};

/// The refusals in the drop copy of requests that are read again.
#[derive(Debug, Default)]
pub(super) struct RefusedBefore(Vec<OrderUpdate>);

impl RefusedBefore {
    /// From the drop copy, as far as it goes back. `inputs`: those that requests come through.
    pub(super) fn read<'a>(
        instance: &InstanceDir,
        drops: &str,
        inputs: impl Iterator<Item = &'a Input> + Clone,
    ) -> Result<RefusedBefore, OpenError> {
        let mut found = Vec::new();
        read_held(instance, drops, None, |frame| {
            if frame.message_id == OrderUpdate::ID
                && let Ok(update) = OrderUpdate::decode(frame.payload)
                && update.execution == 0
                && inputs.clone().any(|input| {
                    let (begin, end) = (input.position(), input.head());
                    (begin..end).contains(&update.refused_request)
                })
            {
                found.push(update);
            }
        })?;
        Ok(RefusedBefore(found))
    }

    /// What this request of this sender was answered.
    pub(super) fn take(&mut self, from: StrategyId, frame: &Frame<'_>) -> Option<OrderUpdate> {
        if self.0.is_empty() {
            return None;
        }
        let order = frame.payload.first_chunk::<8>().map(|id| u64::from_le_bytes(*id))?;
        let place = self.0.iter().position(|update| {
            // Of those with one position, the sender is the order's owner unless the refusal says otherwise.
            let is_owner = update.order_id.strategy() == from;
            update.refused_request == frame.position
                && update.order_id.0 == order
                && (is_owner || matches!(update.reason, Reason::NotYours | Reason::Malformed))
        })?;
        Some(self.0.swap_remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CancelOrder, InstrumentId, OrderId, OrderStatus};

    #[test]
    fn a_refusal_is_found_by_its_request_and_sender_once() {
        let (me, other) = (StrategyId(5), StrategyId(6));
        let id = OrderId::new(me, 1, 1);
        let refusal = |reason, refused_request| OrderUpdate {
            refused_request,
            ..OrderUpdate::about(id, InstrumentId(1), OrderStatus::CancelRejected, reason)
        };
        let cancel = CancelOrder::new(id, InstrumentId(1));
        let frame = |position| Frame {
            position,
            time: 0,
            message_id: CancelOrder::ID,
            flags: 0,
            topic: 0,
            epoch: 1,
            payload: cancel.bytes(),
        };
        let unknown = refusal(Reason::UnknownOrder, 640);
        let mut refused = RefusedBefore(vec![unknown, refusal(Reason::NotYours, 704)]);
        assert_eq!(refused.take(me, &frame(576)), None);
        assert_eq!(refused.take(other, &frame(640)), None, "it is its owner's");
        assert_eq!(refused.take(me, &frame(640)), Some(unknown));
        assert_eq!(refused.take(me, &frame(640)), None, "once");
        assert!(refused.take(other, &frame(704)).is_some());
    }
}
