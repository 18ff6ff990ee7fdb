//! The only source of atomics: std's, or loom's when a model is checked.
//!
//! Nothing else in the project may name an atomic integer (`clippy.toml` enforces it), so that loom explores the code
//! that ships. The pairs of orderings have names; both ends of a pair state the same name in a comment:
//!
//! | name | publishes | ends |
//! |---|---|---|
//! | `SYNC: commit` | a frame's bytes | writer's Release store of the commit word, reader's Acquire load |
//! | `SYNC: intent` | "from here on I overwrite" | writer's store + full fence before the bytes; loose reader's Acquire fence + load after its copy |
//! | `SYNC: reach` | "the head was this near when I declared" | writer's Release store of the intent; reader's Acquire load of it, before its load of the head |
//! | `SYNC: gate` | "I am done with these bytes" | reader's Release store of its cursor, and of what it keeps; writer's Acquire loads of both, the cursor first, before it overwrites |
//! | `SYNC: join` | a new gated reader | reader: active bit, full fence, load intent; writer: store intent, full fence, load active bits |
//! | `SYNC: head` | the end of the committed frames | writer's Release store, late reader's Acquire load |
//! | `SYNC: park` | "I am asleep" / "there is news" | parker: word, full fence, look at the journals; writer: commit, full fence, look at the word |
//! | `SYNC: bell` | "journal j has news" / "I have taken that" | writer: commit, then sets the bit by a read-modify-write (Release); reader: looks at the bits, or takes them by a swap (both Acquire), then at the journals. Last word: writer: commit, full fence, plain store; reader: swap, full fence, look at every journal |
//! | `SYNC: relay` | "I am asleep" / "I saw a frame" | parker: as in `park`; relay: saw a commit (Acquire), full fence, look at the word. And who wakes: a bit in the registry, barrier in every thread; writer: commit, [`light_barrier`], plain load |
//! | `SYNC: interest` | who wants a topic | reader: bit, barrier in every thread; writer: commit, [`light_barrier`], plain load |
//! | `SYNC: durable` | "on disk up to here" | a recorder's Release store of what it keeps; looker: Acquire load of it |
//! | `SYNC: latest` | a value, before its number | writer: Release fence, value, Release store of the number; reader: Acquire load of the number, copy, Acquire fence, the number again. And what a frame says was set: set, then `commit` |
//! | `SYNC: tally` | "the frames before this one are counted" | writer: commit, then Release store of the count of the frame's class; looker: Acquire loads of the counts, then of the head |
//! | `SYNC: writer` | who writes | new writer: start time, then pid (Release), then state (Release); looker: state, then pid (both Acquire), then start time |

#[cfg(loom)]
pub use crate::models::sync::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
#[allow(clippy::disallowed_types, reason = "this module is the door")]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The cheap end of `SYNC: interest`: keeps the compiler from moving the look at the interest before the commit. The
/// expensive end is [`announce`](crate::wait::announce), which puts a full fence into every thread of the host.
#[inline(always)]
pub fn light_barrier() {
    #[cfg(not(loom))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    crate::models::sync::light_barrier();
}
