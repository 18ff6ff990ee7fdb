//! Taking a platform down, with its master or without.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use journal::process::{PidFd, ProcessIdentity};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use node::protocol::{self, Reply, Request};
use node::{Claim, ClaimError, Counter, Holder, Holding, InstanceDir, NodeState, Quiescence, SETTLE};
use observe::{InstanceView, SeatView};
use topology::NodeKind;

use crate::dead_senders;
use crate::ending::end_all;
use crate::error::{LaunchError, system};

/// Beside the time that the nodes have to stop: for removing what they left.
const SETTLING: Duration = Duration::from_secs(15);
/// Before a group is asked to stop, what was written is handled; that takes so many times `stop_timeout` at most.
const MOST_PATIENCE: u32 = 12;
/// Between two looks whether master still can answer.
const LOOK: Duration = Duration::from_millis(250);
/// A master that a signal has stopped for so long does not answer by itself.
const STOPPED: Duration = Duration::from_secs(2);
/// A master that has not bound its socket yet, or removes the instance: so long at most it is asked again.
const PASSING: Duration = Duration::from_secs(2);
/// Between two of these looks.
const PASSING_LOOK: Duration = Duration::from_millis(20);

/// The two steps of taking a platform down.
#[derive(Debug)]
pub(crate) struct Down {
    instance: InstanceDir,
    /// A node that has not stopped by then is killed: by master, or by us when there is none.
    stop_timeout: Duration,
    /// md stops first, and what it published last is dealt with in full.
    in_lock_step: bool,
    /// Orders go to a market elsewhere, which is waited for.
    trades_elsewhere: bool,
    /// Held from when it turned out that there is no master.
    claim: Option<Claim>,
}

impl Down {
    /// Of this instance, whose nodes have so long to stop.
    pub(crate) fn of(instance: &InstanceDir, stop_timeout: Duration) -> Down {
        Down {
            instance: instance.clone(),
            stop_timeout,
            in_lock_step: false,
            trades_elsewhere: false,
            claim: None,
        }
    }

    /// The same for nodes that run in lock-step, or not.
    #[must_use]
    pub(crate) fn in_lock_step(mut self, in_lock_step: bool) -> Down {
        self.in_lock_step = in_lock_step;
        self
    }

    /// The same for nodes that send orders to a market elsewhere, or not.
    #[must_use]
    pub(crate) fn trading_elsewhere(mut self, trades_elsewhere: bool) -> Down {
        self.trades_elsewhere = trades_elsewhere;
        self
    }

    /// Stops all nodes in good order. Their journals stay.
    ///
    /// # Errors
    /// [`LaunchError::TakenDown`] when somebody else has it stopped and removed; others when master refuses or does not
    /// answer, or when the nodes cannot be judged from here.
    pub(crate) fn stop_nodes(&mut self) -> Result<(), LaunchError> {
        loop {
            match self.connect()? {
                Some(stream) => match self.ask(&stream, &Request::StopNodes) {
                    Err(LaunchError::Protocol { .. }) if self.has_let_go() => {}
                    other => return other,
                },
                None if self.claim.is_none() => return Err(LaunchError::taken_down(&self.instance)),
                None => return self.stop_without_master(),
            }
        }
    }

    /// Ends master and removes the instance.
    ///
    /// # Errors
    /// As [`Down::stop_nodes`], or the directory cannot be removed.
    pub(crate) fn shutdown(&mut self) -> Result<(), LaunchError> {
        loop {
            match self.connect()? {
                Some(stream) => match self.ask(&stream, &Request::Shutdown) {
                    Err(LaunchError::Protocol { .. }) if self.has_let_go() => {}
                    other => return other,
                },
                None => return self.remove(),
            }
        }
    }

    /// After master broke a conversation off: whether that was its end. Then there is nobody to ask again, or another one.
    fn has_let_go(&self) -> bool {
        let begin = Instant::now();
        let before = self.instance.held();
        while before != Holding::Free && self.instance.held() == before {
            if begin.elapsed() > SETTLING {
                return false;
            }
            std::thread::sleep(PASSING_LOOK);
        }
        true
    }

    /// Asks the master that holds the instance to end it.
    pub(crate) fn ask_master_to_end(&mut self) -> Result<(), LaunchError> {
        let stream = UnixStream::connect(self.instance.socket()).map_err(system("reach master"))?;
        self.ask_for(&stream, &Request::Shutdown, self.longest(1))
    }

