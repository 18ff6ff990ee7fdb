//! Stopping the nodes group by group, so that nothing under way is lost.
//!
//! ```text
//!  ask a group ─► it ends ─► what it wrote is handled, and who died is started again to handle it ─► ask the next group
//! ```
//!
//! Those who send orders and who brings the market's data go first; a dead one of them has no successor: what it wrote is there,
//! and td cancels what it leaves. All others handle what was written ([`topology::finishes`]). One of them that dies, before the
//! stop or at any moment of it, is started again as at any other time, a few times at most, and asked to end when it has
//! caught up. One that hangs is killed before the next group is asked, and so has a successor too.
//!
//! Before the way to a market elsewhere is asked, all orders that td has to end have ended, too: the market may refuse a cancel,
//! and td sends it again.

use topology::config::RestartPolicy;
use topology::{NodeKind, finishes, stop_group, stop_order};

use super::life::{PAUSE_IN_STOP, Stage};
use super::{Decision, Lives, Time};

/// While messages are being handled they are waited for, so many times as long as a node that is asked to end, in all.
const MOST_PATIENCE: u32 = 12;

/// Progress of the stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// The nodes of this group were asked to end; those still alive at `kill_at` are killed, once.
    Ending { group: usize, kill_at: Option<Time> },
    /// Before the nodes of `next` are asked: what the ended ones wrote is handled, until this time at the latest; it is later as
    /// long as something is handled, up to `latest`. `cuts`: in lock-step, then the last market event is not handled in full.
    Settling { next: usize, until: Time, latest: Time, cuts: bool },
    /// No node runs.
    Done,
}

/// Whether messages are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settle {
    /// All are handled.
    Quiet,
    /// Some were handled.
    Moves,
    Unknown,
}

impl Lives {
    /// Begins to stop; a second call changes nothing.
    pub(super) fn begin_stop(&mut self, now: Time) {
        if self.stopping.is_some() {
            return;
        }
        self.decisions.push(Decision::Stopping);
        for node in 0..self.lives.len() {
            let (life, rules) = (&mut self.lives[node], &self.rules[node]);
            match life.stage {
                _ if life.lives() => {}
                Stage::Due(at) if life.owes(rules) => life.stage = Stage::Due(at.min(now + PAUSE_IN_STOP)),
                _ => {
                    life.stage = Stage::Down;
                    // What a recorder had to write and did not is counted from its cursors, and must not be overwritten.
                    life.is_gate |= rules.kind == NodeKind::Recorder && life.holds;
                }
            }
        }
        self.release_unawaited();
        match self.next_group(0) {
            // They have nothing to wait for.
            Some(group) if !self.finishes_in(group) => self.ask(group, now),
            _ => self.settle_before(0, None, now),
        }
    }

    /// The first group from `first` on in which a node lives, or is to be started again.
    fn next_group(&self, first: usize) -> Option<usize> {
        let groups = first..stop_order(self.limits.in_lock_step).len();
        groups.into_iter().find(|group| !self.living_in(*group).is_empty() || self.is_awaited_in(*group))
    }

    fn group_of(&self, node: usize) -> usize {
        stop_group(self.rules[node].kind, self.limits.in_lock_step)
    }

    /// Processes of a group that have not ended. Strategies in a host end with the host.
    fn living_in(&self, group: usize) -> Vec<usize> {
        let has_process = |node: &usize| {
            self.rules[*node].host.is_none() && self.lives[*node].lives() && self.group_of(*node) == group
        };
        (0..self.lives.len()).filter(has_process).collect()
    }

    /// Whether the nodes of a group handle what others have written.
    fn finishes_in(&self, group: usize) -> bool {
        stop_order(self.limits.in_lock_step)[group].iter().all(|kind| finishes(*kind))
    }

    /// Whether a node is not there yet to finish what it owes.
    pub(super) fn is_successor_awaited(&self, node: usize) -> bool {
        let life = &self.lives[node];
        let is_on_its_way = matches!(life.stage, Stage::Due(_) | Stage::Starting(_) | Stage::Joined(_));
        finishes(self.rules[node].kind) && life.has_lived && is_on_its_way && !life.is_ending
    }

    fn is_awaited_in(&self, group: usize) -> bool {
        (0..self.lives.len()).any(|node| self.group_of(node) == group && self.is_successor_awaited(node))
    }

    /// Whether the stop waits for nodes that were started again.
    pub(crate) fn awaits_successors(&self) -> bool {
        (0..self.lives.len()).any(|node| self.is_successor_awaited(node))
    }

    /// Whether a process may take this seat now: while stopping only one that was started to finish what is owed.
    pub(crate) fn may_register(&self, node: usize) -> bool {
        self.stopping.is_none()
            || matches!(self.lives[node].stage, Stage::Starting(_)) && self.is_successor_awaited(node)
    }

