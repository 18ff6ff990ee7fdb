//! Runs all measurements, and reports them.

use bench_kit::OwnedChild;
use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::fan_out::{self, FanOutRow};
use super::flow::{self, FlowRow};
use super::parts::Parts;
use super::ping::{self, PingRow};
use super::poll::{self, PollRow};
use super::{IpcError, IpcSettings};

/// Results of `colo bench ipc`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IpcReport {
    /// The host.
    pub host: HostSummary,
    /// CPUs of the measuring process and of its peers.
    pub cpus: Vec<usize>,
    /// Bytes of each ring.
    pub ring_bytes: u64,
    /// The clock's counter.
    pub clock: String,
    /// Cache lines of the floor's word: one per direction.
    pub floor_lines: usize,
    /// Ping-pong.
    pub rows: Vec<PingRow>,
    /// Throughput.
    pub throughput: Vec<FlowRow>,
    /// The cost of a write with loose readers.
    pub fan_out: Vec<FanOutRow>,
    /// Idle journals.
    pub poll: PollRow,
}

type Measurements = (Vec<PingRow>, Vec<FlowRow>, Vec<FanOutRow>, PollRow);

pub(super) fn measure_all(
    settings: &IpcSettings,
    parts: &Parts,
    children: &mut [OwnedChild],
    peers: usize,
    progress: &impl Fn(&str, f64) -> Result<(), IpcError>,
) -> Result<Measurements, IpcError> {
    let result = (|| {
        let rows = ping::measure(settings, parts, |done| progress("ping-pong", done))?;
        let flows = flow::measure(settings, parts, peers, |done| progress("throughput", done))?;
        let fan_out = fan_out::measure(parts, |done| progress("loose readers", done))?;
        Ok((rows, flows, fan_out, poll::measure(parts.clock)?))
    })();
    // A peer that failed has reported it on standard error; its silence is only the consequence.
    if matches!(result, Err(IpcError::Peer(_))) {
        for child in children {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(IpcError::Peer(format!("ended with {status}")));
            }
        }
    }
    result
}
