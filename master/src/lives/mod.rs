//! Master's decisions, separate from their execution: which node to start, what to announce, which cursors to release,
//! in which order the platform stops.
//!
//! A state machine. Events and the time go in, decisions come out; there is no I/O and no clock in here, so every
//! interleaving of deaths, starts and requests can be tested. [`crate::supervise`] carries out the decisions and
//! reports the results as events.

mod cursors;
mod end;
mod held;
mod life;
mod stopping;
mod takeover;
#[cfg(test)]
mod tests;

use std::time::Duration;

use topology::NodeKind;
use wire::NodeChange;

pub(crate) use end::{End, Ended};
pub(crate) use life::{Held, Life, Next, Rules, Stage};
use stopping::Settle;
pub(crate) use stopping::Stopping;
pub(crate) use takeover::{Found, Standing};

/// Time since master started.
pub(crate) type Time = Duration;

/// Time limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For a node to register, and for a strategy to be ready after that.
    pub(crate) ready_timeout: Duration,
    /// For a node to stop after it was asked to, and for all to handle what was written before.
    pub(crate) stop_timeout: Duration,
    /// md stops before the strategies, and its last event is waited for as long as a node.
    pub(crate) in_lock_step: bool,
}

/// An input of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The system refused to start its process.
    NotStarted { node: usize },
    /// A process took its seat.
    Registered { node: usize, generation: u64 },
    /// It is polling.
    Ready { node: usize },
    /// Its process ended, or it left its host.
    Ended { node: usize, end: End },
    /// Time has passed.
    Tick,
    /// The platform is asked to stop.
    StopAsked,
    /// While stopping: the messages of the ended group are handled.
    Settled,
    /// While stopping: they are not, and some were handled since the last look.
    Moves,
    /// While stopping: these do not handle what is there, and show no sign of life.
    Hang { nodes: Vec<usize> },
    /// A person wants it to be stopped; `keeps`: its orders work on.
    Hold { node: usize, keeps: bool },
    /// A person wants it to run again.
    LetGo { node: usize },
}

/// An output of the state machine; carried out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Start its process.
    Start { node: usize, closes: bool },
    /// Request it from its host.
    Ask { node: usize },
    /// Ask its host that it leaves.
    Dismiss { node: usize },
    /// Wake every node to look at its journals: the ended one may have owed a wake-up.
    Rouse,
    /// Record its end and what follows in its seat and in the log.
    Mark { node: usize, end: End, next: Next },
    /// Write it in `master.events`.
    Announce { node: usize, change: NodeChange, generation: u64, code: i32 },
    /// Release its cursors: those that are not kept for a successor, or all.
    Release { node: usize, all: bool },
    /// Every node is ready.
    Up,
    /// The platform fails to start, and stops.
    Fail(Failure),
    /// The stop begins.
    Stopping,
    /// Ask these processes to end, or kill them.
    Signal { nodes: Vec<usize>, kill: bool },
    /// In lock-step: the stop continues although the last market event is not handled.
    Cut,
    /// No node runs.
    Stopped,
}

/// Why the platform fails to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The system refuses to start it.
    NotStarted { node: usize },
    /// It ended, and is not restarted.
    Ended { node: usize, end: End },
    /// It has not registered in time.
    Unregistered { node: usize },
    /// It has registered, and is not ready in time.
    NotReady { node: usize },
}

/// All nodes of a platform but master.
#[derive(Clone, Debug)]
pub(crate) struct Lives {
    rules: Vec<Rules>,
    lives: Vec<Life>,
    limits: Limits,
    up: bool,
    stopping: Option<Stopping>,
    last_start: Option<Time>,
    decisions: Vec<Decision>,
}

impl Lives {
    /// All nodes, none of them started.
    pub(crate) fn new(rules: Vec<Rules>, limits: Limits) -> Lives {
        let lives = vec![Life::new(); rules.len()];
        Lives { rules, lives, limits, up: false, stopping: None, last_start: None, decisions: Vec::new() }
    }

