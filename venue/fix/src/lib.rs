//! Orders out over FIX 4.4: an initiator in matching's seat.
//!
//! ```toml
//! [matching]
//! fill = "external"
//! program = "target/release/colo-fix-out"
//! params = { connect = "127.0.0.1:9878", sender = "DESK1", target = "COLO", state = "desk.fix" }
//! ```
//!
//! ```text
//!   Command ─► say ─► Session ─► TCP          TCP ─► Session (numbers, gaps) ─► hear ─► News
//! ```
//!
//! What a session must not forget, its two sequence numbers, is in a file; what became of orders is the driver's matter. An order is
//! never sent again by itself: a ResendRequest of the market is answered with a gap fill, and the driver asks for the order.
#![forbid(unsafe_code)]

mod config;
mod exec_type;
mod hear;
mod numbers;
mod questions;
mod reconcile;
mod say;
mod session;
mod store;
mod theirs;

pub use crate::config::Config;
pub use crate::exec_type::ExecType;
pub use crate::hear::{Instruments, hear};
pub use crate::session::Session;
