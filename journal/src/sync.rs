//! The one door to atomics: std's, or loom's when a model is being checked.
//!
//! Nothing else in the project may name an atomic integer (`clippy.toml` holds that), so that what loom explores
//! is what ships. The pairs of orderings carry names; both ends of a pair say the same name in a comment:
//!
//! | name | publishes | ends |
//! |---|---|---|
//! | `SYNC: commit` | a frame's bytes | writer's Release store of the commit word, reader's Acquire load |
//! | `SYNC: intent` | "from here on I overwrite" | writer's store + Release fence before the bytes; loose reader's Acquire fence + load after its copy |
//! | `SYNC: gate` | "I am done with these bytes" | reader's Release store of its cursor, writer's Acquire load before it overwrites |
//! | `SYNC: join` | a new gated reader | reader: active bit, full fence, load intent; writer: store intent, full fence, load active bits |
//! | `SYNC: head` | the end of the committed frames | writer's Release store, late reader's Acquire load |
//! | `SYNC: park` | "I am asleep" / "there is news" | parker: word, full fence, look at the journals; writer: commit, full fence, look at the word |
//! | `SYNC: interest` | who wants a topic | reader: bit, barrier in every thread; writer: plain load after its commit |

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
#[allow(clippy::disallowed_types, reason = "this module is the door")]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};