    /// Handles an event, and returns the decisions.
    pub(crate) fn on(&mut self, event: Event, now: Time) -> Vec<Decision> {
        match event {
            Event::NotStarted { node } => self.not_started(node, now),
            Event::Registered { node, generation } => self.registered(node, generation, now),
            Event::Ready { node } => {
                if self.lives[node].lives() {
                    self.lives[node].stage = Stage::Ready;
                }
            }
            Event::Ended { node, end } => self.ended(node, end, now),
            Event::Tick => self.tick(now),
            Event::StopAsked => self.begin_stop(now),
            Event::Settled => self.go_on_stopping(now, Settle::Quiet),
            Event::Moves => self.go_on_stopping(now, Settle::Moves),
            Event::Hang { nodes } => self.kill_hanging(&nodes, now),
            Event::Hold { node, keeps } => self.hold(node, keeps, now),
            Event::LetGo { node } => self.let_go(node, now),
        }
        self.release_unawaited();
        self.announce_given_up();
        std::mem::take(&mut self.decisions)
    }

    /// Whether every node was ready once.
    pub(crate) fn is_up(&self) -> bool {
        self.up
    }

    /// Progress of the stop, if there is one.
    pub(crate) fn stopping(&self) -> Option<Stopping> {
        self.stopping
    }

    /// Whether a node has a process, or was requested from its host.
    pub(crate) fn lives(&self, node: usize) -> bool {
        self.lives[node].lives()
    }

    /// Whether a node lives and is not ready yet.
    pub(crate) fn is_awaited(&self, node: usize) -> bool {
        matches!(self.lives[node].stage, Stage::Starting(_) | Stage::Joined(_))
    }

    /// Time of the next due start.
    pub(crate) fn next_start(&self) -> Option<Time> {
        let due = self.lives.iter().filter_map(|life| match life.stage {
            Stage::Due(at) => Some(at),
            _ => None,
        });
        due.min()
    }

    fn tick(&mut self, now: Time) {
        if self.stopping.is_some() {
            self.start_finishing(now);
            self.go_on_stopping(now, Settle::Unknown);
            return;
        }
        for node in 0..self.lives.len() {
            self.end_held(node, now);
            if self.has_its_turn(node, now) {
                self.start(node, now);
                self.last_start = Some(now);
            }
        }
        self.look_whether_up(now);
    }

    fn has_its_turn(&self, node: usize, now: Time) -> bool {
        let rules = &self.rules[node];
        match self.lives[node].stage {
            // A host is started with the first of its strategies.
            _ if rules.kind == NodeKind::Host => false,
            Stage::Due(at) => at <= now,
            Stage::Waiting => {
                let is_ready = |need: &usize| matches!(self.lives[*need].stage, Stage::Ready);
                let has_passed = self.last_start.is_none_or(|last| now - last >= rules.stagger);
                has_passed && rules.needs.iter().all(is_ready)
            }
            _ => false,
        }
    }

    fn start(&mut self, node: usize, now: Time) {
        self.lives[node].begin(now);
        let Some(host) = self.rules[node].host else {
            self.decisions.push(Decision::Start { node, closes: self.lives[node].closes });
            return;
        };
        self.decisions.push(Decision::Ask { node });
        if !self.lives[host].lives() {
            self.lives[host].begin(now);
            self.decisions.push(Decision::Start { node: host, closes: false });
        }
    }

    /// Once the platform is up, a refused start counts as the node's death, and no more.
    fn not_started(&mut self, node: usize, now: Time) {
        if !self.up && self.stopping.is_none() {
            self.fail(Failure::NotStarted { node }, now);
        }
        self.ended(node, End { left: false, ended: Ended::NotStarted }, now);
    }

    fn registered(&mut self, node: usize, generation: u64, now: Time) {
        if let Some(before) = self.lives[node].announced.take() {
            self.announce(node, NodeChange::Died, before, -1);
        }
        let life = &mut self.lives[node];
        if !life.lives() {
            // Started by hand, perhaps to trade again.
            (life.since, life.closes, life.asked) = (now, false, None);
        }
        life.stage = Stage::Joined(now);
        (life.has_lived, life.holds, life.is_gate) = (true, true, false);
        life.announced = Some(generation);
        self.announce(node, NodeChange::Joined, generation, -1);
    }

