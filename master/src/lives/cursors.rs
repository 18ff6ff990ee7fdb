//! Which cursors are released: no awaited successor, no cursor.
//!
//! A gated cursor holds up its writer. It stays for as long as a process is to come that reads on from it, and no longer,
//! whatever ended the wait: the end of the last process, a stop by a person before the next one was started, or the end of
//! the platform.
//!
//! A recorder that has failed for good is the one exception. Its file says what happens to journals that it cannot write
//! (`when_full`): it is treated as a disk that takes nothing, and what it had not written is counted from its cursors.

use topology::NodeKind;

use super::life::Stage;
use super::{Decision, Lives};

impl Lives {
    /// Whether a process reads with the node's cursors, or is to come.
    pub(crate) fn needs_cursors(&self, node: usize) -> bool {
        let stopping = self.stopping.is_some();
        match self.lives[node].stage {
            Stage::Starting(_) | Stage::Joined(_) | Stage::Ready => true,
            // A host is started with its strategies.
            Stage::Waiting | Stage::Due(_) | Stage::Down if self.rules[node].kind == NodeKind::Host => {
                !stopping && self.is_needed_again(node)
            }
            Stage::Waiting | Stage::Due(_) => !stopping || self.is_successor_awaited(node),
            Stage::Down => false,
        }
    }

    /// A process has ended: releases all of its cursors, or those that are not kept for a successor.
    pub(super) fn release_ended(&mut self, node: usize) {
        let all = !self.needs_cursors(node) && !self.lives[node].is_gate;
        self.lives[node].holds &= !all;
        self.decisions.push(Decision::Release { node, all });
    }

    /// Releases the cursors whose successor is not awaited any more.
    pub(super) fn release_unawaited(&mut self) {
        for node in 0..self.lives.len() {
            if self.lives[node].holds && !self.lives[node].is_gate && !self.needs_cursors(node) {
                self.lives[node].holds = false;
                self.decisions.push(Decision::Release { node, all: true });
            }
        }
    }
}
