//! The t2o matrix: cells of a scenario, each measured on fresh platforms.
//!
//! ```text
//!  Scenario ──► Plan (what it will take) ──► run ──► DIR/runs/A10-1.json, DIR/raw/A10-1.csv.gz
//!                                                         │
//!                                     Results ◄───────────┘──► report, compare, claims
//! ```

mod answers;
mod capacity;
mod caveats;
mod claims;
mod compare;
mod decide;
mod disk;
mod error;
mod faults;
#[cfg(test)]
mod fixture;
mod interval;
mod kept;
mod order;
mod others;
mod pages;
mod plan;
mod probe;
mod quotes;
mod raw;
mod record;
pub mod report;
mod result;
mod runner;
pub mod scenario;
mod session;
mod slices;
mod stamps;
mod store;
mod watch;

pub use capacity::{Capacity, Point, measure, search};
pub use claims::{Outcome, UsedSlices, Verdict, judge};
pub use compare::{Change, Compared, Comparison, host_differences};
pub use error::T2oError;
pub use kept::{Errors, Kept};
pub use order::{Run, runs};
pub use pages::Pages;
pub use plan::{CoreNeed, LeftOut, Plan, PlannedCell};
pub use probe::{Observed, Waited};
pub use raw::{read as read_raw, write as write_raw};
pub use record::{Histograms, RunRecord, RunStage};
pub use result::{CellResult, DoctorWords, FORMAT, Fault, Results, SliceSummary, StageResult};
pub use session::{Progress, Session, session};
pub use slices::{Level, Slice};
pub use stamps::Stamps;
pub use store::{Checked, Store};