    /// Handles a node's end: its seat is marked, the end is announced, its cursors are kept or released, and it is
    /// restarted if its rules say so. All strategies of a host end with it.
    fn ended(&mut self, node: usize, end: End, now: Time) {
        if !self.lives[node].lives() {
            return;
        }
        let rules = &self.rules[node];
        if rules.host.is_none() {
            self.decisions.push(Decision::Rouse);
        }
        if rules.kind == NodeKind::Host {
            let died = End { left: false, ended: end.ended };
            for member in 0..self.lives.len() {
                if self.rules[member].host == Some(node) {
                    self.ended(member, died, now);
                }
            }
        }
        let (rules, stopping) = (&self.rules[node], self.stopping.is_some());
        let within = (!self.up).then_some(self.limits.ready_timeout);
        let mut next = self.lives[node].end(rules, end, now, within, stopping);
        if rules.kind == NodeKind::Host && self.is_needed_again(node) {
            next = Next::WithItsStrategies;
        }
        let stays = next == Next::Stays;
        let ends_run = end.gave_up() && !stopping;
        let is_gate = stays && end.is_failure() && !stopping && !ends_run && rules.kind == NodeKind::Recorder;
        self.lives[node].is_gate = is_gate;
        // A host that one of its strategies needs again is restarted with it.
        // One that others still wait for may not even end well: they would wait for ever.
        let held = self.lives[node].held;
        let is_missed = held.is_none() && (end.is_failure() || self.is_waited_for(node));
        let fails = !self.up && !stopping && stays && is_missed && rules.kind != NodeKind::Host;
        self.decisions.push(Decision::Mark { node, end, next });
        if let Some(generation) = self.lives[node].announced.take() {
            let change = if held.is_some_and(|held| held.keeps) { NodeChange::Paused } else { end.change() };
            self.announce(node, change, generation, end.code());
        }
        self.release_ended(node);
        if fails {
            self.fail(Failure::Ended { node, end }, now);
        } else if ends_run {
            self.begin_stop(now);
        } else if stopping {
            self.go_on_stopping(now, Settle::Unknown);
        }
    }

    /// Whether a node that was never started needs this one.
    fn is_waited_for(&self, node: usize) -> bool {
        let waits = |other: usize| matches!(self.lives[other].stage, Stage::Waiting);
        (0..self.lives.len()).any(|other| waits(other) && self.rules[other].needs.contains(&node))
    }

    fn is_needed_again(&self, host: usize) -> bool {
        let members = (0..self.lives.len()).filter(|node| self.rules[*node].host == Some(host));
        members.into_iter().any(|node| matches!(self.lives[node].stage, Stage::Due(_) | Stage::Waiting))
    }

    /// Orders of the gateway's clients work on while a dead gateway is started again. Where it is not, it has left: td ends them.
    fn announce_given_up(&mut self) {
        for node in 0..self.lives.len() {
            let is_given_up =
                self.rules[node].kind == NodeKind::Gateway && self.lives[node].stage == Stage::Down;
            if is_given_up && let Some(generation) = self.lives[node].died.take() {
                self.announce(node, NodeChange::Left, generation, -1);
            }
        }
    }

    fn announce(&mut self, node: usize, change: NodeChange, generation: u64, code: i32) {
        self.lives[node].died = (change == NodeChange::Died).then_some(generation);
        self.decisions.push(Decision::Announce { node, change, generation, code });
    }

    fn fail(&mut self, failure: Failure, now: Time) {
        self.decisions.push(Decision::Fail(failure));
        self.begin_stop(now);
    }

    /// The platform is up when every node is ready.
    fn look_whether_up(&mut self, now: Time) {
        if self.up {
            return;
        }
        let mut all = true;
        for node in 0..self.lives.len() {
            let late = |since: Time| now.saturating_sub(since) > self.limits.ready_timeout;
            let failure = match self.lives[node].stage {
                Stage::Starting(since) if late(since) => Failure::Unregistered { node },
                // Other kinds may have to read a day of market data first.
                Stage::Joined(since) if self.runs_strategies(node) && late(since) => {
                    Failure::NotReady { node }
                }
                stage => {
                    all &= matches!(stage, Stage::Ready | Stage::Down);
                    continue;
                }
            };
            return self.fail(failure, now);
        }
        if all {
            self.up = true;
            self.decisions.push(Decision::Up);
        }
    }

    fn runs_strategies(&self, node: usize) -> bool {
        self.rules[node].kind.trades()
    }
}
