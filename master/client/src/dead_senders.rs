//! The ends of senders of orders, where master is dead and cannot announce them.
//!
//! td cancels what a dead strategy has at work when master announces its death, and what a dead gateway has when master announces
//! that no process follows. Where master is dead too, the process that takes the platform down announces both, and the senders that
//! it has stopped.

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
    for seat in &dead {
        log::warn!("node `{}` is dead, and no process follows: td ends its orders", seat.name);
    }
    announce_all(instance, view, &dead, &[NodeChange::Died, NodeChange::Left]);
}

/// Announces the ends of the senders in a group that was asked to end: td ends what they have left.
pub(crate) fn announce_ended(instance: &InstanceDir, view: &InstanceView, group: &[SeatView]) {
    let is_its = |seat: &SeatView| {
        let sends = matches!(seat.kind, NodeKind::Strategy | NodeKind::Gateway);
        sends && !seat.alive && group.iter().any(|asked| asked.seat == seat.seat)
    };
    let ended = view.seats().into_iter().filter(is_its);
    let (left, dead): (Vec<SeatView>, Vec<SeatView>) =
        ended.partition(|seat| seat.state == NodeState::Stopped);
    announce_all(instance, view, &left, &[NodeChange::Left]);
    announce_all(instance, view, &dead, &[NodeChange::Died, NodeChange::Left]);
}

fn announce_all(instance: &InstanceDir, view: &InstanceView, senders: &[SeatView], changes: &[NodeChange]) {
    if !senders.is_empty()
        && let Err(why) = write(instance, view, senders, changes)
    {
        log::error!("the ends of senders of orders cannot be announced: {why}; their orders may still work");
    }
}

fn write(
    instance: &InstanceDir,
    view: &InstanceView,
    senders: &[SeatView],
    changes: &[NodeChange],
) -> Result<(), Box<dyn std::error::Error>> {
    let journal = Journal::open(instance.find_journal("master.events"))?;
    // Master's seat: it is dead, and its lock is free.
    let mut events = journal.writer(0, view.clock())?;
    events.wake_through(Arc::new(Registry::open(&instance.registry())?));
    for seat in senders {
        let role = if seat.kind == NodeKind::Strategy { NodeRole::Strategy } else { NodeRole::Platform };
        for &change in changes {
            let event = NodeEvent {
                generation: seat.generation,
                seat: seat.seat as u16,
                change,
                role,
                pid: seat.process.pid,
                exit_code: if changes.contains(&NodeChange::Died) { -1 } else { 0 },
                reserved: 0,
                reserved_tail: 0,
            };
            events.write(NodeEvent::ID, 0, event.bytes())?;
        }
    }
    Ok(())
}
