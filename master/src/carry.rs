//! Carries out decisions.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use journal::OpenError;
use nix::sys::signal::Signal;
use node::{Exit, LogMark, NodeState, Phase};
use topology::config::{Durability, OnDeath, ReaderKind, RecorderConfig, WhenFull};
use topology::{NodeKind, Program};
use wire::{Message, NodeChange, NodeEvent};

use crate::error::MasterError;
use crate::lives::{Decision, End, Ended, Event, Failure, Next};
use crate::process::NodeProcess;
use crate::supervise::Master;

impl Master {
    /// Handles an event and carries out the decisions that follow.
    pub(crate) fn happened(&mut self, event: Event) {
        self.pending.push_back(event);
        // Events that occur while decisions are carried out are handled after them.
        if self.is_following_up {
            return;
        }
        self.is_following_up = true;
        while let Some(event) = self.pending.pop_front() {
            let decisions = self.lives.on(event, self.began.elapsed());
            self.carry_out(decisions);
        }
        self.is_following_up = false;
    }

    pub(crate) fn carry_out(&mut self, decisions: Vec<Decision>) {
        for decision in decisions {
            match decision {
                Decision::Start { node, closes } => self.start(node, closes),
                Decision::Ask { node } => self.ask_host(node),
                Decision::Dismiss { node } => self.dismiss(node),
                Decision::Rouse => self.rouse_everybody(),
                Decision::Mark { node, end, next } => self.mark(node, end, next),
                Decision::Announce { node, change, generation, code } => {
                    self.announce(node, change, generation, code);
                }
                Decision::Release { node, all } => self.release_cursors(node, all),
                Decision::Up => {
                    self.instance.set_phase(Phase::Running);
                    log::info!("all {} nodes run", self.nodes.len());
                }
                Decision::Fail(failure) => self.failed(failure),
                Decision::Stopping => {
                    self.instance.set_phase(Phase::Stopping);
                    log::info!("stopping");
                }
                Decision::Signal { nodes, kill } => self.signal(&nodes, kill),
                Decision::Cut => log::warn!(
                    "what follows from the last market event takes longer than master.stop_timeout: the run ends within it"
                ),
                Decision::Stopped => log::info!("all nodes have stopped"),
            }
        }
    }

