//! What follows from a node's end: its seat is marked, everybody is told, its cursors are held or dropped, and it is
//! started again if it should be.

use std::path::Path;
use std::time::Instant;

use node::NodeState;
use topology::config::{OnDeath, ReaderKind, RestartPolicy};
use topology::{NodeKind, NodeSpec};
use wire::NodeChange;

use crate::error::MasterError;
use crate::process::Ended;
use crate::supervise::Master;

impl Master {
    /// Notices which processes have ended.
    pub(crate) fn reap(&mut self) -> Result<(), MasterError> {
        let ended: Vec<(usize, Ended)> = (self.nodes.iter_mut().enumerate())
            .filter_map(|(index, node)| Some((index, node.process.as_mut()?.ended()?)))
            .collect();
        if !ended.is_empty() {
            self.rouse_everybody();
        }
        for (index, ended) in ended {
            self.buried(index, ended)?;
        }
        self.reap_hosted()
    }

    /// Whoever was killed may have owed somebody a wake-up, and nobody can say whom: the writers tell all who want what
    /// they wrote. So every node looks at its journals once.
    fn rouse_everybody(&self) {
        for node in self.nodes.iter().filter(|node| node.process.is_some()) {
            journal::rouse(&self.instance.registry, u32::from(node.spec.seat));
        }
    }

    fn buried(&mut self, index: usize, ended: Ended) -> Result<(), MasterError> {
        self.stalls.forget(self.nodes[index].spec.seat);
        let pid = self.nodes[index].process.take().map_or(0, |process| process.identity().pid);
        if self.nodes[index].spec.kind == NodeKind::Host {
            self.host_ended(index, ended)?;
        }
        self.seat_left(index, pid, ended)
    }

    /// Marks the seat, tells everybody, lets go of cursors, and starts the node again if it should be.
    pub(crate) fn seat_left(&mut self, index: usize, pid: u32, ended: Ended) -> Result<(), MasterError> {
        let seat_number = self.nodes[index].spec.seat;
        let left = self.instance.state(seat_number) == NodeState::Stopped;
        let mut generation = 0;
        if let Some(seat) = self.instance.registry.occupy(u32::from(seat_number)) {
            generation = seat.generation();
            if !left {
                seat.set_state(NodeState::Dead.to_word());
            }
            if ended.code() >= 0 {
                seat.set_exit(ended.code() as u64 + 1);
            }
        }
        let change = if left { NodeChange::Left } else { NodeChange::Died };
        self.tell(seat_number, change, generation, pid, ended.code());
        let spec = self.nodes[index].spec.clone();
        if left && ended.code() <= 0 {
            log::info!("node `{}` stopped", spec.name);
        } else {
            log::error!("node `{}` (process {pid}) {ended}", spec.name);
        }
        if spec.kind == NodeKind::Relay {
            let seats = journal::Relay::give_back(&self.instance.registry, u32::from(seat_number));
            log::info!("{seats} nodes that `{}` woke are woken by the writers now", spec.name);
        }
        let outcome = self.restart_or_not(index, ended, left);
        // Nobody comes back for what a strategy held that stays down, nor for anything once the platform stops.
        let for_good = self.nodes[index].done && (self.stopping || spec.kind == NodeKind::Strategy);
        self.release_cursors(&spec, for_good);
        outcome
    }

    /// Lets go of what a dead reader held: where the topology says so, or all of it.
    fn release_cursors(&self, spec: &NodeSpec, all: bool) {
        let dropped = spec
            .reads
            .iter()
            .filter(|read| all || read.kind == ReaderKind::Loose || read.on_death == OnDeath::Drop);
        for read in dropped {
            let dismissed = self
                .instance
                .open(&read.journal)
                .and_then(|journal| Ok(journal.dismiss(u32::from(spec.seat))?));
            if let Err(error) = dismissed {
                log::warn!("the cursor of `{}` in `{}` stays: {error}", spec.name, read.journal);
            }
        }
    }

    /// A node is not started again. Matching is, once more, with its market closed: nobody else can end the orders that
    /// it had, and whoever waits for it to read would wait for ever.
    pub(crate) fn give_up(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        if node.spec.kind == NodeKind::Matching && self.up && !node.closes {
            node.closes = true;
            node.start_at = Some(Instant::now());
            log::error!(
                "node `{}` is not started again to trade; it closes the market: orders end, new ones are refused",
                node.spec.name
            );
            return;
        }
        node.done = true;
    }

    fn restart_or_not(&mut self, index: usize, ended: Ended, left: bool) -> Result<(), MasterError> {
        let (up, stopping) = (self.up, self.stopping);
        let node = &mut self.nodes[index];
        let failed = !left || ended.code() > 0;
        let wanted = match node.spec.restart.policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => failed,
            RestartPolicy::Always => true,
        };
        if stopping {
            node.done = true;
            return Ok(());
        }
        if wanted && !node.closes && node.restarts < node.spec.restart.max {
            // Whoever ran for a while starts at the shortest pause again.
            let pause = node.spec.restart.backoff * 2_u32.saturating_pow(node.restarts.min(10));
            node.restarts += 1;
            node.start_at = Some(Instant::now() + pause);
            log::info!("node `{}` is started again in {pause:?} (restart {})", node.spec.name, node.restarts);
            return Ok(());
        }
        self.give_up(index);
        let node = &self.nodes[index];
        let log = self.instance.directory.log(node.spec.host.as_ref().unwrap_or(&node.spec.name));
        // A host that one of its strategies needs again comes again with it.
        if !up && failed && node.spec.kind != NodeKind::Host {
            return Err(MasterError::NodeFailed {
                node: node.spec.name.clone(),
                how: ended.to_string(),
                words: last_errors(&log),
                log,
                exit: u8::try_from(ended.code()).ok(),
            });
        }
        Ok(())
    }
}

/// What a node's log says last of errors: the lines behind the last informational one.
fn last_errors(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<&str> =
        text.lines().rev().take_while(|line| !line.contains(" INFO ")).take(12).collect();
    lines.reverse();
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
