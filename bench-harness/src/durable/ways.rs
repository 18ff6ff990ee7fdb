//! Ways to put bytes on disk, in turns on the same disk.

use bench_kit::Spread;
use hdrhistogram::Histogram;
use nix::libc;
use serde::{Deserialize, Serialize};

use super::DurableSettings;
use super::bare::{Bare, Way};
use super::lane::histogram;
use super::place::Place;
use crate::ipc::IpcError;

/// Bytes of a write: one order, a batch of 1,000 records, the most that a recorder writes at once.
const SIZES: [usize; 3] = [256, 128_128, 4 << 20];

const WAYS: [(&str, Way); 5] = [
    ("dsync", Way::RECORDER),
    ("direct", Way { prepared: true, flags: libc::O_DSYNC | libc::O_DIRECT }),
    ("fdatasync", Way { prepared: true, flags: 0 }),
    ("dsync-reserved", Way { prepared: false, flags: libc::O_DSYNC }),
    ("direct-reserved", Way { prepared: false, flags: libc::O_DSYNC | libc::O_DIRECT }),
];

/// One way, and one size of writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayRow {
    /// `dsync`: `O_DSYNC` into a file of zeros, as the recorder does. `direct`: `O_DIRECT` too, and whole pages.
    /// `fdatasync`: a system call of its own. `-reserved`: the file's blocks were reserved, and not written.
    pub way: String,
    /// Bytes of a write.
    pub bytes: usize,
    /// Median of a write that is on disk.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// Megabytes (10⁶) a second, median over the turns.
    pub mb_per_s: f64,
}

pub(super) fn measure(
    settings: &DurableSettings,
    place: &Place,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Vec<WayRow>, IpcError> {
    let mut cells = Vec::new();
    for bytes in SIZES {
        for (name, way) in WAYS {
            cells.push((name, way, bytes, histogram()?, Vec::new()));
        }
    }
    for round in 0..settings.rounds {
        for cell in &mut cells {
            let (_, way, bytes, times, rates) = cell;
            // A file of its own each time: a reserved one is so only once.
            let path = place.path();
            let room = settings.segment_bytes;
            let looped = Bare::create(&path, room, *way)?.run(*bytes, settings.turn / 2);
            std::fs::remove_file(&path).map_err(crate::ipc::system("remove a file"))?;
            let looped = looped?;
            rates.push(looped.writes as f64 * *bytes as f64 / looped.seconds / 1e6);
            // The bounds are the same: this cannot fail.
            times.add(looped.write_ns).unwrap_or_default();
        }
        progress((round + 1) as f64 / settings.rounds as f64)?;
    }
    let us = |times: &Histogram<u64>, quantile| times.value_at_quantile(quantile) as f64 / 1e3;
    Ok(cells
        .into_iter()
        .map(|(name, _, bytes, times, rates)| WayRow {
            way: name.to_owned(),
            bytes,
            p50_us: us(&times, 0.5),
            p99_us: us(&times, 0.99),
            mb_per_s: Spread::of(rates).map_or(0.0, |spread| spread.median),
        })
        .collect())
}
