//! All nodes together: who has a turn when, and what happens when one of them ends.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

use master::Embedded;
use node::{Exit, NodeState, RunError};
use topology::{NodeKind, Program, Topology, stop_group, stop_order};
use wire::NodeChange;

use crate::error::BacktestError;
use crate::part::{Maker, Part, Stage};
use crate::plugins::Plugins;
use crate::run::Witness;

/// Nobody does anything although somebody has work that it cannot do: so many looks in a row before the thread sleeps. Also the
/// passes between two looks at whether the run is to go on.
const LOOKS: u32 = 1_000;
/// How long it sleeps then.
const NAP: Duration = Duration::from_micros(50);

/// The nodes, in the order of their turns.
pub(crate) struct Crew {
    instance: Embedded,
    parts: Vec<Part>,
    /// md's place.
    md: usize,
    /// A node has failed without which nothing goes on.
    is_broken: bool,
    /// The nodes end, in their order.
    is_stopping: bool,
}

impl Crew {
    /// Seats and sets up all nodes.
    pub(crate) fn gather(
        instance: Embedded,
        plugins: &Plugins,
        make: &Maker<'_>,
    ) -> Result<Crew, BacktestError> {
        match Crew::seat_all(&instance, plugins, make) {
            Ok(parts) => {
                let md = parts.iter().position(|part| part.kind == NodeKind::Md).unwrap_or(0);
                Ok(Crew { instance, parts, md, is_broken: false, is_stopping: false })
            }
            Err(error) => {
                instance.remove();
                Err(error)
            }
        }
    }

    fn seat_all(
        instance: &Embedded,
        plugins: &Plugins,
        make: &Maker<'_>,
    ) -> Result<Vec<Part>, BacktestError> {
        let mut parts: Vec<Part> = Vec::new();
        for spec in instance.topology().start_sequence().into_iter().filter(|spec| spec.seat != 0) {
            if spec.host.is_some() {
                instance.ask_for(spec.seat);
                continue;
            }
            let failed = |(reason, exit)| BacktestError::Node { node: spec.name.clone(), reason, exit };
            let plugin = match &spec.program {
                Program::Path(path) => plugins.of(path),
                Program::Builtin(_) => None,
            };
            let steps = match plugin {
                Some(plugin) => {
                    let (assignment, log) = (instance.assign(&spec.name)?, instance.log("backtest"));
                    plugin
                        .steps(instance.directory().name(), &log, assignment, instance.front())
                        .map_err(|error| failed((error.to_string(), error.exit())))?
                }
                None => make(spec, instance.seat(&spec.name)?).map_err(failed)?,
            };
            let mut part = Part::new(spec, steps);
            part.start().map_err(|error| failed((error.to_string(), error.exit())))?;
            parts.push(part);
            // What has started before takes what it is told, as processes do.
            for part in &mut parts {
                while part.step().map_err(|error| failed((error.to_string(), error.exit())))? {}
            }
        }
        Ok(parts)
    }

    pub(crate) fn instance(&self) -> &Embedded {
        &self.instance
    }