    /// So long may all groups take, with so many times `stop_timeout` each.
    fn longest(&self, times: u32) -> Duration {
        let groups = topology::stop_order(self.in_lock_step).len() as u32;
        self.stop_timeout.saturating_mul(groups * times).saturating_add(SETTLING)
    }

    /// A connection to master; `None` when there is none: then nobody becomes master while we work.
    fn connect(&mut self) -> Result<Option<UnixStream>, LaunchError> {
        if self.claim.is_some() {
            return Ok(None);
        }
        let socket = self.instance.socket();
        let begin = Instant::now();
        loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => return Ok(Some(stream)),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(system(&format!("reach master at {}", socket.display()))(error));
                }
                Err(_) => {}
            }
            match self.hold() {
                Ok(()) => break,
                // Its master has not bound its socket yet, or removes the instance at this moment.
                Err(LaunchError::Silent { .. }) if begin.elapsed() < PASSING => {
                    std::thread::sleep(PASSING_LOOK);
                }
                Err(error) => return Err(error),
            }
        }
        if self.claim.is_some() {
            log::info!("no master answers: the nodes are stopped directly");
        }
        Ok(None)
    }

    fn hold(&mut self) -> Result<(), LaunchError> {
        if self.claim.is_none() {
            self.claim = self.instance.claim_remains().map_err(|error| match error {
                ClaimError::Held { holder } => {
                    LaunchError::silent(&self.instance, holder, "holds it and listens to nobody yet")
                }
                other => system(&format!("hold {}", self.instance.path().display()))(other.into()),
            })?;
        }
        Ok(())
    }

    /// Removes an instance that has no master.
    pub(crate) fn remove(&mut self) -> Result<(), LaunchError> {
        self.hold()?;
        // Its master has removed it before it ended.
        let Some(claim) = self.claim.take() else { return Ok(()) };
        if let Ok(view) = InstanceView::open(self.instance.clone()) {
            self.demand_known(&view, &claim)?;
            if let Some(alive) = view.seats().iter().find(|seat| seat.alive && seat.process != itself()) {
                let pids = alive.process.pid.to_string();
                return Err(LaunchError::DoesNotEnd { instance: self.instance.name().to_owned(), pids });
            }
        }
        claim.remove().map_err(system(&format!("remove {}", self.instance.path().display())))
    }

    /// Refuses to judge processes whose ids mean nothing here while any of them holds a journal.
    fn demand_known(&self, view: &InstanceView, claim: &Claim) -> Result<(), LaunchError> {
        if view.is_foreign() && claim.is_in_use().map_err(system("look at the instance's locks"))? {
            return Err(LaunchError::Foreign { instance: self.instance.name().to_owned() });
        }
        Ok(())
    }

    /// Asks, and waits for as long as master may need, lives and is not stopped itself.
    fn ask(&self, stream: &UnixStream, request: &Request) -> Result<(), LaunchError> {
        self.ask_for(stream, request, self.longest(1 + MOST_PATIENCE))
    }

    fn ask_for(&self, stream: &UnixStream, request: &Request, longest: Duration) -> Result<(), LaunchError> {
        let instance = || self.instance.name().to_owned();
        let failed = |source| LaunchError::Protocol { instance: instance(), source };
        protocol::send(stream, request).map_err(failed)?;
        let begin = Instant::now();
        let mut stopped_since: Option<Instant> = None;
        while !has_answer(stream) {
            let holder = match self.instance.held() {
                Holding::By(holder) => holder,
                Holding::Free => None,
            };
            let is_stopped = |holder: &Holder| holder.is_of_this_namespace() && holder.process.is_stopped();
            match holder.filter(is_stopped) {
                Some(holder) if stopped_since.get_or_insert_with(Instant::now).elapsed() > STOPPED => {
                    return Err(LaunchError::Stopped { instance: instance(), pid: holder.process.pid });
                }
                Some(_) => {}
                None => stopped_since = None,
            }
            if begin.elapsed() > longest {
                let why = format!("has not answered for {} s", longest.as_secs());
                return Err(LaunchError::silent(&self.instance, holder, why));
            }
        }
        match protocol::receive(stream, None).map_err(failed)? {
            Reply::Done | Reply::Assigned(_) => Ok(()),
            Reply::Removed => Err(LaunchError::taken_down(&self.instance)),
            Reply::Refused { reason } => Err(LaunchError::Refused(reason)),
        }
    }

    fn stop_without_master(&self) -> Result<(), LaunchError> {
        let view = InstanceView::open(self.instance.clone())?;
        if let Some(claim) = &self.claim {
            self.demand_known(&view, claim)?;
        }
        // Before those live that end what is theirs.
        dead_senders::announce(&self.instance, &view);
        let (mut ended, mut is_behind_md) = (false, false);
        for kinds in topology::stop_order(self.in_lock_step) {
            let living = || view.seats().into_iter().filter(|seat| seat.alive && kinds.contains(&seat.kind));
            if living().next().is_none() {
                continue;
            }
            let finishes = kinds.iter().all(|kind| topology::finishes(*kind));
            if ended || finishes {
                let ends_way = self.trades_elsewhere && kinds.contains(&NodeKind::Matching);
                self.settle(&view, finishes, self.in_lock_step && is_behind_md, ends_way);
            }
            let group: Vec<SeatView> = living().collect();
            self.end(&group);
            dead_senders::announce_ended(&self.instance, &view, &group);
            (ended, is_behind_md) = (true, kinds.contains(&NodeKind::Md));
        }
        // What the nodes' programs have started beside them.
        end_all(&self.instance, self.stop_timeout).map(drop)
    }

    /// Asks these nodes to end, and kills those that do not.
    fn end(&self, group: &[SeatView]) {
        // Master may have died after it asked them.
        let is_unasked = |seat: &&SeatView| seat.state != NodeState::Stopping;
        signal(group.iter().filter(is_unasked), Signal::SIGTERM);
        let mut patience = Instant::now() + self.stop_timeout;
        while group.iter().any(|seat| seat.process.is_alive()) {
            if Instant::now() > patience {
                for seat in group.iter().filter(|seat| seat.process.is_alive()) {
                    log::error!("node `{}` does not stop and is killed", seat.name);
                }
                signal(group.iter(), Signal::SIGKILL);
                patience = Instant::now() + self.stop_timeout;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets those who still run handle what the ended ones wrote: as long as they handle anything where the next group
    /// `finishes`; `cuts`: in lock-step, behind md; `ends_way`: the way to a market elsewhere is stopped next, so orders that td has to
    /// end are waited for too.
    fn settle(&self, view: &InstanceView, finishes: bool, cuts: bool, ends_way: bool) {
        let Ok(mut quiescence) = Quiescence::watch(&self.instance, |_| true) else { return };
        let patience = if finishes || cuts { self.stop_timeout } else { SETTLE };
        let begin = Instant::now();
        let times = if finishes && !cuts { MOST_PATIENCE } else { 1 };
        let (mut until, latest, mut read) = (begin + patience, begin + patience * times, 0);
        loop {
            let handles = |seat: &SeatView| seat.alive && !topology::looks_on(seat.kind);
            let seats: Vec<u32> =
                view.seats().iter().filter(|seat| handles(seat)).map(|seat| seat.seat).collect();
            let counts = |seat: u32| seats.contains(&seat);
            let must_end = |seat: &SeatView| {
                seat.kind == NodeKind::Td && seat.alive && seat.counter(Counter::MustEnd) > 0
            };
            let owes_ends = ends_way && view.seats().iter().any(must_end);
            if quiescence.is_quiet_among(counts) && !owes_ends {
                return;
            }
            let now = Instant::now();
            let before = std::mem::replace(&mut read, quiescence.read_by(counts));
            if before != read {
                until = until.max((now + patience).min(latest));
            }
            if now >= until {
                if cuts {
                    log::warn!(
                        "what follows from the last market event takes too long: the run ends within it"
                    );
                }
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn itself() -> ProcessIdentity {
    ProcessIdentity::current()
}

/// Waits a while for an answer, or the end of the connection.
fn has_answer(stream: &UnixStream) -> bool {
    let mut descriptors = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::ZERO);
    poll(&mut descriptors, patience).is_ok_and(|ready| ready > 0)
}

/// Once each process, however many seats it has: a second signal would end it at once.
fn signal<'a>(seats: impl Iterator<Item = &'a SeatView>, signal: Signal) {
    for process in processes(seats) {
        if let Ok(handle) = PidFd::open(process) {
            let _ = handle.signal(signal as i32);
        }
    }
}

fn processes<'a>(seats: impl Iterator<Item = &'a SeatView>) -> impl Iterator<Item = ProcessIdentity> {
    let mut seen = HashSet::new();
    seats.map(|seat| seat.process).filter(move |process| seen.insert(*process))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Child;

    use super::*;
    use crate::fixture::{Remains, process};

    /// A process in the seat of each node but master's, which writes the node's name into `order` when it ends.
    fn nodes(remains: &Remains, folder: &Path) -> Vec<Child> {
        let order = folder.join("order");
        let names = remains.topology.nodes.iter().filter(|node| node.kind != NodeKind::Master);
        let children = names.map(|node| {
            let on_term = format!("echo {} >> {}; exit 0", node.name, order.display());
            let child = process(folder, &node.name, &on_term);
            remains.seat(&node.name, &child);
            child
        });
        children.collect()
    }

    /// A process that has ended still has its identity until its parent reaps it.
    fn reaped(children: Vec<Child>) -> Vec<std::thread::JoinHandle<bool>> {
        let wait = |mut child: Child| std::thread::spawn(move || child.wait().is_ok_and(|end| end.success()));
        children.into_iter().map(wait).collect()
    }

    fn stopped(test: &str, in_lock_step: bool) -> Vec<String> {
        let (remains, folder) = (Remains::new(test), tempfile::tempdir().unwrap());
        let ends = reaped(nodes(&remains, folder.path()));
        let mut down = Down::of(&remains.instance, Duration::from_secs(20)).in_lock_step(in_lock_step);
        down.stop_nodes().unwrap();
        assert!(ends.into_iter().all(|end| end.join().unwrap()), "all were asked, and none was killed");
        down.remove().unwrap();
        assert!(!remains.instance.path().exists());
        let order = fs::read_to_string(folder.path().join("order")).unwrap();
        order.lines().map(str::to_owned).collect()
    }

    #[test]
    fn without_a_master_the_nodes_stop_in_the_order_of_the_table() {
        assert_eq!(stopped("order", false), ["strategy-1", "md", "matching", "td", "ledger"]);
        assert_eq!(stopped("lock-step", true), ["md", "strategy-1", "matching", "td", "ledger"]);
    }

    #[test]
    fn a_node_that_does_not_stop_is_killed_and_the_next_are_stopped_all_the_same() {
        let (remains, folder) = (Remains::new("stubborn"), tempfile::tempdir().unwrap());
        let stubborn = process(folder.path(), "stubborn", "");
        remains.seat("td", &stubborn);
        let done = folder.path().join("done");
        let last = process(folder.path(), "last", &format!("touch {}; exit 0", done.display()));
        remains.seat("ledger", &last);
        let ends = reaped(vec![stubborn, last]);
        Down::of(&remains.instance, Duration::from_millis(300)).stop_nodes().unwrap();
        let ends: Vec<bool> = ends.into_iter().map(|end| end.join().unwrap()).collect();
        assert_eq!((ends, done.exists()), (vec![false, true], true));
    }

    #[test]
    fn nothing_is_removed_while_a_process_in_a_seat_lives() {
        let (remains, folder) = (Remains::new("lives"), tempfile::tempdir().unwrap());
        let mut child = process(folder.path(), "lives", "exit 0");
        remains.seat("matching", &child);
        let refused = Down::of(&remains.instance, Duration::ZERO).remove().unwrap_err();
        assert!(remains.instance.path().exists());
        let text = refused.to_string();
        assert!(text.contains(&child.id().to_string()) && text.contains("nothing is removed"), "{text}");
        child.kill().unwrap();
        child.wait().unwrap();
        Down::of(&remains.instance, Duration::ZERO).remove().unwrap();
        assert!(!remains.instance.path().exists());
    }

    #[test]
    fn who_comes_too_late_is_told_that_somebody_else_has_the_report() {
        let remains = Remains::new("late");
        Down::of(&remains.instance, Duration::ZERO).remove().unwrap();
        let late = Down::of(&remains.instance, Duration::ZERO).stop_nodes().unwrap_err();
        assert!(matches!(late, LaunchError::TakenDown { .. }), "{late}");
    }

    #[test]
    fn the_time_to_stop_is_the_files_and_else_the_default() {
        let of = |text: &str| topology::parse("t.toml", text, &[]).unwrap().topology.master().stop_timeout;
        assert_eq!(of("[md]\n[strategies]\n[master]\nstop_timeout = \"7s\"\n"), Duration::from_secs(7));
        let mut damaged = topology::parse("t.toml", "[md]\n[strategies]\n", &[]).unwrap().topology;
        let default = damaged.master().stop_timeout;
        damaged.nodes[0].section = "no table".into();
        assert_eq!(damaged.master().stop_timeout, default);
        damaged.nodes.clear();
        assert_eq!(damaged.master().stop_timeout, default);
    }
}
