//! What was measured.

use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::{Disk, Mode, OrdersRow, WayRow, WriterCost};

/// `colo bench durable`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DurableReport {
    /// Where.
    pub host: HostSummary,
    /// The disk.
    pub disk: Disk,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// Turns of each row.
    pub rounds: usize,
    /// Length of a turn.
    pub turn_ms: u64,
    /// Mode after mode.
    pub rows: Vec<DurableRow>,
    /// What a recorder costs a writer.
    pub writer: WriterCost,
    /// Orders that are acknowledged when they are on disk.
    pub orders: OrdersRow,
    /// Ways to write a file.
    pub ways: Vec<WayRow>,
}

/// One mode and batch, so many files. Rates are medians over the turns, times of all turns together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DurableRow {
    /// What was waited for.
    pub mode: Mode,
    /// Records of a batch; `None`: what gathered.
    pub batch: Option<usize>,
    /// Files, each with a journal, a writer and a recorder.
    pub files: usize,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Records a second, of all files.
    pub records_per_s: f64,
    /// The same, if nothing was done but to write their bytes.
    pub bare_records_per_s: Option<f64>,
    /// Median over the turns of ours by bare.
    pub ratio: Option<f64>,
    /// From before a batch was written until it was on disk.
    pub durable_p50_us: Option<f64>,
    /// 99th percentile.
    pub durable_p99_us: Option<f64>,
    /// 99.9th percentile.
    pub durable_p999_us: Option<f64>,
    /// One bare write that is on disk when it returns.
    pub bare_p50_us: Option<f64>,
    /// 99th percentile.
    pub bare_p99_us: Option<f64>,
    /// 99.9th percentile.
    pub bare_p999_us: Option<f64>,
    /// Records of all turns.
    pub records: u64,
    /// Syncs of all turns.
    pub syncs: u64,
    /// Bytes written in all turns.
    pub bytes: u64,
    /// Times measured.
    pub samples: u64,
}
