//! A platform that is up.

use std::process::Child;
use std::time::{Duration, Instant};

use node::{NodeState, Phase, Quiescence};
use observe::{Collector, InstanceView, JournalMemory, Report, Run};
use topology::{NodeKind, Topology};

use crate::down::Down;
use crate::error::{LaunchError, system};
use crate::orphans::{is_first_process, reap};

/// Why watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The source has given all it had, and all that it caused is done.
    Finished,
    /// The caller asked for it.
    Asked,
    /// md is gone before its source was at its end, and nobody starts it again.
    MdGone,
    /// td gave the run up, and master takes the platform down.
    GivenUp,
    /// Master is gone.
    MasterGone,
}

/// A platform that is up, seen from outside.
#[derive(Debug)]
pub struct Running {
    view: InstanceView,
    topology: Topology,
    collector: Option<Collector>,
    /// Our child, when we started it; to be reaped.
    master: Option<Child>,
    since: Instant,
}

/// Whether a run is over, as its source and its journals say.
#[derive(Debug, Default)]
struct Ending {
    /// Since when the source is at its end.
    finished: Option<Instant>,
    /// Since when nothing moves, after that.
    quiet: Option<Instant>,
}

impl Ending {
    fn look(&mut self, source: NodeState, is_quiet: impl FnOnce() -> bool, now: Instant) -> Option<End> {
        match source {
            NodeState::Finished | NodeState::Stopped => {}
            // Only master says that nobody starts it again.
            NodeState::Failed => return Some(End::MdGone),
            _ => {
                *self = Ending::default();
                return None;
            }
        }
        let finished = *self.finished.get_or_insert(now);
        self.quiet = is_quiet().then(|| self.quiet.unwrap_or(now));
        let lasts = |since: Instant, longest: Duration| now.duration_since(since) > longest;
        let is_over = self.quiet.is_some_and(|quiet| lasts(quiet, QUIET)) || lasts(finished, SETTLE);
        is_over.then_some(End::Finished)
    }
}

/// Between two looks.
const TICK: Duration = Duration::from_millis(5);
/// The same for one that stays until it is told to stop.
const STAY_TICK: Duration = Duration::from_millis(50);
/// Nothing moves for this long after the source's end: the run is over. Timers of strategies that are further apart
/// do not hold it up.
const QUIET: Duration = Duration::from_millis(150);
/// A source at its end whose consequences do not settle (a dead reader's cursor is held) is waited for no longer.
const SETTLE: Duration = Duration::from_secs(10);

impl Running {
    pub(crate) fn new(
        view: InstanceView,
        topology: Topology,
        collector: Option<Collector>,
        master: Option<Child>,
    ) -> Running {
        Running { view, topology, collector, master, since: Instant::now() }
    }

    /// Counts the run's length from when the instance was made: for one that somebody else brought up.
    pub(crate) fn since_it_was_made(mut self) -> Running {
        let made = self.view.journal(Collector::journal()).map_or(0, |(_, journal)| journal.stat.created);
        let age = if made == 0 { 0 } else { self.view.clock().now().saturating_sub(made) };
        self.since = self.since.checked_sub(Duration::from_nanos(age)).unwrap_or(self.since);
        self
    }

    /// The instance.
    pub fn view(&self) -> &InstanceView {
        &self.view
    }

    /// What runs.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What lies behind each ring, by journal id.
    pub fn memory(&self) -> Vec<JournalMemory> {
        JournalMemory::of_all(&self.view, &self.topology)
    }

    /// What was measured so far.
    pub fn collector(&self) -> Option<&Collector> {
        self.collector.as_ref()
    }

    /// Watches until the run is over. `go_on` is called between looks; when it answers false, watching ends.
    ///
    /// # Errors
    /// [`LaunchError`] when the instance cannot be looked at.
    pub fn watch(&mut self, mut go_on: impl FnMut(&InstanceView) -> bool) -> Result<End, LaunchError> {
        let mut quiescence = Quiescence::watch(self.view.instance(), |_| true)?;
        let mut ending = Ending::default();
        loop {
            self.collect();
            if !go_on(&self.view) {
                return Ok(End::Asked);
            }
            let master_ended = matches!(self.master.as_mut().map(Child::try_wait), Some(Ok(Some(_))));
            if master_ended {
                self.master = None;
                return Ok(End::MasterGone);
            }
            if self.view.phase() == Phase::Stopping
                && self.view.seats_of(NodeKind::Td).any(|seat| seat.state == NodeState::Failed)
            {
                return Ok(End::GivenUp);
            }
            if let Some(end) = ending.look(self.source_state(), || quiescence.is_quiet(), Instant::now()) {
                return Ok(end);
            }
            std::thread::sleep(TICK);
        }
    }

