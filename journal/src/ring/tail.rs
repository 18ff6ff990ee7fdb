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
        let head = self.control.head();
        // SYNC: commit.
        let is_last = self.ring.commit_word(head).load(Ordering::Acquire) != head;
        (is_last && self.control.slowest_gated() >= head).then_some(head)
    }
}
