//! A platform file (TOML) → checked data, whole, before any process starts.
//!
//! # What this crate guarantees
//!
//! - It starts nothing and does not look at the host: [`parse`] is a function of its arguments, and
//!   [`Platform::check_files`] alone looks at the disk.
//! - All errors of a file come at once, each with file, line, column, a caret, and what to do ([`Diagnostics`]).
//! - What it returns can run: each journal has one writer, every journal that is read is written, limits are kept,
//!   and no node starts before the nodes that it needs ([`Topology::check`]).
//! - Checking, [`schema`], [`Platform::settings`] and the defaults of [`config`] come from one description: the language
//!   itself is the crate [`settings`].
//!
//! ```text
//! file, --set ──▶ settings ──▶ derive ──▶ rules ──▶ wiring ──▶ faults ──▶ Platform
//!               (each key     (what      (between  (nodes and  (over
//!                by itself)    follows)   keys)     journals)   the whole)
//! ```
//!
//! # Example
//!
//! ```
//! let text = "[md]\ninterval = \"1ms\"\n[strategies]\ncount = 2\n";
//! let platform = topology::parse("two.toml", text, &["md.instruments=4".to_owned()])?;
//! let orders = platform.topology.journal("orders.strategy-2").expect("each strategy has one");
//! assert_eq!(orders.readers[0].node, "td");
//!
//! let wrong = topology::parse("two.toml", "[md]\nintervall = 2\n[strategies]\n", &[]).unwrap_err();
//! assert!(wrong.to_string().contains("did you mean `interval`?"));
//! # Ok::<(), settings::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(test)]
mod agreement;
pub mod config;
mod derive;
pub mod desk;
mod faults;
mod files;
mod forms;
mod market;
mod memory;
mod paths;
mod pin_rules;
mod places;
mod relays;
mod rules;
mod services;
mod spec;
mod wiring;

use std::path::Path;

pub use faults::{Fault, MAX_CAPACITY, MAX_JOURNALS, MAX_SEATS, MAX_TOPICS, MIN_CAPACITY};
pub use files::samples_file;
pub use forms::{LONGEST_INSTANCE, LONGEST_JOURNAL};
pub use market::{InstrumentsFile, Market, MarketError, ReadySet, idle_rows};
pub use memory::{MemoryBill, MemoryItem};
pub use services::{NodeKind, Stream, finishes, looks_on, stop_group, stop_order};
pub use spec::is_python;
pub use spec::{
    DeskSection, GatewaySection, HostSection, HostedStrategy, JournalSpec, LedgerSection, MdSection,
    NodePart, NodeSpec, Pages, Program, ReadBinding, ReaderSpec, RelaySection, RestartSpec, RunFolder,
    StrategyLimits, StrategySection, TdSection, Topology, WriteBinding,
};

use config::PlatformConfig;
use faults::Subject;
use settings::{Diagnostics, Document, Draft, LoadError, Origin, Rows, Setting};

/// The platform that runs when no file is named: simulated market data and eight strategies, for five seconds.
pub const DEMO: &str = include_str!("../../configs/demo.toml");

/// A checked platform.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The file as it was named.
    pub file: String,
    /// What it says, with what it leaves out filled in.
    pub config: PlatformConfig,
    /// What runs.
    pub topology: Topology,
    /// What looks wrong but is allowed.
    pub warnings: Diagnostics,
    rows: Rows,
}

/// Reads and checks the file at `path`, with the `--set` arguments `sets` (`KEY=VALUE`) over it.
///
/// # Errors
/// [`LoadError`]: the file cannot be read, or all that is wrong with it.
pub fn load(path: &Path, sets: &[String]) -> Result<Platform, LoadError> {
    let text = settings::read_file(path)?;
    Ok(parse(&path.to_string_lossy(), &text, sets)?)
}

/// Checks `text`, the content of a file that is called `file` in messages and whose folder relative paths start
/// at, with the `--set` arguments `sets` (`KEY=VALUE`) over it.
///
/// # Errors
/// All that is wrong.
pub fn parse(file: &str, text: &str, sets: &[String]) -> Result<Platform, Diagnostics> {
    check(Document::parse(file, text, sets))
}

/// Checks the tables of `document` as one platform. Relative paths start at the folder of the document's file.
///
/// # Errors
/// All that is wrong.
pub fn check(document: Document) -> Result<Platform, Diagnostics> {
    let mut draft = document.check::<PlatformConfig>();
    let file = draft.rows.sources().file().to_owned();
    derive::complete(&mut draft.value, &mut draft.rows, Path::new(&file).parent().unwrap_or(Path::new("")));
    if draft.is_whole() {
        rules::check(&draft.value, &draft.rows, &mut draft.report);
    }
    let market = match market::Market::of(&draft.value) {
        Ok(market) => market,
        Err(market::MarketError::Invalid(wrong)) if !draft.report.has_errors() => return Err(wrong),
        Err(error) => {
            note_market(&mut draft, &error);
            market::Market::default()
        }
    };
    if let Some(idle) = market::idle_rows_before(&draft.value) {
        let place = draft.rows.place("md.instruments_file");
        draft.report.warning(place, idle).help("mend their `symbols`, or leave them out");
    }
    let topology = wire_up(&mut draft, market);
    let checked = draft.finish()?;
    match topology {
        Some(topology) => Ok(Platform {
            file,
            config: checked.value,
            topology,
            warnings: checked.warnings,
            rows: checked.rows,
        }),
        None => Err(checked.warnings),
    }
}

