//! Journals and strategies behind a C interface: `include/colo.h` is what programs include, `README.md` goes from nothing to a
//! running strategy.
//!
//! No panic leaves a function: each is [`fault::guarded`]. Handles are opaque; structures that may grow begin with their size, and one of
//! another size is refused. `include/colo_functions.h` is made from this crate by cbindgen; a test makes it again and compares.
//!
//! ```text
//!   C, C++ ─► colo_functions.h ─► journal.rs, reader.rs, writer.rs, wait.rs ─► journal
//!         └─► colo_inline.h       strategy.rs ─► callbacks; context.rs, order.rs ─► strategy-sdk
//! ```
#![allow(non_camel_case_types, reason = "the names of C's types")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the same for all, and at the top of the header: pointers are null or good, handles belong to one thread"
)]

mod context;
mod fault;
mod journal;
mod order;
mod parameters;
mod reader;
mod strategy;
mod wait;
mod writer;

pub use context::*;
pub use fault::{colo_code, colo_code_text, colo_error};
pub use journal::*;
pub use order::*;
pub use parameters::*;
pub use reader::*;
pub use strategy::*;
pub use wait::*;
pub use writer::*;
