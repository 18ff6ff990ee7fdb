//! Repeated measurements of platforms, because one run on a shared host says little: [`t2o`] scenarios, and the spread
//! of several runs.
//!
//! ```
//! use bench_harness::Spread;
//!
//! let means = Spread::of([41.0, 38.5, 44.2]).expect("three runs");
//! assert_eq!((means.low, means.median, means.high), (38.5, 41.0, 44.2));
//! ```

#![forbid(unsafe_code)]

pub mod durable;
pub mod ipc;
pub mod languages;
pub mod matching;
pub mod orders;
mod repeat;
mod scratch;
pub mod t2o;
pub mod wake;

pub use bench_kit::Spread;
pub use repeat::{Repeated, StageSpread, repeat};
