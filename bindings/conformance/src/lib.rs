//! Every language writes what every other reads: `README.md` has the protocol and the cases.
//!
//! ```text
//!   bin/matrix ─► discovery ─► Driver ─┐                 ┌─► stdin, stdout of one driver: the producer
//!                    Matrix ─► cases ──┴─► Process ──────┤
//!                                 └─► World (journal)     └─► of another one: the consumer
//!   bin/conformance-driver: the driver in Rust
//! ```
#![forbid(unsafe_code)]

pub mod cases;
mod contents;
mod discovery;
mod expected;
mod matrix;
mod process;
mod world;

pub use contents::{Seed, checksum};
pub use discovery::{Driver, Found, build, discover};
pub use matrix::{Cell, Matrix, Skipped};
pub use world::World;
