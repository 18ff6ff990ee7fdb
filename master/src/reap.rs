//! Notices which nodes have ended, and which are ready.

use node::{Exit, NodeState};
use topology::NodeKind;

use crate::group::Remainder;
use crate::lives::{End, Ended, Event};
use crate::supervise::Master;

impl Master {
    /// Notices which processes have ended, and which strategies have left their hosts.
    pub(crate) fn reap(&mut self) {
        self.left_over.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        self.remainders.retain_mut(Remainder::look);
        for index in 0..self.nodes.len() {
            self.reap_node(index);
        }
    }

    /// Notices whether this one has ended.
    pub(crate) fn reap_node(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        if node.spec.host.is_some() {
            self.reap_hosted(index);
            return;
        }
        let seat = u32::from(node.spec.seat);
        let sits = |process| self.instance.directory.sits(seat, process);
        let Some(ended) = node.process.as_mut().and_then(|process| process.ended(sits)) else { return };
        if let Some(process) = node.process.take() {
            node.last_pid = process.identity().pid;
            self.remainders.extend(process.remainder(
                &node.spec.name,
                self.config.stop_timeout,
                node.overstayed,
            ));
        }
        self.stalls.forget(self.nodes[index].spec.seat);
        if self.nodes[index].spec.kind == NodeKind::Host {
            // Their seats say more about them than the end of the process.
            for member in self.members_of(index) {
                let end = self.end_of(member, ended);
                self.happened(Event::Ended { node: member, end });
            }
        }
        let end = self.end_of(index, ended);
        self.happened(Event::Ended { node: index, end });
    }

    /// The host records in the seat how a strategy in it ended by itself (a panic, its own request).
    fn reap_hosted(&mut self, index: usize) {
        let state = self.instance.state(self.nodes[index].spec.seat);
        if self.lives.lives(index) && matches!(state, NodeState::Dead | NodeState::Stopped) {
            let end = self.end_of(index, Ended::Unknown);
            self.happened(Event::Ended { node: index, end });
        }
    }

    /// How a node ended: according to the system, and otherwise to its seat.
    pub(crate) fn end_of(&self, index: usize, ended: Ended) -> End {
        let seat_number = self.nodes[index].spec.seat;
        let seat = self.instance.registry.seat(u32::from(seat_number));
        let code = seat.and_then(|seat| Exit::code_in(seat.exit()));
        let gives_up = seat.is_some_and(|seat| Exit::gives_up(seat.exit()));
        let left = self.instance.state(seat_number) == NodeState::Stopped;
        let ended = match (ended, code) {
            (Ended::Unknown | Ended::Exit(_), Some(code)) if gives_up => Ended::GaveUp(code),
            (Ended::Unknown, Some(code)) => Ended::Exit(code),
            _ => ended,
        };
        End { left, ended }
    }

    fn members_of(&self, host: usize) -> Vec<usize> {
        let name = &self.nodes[host].spec.name;
        let is_member = |index: &usize| self.nodes[*index].spec.host.as_ref() == Some(name);
        (0..self.nodes.len()).filter(is_member).collect()
    }

    /// Notices which started nodes are polling now.
    pub(crate) fn look_for_ready(&mut self) {
        for index in 0..self.nodes.len() {
            let state = self.instance.state(self.nodes[index].spec.seat);
            if self.lives.is_awaited(index) && matches!(state, NodeState::Running | NodeState::Finished) {
                self.happened(Event::Ready { node: index });
            }
        }
    }
}
