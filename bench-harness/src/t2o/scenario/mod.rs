//! Reads a scenario file (TOML) into checked cells: which platforms are measured, at which rates, for how long.
//!
//! A scenario contains platform sections, not platform files: `[base]` is common to all groups, `[group.platform]`
//! extends it for one group, and the scenario itself sets the numbers of strategies and instruments and their rate.
//! Every cell is checked like a platform file before anything starts, and an error is shown at its place in the
//! scenario.
//!
//! ```text
//!   [base] ──┐
//!            ├─► platform of group A ──┬─ load 1 ─► cell A1, a checked topology
//!   [group] ─┘                         └─ load 2 ─► cell A2
//! ```

mod cell;
pub(crate) mod claim;
mod config;

use std::path::Path;

use settings::{Diagnostics, Document, LoadError, Report, Rows, Table};

pub use cell::Cell;
pub use config::{ClaimConfig, GroupConfig, LoadConfig, RunOrder, RunRules, ScenarioConfig, ScenarioHead};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of the file, as given.
    pub file: String,
    /// The settings, including default values.
    pub config: ScenarioConfig,
    /// Group by group, load by load.
    pub cells: Vec<Cell>,
    /// Allowed settings that look wrong.
    pub warnings: Diagnostics,
}

/// Keys of a platform that a scenario sets by other keys.
const TAKEN: [(&str, &str, &str); 6] = [
    ("md", "interval", "the loads' rates set it"),
    ("md", "stagger", "the loads' rates set it"),
    ("md", "count", "[run] says when a cell ends"),
    ("md", "instruments", "[run] or the group's `instruments` sets it"),
    ("strategies", "count", "[run] or the group's `strategies` sets it"),
    ("platform", "instance", "instances are called after their cells"),
];

/// Whether `text` is a scenario and not a platform file.
pub fn is_scenario(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("[scenario]"))
}

/// Reads and checks the scenario at `path`, with the `--set` arguments `sets` over it.
///
/// # Errors
/// [`LoadError`]: the file cannot be read, or everything that is wrong with it.
pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, LoadError> {
    let text = settings::read_file(path)?;
    Ok(parse(&path.to_string_lossy(), &text, sets)?)
}

/// Checks `text`, the content of a scenario that is called `file` in messages.
///
/// # Errors
/// Everything that is wrong.
pub fn parse(file: &str, text: &str, sets: &[String]) -> Result<Scenario, Diagnostics> {
    let document = Document::parse(file, text, sets);
    let root = document.root().clone();
    let mut draft = document.check::<ScenarioConfig>();
    check(&draft.value, &draft.rows, &mut draft.report);
    taken(&root, &mut draft.report);
    let scenario = draft.finish()?;
    let (config, mut found) = (scenario.value, scenario.warnings);
    let mut cells = Vec::new();
    for (index, group) in config.group.iter().enumerate() {
        let document = Document::new(group_table(&root, index), scenario.rows.sources().clone());
        cells.extend(cell::of_group(&config, group, &document, &mut found));
    }
    match found.errors() {
        0 => Ok(Scenario { file: file.to_owned(), config, cells, warnings: found }),
        _ => Err(found),
    }
}

/// Checks the relations between keys.
fn check(config: &ScenarioConfig, rows: &Rows, report: &mut Report) {
    if config.load.is_empty() && !rows.is_bad("load") {
        report.error(None, "the scenario has no load").help("write [[load]] with rate = 80");
    }
    if config.group.is_empty() && !rows.is_bad("group") {
        report.error(None, "the scenario has no group").help("write [[group]] with name = \"A\"");
    }
    let known: Vec<f64> = config.load.iter().map(|load| load.rate).collect();
    for group in &config.group {
        for rate in group.rates.iter().flatten() {
            if !known.contains(rate) {
                let place = rows.place(&format!("group.{}.rates", group.name));
                let rates: Vec<String> = known.iter().map(f64::to_string).collect();
                report
                    .error(
                        place,
                        format!("group `{}` wants the rate {rate}, which no [[load]] has", group.name),
                    )
                    .help(format!("the loads have {}", rates.join(", ")));
            }
        }
    }
    for claim in &config.claim {
        let place = rows.place(&format!("claim.{}.holds", claim.name));
        match claim::read(&claim.holds) {
            Err(error) => {
                let said = claim.holds.get(error.start..error.end).unwrap_or_default();
                let at = if said.is_empty() { "at its end".to_owned() } else { format!("at `{said}`") };
                report
                    .error(
                        place.map(|span| span.within(error.start..error.end)),
                        format!("claim `{}` cannot be read {at}", claim.name),
                    )
                    .help(error.what);
            }
            Ok(expression) => {
                if let Err(what) = claim::check(&expression, config) {
                    report
                        .error(place, format!("claim `{}` cannot be judged: {what}", claim.name))
                        .help("a claim speaks of cells that this scenario measures");
                }
            }
        }
    }
    if config.run.shortest > config.run.longest {
        report
            .error(rows.place("run.shortest"), "`shortest` is longer than `longest`")
            .help("a run ends between the two, when it has its samples");
    }
}

/// Reports platform keys for which the scenario has other keys.
fn taken(root: &Table, report: &mut Report) {
    let mut look = |platform: &Table| {
        for (section, key, why) in TAKEN {
            if let Some(span) = platform.table(section).and_then(|table| table.key_span(key)) {
                report
                    .error(span, format!("`{section}.{key}` is not said in a scenario's platform"))
                    .help(why);
            }
        }
    };
    let groups = root.tables("group").filter_map(|group| group.table("platform"));
    root.table("base").into_iter().chain(groups).for_each(&mut look);
}

/// The platform sections of one group, merged over those of `[base]`.
fn group_table(root: &Table, index: usize) -> Table {
    let own = root.tables("group").nth(index).and_then(|group| group.table("platform"));
    let mut table = own.cloned().unwrap_or_default();
    if let Some(base) = root.table("base") {
        table.inherit(base);
    }
    table
}

#[cfg(test)]
mod tests;