/// Shows at `md.instruments_file` what is wrong with the file.
fn note_market(draft: &mut Draft<PlatformConfig>, error: &market::MarketError) {
    let place = draft.rows.place("md.instruments_file");
    let noted = draft.report.error(place, error.to_string());
    if let market::MarketError::Unusable { help, .. } = error {
        noted.help(help);
    }
}

/// The topology, checked, where the draft says which nodes and journals there are.
fn wire_up(draft: &mut Draft<PlatformConfig>, market: market::Market) -> Option<Topology> {
    if !draft.is_whole() || paths::structure_is_bad(&draft.rows) {
        return None;
    }
    let Draft { value: config, rows, report, .. } = draft;
    let strategies: usize = config.strategies.iter().map(|group| group.count as usize).sum();
    // So many could not even be listed; the rules have noted it.
    if strategies + config.service.len() + config.recorder.len() > MAX_SEATS {
        return None;
    }
    rules::desk::currencies(config, &market, rows, report);
    let topology = wiring::build(config, market);
    for fault in topology.check() {
        let place = rows.place(&fault_path(&fault, config, &topology, rows));
        report.error(place, fault.to_string()).help(fault.help());
    }
    rules::durability::check(config, &topology, rows, report);
    pin_rules::check(&topology, rows, report);
    Some(topology)
}

/// Which key a fault of the whole is best shown at.
fn fault_path(fault: &Fault, config: &PlatformConfig, topology: &Topology, rows: &Rows) -> String {
    let node_path = |name: &str| match topology.nodes.iter().rfind(|node| node.name == name) {
        Some(NodeSpec { group: Some(group), .. }) => paths::group(rows, group),
        Some(NodeSpec { kind, .. }) if kind.is_added() => format!("service.{name}"),
        Some(NodeSpec { kind: NodeKind::Recorder, .. }) => format!("recorder.{name}"),
        Some(NodeSpec { kind: NodeKind::Host, .. }) => paths::host(rows, name, config),
        _ => name.to_owned(),
    };
    match (fault, fault.subject()) {
        (Fault::UnknownNode { node, .. }, _) => format!("{}.needs", node_path(node)),
        (Fault::UnknownJournal { node, journal, .. } | Fault::ReadTwice { node, journal, .. }, _) => {
            let service = config.service.iter().find(|service| service.name == *node);
            let index =
                service.and_then(|service| service.reads.iter().rposition(|read| read.journal == *journal));
            format!("{}.reads.{}.journal", node_path(node), index.unwrap_or_default())
        }
        (Fault::TwoWriters { second, journal, .. }, _) => {
            let service = config.service.iter().find(|service| service.name == *second);
            let index =
                service.and_then(|service| service.writes.iter().rposition(|w| w.journal == *journal));
            format!("{}.writes.{}.journal", node_path(second), index.unwrap_or_default())
        }
        (_, Subject::Node(name)) => format!("{}.name", node_path(name)),
        (_, Subject::Journal(name)) => journal_path(name, config, rows),
        (_, Subject::Instance) => "strategies".to_owned(),
    }
}

/// The key that sets the capacity of this journal, or that makes it matter.
fn journal_path(name: &str, config: &PlatformConfig, rows: &Rows) -> String {
    for service in &config.service {
        if let Some(index) = service.writes.iter().position(|write| write.journal == name) {
            return format!("service.{}.writes.{index}.capacity", service.name);
        }
    }
    capacity_path(name, rows).unwrap_or_else(|| "journal.huge_pages".to_owned())
}

/// The nearest key that sets the capacity of this standard journal, if one does.
fn capacity_path(journal: &str, rows: &Rows) -> Option<String> {
    let family = journal.split('.').next().unwrap_or(journal);
    let sections = [format!("journal.{journal}"), format!("journal.{family}"), "journal".to_owned()];
    sections.map(|section| format!("{section}.capacity")).into_iter().find(|path| rows.is_written(path))
}

impl Platform {
    /// Every key with its value, its origin and its documentation.
    pub fn settings(&self) -> Vec<Setting> {
        self.rows.settings()
    }

    /// Where the capacity of a standard journal is set.
    pub fn capacity_origin(&self, journal: &str) -> Origin {
        let path = capacity_path(journal, &self.rows);
        let setting = path.and_then(|path| self.settings().into_iter().find(|setting| setting.key == path));
        setting.map_or(Origin::Default, |setting| setting.origin)
    }
}

/// The file's format as JSON Schema (draft 2020-12).
pub fn schema() -> serde_json::Value {
    settings::json_schema::<PlatformConfig>("colo platform")
}
