//! The cost and the latency of a wake-up.
//!
//! One writer, and readers that sleep in processes of their own (80 by default), each interested in one topic. The
//! writer follows a schedule, and a latency counts from the scheduled time (open loop): a writer that falls behind
//! cannot hide it.
//!
//! ```text
//!  for each round, rate, policy:   writer (CPU 0) ──► journal, 80 topics ──► 80 sleepers (CPU 1) ◄── relay (CPU 1)
//! ```
//!
//! Policies: `broadcast` wakes every sleeper at every message, `targeted` the interested one, `relay` leaves that to a
//! relay on the sleepers' core, and `mixed` is `targeted` with a writer that never sleeps. `hosted` has no sleepers:
//! one process on their core polls for all of them, with a table from topic to reader. Except for `mixed`, the writer
//! sleeps until shortly before a message is due. All policies of a rate are measured one after the other, round by
//! round.
//!
//! The hand-over is measured separately: two processes on two cores that wake each other, over journals and with a bare
//! futex, in alternating blocks. So are the cost of being able to wake for a writer without sleepers, and the benefit
//! of a doorbell for a reader of 80 journals.

mod cell;
mod cost;
mod doorbell;
mod handoff;
mod host;
mod peer;
mod process;
mod reader;
mod report;
mod share;

use std::process::Command;

use pinning::Host;
use serde::{Deserialize, Serialize};

pub use cost::WaitSupport;
pub use doorbell::DoorbellCost;
pub use handoff::Handoff;
pub use peer::run_peer;
pub use report::{WakeReport, WakeRow};

use crate::ipc::{IpcError, choose, pin};
use process::Peer;
use share::Share;

/// How sleepers are woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Every sleeper, at every message.
    Broadcast,
    /// The interested one, by the writer.
    Targeted,
    /// The interested one, by a relay on its core.
    Relay,
    /// None: one process polls for all of them, and passes each message to the interested one.
    Hosted,
    /// As targeted, with a writer that never sleeps.
    Mixed,
}

impl Policy {
    /// In the order of the rows.
    pub(crate) const ALL: [Policy; 5] =
        [Policy::Broadcast, Policy::Targeted, Policy::Relay, Policy::Hosted, Policy::Mixed];
}

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WakeSettings {
    /// Sleeping readers.
    pub readers: usize,
    /// Messages a second, row by row.
    pub rates: Vec<u64>,
    /// How sleepers are woken.
    pub policies: Vec<Policy>,
    /// How long one cell (a rate and a policy) is measured in one round, in milliseconds.
    pub cell_ms: u64,
    /// Rounds over all cells.
    pub rounds: usize,
    /// Interleaved rounds of the hand-over, and hand-overs of one block.
    pub handoff_rounds: usize,
    /// Round trips of one block.
    pub handoff_trips: usize,
    /// CPUs: the writer's, then those of the readers; a relay runs on the first of these. Two are chosen when empty.
    pub cpus: Vec<usize>,
}

impl WakeSettings {
    /// Greatest number of readers.
    pub const MOST_READERS: usize = 1_000;

    /// Some four minutes.
    pub fn full() -> WakeSettings {
        WakeSettings {
            readers: 80,
            rates: vec![80, 800, 8_000, 80_000],
            policies: Policy::ALL.to_vec(),
            cell_ms: 2_500,
            rounds: 5,
            handoff_rounds: 41,
            handoff_trips: 1_000,
            cpus: Vec::new(),
        }
    }

    /// Half a minute.
    pub fn quick() -> WakeSettings {
        WakeSettings {
            cell_ms: 600,
            rounds: 1,
            handoff_rounds: 11,
            handoff_trips: 600,
            ..WakeSettings::full()
        }
    }
}

/// Measures. `program` starts this program as a peer, which must call [`run_peer`] with its standard streams;
/// `progress` receives what is being measured, and how much is done (0 to 1). When it returns false, the measurement
/// ends with [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &WakeSettings,
    program: impl Fn() -> Command,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<WakeReport, IpcError> {
    let machine = Host::read("/".as_ref())?;
    let mut cpus = choose(&machine, &settings.cpus)?;
    if settings.cpus.is_empty() {
        cpus.truncate(2);
    }
    let share = Share::create(settings.readers)?;
    pin(cpus[0])?;
    let progress = |what: &str, done| if progress(what, done) { Ok(()) } else { Err(IpcError::Stopped) };
    let start = |part| Peer::start(&program, &share, part);
    let handoff = {
        let mut pong = start(peer::Part::Pong { cpu: cpus[1] })?;
        handoff::measure(settings, &share, &mut pong, |done| progress("hand-over", done))?
    };
    let doorbell = {
        let mut many = start(peer::Part::Many { cpu: cpus[1] })?;
        doorbell::measure(settings, &share, &mut many, |done| progress("doorbell", done))?
    };
    let wait_support = cost::measure(share.clock)?;
    let mut readers = Vec::with_capacity(settings.readers);
    for number in 0..settings.readers {
        let cpu = cpus[1 + number % (cpus.len() - 1)];
        readers.push(start(peer::Part::Reader { number, cpu })?);
        progress("sleepers", number as f64 / settings.readers as f64)?;
    }
    let mut relay = start(peer::Part::Relay { cpu: cpus[1], readers: settings.readers })?;
    let mut host = start(peer::Part::Host { cpu: cpus[1], readers: settings.readers })?;
    let mut cells = report::Cells::new(settings);
    let all = (settings.rounds * settings.rates.len() * settings.policies.len()) as f64;
    let mut done = 0.0;
    for _ in 0..settings.rounds {
        for &rate in &settings.rates {
            for &policy in &settings.policies {
                let result = match policy {
                    Policy::Hosted => cell::hosted(settings, &share, rate, &mut host)?,
                    _ => cell::measure(settings, &share, (policy, rate), &mut readers, &mut relay)?,
                };
                cells.add(policy, rate, result);
                done += 1.0;
                progress("waking", done / all)?;
            }
        }
    }
    Ok(WakeReport { host: machine.summary(), cpus, handoff, wait_support, doorbell, rows: cells.rows() })
}
