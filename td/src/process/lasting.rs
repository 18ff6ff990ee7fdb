//! Senders whose orders are their clients', and work on while a dead process of theirs is started again: the gateway.
//!
//! If it is not started again, nobody is there who could cancel these orders. Master says so: it announces that the dead process
//! has left. A process that leaves without having died has cancelled everything, or its configuration says that orders work on. In
//! the first case they must end, also where the market refuses that cancel.

use std::collections::BTreeSet;

use node::RunError;
use topology::StrategyLimits;
use wire::{NodeChange, NodeEvent, StrategyId};

use super::Td;

/// What becomes of the orders of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// They work on, or the event is not about such a sender.
    On,
    /// It has died, and no process follows: they must end.
    GivenUp,
    /// It has left, and its last request cancels them: they must end.
    Cancelled,
}

#[derive(Debug)]
pub(super) struct Lasting {
    senders: Vec<StrategyId>,
    /// Those that cancel everything before they leave.
    cancelling: Vec<StrategyId>,
    /// Those whose last process has died.
    died: BTreeSet<StrategyId>,
}

impl Lasting {
    pub(super) fn of(strategies: &[StrategyLimits]) -> Lasting {
        let those = |wanted: fn(&StrategyLimits) -> bool| {
            strategies.iter().filter(|sender| wanted(sender)).map(|sender| StrategyId(sender.seat)).collect()
        };
        Lasting {
            senders: those(|sender| sender.orders_stay),
            cancelling: those(|sender| sender.orders_stay && sender.cancel_on_stop),
            died: BTreeSet::new(),
        }
    }

    /// All such senders.
    pub(super) fn senders(&self) -> &[StrategyId] {
        &self.senders
    }

    /// Takes an event: what it means for the orders of such a sender.
    pub(super) fn on(&mut self, event: &NodeEvent) -> Lasts {
        let sender = StrategyId(event.seat);
        if !self.senders.contains(&sender) {
            return Lasts::On;
        }
        match event.change {
            NodeChange::Joined | NodeChange::Paused => {
                self.died.remove(&sender);
                Lasts::On
            }
            NodeChange::Died => {
                self.died.insert(sender);
                Lasts::On
            }
            NodeChange::Left if self.died.remove(&sender) => Lasts::GivenUp,
            NodeChange::Left if self.cancelling.contains(&sender) => Lasts::Cancelled,
            NodeChange::Left => Lasts::On,
        }
    }
}

impl Td {
    /// No process takes this seat again: all that works for it is cancelled, and what it has sent and td has not taken is refused.
    pub(super) fn given_up(&mut self, sender: StrategyId) -> Result<(), RunError> {
        if self.is_open {
            return self.cancel_orders_of(sender);
        }
        self.ended.insert(sender);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wire::NodeRole;

    use super::*;

    fn event(seat: u16, change: NodeChange) -> NodeEvent {
        NodeEvent {
            generation: 1,
            seat,
            change,
            role: NodeRole::Platform,
            pid: 0,
            exit_code: 0,
            reserved: 0,
            reserved_tail: 0,
        }
    }

    #[test]
    fn a_sender_is_given_up_that_leaves_after_its_death_and_no_other() {
        use NodeChange::{Died, Joined, Left, Paused};
        let lives: [(&[NodeChange], Lasts); 6] = [
            (&[Joined, Died, Left], Lasts::GivenUp),
            (&[Joined, Left], Lasts::Cancelled),
            (&[Joined, Died], Lasts::On),
            (&[Joined, Died, Joined, Left], Lasts::Cancelled),
            (&[Joined, Died, Joined, Died, Left], Lasts::GivenUp),
            (&[Joined, Died, Paused, Left], Lasts::Cancelled),
        ];
        for (changes, expected) in lives {
            for (seat, cancels) in [(7, true), (7, false), (8, true)] {
                let cancelling = if cancels { vec![StrategyId(7)] } else { Vec::new() };
                let mut lasting = Lasting { senders: vec![StrategyId(7)], cancelling, died: BTreeSet::new() };
                let last = changes.iter().map(|change| lasting.on(&event(seat, *change))).last();
                let is_its = seat == 7 && (cancels || expected != Lasts::Cancelled);
                let expected = if is_its { expected } else { Lasts::On };
                assert_eq!(last, Some(expected), "{changes:?} in seat {seat}, cancels: {cancels}");
            }
        }
    }
}
