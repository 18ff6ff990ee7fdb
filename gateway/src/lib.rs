//! The way in from outside: HTTP, WebSocket, DIFF and FIX beside the journals, for people, tools and programs that are no processes of
//! the platform.
//!
//! # What this crate guarantees
//!
//! - Nothing of the platform waits for it: it reads every journal loosely.
//! - Its clients' orders go through td, with td's checks, as a strategy's do. An order and the word of whose it is are
//!   committed together, so that every order can be traced to a token and an address.
//! - A `client_order_id` is good for one order, also if gateway, td or both are killed in between.
//! - What cannot be known is called unknown, never failed.
//!
//! ```text
//!   clients ──► http (threads: one runtime, one listener each) ── Ask ──► core (the node's poll loop) ──► orders.gateway
//!      ▲                     │ WebSocket handed over                        │
//!      └──────────── push (threads of their own) ◄────────── events ────────┘
//! ```
//!
//! `docs/gateway.md` is for those who write clients.

#![forbid(unsafe_code)]
#![allow(clippy::result_large_err, reason = "a refused request's answer is made once and sent at once")]

pub mod bench;
mod core;
mod desk;
mod diff;
mod fix;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod http;
mod meter;
mod metrics;
mod push;
mod run;
mod side;
mod terms;
mod time;
mod turned;
mod view;
mod watch;

#[cfg(any(test, feature = "fuzzing"))]
pub use diff::fuzz::diff as diff_of_bytes;
#[cfg(any(test, feature = "fuzzing"))]
pub use fix::fuzz::fix as fix_of_bytes;
pub use http::document;
pub use run::run;
pub use turned::{Answer, Clients, steps};