    /// Starts those that are due, and kills successors that do not get ready.
    pub(super) fn start_finishing(&mut self, now: Time) {
        for node in 0..self.lives.len() {
            match self.lives[node].stage {
                Stage::Due(at) if at <= now => {
                    self.lives[node].finishing += 1;
                    self.start(node, now);
                }
                Stage::Starting(since) | Stage::Joined(since)
                    if self.is_successor_awaited(node)
                        && now.saturating_sub(since) > self.limits.ready_timeout =>
                {
                    self.lives[node].stage = Stage::Starting(now);
                    self.decisions.push(Decision::Signal { nodes: vec![node], kill: true });
                }
                _ => {}
            }
        }
    }

    /// Kills those that hang, once nothing has been handled for half as long as a node has to stop: their successors handle what is
    /// there, while the market still takes what they write.
    pub(super) fn kill_hanging(&mut self, hanging: &[usize], now: Time) {
        let Some(Stopping::Settling { next, until, latest, cuts: false }) = self.stopping else { return };
        if now + self.patience(next) / 2 < until || now >= latest || !self.finishes_in(next) {
            return;
        }
        let has_heir = |node: &&usize| {
            let (life, rules) = (&self.lives[**node], &self.rules[**node]);
            life.lives() && life.owes(rules) && rules.policy != RestartPolicy::Never
        };
        let nodes: Vec<usize> = hanging.iter().filter(has_heir).copied().collect();
        if !nodes.is_empty() {
            let until = (now + self.patience(next)).min(latest);
            self.stopping = Some(Stopping::Settling { next, until, latest, cuts: false });
            self.decisions.push(Decision::Signal { nodes, kill: true });
        }
    }

    /// Asks the nodes of a group to end.
    fn ask(&mut self, group: usize, now: Time) {
        let mut nodes = self.living_in(group);
        nodes.iter().for_each(|node| self.lives[*node].is_ending = true);
        // Those that a person stops end already.
        nodes.retain(|node| self.lives[*node].asked.replace(now).is_none());
        self.decisions.push(Decision::Signal { nodes, kill: false });
        self.stopping = Some(Stopping::Ending { group, kill_at: Some(now + self.limits.stop_timeout) });
    }

    /// Waits for what is under way before the next group from `first` on is asked. `ended`: the group before it.
    fn settle_before(&mut self, first: usize, ended: Option<usize>, now: Time) {
        let Some(next) = self.next_group(first) else {
            self.stopping = Some(Stopping::Done);
            self.decisions.push(Decision::Stopped);
            return;
        };
        let cuts = self.limits.in_lock_step && ended == Some(stop_group(NodeKind::Md, true));
        let until = now + if cuts { self.limits.stop_timeout } else { self.patience(next) };
        let latest = match self.finishes_in(next) && !cuts {
            true => now + self.limits.stop_timeout * MOST_PATIENCE,
            false => until,
        };
        self.stopping = Some(Stopping::Settling { next, until, latest, cuts });
    }

    fn patience(&self, next: usize) -> Time {
        if self.finishes_in(next) { self.limits.stop_timeout } else { node::SETTLE }
    }

    /// Continues the stop: a node ended, everything is handled, or time has passed.
    pub(super) fn go_on_stopping(&mut self, now: Time, settle: Settle) {
        match self.stopping {
            Some(Stopping::Ending { group, kill_at }) => {
                let mut nodes = self.living_in(group);
                nodes.retain(|node| self.lives[*node].is_ending);
                if nodes.is_empty() {
                    // Who died before it was done comes back, and is asked again.
                    let is_over = !self.is_awaited_in(group);
                    self.settle_before(group + usize::from(is_over), Some(group), now);
                } else if kill_at.is_some_and(|at| now >= at) {
                    self.decisions.push(Decision::Signal { nodes, kill: true });
                    self.stopping = Some(Stopping::Ending { group, kill_at: None });
                }
            }
            Some(Stopping::Settling { next, cuts, .. })
                if self.finishes_in(next) && self.awaits_successors() =>
            {
                let until = now + self.patience(next);
                let latest = now + self.limits.stop_timeout * MOST_PATIENCE;
                self.stopping = Some(Stopping::Settling { next, until, latest, cuts });
            }
            Some(Stopping::Settling { next, until, latest, cuts }) => {
                let is_quiet = settle == Settle::Quiet;
                if is_quiet || now >= until {
                    if cuts && !is_quiet {
                        self.decisions.push(Decision::Cut);
                    }
                    self.go_behind(next, now);
                } else if settle == Settle::Moves {
                    let until = until.max((now + self.patience(next)).min(latest));
                    self.stopping = Some(Stopping::Settling { next, until, latest, cuts });
                }
            }
            Some(Stopping::Done) | None => {}
        }
    }

    /// What was under way before `next` is handled, or waited for no longer.
    fn go_behind(&mut self, next: usize, now: Time) {
        // Who died meanwhile and has no successor any more leaves nobody to ask.
        match self.living_in(next).is_empty() {
            true => self.settle_before(next + 1, None, now),
            false => self.ask(next, now),
        }
    }
}
