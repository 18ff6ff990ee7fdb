//! The steps of the throughput measurement, known to all sides.

use serde::{Deserialize, Serialize};

use super::PAYLOADS;

/// Whether the writer waits for the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadMode {
    /// It waits; nothing is lost.
    Gated,
    /// It does not wait; overwritten frames are counted.
    Loose,
}

/// How messages are written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// `write`, `read`: the clock is read for each frame.
    Single,
    /// `batch` of 256 frames, `read_batch`.
    Batch,
    /// `claim_records` of 256 messages, `read_batch` and `Frame::records`.
    Records,
}

/// One row to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) payload: usize,
    pub(super) readers: usize,
    pub(super) mode: ReadMode,
    pub(super) calls: Calls,
}

impl Step {
    /// Name of its journal.
    pub(super) fn name(self) -> String {
        let mode = if self.mode == ReadMode::Gated { "gated" } else { "loose" };
        let calls = match self.calls {
            Calls::Single => "single",
            Calls::Batch => "batch",
            Calls::Records => "records",
        };
        format!("flow-{}-{}-{mode}-{calls}", self.payload, self.readers)
    }
}

/// All rows, in order; known to both sides.
pub(super) fn steps(peers: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for (readers, mode) in
        [(1, ReadMode::Gated), (3, ReadMode::Gated), (1, ReadMode::Loose), (3, ReadMode::Loose)]
    {
        for payload in PAYLOADS {
            for calls in [Calls::Batch, Calls::Records, Calls::Single] {
                // Loose readers count what they lost by the size of a frame of one message.
                let is_counted = calls != Calls::Records || mode == ReadMode::Gated;
                if readers <= peers && is_counted {
                    steps.push(Step { payload, readers, mode, calls });
                }
            }
        }
    }
    steps
}
