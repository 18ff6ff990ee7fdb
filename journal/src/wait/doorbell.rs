//! One line that says which of many journals have news.
//!
//! ```text
//!   reader                                 writer of journal j
//!   ──────                                 ───────────────────
//!   bits := swap(bell, 0)                  commit a frame
//!   full fence             SYNC: bell      full fence
//!   read the journals in `bits`            bell has bit j? done : set it
//! ```
//!
//! Of the two, at least one sees the other's store: either the writer finds its bit taken away and sets it again, or
//! the reader sees the frame. A reader that reads a journal until it has nothing more therefore misses nothing; one
//! that stops before must come back by itself.
//!
//! A writer that is killed between commit and bell leaves a frame that nothing tells of. So the reader looks at all of
//! its journals now and then, and always before it sleeps.

use std::sync::Arc;

use crate::control::Bits;
use crate::layout::registry as at;
use crate::registry::Registry;
use crate::sync::{Ordering, fence};

/// The reading side of a seat's bell: one per node, for nodes with many inputs.
#[derive(Debug)]
pub struct Doorbell {
    registry: Arc<Registry>,
    seat: u32,
    /// Words in which any of our journals has its bit, ascending.
    words: Vec<usize>,
}

impl Doorbell {
    /// Number of bits.
    pub const BITS: u32 = (at::BELL_WORDS * 64) as u32;

    /// The bit of a journal.
    pub fn bit(journal: u32) -> u32 {
        journal % Doorbell::BITS
    }

    /// From now on, writers that find the seat interested ring for these journals (by id). `None` when there is no
    /// such seat, or the registry is mapped to look only.
    ///
    /// Call [`announce`](super::announce) before trusting it, and then look at every journal once.
    pub fn install(
        registry: Arc<Registry>,
        seat: u32,
        journals: impl IntoIterator<Item = u32>,
    ) -> Option<Doorbell> {
        if !registry.is_writable() || seat >= registry.seats() {
            return None;
        }
        let mut words: Vec<usize> =
            journals.into_iter().map(|journal| Doorbell::bit(journal) as usize / 64).collect();
        words.sort_unstable();
        words.dedup();
        registry.notice(seat).fetch_or(at::RINGS, Ordering::SeqCst);
        Some(Doorbell { registry, seat, words })
    }

    /// Nobody rings for `seat` any more: its node has no bell.
    pub fn remove(registry: &Registry, seat: u32) {
        if registry.is_writable() && seat < registry.seats() {
            registry.notice(seat).fetch_and(!at::RINGS, Ordering::SeqCst);
        }
    }

    /// Takes what was rung since the last call: `rung` gets the bit of each journal with news. Where nothing is, this
    /// loads one line (two, beyond 512 journals) and stores nothing.
    #[inline]
    pub fn answer(&self, mut rung: impl FnMut(u32)) {
        for &index in &self.words {
            let word = self.registry.bell(self.seat, index);
            if word.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let bits = word.swap(0, Ordering::Acquire);
            // SYNC: bell. Between the swap and the looks at the journals.
            fence(Ordering::SeqCst);
            Bits(bits).for_each(|bit| rung(index as u32 * 64 + bit));
        }
    }
}

/// The writer's end, behind its fence: the bit is set from here on, until the reader takes it.
#[inline]
pub(super) fn ring(registry: &Registry, seat: u32, journal: u32) {
    let bit = Doorbell::bit(journal);
    let word = registry.bell(seat, bit as usize / 64);
    let bit = 1 << (bit % 64);
    // SYNC: bell. Most often the reader has not answered the last one yet: then its line stays where it is.
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Release);
    }
}
