//! Stopping the nodes group by group, so that nothing under way is lost.

use topology::{NodeKind, stop_group, stop_order};

use super::life::Stage;
use super::{Decision, Lives, Time};

/// Progress of the stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// The nodes of this group were asked to end; those still alive at `kill_at` are killed, once.
    Ending { group: usize, kill_at: Option<Time> },
    /// They have ended; the others handle what is written, until this time at the latest.
    Settling { group: usize, until: Time },
    /// No node runs.
    Done,
}

impl Lives {
    /// Begins to stop; a second call changes nothing.
    pub(super) fn begin_stop(&mut self, now: Time) {
        if self.stopping.is_some() {
            return;
        }
        for life in &mut self.lives {
            if !life.lives() {
                life.stage = Stage::Down;
            }
        }
        self.decisions.push(Decision::Stopping);
        self.stop_group(0, now);
    }

    /// Asks the first group from `first` on that has a living node.
    fn stop_group(&mut self, first: usize, now: Time) {
        for group in first..stop_order(self.limits.in_lock_step).len() {
            let nodes = self.living_in(group);
            if !nodes.is_empty() {
                self.decisions.push(Decision::Signal { nodes, kill: false });
                let kill_at = Some(now + self.limits.stop_timeout);
                self.stopping = Some(Stopping::Ending { group, kill_at });
                return;
            }
        }
        self.stopping = Some(Stopping::Done);
        self.decisions.push(Decision::Stopped);
    }

    /// Processes of a group that have not ended. Strategies in a host end with the host.
    fn living_in(&self, group: usize) -> Vec<usize> {
        let has_process = |index: &usize| {
            let rules = &self.rules[*index];
            let its_group = stop_group(rules.kind, self.limits.in_lock_step);
            rules.host.is_none() && self.lives[*index].lives() && its_group == group
        };
        (0..self.lives.len()).filter(has_process).collect()
    }

    /// In lock-step: this group's last event must be handled in full.
    fn awaits_event(&self, group: usize) -> bool {
        self.limits.in_lock_step && group == stop_group(NodeKind::Md, true)
    }

    /// Continues the stop: a node ended, everything is handled, or time has passed.
    pub(super) fn go_on_stopping(&mut self, now: Time, is_settled: bool) {
        match self.stopping {
            Some(Stopping::Ending { group, kill_at }) => {
                let nodes = self.living_in(group);
                if nodes.is_empty() {
                    let patience =
                        if self.awaits_event(group) { self.limits.stop_timeout } else { node::SETTLE };
                    self.stopping = Some(Stopping::Settling { group, until: now + patience });
                } else if kill_at.is_some_and(|at| now >= at) {
                    self.decisions.push(Decision::Signal { nodes, kill: true });
                    self.stopping = Some(Stopping::Ending { group, kill_at: None });
                }
            }
            Some(Stopping::Settling { group, until }) if is_settled || now >= until => {
                if !is_settled && self.awaits_event(group) {
                    self.decisions.push(Decision::Cut);
                }
                self.stop_group(group + 1, now);
            }
            Some(Stopping::Settling { .. } | Stopping::Done) | None => {}
        }
    }
}
