//! A whole run, from the instance to the report.

use std::time::{Duration, Instant};

use master::Embedded;
use node::{Clock, Counter, NodeState, Phase};
use observe::{InstanceView, JournalMemory, Report, Run};
use topology::Topology;

use crate::crew::Crew;
use crate::error::BacktestError;
use crate::fit::unfit;
use crate::part::Maker;
use crate::plugins::Plugins;

/// Messages between two looks at what is not the market: whether somebody wants it to end, signs of life.
const LOOK_EVERY: u64 = 1 << 10;

/// Bytes of the largest rings that get all of their pages at the start: those of the market's data are filled soon, matching's
/// images of its books are larger and rarely written.
const POPULATED: u64 = 16 << 20;

/// Longest sleep between two messages at the recorded pace: somebody may want it to end.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What the caller is told while it runs.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The instance.
    pub view: &'a InstanceView,
}

/// Somebody who reads along, and misses nothing: while it looks, nobody writes.
pub trait Witness {
    /// The instance is there; nothing of the market has happened.
    fn begins(&mut self, view: &InstanceView);

    /// Each node has had a turn: what they wrote can be read before there is more than a ring holds.
    fn turned(&mut self);

    /// Called now and then, for what takes time.
    fn flush(&mut self) {}
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Witness for Unwatched {
    fn begins(&mut self, _: &InstanceView) {}

    fn turned(&mut self) {}
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The report.
    pub report: Report,
    /// It was ended before its source was.
    pub is_interrupted: bool,
    /// Messages of market data, each of which was answered in full before the next.
    pub messages: u64,
    /// How long the market took, without the begin and the end of the platform.
    pub took: Duration,
}

/// Runs a platform in lock-step to the end of its source, in this thread. `go_on` is called now and then; when it answers
/// false, the run ends there.
///
/// # Errors
/// [`BacktestError`]. A node that fails is no error: the report names it.
pub fn run(
    topology: Topology,
    plugins: &Plugins,
    make: &Maker<'_>,
    witness: &mut impl Witness,
    mut go_on: impl FnMut(&Progress<'_>) -> bool,
) -> Result<Outcome, BacktestError> {
    let reasons = unfit(&topology, plugins);
    if !reasons.is_empty() {
        let reasons = reasons.join("; ");
        return Err(BacktestError::Unfit(format!("the platform cannot run in one process: {reasons}")));
    }
    journal::map_large_rings_on_access(POPULATED);
    let patience = topology.master().stop_timeout;
    let began = Instant::now();
    let mut crew = Crew::gather(Embedded::build(topology)?, plugins, make)?;
    let view = match InstanceView::open(crew.instance().directory().clone()) {
        Ok(view) => view,
        Err(error) => {
            crew.into_instance().remove();
            return Err(error.into());
        }
    };
    witness.begins(&view);
    let mut go_on = || go_on(&Progress { view: &view });
    let has_begun = crew.settle(&mut go_on, witness);
    crew.instance().set_phase(Phase::Running);
    let market = Instant::now();
    let mut messages = 0;
    let is_interrupted = !has_begun || !play(&mut crew, witness, view.clock(), &mut messages, &mut go_on);
    let took = market.elapsed();
    let before = view.seats();
    // A time that md announces between two messages is none of the market's.
    let announced: u64 = before.iter().map(|seat| seat.counter(Counter::MarketTimes)).sum();
    let memory = JournalMemory::of_all(&view, crew.topology());
    crew.instance().set_phase(Phase::Stopping);
    let seconds = began.elapsed().as_secs_f64();
    crew.stop(patience, witness);
    let report = Report::gather(&view, crew.topology(), Run { before, memory, seconds });
    crew.into_instance().remove();
    let report = report.map_err(|error| BacktestError::Report(error.to_string()))?;
    Ok(Outcome { report, is_interrupted, messages: messages.saturating_sub(announced), took })
}

/// The market, message by message. False when somebody has ended it before.
fn play(
    crew: &mut Crew,
    witness: &mut impl Witness,
    clock: Clock,
    messages: &mut u64,
    go_on: &mut impl FnMut() -> bool,
) -> bool {
    loop {
        let published = crew.publish();
        if !crew.settle(go_on, witness) {
            return false;
        }
        if crew.is_broken() {
            return true;
        }
        *messages += u64::from(published);
        if published && !messages.is_multiple_of(LOOK_EVERY) {
            continue;
        }
        crew.instance().beat();
        crew.look_after_members();
        witness.flush();
        if !go_on() {
            return false;
        }
        if !published {
            match crew.source() {
                NodeState::Finished | NodeState::Stopped | NodeState::Failed => return true,
                _ => std::thread::sleep(crew.pause(clock.now()).min(LONGEST_PAUSE)),
            }
        }
    }
}
