//! Prefetches the lines behind the one that a waiting reader polls.

use crate::layout::{LINE_BYTES, frame_bytes};
use crate::ring::bytes::Ring;

/// Most lines behind the polled one: enough for a frame with up to 160 bytes of payload. With more lines, the requests
/// cost more than they gain; `docs/ipc.md` has measurements.
const MOST: u64 = 2;

/// Behind a frame with more lines than this the reader asks for none: it would take the first of them from the writer
/// while that is still at the others, and the journeys of the rest are far longer than what it gains.
const LARGE: u64 = 8;

/// Lines of the next frame, guessed from the last one's: messages of one journal mostly have one size.
///
/// The first line tells the reader that there is a frame. Without a prefetch, those behind it would be requested only
/// then, one transfer later; requested with each look at the first, they arrive together with it. Requests for more
/// lines than the frame has would take them from the writer, which is about to fill them.
#[derive(Debug)]
pub(super) struct Prefetch {
    /// Lines behind the first.
    lines: u64,
}

impl Prefetch {
    pub(super) fn new() -> Prefetch {
        Prefetch { lines: 1 }
    }

    /// Records the size of a frame with `length` bytes of payload.
    #[inline(always)]
    pub(super) fn record(&mut self, length: u32) {
        let lines = frame_bytes(u64::from(length)) / LINE_BYTES;
        self.lines = if lines > LARGE { 0 } else { (lines - 1).min(MOST) };
    }

    /// Nothing has arrived: prefetches the lines behind `position`.
    #[inline(always)]
    pub(super) fn fetch(&self, ring: &Ring, position: u64) {
        for line in 1..=self.lines {
            ring.prefetch(position + line * LINE_BYTES);
        }
    }
}
