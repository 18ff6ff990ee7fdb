//! A platform file (TOML) → checked data, whole, before any process starts.
//!
//! # What this crate guarantees
//!
//! - It starts nothing and asks the host nothing: [`parse`] is a function of its arguments, and
//!   [`Platform::check_files`] alone looks at the disk.
//! - All faults of a file come at once, each with file, line, column, a caret, and what to do ([`Diagnostics`]).
//! - What it returns can run: one writer a journal, every reader's journal there, limits kept, nothing started
//!   before what it needs ([`Topology::check`]).
//! - Checking, [`schema`], [`Platform::settings`] and the defaults of [`config`] come from one description.
//!
//! ```text
//! file, --set ──▶ document ──▶ schema ──▶ config ──▶ rules ──▶ wiring ──▶ faults ──▶ Platform
//!               (keys know    (each key  (typed)    (between  (nodes and  (over
//!                their place)  by itself)            keys)     journals)   the whole)
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
//! # Ok::<(), topology::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]

pub mod config;
mod derive;
mod diagnostic;
mod document;
mod faults;
mod files;
mod memory;
mod pin_rules;
mod places;
mod relays;
mod rules;
pub mod scenario;
mod schema;
mod settings;
mod spec;
mod suggest;
mod units;
mod wiring;

use std::path::{Path, PathBuf};

pub use diagnostic::{Diagnostic, Diagnostics, Location, Severity};
pub use faults::{Fault, MAX_CAPACITY, MAX_JOURNALS, MAX_SEATS, MAX_TOPICS, MIN_CAPACITY, Subject};
pub use memory::{MemoryBill, MemoryItem};
pub use settings::{Origin, Setting};
pub use spec::{
    HostSection, HostedStrategy, JournalSpec, NodeKind, NodePart, NodeSpec, Pages, Program, ReadBinding,
    ReaderSpec, RelaySection, RestartSpec, StrategyAccount, StrategySection, TdSection, Topology,
    WriteBinding,
};
pub use units::{ByteSize, CpuList, TimeOfDay, duration};

use config::PlatformConfig;
use document::{Report, overrides};
use schema::Section;
use schema::check::Checker;
use settings::Settings;

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
    report: Report,
    rows: Settings,
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is wrong.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
}

/// Reads and checks the file at `path`, with the `--set` arguments `sets` (`KEY=VALUE`) over it.
///
/// # Errors
/// [`LoadError`]: the file cannot be read, or all that is wrong with it.
pub fn load(path: &Path, sets: &[String]) -> Result<Platform, LoadError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    Ok(parse(&path.to_string_lossy(), &text, sets)?)
}

/// Checks `text`, the content of a file that is called `file` in messages and whose folder relative paths start
/// at, with the `--set` arguments `sets` (`KEY=VALUE`) over it.
///
/// # Errors
/// All that is wrong.
pub fn parse(file: &str, text: &str, sets: &[String]) -> Result<Platform, Diagnostics> {
    let mut report = Report::new(file, text, sets);
    let (mut root, whole) = document::parse(text, &mut report);
    for (index, argument) in sets.iter().enumerate() {
        overrides::apply(&mut root, argument, index + 1, &mut report);
    }
    assemble(file, &root, whole, report)
}

/// Checks the sections in `root` as one platform. `whole`: the text that they come from is TOML throughout.
pub(crate) fn assemble(
    file: &str,
    root: &document::Table,
    whole: bool,
    mut report: Report,
) -> Result<Platform, Diagnostics> {
    let mut checker = Checker::new(PlatformConfig::TABLE, &mut report);
    let effective = checker.root(root);
    let mut rows = Settings::new(checker);
    let mut config: PlatformConfig = match serde_json::from_value(effective) {
        Ok(config) => config,
        Err(error) => {
            let message = format!("schema and config types of colo disagree: {error}");
            report.error(None, message).help("this is a fault of colo: please report it with the file");
            PlatformConfig::default()
        }
    };
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    derive::complete(&mut config, &mut rows, folder);
    if whole {
        rules::check(&config, &rows, &mut report);
    }
    let topology = match whole && !rows.structure_is_bad() {
        true => check_topology(&config, &rows, &mut report),
        false => None,
    };
    let failed = report.has_errors();
    let found = Diagnostics { file: file.to_owned(), diagnostics: report.take() };
    match topology {
        Some(topology) if !failed => {
            Ok(Platform { file: file.to_owned(), config, topology, warnings: found, report, rows })
        }
        _ => Err(found),
    }
}

