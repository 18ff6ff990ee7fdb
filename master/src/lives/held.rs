//! Nodes that a person has stopped while the others go on.

use super::life::Stage;
use super::{Decision, Held, Lives, Time};

impl Lives {
    /// A person wants it to be stopped: it is asked to end if it lives, and is not started again.
    pub(super) fn hold(&mut self, node: usize, keeps: bool, now: Time) {
        let life = &mut self.lives[node];
        let killed = life.held.is_some_and(|before| before.killed);
        life.held = Some(Held { keeps, killed });
        if !life.lives() {
            life.stage = Stage::Down;
        }
        self.end_held(node, now);
    }

    /// A person wants it to run again.
    pub(super) fn let_go(&mut self, node: usize, now: Time) {
        let life = &mut self.lives[node];
        life.held = None;
        life.restarts = 0;
        if !life.lives() && self.stopping.is_none() {
            life.stage = Stage::Due(now);
        }
    }

    /// Asks a held node that lives to end, and kills it when it has not by `stop_timeout`. One in a host has no process that
    /// could be killed.
    pub(super) fn end_held(&mut self, node: usize, now: Time) {
        let (hosted, patience) = (self.rules[node].host.is_some(), self.limits.stop_timeout);
        let life = &mut self.lives[node];
        let lives = life.lives();
        let Some(held) = life.held.as_mut().filter(|_| lives) else { return };
        match life.asked {
            None => {
                life.asked = Some(now);
                self.decisions.push(match hosted {
                    true => Decision::Dismiss { node },
                    false => Decision::Signal { nodes: vec![node], kill: false },
                });
            }
            Some(asked) if !hosted && !held.killed && now >= asked + patience => {
                held.killed = true;
                self.decisions.push(Decision::Signal { nodes: vec![node], kill: true });
            }
            Some(_) => {}
        }
    }

    /// Whether a node is to be stopped, and lives.
    pub(crate) fn is_being_held(&self, node: usize) -> bool {
        self.lives[node].held.is_some() && self.lives[node].lives()
    }

    /// Whether a person has stopped it.
    pub(crate) fn is_held(&self, node: usize) -> bool {
        self.lives[node].held.is_some()
    }

    /// Whether it polls.
    pub(crate) fn is_ready(&self, node: usize) -> bool {
        self.lives[node].stage == Stage::Ready
    }

    /// Whether it has ended since it was let go.
    pub(crate) fn has_failed(&self, node: usize) -> bool {
        let life = &self.lives[node];
        life.stage == Stage::Down || matches!(life.stage, Stage::Due(_)) && life.restarts > 0
    }
}
