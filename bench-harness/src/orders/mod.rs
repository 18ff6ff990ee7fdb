//! The way of an order: from a strategy through td to the exchange, and its reports back, between real processes.
//!
//! Each row is a platform of its own: so many strategies that send orders which cannot trade (`builtin:round-trips`), td with
//! all of its limits set, an exchange with empty books, a ledger. First each strategy has one order on its way at a time, and
//! its round trips are the latency; then it has as many as keep all nodes busy, and the ends of orders in a second are the
//! rate. Rows go in turns over all rounds, so that whatever else the host does is shared by all of them.
//!
//! ```text
//!            orders.NAME          td.orders           matching.executions
//!  strategy ────────────► td ─────────────► exchange ─────────────────────┬► ledger
//!      ▲                  ▲│                                              │
//!      └── reports.NAME ──┼┘◄─────────────────────────────────────────────┘
//! ```
//!
//! Beside that, in this process: what td's core takes for an order, with all limits, and with each switched off.

mod checks;
mod desk;
mod platform;
mod report;
mod row;
mod trips;

use std::path::PathBuf;
use std::time::Duration;

use pinning::Host;
use serde::{Deserialize, Serialize};

use crate::ipc::IpcError;
use crate::scratch::Scratch;

pub use checks::{CheckRow, Checks};
pub use desk::{DeskChecks, DeskRow};
pub use report::{OrdersReport, OrdersRow};

/// How strategies, td and the exchange wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Waiting {
    /// They look all the time.
    Fast,
    /// They sleep until they are woken.
    Parked,
}

impl Waiting {
    /// Both.
    pub const ALL: [Waiting; 2] = [Waiting::Fast, Waiting::Parked];

    /// As in the platform file.
    pub fn as_str(self) -> &'static str {
        match self {
            Waiting::Fast => "fast",
            Waiting::Parked => "parked",
        }
    }
}

impl std::str::FromStr for Waiting {
    type Err = String;

    fn from_str(text: &str) -> Result<Waiting, String> {
        let found = Waiting::ALL.into_iter().find(|waiting| waiting.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no way to wait: there are fast and parked"))
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct OrdersSettings {
    /// Strategies, row by row.
    pub strategies: Vec<u32>,
    /// Accounts that they trade for, row by row; 0: none are kept.
    pub accounts: Vec<u32>,
    /// How the nodes wait, row by row.
    pub waiting: Vec<Waiting>,
    /// How long each of both stages of a row takes.
    pub turn: Duration,
    /// Rounds over all rows.
    pub rounds: usize,
    /// Orders of a block whose checks are timed together, and blocks.
    pub blocks: usize,
    /// CPUs to use; all that this process may use when empty.
    pub cpus: Vec<usize>,
    /// The `colo` binary.
    pub colo: PathBuf,
}

impl OrdersSettings {
    /// Some fifteen minutes.
    pub fn full(colo: PathBuf) -> OrdersSettings {
        OrdersSettings {
            strategies: vec![1, 8, 80],
            accounts: vec![0, 1, 100, 1_000, 10_000, 50_000],
            waiting: Waiting::ALL.to_vec(),
            turn: Duration::from_secs(2),
            rounds: 5,
            blocks: 2_000,
            cpus: Vec::new(),
            colo,
        }
    }

    /// Within two minutes, on a busy host too.
    pub fn quick(colo: PathBuf) -> OrdersSettings {
        OrdersSettings {
            accounts: vec![0, 1, 10_000],
            turn: Duration::from_millis(700),
            rounds: 1,
            blocks: 400,
            ..OrdersSettings::full(colo)
        }
    }
}

/// Measures. `progress` receives what is being measured, and how much is done (0 to 1). When it returns false, the
/// measurement ends with [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &OrdersSettings,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<OrdersReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let go_on = |what: &str, done| if progress(what, done) { Ok(()) } else { Err(IpcError::Stopped) };
    let mut settings = settings.clone();
    if settings.cpus.is_empty() {
        settings.cpus = host.allowed.iter().collect();
    }
    let settings = &settings;
    if settings.cpus.len() < 2 && settings.waiting.contains(&Waiting::Fast) {
        return Err(IpcError::TooFewCpus { found: settings.cpus.len() });
    }
    go_on("checks", 0.0)?;
    let checks = checks::measure(settings.blocks)?;
    let mut numbers: Vec<u32> = settings.accounts.iter().copied().filter(|accounts| *accounts > 0).collect();
    numbers.dedup();
    let desk = desk::measure(&numbers, settings.blocks)?;
    let scratch = Scratch::create().map_err(crate::ipc::system("make a folder in /dev/shm"))?;
    let mut rows = row::all(settings, settings.cpus.len());
    let turns = (rows.len() * settings.rounds).max(1) as f64;
    for round in 0..settings.rounds {
        let count = rows.len();
        for (index, row) in rows.iter_mut().enumerate() {
            let done = (round * count + index) as f64;
            let name = row.name();
            let tick = |share: f64| progress(&name, (done + share) / turns);
            row.turn(settings, scratch.path(), &tick)?;
        }
    }
    Ok(OrdersReport {
        host: host.summary(),
        rounds: settings.rounds,
        turn_ms: settings.turn.as_millis() as u64,
        is_short_of_cpus: rows.iter().any(|row| row.shares_cpus),
        rows: rows.iter().map(|row| row.report(&checks, &desk)).collect(),
        checks,
        desk,
    })
}
