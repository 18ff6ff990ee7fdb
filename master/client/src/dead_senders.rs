//! Dead senders of orders, where master is dead too and cannot announce them.
//!
//! td cancels what a dead strategy has at work when master announces its death, and what a dead gateway has when master announces
//! that no process follows. Where master is dead too, who takes the platform down announces both.

use std::sync::Arc;

use journal::{Journal, Registry};
use node::{InstanceDir, NodeState};
use observe::{InstanceView, SeatView};
use topology::NodeKind;
use wire::{Message, NodeChange, NodeEvent, NodeRole};

/// Announces the death of every dead sender, and that no process follows.
pub(crate) fn announce(instance: &InstanceDir, view: &InstanceView) {
    let is_sender = |seat: &SeatView| matches!(seat.kind, NodeKind::Strategy | NodeKind::Gateway);
    let is_dead = |seat: &SeatView| is_sender(seat) && !seat.alive && seat.state == NodeState::Dead;
    let dead: Vec<SeatView> = view.seats().into_iter().filter(is_dead).collect();
    if !dead.is_empty()
        && let Err(why) = write(instance, view, &dead)
    {
        log::error!("dead senders of orders cannot be announced: {why}; their orders may still work");
    }
}

fn write(
    instance: &InstanceDir,
    view: &InstanceView,
    dead: &[SeatView],
) -> Result<(), Box<dyn std::error::Error>> {
    let journal = Journal::open(instance.find_journal("master.events"))?;
    // Master's seat: it is dead, and its lock is free.
    let mut events = journal.writer(0, view.clock())?;
    events.wake_through(Arc::new(Registry::open(&instance.registry())?));
    for seat in dead {
        log::warn!("node `{}` is dead, and no process follows: td ends its orders", seat.name);
        let role = if seat.kind == NodeKind::Strategy { NodeRole::Strategy } else { NodeRole::Platform };
        for change in [NodeChange::Died, NodeChange::Left] {
            let event = NodeEvent {
                generation: seat.generation,
                seat: seat.seat as u16,
                change,
                role,
                pid: seat.process.pid,
                exit_code: -1,
                reserved: 0,
                reserved_tail: 0,
            };
            events.write(NodeEvent::ID, 0, event.bytes())?;
        }
    }
    Ok(())
}
