//! The common part of all colo processes: join the platform, poll, wait, update the heartbeat, stop.
//!
//! # What this crate guarantees
//!
//! - A node needs master to register, and for nothing afterwards.
//! - It runs where the plan says before it accesses shared memory.
//! - Its poll loop reads fairly from all inputs, sleeps only after it looked at every one of them while marked as
//!   parked, and never longer than [`SAFETY_TIMEOUT`](journal::wait::SAFETY_TIMEOUT), or
//!   [`LONGEST_SLEEP`](journal::wait::LONGEST_SLEEP) after a long time without events.
//! - On SIGTERM or SIGINT it handles what is committed, stops its component, and leaves its seat as *stopped*.
//!
//! ```text
//!   Node::join ──socket──► master            Component
//!       │  seat, section, journals               ▲ start, turn, frame, gap, stop
//!       ▼                                        │
//!   Node::run ── poll inputs ── wait ────────────┘
//!       │
//!       └──► Registry seat: state, heartbeat, counters   (`colo status` reads them)
//! ```

#![forbid(unsafe_code)]

mod accounts;
mod answers;
mod asking;
mod asks;
mod callback;
mod claim;
mod depths;
mod disk;
mod due;
mod error;
mod exit;
mod folder;
mod front;
mod fuse;
mod handle;
mod holder;
mod input;
mod instance;
mod instances;
mod intent;
mod latency;
mod limits;
mod locks;
mod log_file;
mod market_dues;
mod node;
mod open_files;
mod output;
mod owner;
mod passing;
mod peer;
mod poll;
pub mod program;
pub mod protocol;
mod quiescence;
mod recall;
mod registration;
pub mod relay;
mod replace;
mod run;
mod service;
mod started;
mod state;
mod steps;
mod stop;
mod tally;
mod umask;

pub use accounts::{AccountError, AccountFinder, Accounts};
pub use asking::Asked;
pub use callback::{HELD_NS, Held, held};
pub use claim::{Claim, ClaimError, Holding};
pub use depths::{DepthError, Depths};
pub use disk::{OwnLock, own_file, own_folder, shared_folder};
pub use error::{JoinError, RunError};
pub use exit::{Exit, how_it_ended, killed_by};
pub use folder::FolderError;
pub use front::Front;
pub use fuse::{Blown, Fuse};
pub use handle::NodeHandle;
pub use holder::Holder;
pub use input::{Input, InputId};
pub use instance::InstanceDir;
pub use intent::{Answer, Ask, Hold, Intent, Orders, Parameters};
pub use latency::Latencies;
pub use log_file::{LogMark, LogPart, cut_log, kept_end};
pub use market_dues::MarketDues;
pub use node::{BELL_FROM, INSTANCE_VARIABLE, NODE_VARIABLE, Node};
pub use open_files::raise_open_files;
pub use output::{Counted, Output, Posted};
pub use owner::end_with;
pub use peer::Peer;
pub use quiescence::{Quiescence, SETTLE};
pub use recall::{
    begin_of, last_desk, last_desk_in, last_snapshot, read_behind_snapshot, read_held, read_whole,
};
pub use replace::{boot_id, replace_file};
pub use run::{Component, Context};
pub use service::{Flag, MakeSteps, Service};
pub use started::started_for;
pub use state::{ANSWER_WORD, ASK_WORD, Counter, NodeState, Phase, kind_word, read_kind_word};
pub use steps::{Runner, Steps, Stepwise, ToItsEnd};
pub use stop::StopFlag;
pub use tally::{Tally, class_of};
pub use umask::keep_own_permissions;

// What components need from the journal crate, so that they can depend on this crate alone.
pub use journal::layout::frame_bytes;
pub use journal::{Clock, Frame, Gap, OpenError, WriteError, WriterState, Written};

/// Starts the log of errors and warnings at the end of this file, with the level in `COLO_LOG` (default: info).
///
/// # Errors
/// The file cannot be written.
pub fn start_log_in(file: &std::path::Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    let environment = env_logger::Env::new().filter_or("COLO_LOG", "info");
    let target = env_logger::Target::Pipe(Box::new(file));
    let _ = env_logger::Builder::from_env(environment).format_timestamp_micros().target(target).try_init();
    Ok(())
}

/// Starts the log of errors and warnings to standard error, with the level in `COLO_LOG` (default: info).
pub fn start_log() {
    let environment = env_logger::Env::new().filter_or("COLO_LOG", "info");
    // An embedding program may have started it already; then its settings stay.
    let _ = env_logger::Builder::from_env(environment).format_timestamp_micros().try_init();
}
