//! Strategies that run in a host's process: asked for through their seats, and missed through them.
//!
//! Master asks for one by setting its seat to *starting*; the host registers it. What ends with the host's process is
//! noticed as any process' end. What ends alone (a panic, its own wish) the host writes into the seat, and knocks.

use std::time::Instant;

use node::NodeState;
use topology::NodeKind;

use crate::error::MasterError;
use crate::process::Ended;
use crate::supervise::Master;

impl Master {
    /// Asks its host for a strategy, and starts the host if it does not run.
    pub(crate) fn start_hosted(&mut self, index: usize) -> Result<(), MasterError> {
        let node = &mut self.nodes[index];
        node.is_hosted = true;
        node.started = Some(Instant::now());
        if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
            seat.set_state(NodeState::Starting.to_word());
        }
        let Some(host) = self.host_of(index) else { return Ok(()) };
        if self.nodes[host].process.is_some() {
            journal::wake(&self.instance.registry, u32::from(self.nodes[host].spec.seat));
            return Ok(());
        }
        self.nodes[host].done = false;
        self.start(host)
    }

    fn host_of(&self, index: usize) -> Option<usize> {
        let name = self.nodes[index].spec.host.as_ref()?;
        self.nodes.iter().position(|node| node.spec.kind == NodeKind::Host && node.spec.name == *name)
    }

    /// With its process every strategy in it has ended.
    pub(crate) fn host_ended(&mut self, host: usize, ended: Ended) -> Result<(), MasterError> {
        for index in 0..self.nodes.len() {
            if self.nodes[index].is_hosted && self.host_of(index) == Some(host) {
                self.hosted_ended(index, ended)?;
            }
        }
        Ok(())
    }

    /// Notices which strategies have ended while their host runs on.
    pub(crate) fn reap_hosted(&mut self) -> Result<(), MasterError> {
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            if !node.is_hosted {
                continue;
            }
            let Some(seat) = self.instance.registry.seat(u32::from(node.spec.seat)) else { continue };
            if matches!(self.instance.state(node.spec.seat), NodeState::Dead | NodeState::Stopped) {
                let ended = seat.exit().checked_sub(1).map_or(Ended::Unknown, |code| Ended::Exit(code as u8));
                self.hosted_ended(index, ended)?;
            }
        }
        Ok(())
    }

    fn hosted_ended(&mut self, index: usize, ended: Ended) -> Result<(), MasterError> {
        self.nodes[index].is_hosted = false;
        let seat = self.instance.registry.seat(u32::from(self.nodes[index].spec.seat));
        let pid = seat.map_or(0, |seat| seat.process().pid);
        self.seat_left(index, pid, ended)
    }
}
