//! One cell: a group at a load.

use std::time::Duration;

use super::{GroupConfig, LoadConfig, ScenarioConfig, put};
use crate::diagnostic::Diagnostics;
use crate::document::{Report, Span, Table, Value};
use crate::spec::Topology;

/// A group at a load: what runs, and when it is over.
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
    /// Fresh platforms.
    pub repeats: u32,
    /// Strategies, one process or one hosted strategy each.
    pub strategies: u32,
    /// Simulated instruments.
    pub instruments: u32,
    /// A run ends with so many samples.
    pub samples: u64,
    /// Not counted.
    pub warmup: Duration,
    /// After the warm-up, at least.
    pub shortest: Duration,
    /// After the warm-up, at most.
    pub longest: Duration,
    /// Pauses between the starts of strategies, in all.
    pub staggered: Duration,
    /// The platform.
    pub topology: Topology,
}

impl Cell {
    /// How long one run is measured: until it has its samples, within its bounds.
    pub fn measured(&self) -> Duration {
        let wanted = Duration::try_from_secs_f64(self.samples as f64 / self.rate).unwrap_or(self.longest);
        wanted.clamp(self.shortest.min(self.longest), self.longest)
    }

    /// Samples that one run has when every quote is answered.
    pub fn expected_samples(&self) -> u64 {
        (self.measured().as_secs_f64() * self.rate).floor() as u64
    }

    /// How long one run takes, with a platform brought up and down in `overhead`.
    pub fn run_time(&self, overhead: Duration) -> Duration {
        overhead + self.staggered + self.warmup + self.measured()
    }
}

/// The cells of one group. What is wrong with its platform goes to `found`, each fault once.
pub(super) fn of_group(
    config: &ScenarioConfig,
    group: &GroupConfig,
    table: &Table,
    file: &str,
    report: &Report,
    found: &mut Diagnostics,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (index, load) in config.load.iter().enumerate() {
        if group.rates.as_ref().is_some_and(|rates| !rates.contains(&load.rate)) {
            continue;
        }
        match cell(config, group, load, index + 1, (table, file, report)) {
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
    (table, file, report): (&Table, &str, &Report),
) -> Result<(Cell, Diagnostics), Diagnostics> {
    let run = &config.run;
    let instruments = group.instruments.unwrap_or(run.instruments);
    let strategies = group.strategies.unwrap_or(run.strategies);
    let name = format!("{}{number}", group.name);
    let mut table = table.clone();
    // An instrument is quoted every `interval`, and the instruments take turns: quotes are evenly spread.
    let interval = Duration::from_secs_f64(f64::from(instruments) / load.rate);
    let turn = Duration::from_secs_f64(1.0 / load.rate);
    let text = |duration: Duration| Value::Text(humantime::format_duration(duration).to_string());
    let integer = |value: u64| Value::Integer(i64::try_from(value).ok());
    let own: [(&[&str], Value); 11] = [
        (&["platform", "instance"], Value::Text(instance(&config.scenario.name, &name))),
        (&["md", "source"], Value::Text("sim".to_owned())),
        (&["md", "instruments"], integer(u64::from(instruments))),
        (&["md", "interval"], text(interval)),
        (&["md", "stagger"], text(turn)),
        (&["md", "count"], integer(0)),
        (&["md", "seed"], integer(run.seed)),
        (&["md", "generator"], Value::Text(run.generator.as_str().to_owned())),
        (&["strategies", "program"], Value::Text("builtin:taker".to_owned())),
        (&["strategies", "count"], integer(u64::from(strategies))),
        (&["strategies", "stagger"], text(run.stagger)),
    ];
    for (path, value) in own {
        put(&mut table, path, value, Span::default());
    }
    if !run.think.is_zero() {
        let think = integer(u64::try_from(run.think.as_nanos()).unwrap_or(u64::MAX));
        put(&mut table, &["strategies", "params", "think_ns"], think, Span::default());
    }
    open_loop(&mut table);
    let platform = crate::assemble(file, &table, true, report.clone())?;
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
        staggered: own_processes.map(|node| node.stagger).sum(),
        topology: platform.topology,
    };
    Ok((cell, platform.warnings))
}

/// The built-in taker answers every quote of a load test: with a position that it must not exceed it would fall silent
/// while its reports are late, and the load would wait for the platform that it is to measure.
fn open_loop(table: &mut Table) {
    let program = super::table_of(table, "strategies").and_then(|section| section.get("program"));
    if program.is_some_and(|entry| matches!(&entry.node.value, Value::Text(name) if name == "builtin:taker"))
    {
        let limit = Value::Integer(Some(UNLIMITED_LOTS));
        put(table, &["strategies", "params", "max_position"], limit, Span::default());
    }
}

/// More lots than any run trades, and few enough to be counted with.
const UNLIMITED_LOTS: i64 = 1_000_000_000_000;

/// A name that no other cell of this scenario has, short enough for an instance.
fn instance(scenario: &str, cell: &str) -> String {
    let cell = cell.to_lowercase();
    let room = 31_usize.saturating_sub(cell.len() + 1);
    let head: String = scenario.to_lowercase().chars().take(room).collect();
    format!("{head}-{cell}")
}