/// The topology, unless there are too many nodes to build it.
fn check_topology(config: &PlatformConfig, rows: &Settings, report: &mut Report) -> Option<Topology> {
    let strategies: usize = config.strategies.iter().map(|group| group.count as usize).sum();
    if strategies + config.node.len() > MAX_SEATS {
        return None;
    }
    let topology = wiring::build(config);
    for fault in topology.check() {
        let place = rows.place(&fault_path(&fault, config, &topology, rows));
        report.error(place, fault.to_string()).help(fault.help());
    }
    pin_rules::check(&topology, rows, report);
    Some(topology)
}

/// Which key a fault of the whole is best shown at.
fn fault_path(fault: &Fault, config: &PlatformConfig, topology: &Topology, rows: &Settings) -> String {
    let node_path = |name: &str| match topology.nodes.iter().rfind(|node| node.name == name) {
        Some(NodeSpec { group: Some(group), .. }) => rows.group_path(group),
        Some(NodeSpec { kind: NodeKind::Custom, .. }) => format!("node.{name}"),
        Some(NodeSpec { kind: NodeKind::Host, .. }) => rows.host_path(name, config),
        _ => name.to_owned(),
    };
    match (fault, fault.subject()) {
        (Fault::UnknownNode { node, .. }, _) => format!("{}.needs", node_path(node)),
        (Fault::UnknownJournal { node, journal, .. } | Fault::ReadTwice { node, journal, .. }, _) => {
            let custom = config.node.iter().find(|custom| custom.name == *node);
            let index = custom.and_then(|node| node.reads.iter().rposition(|read| read.journal == *journal));
            format!("{}.reads.{}.journal", node_path(node), index.unwrap_or_default())
        }
        (Fault::TwoWriters { second, journal, .. }, _) => {
            let custom = config.node.iter().find(|custom| custom.name == *second);
            let index = custom.and_then(|node| node.writes.iter().rposition(|w| w.journal == *journal));
            format!("{}.writes.{}.journal", node_path(second), index.unwrap_or_default())
        }
        (_, Subject::Node(name)) => format!("{}.name", node_path(name)),
        (_, Subject::Journal(name)) => journal_path(name, config, rows),
        (_, Subject::Instance) => "strategies".to_owned(),
    }
}

/// The key that sets the capacity of this journal, or that makes it matter.
fn journal_path(name: &str, config: &PlatformConfig, rows: &Settings) -> String {
    for node in &config.node {
        if let Some(index) = node.writes.iter().position(|write| write.journal == name) {
            return format!("node.{}.writes.{index}.capacity", node.name);
        }
    }
    capacity_path(name, rows).unwrap_or_else(|| "journal.huge_pages".to_owned())
}

/// The nearest key that sets the capacity of this standard journal, if one does.
fn capacity_path(journal: &str, rows: &Settings) -> Option<String> {
    let family = journal.split('.').next().unwrap_or(journal);
    let sections = [format!("journal.{journal}"), format!("journal.{family}"), "journal".to_owned()];
    sections.map(|section| format!("{section}.capacity")).into_iter().find(|path| rows.is_written(path))
}

impl Platform {
    /// Every key with its value, who said so, and what it means.
    pub fn settings(&self) -> Vec<Setting> {
        self.rows.explain(&self.report)
    }

    /// Who set the capacity of a standard journal.
    pub fn capacity_origin(&self, journal: &str) -> Origin {
        let path = capacity_path(journal, &self.rows);
        let setting = path.and_then(|path| self.settings().into_iter().find(|setting| setting.key == path));
        setting.map_or(Origin::Default, |setting| setting.origin)
    }
}

/// The file's format as JSON Schema (draft 2020-12).
pub fn schema() -> serde_json::Value {
    schema::json::document(PlatformConfig::TABLE)
}