    pub(crate) fn topology(&self) -> &Topology {
        self.instance.topology()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Turns all but md until none of them has anything to do. False when `go_on` has ended it before: strategies may answer
    /// each other for long, and what is kept back may wait for ever.
    pub(crate) fn settle(&mut self, go_on: &mut impl FnMut() -> bool, witness: &mut impl Witness) -> bool {
        let (mut idle, mut passes) = (0, 0_u32);
        while !self.is_broken {
            passes += 1;
            if passes.is_multiple_of(LOOKS) && !go_on() {
                return false;
            }
            // Turns without frames are for what was kept back: only when nobody has any.
            let worked = self.pass(Part::has_news) || self.pass(|_| true);
            witness.turned();
            if worked {
                idle = 0;
                continue;
            }
            if !self.parts.iter().enumerate().any(|(index, part)| index != self.md && part.holds_back()) {
                return true;
            }
            // It waits for a time to pass.
            idle += 1;
            if idle > LOOKS {
                std::thread::sleep(NAP);
            }
        }
        true
    }

    /// One turn of each of these but md. Whether any of them did anything.
    #[inline]
    fn pass(&mut self, has_turn: impl Fn(&Part) -> bool) -> bool {
        let mut any = false;
        for index in 0..self.parts.len() {
            if index != self.md && has_turn(&self.parts[index]) {
                any |= self.turn(index);
            }
        }
        any
    }

    /// Turns md. Whether it published anything.
    pub(crate) fn publish(&mut self) -> bool {
        self.turn(self.md)
    }

    /// Until md wants to be turned again, if it waits for a time: the recorded pace.
    pub(crate) fn pause(&self, now: u64) -> Duration {
        let deadline = self.parts[self.md].deadline();
        deadline.map_or(NAP, |deadline| Duration::from_nanos(deadline.saturating_sub(now)))
    }

    /// The state of md.
    pub(crate) fn source(&self) -> NodeState {
        self.instance.state(self.parts[self.md].seat)
    }

    #[inline]
    fn turn(&mut self, index: usize) -> bool {
        let part = &mut self.parts[index];
        if part.is_gone() {
            return false;
        }
        match part.step() {
            Ok(worked) => {
                if part.is_gone() {
                    self.has_left(index);
                }
                worked
            }
            Err(error) => {
                self.has_failed(index, error);
                true
            }
        }
    }

    #[cold]
    fn has_left(&mut self, index: usize) {
        let (seat, is_host) = (self.parts[index].seat, self.parts[index].kind == NodeKind::Host);
        self.let_go(index);
        self.instance.announce(seat, NodeChange::Left, 0);
        if is_host {
            self.announce_members(self.parts[index].name());
        }
    }

    /// Strategies end with their host.
    fn announce_members(&self, host: &str) {
        let members = self.topology().nodes.iter().filter(|node| node.host.as_deref() == Some(host));
        for seat in members.map(|node| node.seat) {
            match self.instance.state(seat) {
                NodeState::Stopped => self.instance.announce(seat, NodeChange::Left, 0),
                _ => self.instance.announce(seat, NodeChange::Died, i32::from(Exit::Failed.code())),
            }
        }
    }

    #[cold]
    fn has_failed(&mut self, index: usize, error: RunError) {
        let part = &mut self.parts[index];
        let (seat, code) = (part.seat, i32::from(error.exit().code()));
        log::error!("node `{}` failed: {error}", part.name());
        // Where the report looks for the words of a node that failed.
        let line = format!(
            "[{} ERROR {}] {error}\n",
            humantime::format_rfc3339_micros(SystemTime::now()),
            part.kind
        );
        let log = self.instance.log(part.name());
        let written = OpenOptions::new().create(true).append(true).open(&log);
        if let Err(problem) = written.and_then(|mut log| log.write_all(line.as_bytes())) {
            log::warn!("cannot write {}: {problem}", log.display());
        }
        part.fail(error);
        self.let_go(index);
        let part = &self.parts[index];
        // Without one of these the others cannot go on, and nobody starts it again.
        self.is_broken |= !matches!(part.kind, NodeKind::Strategy | NodeKind::Host | NodeKind::Recorder);
        self.instance.give_up(seat);
        self.instance.announce(seat, NodeChange::Died, code);
    }

    /// Nobody waits any more for what it has not read.
    fn let_go(&mut self, index: usize) {
        let part = &mut self.parts[index];
        if matches!(part.kind, NodeKind::Strategy | NodeKind::Host | NodeKind::Recorder) && !self.is_stopping
        {
            part.vanish();
            self.instance.release(part.seat);
        }
    }

    /// Members of hosts that have left by themselves.
    pub(crate) fn look_after_members(&mut self) {
        for seat in self.instance.take_left() {
            let seat = seat as u16;
            let change = match self.instance.state(seat) {
                NodeState::Stopped => NodeChange::Left,
                _ => {
                    self.instance.give_up(seat);
                    NodeChange::Died
                }
            };
            self.instance.announce(seat, change, -1);
        }
    }

    /// Stops the nodes group by group, in the order of lock-step. Each group has `patience` to stop, and as long again for what
    /// that causes.
    pub(crate) fn stop(&mut self, patience: Duration, witness: &mut impl Witness) {
        self.is_stopping = true;
        for group in 0..stop_order(true).len() {
            let of_group = |part: &Part| stop_group(part.kind, true) == group;
            for part in self.parts.iter_mut().filter(|part| of_group(part)) {
                part.begin_stop();
            }
            let until = Instant::now() + patience;
            while self.parts.iter().any(|part| of_group(part) && part.stage == Stage::Drains) {
                let worked = (0..self.parts.len()).fold(false, |any, index| self.turn(index) | any);
                witness.turned();
                if Instant::now() > until {
                    break;
                }
                if !worked {
                    std::thread::sleep(NAP);
                }
            }
            // What they said last is handled before the next ones go; strategies that answer each other never end by themselves.
            let until = Instant::now() + patience;
            while !self.is_broken && (0..self.parts.len()).fold(false, |any, index| self.turn(index) | any) {
                if Instant::now() > until {
                    break;
                }
            }
        }
    }

    pub(crate) fn into_instance(self) -> Embedded {
        self.instance
    }
}
