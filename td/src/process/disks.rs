//! Whether the disks take what strategies may only be told once it is there.

use node::{Counter, Node, NodeState, Peer};
use topology::StrategyLimits;
use wire::StrategyId;

use crate::Gateway;

/// The recorders of all reports that are "sync".
#[derive(Debug, Default)]
pub(super) struct Disks(Vec<Disk>);

#[derive(Debug)]
struct Disk {
    seat: u16,
    recorder: Peer,
    /// At the last look.
    writes: bool,
    /// Who waits for it.
    strategies: Vec<StrategyId>,
}

impl Disks {
    pub(super) fn watch(node: &Node, strategies: &[StrategyLimits]) -> Disks {
        let mut disks = Disks::default();
        for strategy in strategies {
            for &seat in &strategy.recorders {
                let id = StrategyId(strategy.seat);
                match disks.0.iter_mut().find(|disk| disk.seat == seat) {
                    Some(disk) => disk.strategies.push(id),
                    None => {
                        let recorder = node.peer(u32::from(seat));
                        disks.0.push(Disk { seat, recorder, writes: true, strategies: vec![id] });
                    }
                }
            }
        }
        disks
    }

    /// Tells the gateway what has changed since the last look. A recorder that was killed and starts again is waited for;
    /// one that stays down is as a disk that takes nothing.
    pub(super) fn look(&mut self, gateway: &mut Gateway) {
        let mut has_changed = false;
        for disk in &mut self.0 {
            let is_gone = disk.recorder.state() == NodeState::Failed;
            let writes = !is_gone && disk.recorder.counter(Counter::DiskRefusesSince) == 0;
            if writes == disk.writes {
                continue;
            }
            (disk.writes, has_changed) = (writes, true);
            let (name, count) = (disk.recorder.name(), disk.strategies.len());
            match (writes, is_gone) {
                (true, _) => {
                    log::warn!("`{name}` writes to its disk again: {count} strategies may trade again")
                }
                (_, true) => {
                    log::error!("`{name}` is gone for good: new orders of {count} strategies are refused")
                }
                _ => log::error!(
                    "`{name}` cannot write to its disk: new orders of {count} strategies are refused"
                ),
            }
        }
        if has_changed {
            for &strategy in self.0.iter().flat_map(|disk| &disk.strategies) {
                let mut its = self.0.iter().filter(|disk| disk.strategies.contains(&strategy));
                gateway.set_durable(strategy, its.all(|disk| disk.writes));
            }
        }
    }
}
