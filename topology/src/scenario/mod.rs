//! A scenario file (TOML) → checked cells: which platforms are measured, at which rates, for how long.
//!
//! A scenario holds platform sections, not platform files: `[base]` is what all groups have, `[group.platform]` what
//! one has on top of it, and the scenario itself says how many strategies and instruments there are and how fast they
//! are quoted. Every cell is put together and checked like a platform file before anything starts, and whatever is
//! wrong is shown where the scenario says it.
//!
//! ```text
//!   [base] ──┐
//!            ├─► platform of group A ──┬─ load 1 ─► cell A1, a checked topology
//!   [group] ─┘                         └─ load 2 ─► cell A2
//! ```

mod cell;
pub mod claim;
mod config;

use std::path::Path;

pub use cell::Cell;
pub use config::{ClaimConfig, GroupConfig, LoadConfig, RunOrder, RunRules, ScenarioConfig, ScenarioHead};

use crate::diagnostic::Diagnostics;
use crate::document::{self, Entry, Node, Report, Span, Table, Value, overrides};
use crate::schema::Section;
use crate::schema::check::Checker;
use crate::settings::Settings;
use crate::{LoadError, Severity};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file as it was named.
    pub file: String,
    /// What it says, with what it leaves out filled in.
    pub config: ScenarioConfig,
    /// Group by group, load by load.
    pub cells: Vec<Cell>,
    /// What looks wrong but is allowed.
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
/// [`LoadError`]: the file cannot be read, or all that is wrong with it.
pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, LoadError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    Ok(parse(&path.to_string_lossy(), &text, sets)?)
}

/// Checks `text`, the content of a scenario that is called `file` in messages.
///
/// # Errors
/// All that is wrong.
pub fn parse(file: &str, text: &str, sets: &[String]) -> Result<Scenario, Diagnostics> {
    let mut report = Report::new(file, text, sets);
    let (mut root, whole) = document::parse(text, &mut report);
    for (index, argument) in sets.iter().enumerate() {
        overrides::apply(&mut root, argument, index + 1, &mut report);
    }
    let mut checker = Checker::new(ScenarioConfig::TABLE, &mut report);
    let effective = checker.root(&root);
    let rows = Settings::new(checker);
    let config: ScenarioConfig = match serde_json::from_value(effective) {
        Ok(config) => config,
        Err(error) => {
            report
                .error(None, format!("schema and config types of colo disagree: {error}"))
                .help("this is a fault of colo: please report it with the file");
            ScenarioConfig::default()
        }
    };
    check(&config, &rows, &mut report);
    taken(&root, &mut report);
    let mut found = Diagnostics { file: file.to_owned(), diagnostics: report.take() };
    let mut cells = Vec::new();
    if found.errors() == 0 && whole {
        for (index, group) in config.group.iter().enumerate() {
            let table = group_table(&root, index);
            cells.extend(cell::of_group(&config, group, &table, file, &report, &mut found));
        }
    }
    if found.errors() > 0 || !whole {
        return Err(found);
    }
    Ok(Scenario { file: file.to_owned(), config, cells, warnings: found })
}

/// What must hold between the keys.
fn check(config: &ScenarioConfig, rows: &Settings, report: &mut Report) {
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
                    .error(within(place, &error), format!("claim `{}` cannot be read {at}", claim.name))
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

/// The part of a claim's text that is wrong, in the file: behind the opening quote.
fn within(place: Option<Span>, error: &claim::ClaimError) -> Option<Span> {
    place.map(|span| {
        let start = (span.start + 1 + error.start).min(span.end.saturating_sub(1));
        Span { start, end: (span.start + 1 + error.end).clamp(start, span.end), ..span }
    })
}

/// Platform keys that the scenario has other keys for.
fn taken(root: &Table, report: &mut Report) {
    let mut look = |platform: &Table| {
        for (section, key, why) in TAKEN {
            let found = table_of(platform, section).and_then(|table| table.get(key));
            if let Some(entry) = found {
                report
                    .error(entry.key_span, format!("`{section}.{key}` is not said in a scenario's platform"))
                    .help(why);
            }
        }
    };
    if let Some(base) = table_of(root, "base") {
        look(base);
    }
    for group in groups(root) {
        if let Some(platform) = table_of(group, "platform") {
            look(platform);
        }
    }
}

fn table_of<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    match &table.get(key)?.node.value {
        Value::Table(inner) => Some(inner),
        _ => None,
    }
}

fn groups(root: &Table) -> impl Iterator<Item = &Table> {
    let items = match root.get("group").map(|entry| &entry.node.value) {
        Some(Value::Array(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|item| match &item.value {
        Value::Table(table) => Some(table),
        _ => None,
    })
}

/// The platform sections of one group, those of `[base]` below them.
fn group_table(root: &Table, index: usize) -> Table {
    let own = groups(root).nth(index).and_then(|group| table_of(group, "platform"));
    let mut table = own.cloned().unwrap_or_default();
    if let Some(base) = table_of(root, "base") {
        table.inherit(base);
    }
    table
}

/// Puts `path = value` into `table` where it says nothing else.
fn put(table: &mut Table, path: &[&str], value: Value, span: Span) {
    let [key, rest @ ..] = path else { return };
    let node = |value| Node { value, span, raw: None };
    if rest.is_empty() {
        if table.get(key).is_none() {
            table.0.push(Entry { key: (*key).to_owned(), key_span: span, node: node(value) });
        }
        return;
    }
    if table.get(key).is_none() {
        let inner = node(Value::Table(Table::default()));
        table.0.push(Entry { key: (*key).to_owned(), key_span: span, node: inner });
    }
    if let Some(Entry { node: Node { value: Value::Table(inner), .. }, .. }) =
        table.0.iter_mut().find(|entry| entry.key == *key)
    {
        put(inner, rest, value, span);
    }
}

impl Diagnostics {
    /// Takes over what is new in `other`.
    fn join(&mut self, other: Diagnostics) {
        for diagnostic in other.diagnostics {
            let same = |known: &crate::Diagnostic| {
                known.message == diagnostic.message && known.location == diagnostic.location
            };
            if !self.diagnostics.iter().any(same) {
                self.diagnostics.push(diagnostic);
            }
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
    }
}

#[cfg(test)]
mod tests;
