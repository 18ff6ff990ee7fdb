//! A platform seen from outside: what its shared memory says to somebody who takes no part in it.
//!
//! # What this crate guarantees
//!
//! - Looking changes nothing: all of it is mapped read-only, no reader is attached, and neither master nor any node is
//!   asked. It works as well on the remains of a platform that has died.
//! - What is damaged hides nothing else: a journal that cannot be read is listed with the reason.
//! - What it counts comes from shared memory and outlives every process of the platform.
//!
//! ```text
//!                    ┌──► State ───────► Status    at one moment: seats, journals; as rows
//!                    ├──► Watch ───────► Rates     between two looks
//!  InstanceView ─────┼──► OrderSearch ─► Trace     of one order, through all journals
//!  (live or dead)    ├──► Totals, Lost, Stages     since the instance was made
//!                    ├──► Collector                each order's times, as they come
//!                    └──► Report                   of a run that has ended, with its caveats
//!
//!  topology, host ──────► Fit                      before anything starts
//! ```
//!
//! # Example
//!
//! ```no_run
//! use node::InstanceDir;
//! use observe::{InstanceView, Watch};
//!
//! let instance = InstanceDir::new("demo").ok_or("no good name")?;
//! let mut watch = Watch::new(InstanceView::open(instance)?)?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! println!("{:.0} orders/s", watch.look()?.totals.orders_per_s);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod caveats;
mod disks;
mod fit;
#[cfg(test)]
mod fixture;
mod irregular;
mod matched;
mod outgrown;
mod rates;
mod report;
mod samples;
mod seated;
mod stages;
mod state;
mod status;
mod timeline;
mod totals;
mod trace;
mod unfinished;
mod unrecorded;
mod verify;
mod view;
mod watch;

pub use caveats::{JournalMemory, NOTHING_BETWEEN};
pub use disks::Disk;
pub use fit::{Fit, huge_pages};
pub use irregular::Irregular;
pub use matched::{Matched, Rules};
pub use outgrown::Outgrown;
pub use rates::{JournalRates, NodeRates, RateTotals, Rates, TimeSpread};
pub use report::{NodeOutcome, Position, Report, Run, SourceCounts, StrategyReport, profit};
pub use samples::Collector;
pub use seated::{Seated, seat_name};
pub use stages::{StageSummary, Stages};
pub use state::State;
pub use status::{JournalStatus, NodeStatus, ReaderStatus, Status};
pub use timeline::{Lag, Look, SeatLook, Timeline, TimelineTotals, TracedJournal, TracedNode};
pub use totals::{Lost, Requests, StrategyTotals, Totals};
pub use trace::{
    Archive, Archived, Evidence, Hop, NotFound, OrderSearch, Searched, Step, Trace, TraceStages, Unreadable,
    Visit, distance_from_end,
};
pub use unfinished::{Unfinished, Work};
pub use unrecorded::Unrecorded;
pub use verify::{RegistryReport, verify_registry};
pub use view::{CLOCK_DIFFERS_NS, DamagedJournal, InstanceView, JournalView, Journals, SeatView, ViewError};
pub use watch::Watch;
