//! Senders whose orders are their clients', and work on while a dead process of theirs is started again: the gateway.
//!
//! If it is not started again, nobody is there who could cancel these orders. Master says so: it announces that the dead process
//! has left. A process that leaves without having died has done by itself what its configuration says.

use std::collections::BTreeSet;

use node::RunError;
use wire::{NodeChange, NodeEvent, StrategyId};

use super::Td;

#[derive(Debug)]
pub(super) struct Lasting {
    senders: Vec<StrategyId>,
    /// Those whose last process has died.
    died: BTreeSet<StrategyId>,
}

impl Lasting {
    pub(super) fn of(senders: Vec<StrategyId>) -> Lasting {
        Lasting { senders, died: BTreeSet::new() }
    }

    /// Takes an event. True: a sender has died, and no process follows.
    pub(super) fn is_given_up(&mut self, event: &NodeEvent) -> bool {
        let sender = StrategyId(event.seat);
        if !self.senders.contains(&sender) {
            return false;
        }
        match event.change {
            NodeChange::Joined | NodeChange::Paused => {
                self.died.remove(&sender);
                false
            }
            NodeChange::Died => {
                self.died.insert(sender);
                false
            }
            NodeChange::Left => self.died.remove(&sender),
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
        let lives: [(&[NodeChange], bool); 6] = [
            (&[Joined, Died, Left], true),
            (&[Joined, Left], false),
            (&[Joined, Died], false),
            (&[Joined, Died, Joined, Left], false),
            (&[Joined, Died, Joined, Died, Left], true),
            (&[Joined, Died, Paused, Left], false),
        ];
        for (changes, expected) in lives {
            for seat in [7, 8] {
                let mut lasting = Lasting::of(vec![StrategyId(7)]);
                let last = changes.iter().map(|change| lasting.is_given_up(&event(seat, *change))).last();
                assert_eq!(last, Some(expected && seat == 7), "{changes:?} in seat {seat}");
            }
        }
    }
}
