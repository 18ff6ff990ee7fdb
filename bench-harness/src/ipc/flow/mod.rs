//! Throughput: one writer at full speed, one to three readers.

use bench_kit::Spread;
use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::step::{Calls, ReadMode, Step, steps};
use super::{IpcError, IpcSettings};

mod read;
mod write;

pub(super) use read::take_part;

/// Messages of one batch.
const BATCH: u64 = 256;
/// Frames between two looks at the clock.
const LOOK: u64 = 1 << 12;

/// One row of throughput: its rates and what was lost are of one run, that with the middle rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowRow {
    /// Payload of each message.
    pub payload_bytes: usize,
    /// Reading processes, each on its own core.
    pub readers: usize,
    /// Gated or loose.
    pub mode: ReadMode,
    /// One by one, in batches, or as records.
    pub calls: Calls,
    /// Messages a second: gated, as received by the slowest reader; loose, as written.
    pub msgs_per_s: f64,
    /// The same in bytes of payload.
    pub bytes_per_s: f64,
    /// Messages a second that each reader received, on average.
    pub received_per_s: f64,
    /// How much of what was written that run's readers lost, on average: 0 to 1.
    #[serde(default)]
    pub lost_part: f64,
    /// Messages that readers lost, all readers and runs together.
    pub lost: u64,
    /// Messages written, all runs together.
    pub written: u64,
    /// True when in every run, for every reader, the messages read and lost add up to those written, and each had the
    /// expected number after those lost before it.
    pub exact: bool,
    /// Lowest and highest of the runs' `msgs_per_s`.
    pub range: [f64; 2],
    /// Runs.
    pub runs: usize,
}

/// First number of a step of throughput; the ping-pong is step 1.
const FIRST_STEP: u64 = 10;

/// One run's figures.
#[derive(Clone, Copy, Debug)]
struct Run {
    written: u64,
    nanos: u64,
    write_nanos: u64,
    read: u64,
    lost: u64,
    exact: bool,
}

/// The measuring side: writes.
pub(super) fn measure(
    settings: &IpcSettings,
    parts: &Parts,
    peers: usize,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Vec<FlowRow>, IpcError> {
    let steps = steps(peers);
    let mut runs = vec![Vec::with_capacity(settings.flow_runs); steps.len()];
    let mut number = FIRST_STEP;
    let all = (settings.flow_runs * steps.len()) as f64;
    for _ in 0..settings.flow_runs {
        for (step, runs) in steps.iter().zip(&mut runs) {
            runs.push(match step.payload {
                32 => write::write_run::<32>(settings, parts, *step, number)?,
                64 => write::write_run::<64>(settings, parts, *step, number)?,
                128 => write::write_run::<128>(settings, parts, *step, number)?,
                _ => write::write_run::<1024>(settings, parts, *step, number)?,
            });
            number += 1;
            progress((number - FIRST_STEP) as f64 / all)?;
        }
    }
    Ok(steps.iter().zip(&runs).filter_map(|(step, runs)| row(*step, runs)).collect())
}

fn row(step: Step, runs: &[Run]) -> Option<FlowRow> {
    let rate = |count: u64, nanos: u64| count as f64 * 1e9 / nanos.max(1) as f64;
    let speed = |run: &Run| match step.mode {
        ReadMode::Gated => rate(run.written, run.nanos),
        ReadMode::Loose => rate(run.written, run.write_nanos),
    };
    let rates = Spread::of(runs.iter().map(speed))?;
    // Medians of each figure alone would be of different runs, and contradict each other.
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by(|a, b| speed(a).total_cmp(&speed(b)));
    let middle = *sorted.get(sorted.len() / 2)?;
    let readers = step.readers.max(1) as f64;
    Some(FlowRow {
        payload_bytes: step.payload,
        readers: step.readers,
        mode: step.mode,
        calls: step.calls,
        msgs_per_s: speed(middle),
        bytes_per_s: speed(middle) * step.payload as f64,
        received_per_s: rate(middle.read, middle.nanos) / readers,
        lost_part: middle.lost as f64 / (middle.written.max(1) as f64 * readers),
        lost: runs.iter().map(|run| run.lost).sum(),
        written: runs.iter().map(|run| run.written).sum(),
        exact: runs.iter().all(|run| run.exact),
        range: [rates.low, rates.high],
        runs: rates.runs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_loss_of_a_row_are_of_one_run() {
        let step = Step { payload: 64, readers: 2, mode: ReadMode::Loose, calls: Calls::Batch };
        let second = 1_000_000_000;
        // The faster it was written, the less arrived: the medians of each alone are of different runs.
        let run = |written: u64, read: u64| Run {
            written,
            nanos: second,
            write_nanos: second,
            read,
            lost: 2 * written - read,
            exact: true,
        };
        let row = row(step, &[run(300, 150), run(100, 200), run(200, 100)]).unwrap();
        assert_eq!((row.msgs_per_s, row.received_per_s, row.lost_part), (200.0, 50.0, 0.75));
        assert_eq!((row.received_per_s, row.bytes_per_s), (row.msgs_per_s * (1.0 - row.lost_part), 12_800.0));
        assert_eq!((row.lost, row.written, row.range, row.runs), (750, 600, [100.0, 300.0], 3));
    }
}