    fn start(&mut self, index: usize, closes: bool) {
        self.set_state(index, NodeState::Starting);
        let node = &mut self.nodes[index];
        let arguments: &[&str] = if closes { &["--closed"] } else { &[] };
        let spec = node.as_wanted();
        match NodeProcess::start(&self.options.colo, &self.instance.directory, &spec, arguments) {
            Ok(process) => {
                if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
                    seat.set_exit(Exit::asked(seat.exit(), false));
                    seat.set_process(process.identity());
                }
                log::info!("node `{}` started as process {}", node.spec.name, process.identity().pid);
                (node.last_pid, node.log_from) = (process.identity().pid, process.log_from());
                (node.process, node.overstayed) = (Some(process), false);
            }
            Err(source) => {
                log::error!("node `{}` does not start: {source}", node.spec.name);
                node.refused = Some(source);
                self.happened(Event::NotStarted { node: index });
            }
        }
    }

    /// Requests a strategy from its host: sets the state of its seat, and wakes the host if it runs.
    fn ask_host(&mut self, index: usize) {
        self.set_state(index, NodeState::Starting);
        let name = self.nodes[index].spec.host.clone();
        let host = self.nodes.iter().find(|node| Some(&node.spec.name) == name.as_ref());
        if let Some(host) = host.filter(|host| host.process.is_some()) {
            journal::wait::wake(&self.instance.registry, u32::from(host.spec.seat));
        }
    }

    /// A killed process may have owed a wake-up to a node that cannot be determined: a writer wakes every node that
    /// wants its message. So every node is woken to look at its journals once.
    fn rouse_everybody(&self) {
        for node in self.nodes.iter().filter(|node| node.process.is_some()) {
            journal::wait::force_wake(&self.instance.registry, u32::from(node.spec.seat));
        }
    }

    fn mark(&mut self, index: usize, end: End, next: Next) {
        let spec = &self.nodes[index].spec;
        if let Some(seat) = self.instance.registry.occupy(u32::from(spec.seat)) {
            match (end.left, next) {
                (true, _) => {}
                (false, Next::Stays) => seat.set_state(NodeState::Failed.to_word()),
                (false, _) => seat.set_state(NodeState::Dead.to_word()),
            }
            let overstayed = self.nodes[index].overstayed;
            match (end.ended, end.code()) {
                (Ended::Signal(_) | Ended::Unknown, _) if overstayed => {
                    seat.set_exit(Exit::overstayed(128 + Signal::SIGKILL as u8));
                }
                (_, code) if code >= 0 => seat.set_exit(code as u64 + 1),
                _ => {}
            }
            if self.lives.is_held(index) {
                seat.set_exit(Exit::by_a_person(seat.exit()));
            }
        }
        let (name, ended) = (&spec.name, end.ended);
        match spec.host {
            _ if self.lives.is_held(index) => {
                log::info!("strategy `{name}` is stopped, as a person wants");
            }
            _ if !end.is_failure() => log::info!("node `{name}` stopped"),
            // A node that was not started has no process, and one in a host has the host's.
            _ if ended == Ended::NotStarted => log::error!("node `{name}` {ended}"),
            Some(_) => log::error!("node `{name}` {ended}"),
            // Nobody has sat there.
            None if self.nodes[index].last_pid == 0 => log::error!("node `{name}` {ended}"),
            None => log::error!("node `{name}` (process {}) {ended}", self.nodes[index].last_pid),
        }
        match next {
            Next::Again { pause, restart } => {
                log::info!("node `{name}` is started again in {pause:?} (restart {restart})");
            }
            Next::Closes => log::error!(
                "node `{name}` is not started again to trade; it closes the market: orders end, new ones are refused"
            ),
            Next::WithItsStrategies | Next::Stays => {}
        }
        if spec.kind == NodeKind::Relay {
            let seats = journal::wait::Relay::give_back(&self.instance.registry, u32::from(spec.seat));
            log::info!("{seats} nodes that `{name}` woke are woken by the writers now");
        }
    }

    /// Writes a node's change to `master.events`.
    pub(crate) fn announce(&mut self, index: usize, change: NodeChange, generation: u64, exit_code: i32) {
        let spec = &self.nodes[index].spec;
        let event = self.instance.event_of(spec, change, generation, exit_code);
        if let Some(events) = &mut self.events
            && let Err(error) = events.write(NodeEvent::ID, 0, event.bytes())
        {
            log::warn!("an event of seat {} was not written: {error}", event.seat);
        }
    }

    /// Releases the cursors of a dead reader: those that the topology says, or all.
    fn release_cursors(&mut self, index: usize, all: bool) {
        let spec = &self.nodes[index].spec;
        let lets_go = self.lets_go(index);
        let is_sync = |journal: &str| {
            let journal = self.instance.topology.journal(journal);
            journal.is_some_and(|journal| journal.durability == Durability::Sync)
        };
        let dropped = spec.reads.iter().filter(|read| {
            let is_dropped = all || read.kind == ReaderKind::Loose || read.on_death == OnDeath::Drop;
            is_dropped || lets_go && !is_sync(&read.journal)
        });
        let journals: Vec<String> = dropped.map(|read| read.journal.clone()).collect();
        for journal in journals {
            self.release(index, journal);
        }
    }

    /// Releases a cursor of a dead reader, or notes it for later where something that the reader has started still holds the
    /// seat's lock.
    fn release(&mut self, index: usize, journal: String) {
        let spec = &self.nodes[index].spec;
        let opened = self.instance.open(&journal);
        let dismissed = opened.and_then(|opened| Ok(opened.dismiss(u32::from(spec.seat))?));
        match dismissed {
            Ok(()) => {}
            Err(MasterError::Open(OpenError::SeatTaken { .. })) => {
                log::debug!("the seat of `{}` in `{journal}` is still locked", spec.name);
                self.unreleased.push((index, journal));
            }
            Err(error) => log::warn!("the cursor of `{}` in `{journal}` stays: {error}", spec.name),
        }
    }

    /// Releases the cursors whose seats were locked at the end of their readers. A process that has taken a seat since reads on
    /// with the seat's cursors.
    pub(crate) fn release_the_rest(&mut self) {
        for (index, journal) in std::mem::take(&mut self.unreleased) {
            if self.nodes[index].process.is_none() {
                self.release(index, journal);
            }
        }
    }

    /// Whether it is a recorder that stays down, and nobody is to wait for its disk.
    fn lets_go(&self, index: usize) -> bool {
        let spec = &self.nodes[index].spec;
        let seat = self.instance.registry.seat(u32::from(spec.seat));
        let stays = seat.is_some_and(|seat| seat.state() == NodeState::Failed.to_word());
        let config = serde_json::from_value(spec.section.clone());
        stays
            && spec.kind == NodeKind::Recorder
            && config.is_ok_and(|config: RecorderConfig| config.when_full == WhenFull::Gap)
    }

    fn signal(&mut self, nodes: &[usize], kill: bool) {
        for index in nodes {
            let node = &mut self.nodes[*index];
            let Some(process) = &node.process else { continue };
            if kill {
                node.overstayed = true;
                log::error!("node `{}` does not stop and is killed", node.spec.name);
            } else if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
                // Noted first: a master that takes over sends no second signal.
                seat.set_exit(Exit::asked(seat.exit(), true));
            }
            process.signal(if kill { Signal::SIGKILL } else { Signal::SIGTERM });
        }
    }

    /// Records why the platform does not start.
    fn failed(&mut self, failure: Failure) {
        let (Failure::NotStarted { node: index }
        | Failure::Ended { node: index, .. }
        | Failure::Unregistered { node: index }
        | Failure::NotReady { node: index }) = failure;
        let host = self.nodes[index].spec.host.clone();
        let speaker = (self.nodes.iter())
            .find(|node| Some(&node.spec.name) == host.as_ref())
            .unwrap_or(&self.nodes[index]);
        let log = self.instance.directory.log(&speaker.spec.name);
        let words = last_errors(&log, speaker.log_from);
        let node = match failure {
            Failure::NotReady { .. } => self.holder_of(speaker.spec.seat),
            _ => None,
        };
        let node = node.unwrap_or_else(|| self.nodes[index].spec.name.clone());
        let seconds = self.config.ready_timeout.as_secs_f64();
        self.failure.get_or_insert(match failure {
            Failure::NotStarted { .. } => {
                let path = self.program(index);
                let source = self.nodes[index].refused.take();
                let source = source.unwrap_or_else(|| std::io::Error::other("the system refuses"));
                MasterError::Io { action: "start the program of a node:", path, source }
            }
            Failure::Ended { end, .. } => {
                MasterError::NodeFailed { node, how: end.ended.to_string(), words, log }
            }
            Failure::Unregistered { .. } => MasterError::NotRegistered { node, seconds, words, log },
            Failure::NotReady { node: index } => {
                MasterError::NotReady { why: self.why_not_ready(index), node, seconds, words, log }
            }
        });
    }

    /// The strategy whose call blocks the process in this seat: in a host it keeps all others from being ready.
    fn holder_of(&self, seat: u16) -> Option<String> {
        let registry = &self.instance.registry;
        let held = node::held(&registry.seat(u32::from(seat))?, self.instance.clock.now())?;
        Some(registry.name(held.seat))
    }

    pub(crate) fn program(&self, index: usize) -> PathBuf {
        match &self.nodes[index].as_wanted().program {
            Program::Path(path) => node::program::command(path).get_program().into(),
            Program::Builtin(_) => self.options.colo.clone(),
        }
    }

    pub(crate) fn set_state(&self, index: usize, state: NodeState) {
        if let Some(seat) = self.instance.registry.occupy(u32::from(self.nodes[index].spec.seat)) {
            seat.set_state(state.to_word());
        }
    }
}

/// The last errors in a process's log after `from`: the lines behind the last informational one.
pub(crate) fn last_errors(log: &Path, from: LogMark) -> String {
    let mut bytes = Vec::new();
    let mut read = || {
        for mut part in from.parts(log)? {
            part.file.read_to_end(&mut bytes)?;
        }
        io::Result::Ok(())
    };
    if let Err(error) = read() {
        log::debug!("cannot read {}: {error}", log.display());
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> =
        text.lines().rev().take_while(|line| !line.contains(" INFO ")).take(12).collect();
    lines.reverse();
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use node::LogMark;

    use super::last_errors;

    #[test]
    fn words_of_an_earlier_process_are_not_those_of_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("td.log");
        let before = "[ERROR td] of yesterday\n";
        std::fs::write(&log, before).unwrap();
        let mark = LogMark::at_the_end_of(&log);
        assert_eq!(last_errors(&log, mark), "");
        std::fs::write(&log, format!("{before}[x INFO td] runs\n[ERROR td] of today\n")).unwrap();
        assert_eq!(last_errors(&log, mark), "\n  [ERROR td] of today");
        assert_eq!(last_errors(&folder.path().join("none"), LogMark::default()), "");
    }
}
