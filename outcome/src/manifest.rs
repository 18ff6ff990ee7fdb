//! `run.json`: what a folder says of its run.

use std::collections::BTreeMap;
use std::path::Path;

use observe::Report;
use serde::{Deserialize, Serialize};

use crate::data::FileMark;
use crate::fold::Halts;
use crate::follow::Missed;
use crate::sheet::Listed;

/// The file that makes a folder one of a run.
pub const MANIFEST: &str = "run.json";
/// The file that the process has locked which writes the folder; removed at the end.
pub(crate) const LOCK: &str = "lock";
/// What its first key says.
pub const FORMAT: &str = "colo-run";
/// Grows when an older reader would misread.
pub const VERSION: u32 = 1;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It goes on, or its process was killed: `Manifest::is_alive` tells.
    #[default]
    Running,
    /// It came to its end.
    Finished,
    /// Somebody ended it before.
    Interrupted,
    /// A node failed, or there is no report.
    Failed,
}

/// How the nodes ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In lock-step, all nodes in one process.
    OneProcess,
    /// In lock-step over processes.
    LockStep,
    /// They raced, as in live trading.
    #[default]
    Live,
}

/// A process for ever: its number and when it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Its id.
    pub pid: u32,
    /// Clock ticks since boot.
    pub start: u64,
}

/// What `run.json` holds. `docs/runs.md` has it field by field.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// How far it has come.
    pub state: RunState,
    /// The instance.
    pub instance: String,
    /// How its nodes ran.
    pub mode: Mode,
    /// The same input gives the same files.
    pub deterministic: bool,
    /// Real time, RFC 3339.
    pub started: String,
    /// Real time, RFC 3339; not there while it runs.
    #[serde(default)]
    pub ended: Option<String>,
    /// Real seconds of the run, as in its report.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// First and last time of its rows: the market's in lock-step, else the platform's clock.
    #[serde(default)]
    pub first_ns: Option<u64>,
    /// See above.
    #[serde(default)]
    pub last_ns: Option<u64>,
    /// Distance of two samples at the end of the run.
    #[serde(default)]
    pub sample_ns: u64,
    /// Version of colo.
    pub colo: String,
    /// Who writes the folder.
    pub writer: Writer,
    /// The platform file as it was named.
    #[serde(default)]
    pub platform: Option<String>,
    /// Where market data comes from.
    #[serde(default)]
    pub source: String,
    /// Seed of simulated prices.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The recorded day's files.
    #[serde(default)]
    pub data: Vec<FileMark>,
    /// The file of instruments; not there for a ready set, or where there is none.
    #[serde(default)]
    pub instruments: Option<FileMark>,
    /// In which money its figures are; not there where it is of several, or nobody says.
    #[serde(default)]
    pub currency: Option<String>,
    /// Programs of strategies and services that are none of colo's, by node.
    #[serde(default)]
    pub programs: BTreeMap<String, FileMark>,
    /// Whether the files hold all that there was.
    #[serde(default)]
    pub complete: bool,
    /// What they lack.
    #[serde(default)]
    pub missed: Vec<Missed>,
    /// Rows of `t2o.csv` that were left out.
    #[serde(default)]
    pub t2o_left_out: u64,
    /// Orders that td or the market refused, by the reason.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// What the market's halts, auctions and ends of sessions did to orders.
    #[serde(default)]
    pub halts: Halts,
    /// What could not be written.
    #[serde(default)]
    pub problems: Vec<String>,
    /// The tables.
    #[serde(default)]
    pub files: Vec<Listed>,
    /// The report of the run: totals, strategies, stages, losses, deaths, caveats, the host.
    #[serde(default)]
    pub report: Option<Report>,
}

impl Manifest {
    /// Whether the process that writes this run's folder lives: it holds the folder's lock.
    pub fn is_alive(&self, folder: &Path) -> bool {
        let (Writer { pid, start }, lock) = (self.writer, folder.join(LOCK));
        let lives = || match lock.exists() {
            true => node::OwnLock::is_held(&lock),
            // An earlier version made none, and some file systems have none.
            false => journal::process::ProcessIdentity { pid, start }.is_alive(),
        };
        self.state == RunState::Running && lives()
    }

    /// In a word: a run that was killed is `unfinished`.
    pub fn state_word(&self, folder: &Path) -> &'static str {
        match self.state {
            RunState::Running if self.is_alive(folder) => "running",
            RunState::Running => "unfinished",
            RunState::Finished => "finished",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
        }
    }
}