    fn source_state(&self) -> NodeState {
        self.view.seats_of(NodeKind::Md).next().map_or(NodeState::Finished, |seat| seat.state)
    }

    /// How long it has been there: since it was made, or since it was started here.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Stays until `go_on` answers false, also after the source's end; answers false when master is gone before. As process
    /// 1 it reaps what others leave behind.
    pub fn stay(&mut self, mut go_on: impl FnMut(&InstanceView) -> bool) -> bool {
        while go_on(&self.view) {
            if !self.look() {
                return false;
            }
            if is_first_process() {
                reap(self.master.as_ref().map(Child::id));
            }
            std::thread::sleep(STAY_TICK);
        }
        true
    }

    /// One look, for those who watch by rules of their own: takes what latency samples have come, and answers whether
    /// master still lives. To be called at least a few times a second.
    pub fn look(&mut self) -> bool {
        self.collect();
        let ended = matches!(self.master.as_mut().map(Child::try_wait), Some(Ok(Some(_))));
        if ended {
            self.master = None;
        }
        !ended
    }

    fn collect(&mut self) {
        if let Some(collector) = &mut self.collector
            && let Err(error) = collector.take()
        {
            log::warn!("latency samples: {error}");
            self.collector = None;
        }
    }

    /// Stops the nodes, reads what came of it, and removes the instance.
    ///
    /// # Errors
    /// [`LaunchError::TakenDown`] when somebody else has done that meanwhile; others as it fails. The instance is removed
    /// all the same where that is possible.
    pub fn finish(mut self) -> Result<Report, LaunchError> {
        let seconds = self.since.elapsed().as_secs_f64();
        let instance = self.view.instance().clone();
        let before = self.view.seats();
        let memory = self.memory();
        let mut down = Down::of(&instance, self.topology.master().stop_timeout)
            .in_lock_step(self.topology.deterministic)
            .trading_elsewhere(self.topology.trades_elsewhere());
        let stopped = down.stop_nodes();
        if let Err(LaunchError::TakenDown { .. }) = &stopped
            && let Some(mut master) = self.master.take()
        {
            let _ = master.wait();
        }
        if let Err(error @ LaunchError::TakenDown { .. }) = stopped {
            return Err(error);
        }
        self.collect();
        let run = Run { before, memory, seconds };
        let report = Report::gather(&self.view, &self.topology, run);
        let removed = down.shutdown();
        if let Some(mut master) = self.master.take() {
            let _ = master.wait();
        }
        stopped?;
        removed?;
        report.map_err(|error| system("read the host's topology")(std::io::Error::other(error)))
    }

    /// Leaves the platform to itself.
    pub fn detach(self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each look answers: milliseconds from the first, the source's state, whether nothing moved.
    fn looks(looks: &[(u64, NodeState, bool)]) -> Vec<Option<End>> {
        let (mut ending, begin) = (Ending::default(), Instant::now());
        let look = |(at, source, is_quiet): &(u64, NodeState, bool)| {
            ending.look(*source, || *is_quiet, begin + Duration::from_millis(*at))
        };
        looks.iter().map(look).collect()
    }

    #[test]
    fn a_run_is_over_when_its_source_is_and_nothing_has_moved_for_a_while() {
        use NodeState::{Finished, Running};
        let seen = looks(&[
            (0, Running, true),
            (1_000, Finished, true),
            (1_150, Finished, true),
            (1_151, Finished, true),
        ]);
        assert_eq!(seen, [None, None, None, Some(End::Finished)], "the quiet before the end does not count");
        let seen = looks(&[
            (0, Finished, true),
            (100, Finished, false),
            (200, Finished, true),
            (350, Finished, true),
        ]);
        assert_eq!(seen, [None; 4], "what moves begins the wait anew");
    }

    #[test]
    fn what_never_settles_is_waited_for_no_longer_than_it_may_take() {
        let settle = SETTLE.as_millis() as u64;
        let moving = |at| (at, NodeState::Finished, false);
        assert_eq!(
            looks(&[moving(0), moving(settle), moving(settle + 1)]),
            [None, None, Some(End::Finished)]
        );
    }

    #[test]
    fn a_source_that_is_started_again_ends_nothing_and_one_that_nobody_starts_again_does() {
        use NodeState::{Dead, Failed, Finished, Running};
        let seen =
            looks(&[(0, Finished, true), (100, Running, true), (151, Finished, true), (300, Finished, true)]);
        assert_eq!(seen, [None; 4]);
        assert_eq!(looks(&[(0, Dead, true), (9_000, Failed, true)]), [None, Some(End::MdGone)]);
    }
}
