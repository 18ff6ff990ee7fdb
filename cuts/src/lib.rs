//! The cut at every frame: each writer of the platform is ended behind every one of its commits, once a run, and what its
//! successor makes of it is compared with a run that nothing has ended.
//!
//! # What this crate guarantees
//!
//! - **Every state that a kill can leave between two commits is tried.** A kill leaves the journals with what was committed, and
//!   nothing else: the writer's memory and the frames of a batch that is not committed are lost, its cursors stay. A
//!   [`node::Fuse`] unwinds the writer's thread right behind a commit, which leaves the same.
//! - **Also between two journals.** Commits are counted over all journals of a writer in the order in which it makes them: one
//!   cut is behind the frame of the one journal and before the frame of the other.
//! - **The same bytes in the end.** All frames of all journals are compared: position, topic, message, and every field but
//!   times. What is left out, and why, stands in [`Writer::except`]. Where a death itself has consequences, since connections end
//!   with the gateway, the end is held to [`Held::Outcome`] in place of that.
//!
//! ```text
//!   Script ──► desk.entries, orders.NAME         whole run ───────────► frames ─┐
//!                                                                               ├─ equal?
//!   Platform: td, matching, ledger, md, turned   run with a cut ─► end, ──► frames ─┘
//!             one after the other in a thread     behind commit n    successor
//! ```
//!
//! A further writer is one row of [`WRITERS`].

#![forbid(unsafe_code)]

mod clients;
mod market;
mod platform;
mod script;
mod traces;
mod writers;

pub use platform::{Cut, Ended, Platform};
pub use script::{Asked, Event, Script};
pub use traces::{Traces, difference};
pub use writers::{Except, Held, WRITERS, Writer};
