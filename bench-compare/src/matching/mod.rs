//! Matching engines: the same operations for all of them, in turns, on one core.
//!
//! The flows, the plain books and the loop come from [`bench_kit`], as in `colo bench matching`. An engine that does not
//! trade and cancel what a flow's own book says has no figure for that flow, and the report says so.

mod engines;
mod report;

use bench_kit::flow::{Flow, Ids, Mix, Plan};
use bench_kit::measure::{Contestant, Figures, clock_cost, in_turns};
use serde::Serialize;

use crate::args::MatchingArgs;
use crate::driver::HostFacts;
use crate::error::CompareError;
use crate::place;
use engines::Facts;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
struct Report {
    /// Changes when the meaning of a name changes.
    format: u32,
    /// The host.
    host: HostFacts,
    /// CPU of the engines.
    cpu: usize,
    /// What a reading of the clock takes; taken off.
    clock_cost_ns: f64,
    /// Operations of each flow.
    operations: usize,
    /// Turns of each flow.
    turns: usize,
    /// Duration of the run.
    minutes: f64,
    /// The engines.
    engines: Vec<Facts>,
    /// The flows.
    rows: Vec<Row>,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
struct Row {
    mix: Mix,
    /// Price levels of both sides together.
    levels: u32,
    engines: Vec<Entry>,
}

/// An engine on a flow.
#[derive(Clone, Debug, Serialize)]
struct Entry {
    engine: &'static str,
    /// `ratio`: its time by colo's. None: it has no figures.
    figures: Option<Figures>,
    /// Why it has none.
    error: Option<String>,
}

/// Measures, and reports.
pub(crate) fn compare(arguments: &MatchingArgs) -> Result<(), CompareError> {
    let begin = std::time::Instant::now();
    let host = pinning::Host::read("/".as_ref())
        .map_err(|error| CompareError::Peer(format!("cannot read the host: {error}")))?;
    let cpu = match arguments.cpu {
        Some(cpu) if host.allowed.contains(cpu) => cpu,
        Some(cpu) => return Err(CompareError::Usage(format!("CPU {cpu} cannot be used by this process"))),
        None => host.allowed.iter().last().unwrap_or(0),
    };
    let host = HostFacts::of(&[cpu], arguments.quick, arguments.note.as_deref())?;
    place::pin(cpu)?;
    let engines = chosen(&arguments.only)?;
    let clock = journal::Clock::calibrate();
    let now = move || clock.now();
    let (operations, turns) = if arguments.quick { (50_000, 3) } else { (200_000, 7) };
    let (operations, turns) = (arguments.operations.unwrap_or(operations), arguments.turns.unwrap_or(turns));
    let mixes = if arguments.mixes.is_empty() { Mix::ALL.to_vec() } else { arguments.mixes.clone() };
    let levels =
        if arguments.levels.is_empty() { vec![10, 100, 1_000, 10_000] } else { arguments.levels.clone() };
    let mut rows = Vec::new();
    for mix in mixes {
        for &levels in &levels {
            eprintln!("{mix} over {levels} levels");
            let plan = Plan { mix, levels, operations, seed: 1, ids: Ids::Ascending };
            let engines = measure(&Flow::generate(&plan), &engines, turns, now)?;
            rows.push(Row { mix, levels, engines });
        }
    }
    let report = Report {
        format: 1,
        host,
        cpu,
        clock_cost_ns: clock_cost(now),
        operations,
        turns,
        minutes: begin.elapsed().as_secs_f64() / 60.0,
        engines,
        rows,
    };
    report.write(&arguments.out)
}

/// The engines to measure: colo and the floor always.
fn chosen(only: &[String]) -> Result<Vec<Facts>, CompareError> {
    if let Some(unknown) = only.iter().find(|name| engines::ALL.iter().all(|facts| facts.name != *name)) {
        let names: Vec<&str> = engines::ALL.iter().map(|facts| facts.name).collect();
        let names = names.join(", ");
        return Err(CompareError::Usage(format!("no engine is called {unknown}; there are: {names}")));
    }
    let is_chosen = |facts: &&Facts| {
        only.is_empty()
            || only.iter().any(|name| name == facts.name)
            || ["colo", "bare ladder"].contains(&facts.name)
    };
    Ok(engines::ALL.iter().filter(is_chosen).copied().collect())
}

/// Those that match as the flow expects, in turns; the others get the reason.
fn measure<N: bench_kit::measure::Now + 'static>(
    flow: &Flow,
    engines: &[Facts],
    turns: usize,
    now: N,
) -> Result<Vec<Entry>, CompareError> {
    let mut entries = Vec::new();
    let mut able: Vec<(usize, Box<dyn Contestant<N>>)> = Vec::new();
    for (number, facts) in engines.iter().enumerate() {
        // Twice: some go wrong only when ids come again.
        let mut engine = engines::make::<N>(facts, flow)?;
        let tried = engine.pass(flow, now).and_then(|_| engine.pass(flow, now));
        entries.push(Entry {
            engine: facts.name,
            figures: None,
            error: tried.as_ref().err().map(ToString::to_string),
        });
        if tried.is_ok() {
            able.push((number, engine));
        }
    }
    if able.first().is_none_or(|&(number, _)| number != 0) {
        let why = entries.first().and_then(|entry| entry.error.clone()).unwrap_or_default();
        return Err(CompareError::Peer(why));
    }
    let mut books: Vec<&mut dyn Contestant<N>> =
        able.iter_mut().map(|(_, engine)| engine.as_mut() as _).collect();
    let figures = in_turns(flow, &mut books, turns, now, || true)
        .map_err(|error| CompareError::Peer(error.to_string()))?;
    for ((number, _), figures) in able.iter().zip(figures.into_iter().flatten()) {
        entries[*number].figures = Some(figures);
    }
    Ok(entries)
}
