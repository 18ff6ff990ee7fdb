//! What it costs to have records on disk, compared with a bare loop of the same bytes and system calls.
//!
//! A *lane* is one journal, its writer and its recorder, each a thread, and one file that is written. Each row runs its
//! lanes for a while, then the bare loop: a prepared file, written with `O_DSYNC`, as many bytes a write as the recorder
//! had on average. Rows go in turns over all rounds, so that whatever else the disk does is shared by all of them.
//!
//! ```text
//!  round 1:  row 1 │ bare │ row 2 │ bare │ …    round 2:  row 1 │ bare │ …        medians over the rounds
//! ```
//!
//! Then: what a recorder costs the writer beside it, orders that are acknowledged when they are on disk, and the ways to
//! write a file.

#![allow(
    clippy::disallowed_types,
    reason = "flags between threads of one process: no memory is shared by them"
)]

mod bare;
mod lane;
mod orders;
mod place;
mod recovering;
mod report;
mod row;
mod ways;
mod writer;

use std::path::PathBuf;
use std::time::Duration;

use pinning::Host;
use serde::{Deserialize, Serialize};

use crate::ipc::IpcError;

pub use orders::OrdersRow;
pub use place::Disk;
pub use recovering::{RecoverReport, RecoverRow, RecoverSettings, recover};
pub use report::{DurableReport, DurableRow};
pub use ways::WayRow;
pub use writer::WriterCost;

/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 128;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing is recorded.
    None,
    /// The journal is recorded, and nobody waits for it.
    Async,
    /// A batch is written when the one before it is on disk.
    Sync,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 3] = [Mode::None, Mode::Async, Mode::Sync];
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct DurableSettings {
    /// What is waited for, row by row.
    pub modes: Vec<Mode>,
    /// Records of a batch; `None`: single records, and a sync has what gathered.
    pub batches: Vec<Option<usize>>,
    /// Files that are written in parallel.
    pub files: Vec<usize>,
    /// How long each half of a row runs.
    pub turn: Duration,
    /// Rounds over all rows.
    pub rounds: usize,
    /// Folder on the disk to measure.
    pub folder: PathBuf,
    /// Bytes of the segments of all files of a row together; large enough for a turn.
    pub segment_bytes: u64,
    /// Bytes of a ring.
    pub capacity: u64,
}

impl DurableSettings {
    /// Some two minutes.
    pub fn full(folder: PathBuf) -> DurableSettings {
        DurableSettings {
            modes: Mode::ALL.to_vec(),
            batches: vec![Some(1), Some(100), Some(1_000), None],
            files: vec![1, 2, 4],
            turn: Duration::from_millis(150),
            rounds: 5,
            folder,
            segment_bytes: 128 << 20,
            capacity: 4 << 20,
        }
    }

    /// Within half a minute.
    pub fn quick(folder: PathBuf) -> DurableSettings {
        DurableSettings {
            turn: Duration::from_millis(100),
            rounds: 1,
            files: vec![1, 2],
            segment_bytes: 64 << 20,
            ..DurableSettings::full(folder)
        }
    }
}

/// Measures. `progress` receives what is being measured, and how much is done (0 to 1). When it returns false, the
/// measurement ends with [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &DurableSettings,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<DurableReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let place = place::Place::create(&settings.folder)?;
    let progress = |what: &str, done| if progress(what, done) { Ok(()) } else { Err(IpcError::Stopped) };
    let mut rows = row::all(settings);
    for round in 0..settings.rounds {
        let count = rows.len();
        for (index, row) in rows.iter_mut().enumerate() {
            let done = (round * count + index) as f64 / (settings.rounds * count) as f64;
            progress(&row.name(), done * 0.8)?;
            row.turn(settings, &place)?;
        }
    }
    progress("a writer beside a recorder", 0.8)?;
    let writer = writer::measure(settings, &place)?;
    progress("orders of 8 strategies", 0.86)?;
    let orders = orders::measure(settings, &place)?;
    let ways = ways::measure(settings, &place, |done| progress("ways to write", 0.9 + done / 10.0))?;
    Ok(DurableReport {
        host: host.summary(),
        disk: place.disk(),
        segment_bytes: settings.segment_bytes,
        rounds: settings.rounds,
        turn_ms: settings.turn.as_millis() as u64,
        rows: rows.iter().map(row::Row::report).collect(),
        writer,
        orders,
        ways,
    })
}
