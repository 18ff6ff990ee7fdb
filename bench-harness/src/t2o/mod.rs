//! The t2o matrix: cells of a scenario, each measured on fresh platforms.
//!
//! ```text
//!  Scenario ──► Plan (what it will take) ──► run ──► DIR/runs/A10-1.json, DIR/raw/A10-1.csv.gz
//!                                                         │
//!                                     Results ◄───────────┘──► report, compare, claims
//! ```

mod order;
mod plan;

pub use order::{Run, runs};
pub use plan::{CoreNeed, LeftOut, Plan, PlannedCell};
