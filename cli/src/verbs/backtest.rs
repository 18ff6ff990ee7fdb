//! A platform in lock-step, all in this process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use backtest::{Outcome, Plugins, Witness};
use indicatif::ProgressBar;
use node::{Exit, InstanceDir, Node, Steps, StopFlag};
use topology::{NodeKind, NodeSpec, Topology};

use super::{fit, up};
use crate::failure::Failure;
use crate::output::{count, number};
use crate::services;

/// Between two looks at whether somebody has asked for the end.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long the end may take before somebody is told why.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs it to the end of its source, or until it is interrupted.
pub(super) fn run_to_its_end(
    topology: Topology,
    plugins: &Plugins,
    stop: &StopFlag,
    witness: &mut impl Witness,
) -> Result<Outcome, Failure> {
    fit::demand(&topology)?;
    let log = InstanceDir::new(&topology.instance).map(|instance| instance.log("backtest"));
    if let Some(log) = log {
        node::start_log_in(&log).map_err(Failure::system("write", &log))?;
    }
    let bar = match up::expected_quotes(&topology) {
        Some(quotes) => up::bar(quotes, "{bar:30} {pos}/{len} quotes, {eta} left"),
        None => up::bar(0, "{spinner} {pos} quotes, {elapsed}; Ctrl-C ends it"),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    let outcome = patiently(stop, || play(topology, plugins, stop, witness, &bar));
    bar.finish_and_clear();
    let outcome = outcome?;
    let seconds = outcome.took.as_secs_f64();
    talk!(
        "one process: {} in {seconds:.2} s, {} a second",
        count(outcome.messages, "market event"),
        number((outcome.messages as f64 / seconds.max(1e-9)) as u64)
    );
    Ok(outcome)
}

/// A node that does not come back from a call keeps the whole run: who has asked for its end hears of that.
fn patiently<T>(stop: &StopFlag, run: impl FnOnce() -> T) -> T {
    let (running, is_over) = mpsc::channel::<()>();
    let watch = move || {
        while !stop.is_set() {
            if is_over.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
        if is_over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            talk!(
                "the run has not ended {} s after it was asked to: a strategy that does not come back from a call keeps it; \
                 once more ends the process, without a result",
                PATIENCE.as_secs()
            );
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(watch);
        let outcome = run();
        drop(running);
        outcome
    })
}

fn play(
    topology: Topology,
    plugins: &Plugins,
    stop: &StopFlag,
    witness: &mut impl Witness,
    bar: &ProgressBar,
) -> Result<Outcome, Failure> {
    Ok(backtest::run(topology, plugins, &program, witness, |progress| {
        bar.set_position(up::published(progress.view));
        !stop.is_set()
    })?)
}

/// The program of a node, which `colo` has built in.
fn program(spec: &NodeSpec, node: Node) -> Result<Box<dyn Steps>, (String, Exit)> {
    if matches!(spec.kind, NodeKind::Strategy | NodeKind::Host) {
        return builtin_strategies::roster(strategy_sdk::Options::default())
            .steps(node)
            .map_err(|error| (error.to_string(), error.exit()));
    }
    let Some(steps) = services::of(spec.kind).and_then(|service| service.steps) else {
        return Err((format!("there is no service `{}` for one process", spec.kind), Exit::Usage));
    };
    steps(node).map_err(|error| (error.to_string(), error.exit()))
}
