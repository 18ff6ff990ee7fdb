//! One cell: a group at a load.

use std::time::Duration;

use serde_json::{Value as Json, json};
use settings::{Diagnostics, Document, Table};
use topology::Topology;

use super::{GroupConfig, LoadConfig, ScenarioConfig};

/// A group at a load: the platform, and the limits of its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Group and number of the load: `A10`.
    pub name: String,
    /// Name of the group.
    pub group: String,
    /// Number of the load, from 1.
    pub load: usize,
    /// Quotes a second over all instruments.
    pub rate: f64,
    /// Number of fresh platforms.
    pub repeats: u32,
    /// Strategies, one process or one hosted strategy each.
    pub strategies: u32,
    /// Simulated instruments.
    pub instruments: u32,
    /// A run ends after this many samples.
    pub samples: u64,
    /// Time before the measurement.
    pub warmup: Duration,
    /// Shortest measurement after the warm-up.
    pub shortest: Duration,
    /// Longest measurement after the warm-up.
    pub longest: Duration,
    /// Length of a slice of a run.
    pub slice: Duration,
    /// Total pauses between the starts of strategies.
    pub staggered: Duration,
    /// The platform.
    pub topology: Topology,
}

impl Cell {
    /// Duration of one run's measurement: until it has its samples, within its bounds.
    pub(crate) fn measured(&self) -> Duration {
        let wanted = Duration::try_from_secs_f64(self.samples as f64 / self.rate).unwrap_or(self.longest);
        wanted.clamp(self.shortest.min(self.longest), self.longest)
    }

    /// Samples of one run when every quote is answered.
    pub(crate) fn expected_samples(&self) -> u64 {
        (self.measured().as_secs_f64() * self.rate).floor() as u64
    }

    /// Duration of one run, with `overhead` for starting and stopping the platform.
    pub(crate) fn run_time(&self, overhead: Duration) -> Duration {
        overhead + self.staggered + self.warmup + self.measured()
    }
}

/// The cells of one group, whose platform sections are `platform`. Each problem is added to `found` once.
pub(super) fn of_group(
    config: &ScenarioConfig,
    group: &GroupConfig,
    platform: &Document,
    found: &mut Diagnostics,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (index, load) in config.load.iter().enumerate() {
        if group.rates.as_ref().is_some_and(|rates| !rates.contains(&load.rate)) {
            continue;
        }
        match cell(config, group, load, index + 1, platform) {
            Ok((cell, warnings)) => {
                found.join(warnings);
                cells.push(cell);
            }
            Err(diagnostics) => found.join(diagnostics),
        }
    }
    cells
}

fn cell(
    config: &ScenarioConfig,
    group: &GroupConfig,
    load: &LoadConfig,
    number: usize,
    platform: &Document,
) -> Result<(Cell, Diagnostics), Diagnostics> {
    let run = &config.run;
    let instruments = group.instruments.unwrap_or(run.instruments);
    let strategies = group.strategies.unwrap_or(run.strategies);
    let name = format!("{}{number}", group.name);
    let mut table = platform.root().clone();
    // An instrument is quoted every `interval`, and the instruments take turns: quotes are evenly spread.
    let interval = Duration::from_secs_f64(f64::from(instruments) / load.rate);
    let turn = Duration::from_secs_f64(1.0 / load.rate);
    let text = |duration: Duration| Json::from(humantime::format_duration(duration).to_string());
    let own: [(&[&str], Json); 11] = [
        (&["platform", "instance"], json!(instance(&config.scenario.name, &name))),
        (&["md", "source"], json!("sim")),
        (&["md", "instruments"], json!(instruments)),
        (&["md", "interval"], text(interval)),
        (&["md", "stagger"], text(turn)),
        (&["md", "count"], json!(0)),
        (&["md", "seed"], json!(run.seed)),
        (&["md", "generator"], json!(run.generator.as_str())),
        (&["strategies", "program"], json!("builtin:taker")),
        (&["strategies", "count"], json!(strategies)),
        (&["strategies", "stagger"], text(run.stagger)),
    ];
    for (path, value) in own {
        table.put_default(path, &value);
    }
    if !run.think.is_zero() {
        let think = u64::try_from(run.think.as_nanos()).unwrap_or(u64::MAX);
        table.put_default(&["strategies", "params", "think_ns"], &json!(think));
    }
    open_loop(&mut table);
    let platform = topology::check(Document::new(table, platform.sources().clone()))?;
    let own_processes = platform.topology.nodes.iter().filter(|node| node.host.is_none());
    let cell = Cell {
        name,
        group: group.name.clone(),
        load: number,
        rate: load.rate,
        repeats: group.repeats.or(load.repeats).unwrap_or(run.repeats),
        strategies,
        instruments,
        samples: load.samples.unwrap_or(run.samples),
        warmup: load.warmup.unwrap_or(run.warmup),
        shortest: load.shortest.unwrap_or(run.shortest),
        longest: load.longest.unwrap_or(run.longest),
        slice: run.slice,
        staggered: own_processes.map(|node| node.stagger).sum(),
        topology: platform.topology,
    };
    Ok((cell, platform.warnings))
}

/// The built-in taker answers every quote of a load test: with a position limit it would stop while its reports are
/// late, and the load would depend on the platform under test.
fn open_loop(table: &mut Table) {
    if table.table("strategies").and_then(|section| section.text("program")) == Some("builtin:taker") {
        table.put_default(&["strategies", "params", "max_position"], &json!(UNLIMITED_LOTS));
    }
}

/// More lots than any run trades, and few enough for arithmetic.
const UNLIMITED_LOTS: i64 = 1_000_000_000_000;

/// A name that is unique in this scenario, and short enough for an instance.
fn instance(scenario: &str, cell: &str) -> String {
    let cell = cell.to_lowercase();
    let room = 31_usize.saturating_sub(cell.len() + 1);
    let head: String = scenario.to_lowercase().chars().take(room).collect();
    format!("{head}-{cell}")
}
