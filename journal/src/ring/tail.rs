//! The end of a journal, seen as its readers see it.

use std::sync::Arc;

use crate::files::control::Control;
use crate::ring::bytes::Ring;
use crate::sync::Ordering;

/// Whether gated readers have handled all frames of a journal, also those that its head does not count yet.
///
/// A writer commits a frame before it moves the head, and may lose its CPU between the two. Readers that poll hear the
/// frame all the same, and may answer it.
#[derive(Debug)]
pub struct Tail {
    pub(crate) control: Arc<Control>,
    pub(crate) ring: Ring,
}

impl Tail {
    /// The head, if every gated reader stands there and nothing is committed behind it.
    pub fn drained(&self) -> Option<u64> {
        self.drained_by(|_| true)
    }

    /// The same of those gated readers alone whose seats count.
    pub fn drained_by(&self, counts: impl Fn(u32) -> bool) -> Option<u64> {
        let head = self.control.head();
        // SYNC: commit.
        let is_last = self.ring.commit_word(head).load(Ordering::Acquire) != head;
        let mut readers = self.control.gated_positions().filter(|(seat, _)| counts(*seat));
        (is_last && readers.all(|(_, position)| position >= head)).then_some(head)
    }

    /// The positions of the gated readers whose seats count, added up: it changes as long as one of them reads.
    pub fn read_by(&self, counts: impl Fn(u32) -> bool) -> u64 {
        let readers = self.control.gated_positions().filter(|(seat, _)| counts(*seat));
        readers.fold(0, |sum, (_, position)| sum.wrapping_add(position))
    }
}
