//! A strategy's program as a shared library, for the one process of a backtest.
//!
//! A plug-in has its own copy of `node` and of the SDK. It joins the instance by itself: it maps the registry and the journals
//! as any process does, so no type of Rust goes from one copy to the other. What goes between them is a table of C functions
//! ([`Table`]), which turn the node round by round, and text.
//!
//! ```text
//!   colo (backtest)                                    plug-in
//!   Plugin::load ── colo_plugin() ──────────────────►  Table: magic, ABI, formats, functions
//!   Plugin::steps ── assignment (JSON) ─────────────►  Node::seated, Strategies
//!   Steps ── step, drain, stop ─────────────────────►  the node's loop ──► journals in shared memory
//!         ◄── a member of a host asks for its seat ──
//! ```
//!
//! What guards against another version: the magic, the number of the ABI and the size of the table, which say how the rest is
//! read; then [`formats`], which differs with every layout of journals, every message and the protocol of registration.
//!
//! `unsafe` is needed on both sides, and stands here alone: to call through the table, and to be called. Each function catches
//! panics on its own side, since none may unwind through C; a program that aborts on panic says so in the table, and is refused.

mod export;
#[cfg(feature = "load")]
mod load;
mod table;

pub use export::{Export, table};
#[cfg(feature = "load")]
pub use load::{Plugin, PluginError};
pub use table::{Table, formats};
