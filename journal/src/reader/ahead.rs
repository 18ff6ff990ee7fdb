//! What a reader that waits asks for beside the line that it polls.

use crate::layout::{LINE_BYTES, frame_bytes};
use crate::ring::Ring;

/// Most lines behind the polled one. A frame with up to 160 bytes of payload has no more; with more lines, asking takes
/// longer than it gains. Measured by the ping-pong of `colo bench ipc` with 128 bytes, cores far apart, variants in
/// turns within one process: none 1.84 times a bare word's journey, one 1.85, two 1.28 to 1.32, four 1.29 (and 1,024
/// bytes 3.65 instead of 3.51), sixteen 1.28 (and 6.73).
const MOST: u64 = 2;

/// Lines of the next frame, guessed from the last one's: messages of one journal are mostly of one size.
///
/// The first line tells the reader that there is a frame. Those behind it would be asked for only then, one journey
/// later; who asks for them with each look at the first has them on their way together with it. More lines than the frame has
/// would be taken from the writer, which is about to fill them.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Lines behind the first.
    lines: u64,
}

impl Ahead {
    pub(super) fn new() -> Ahead {
        Ahead { lines: 1 }
    }

    /// A frame with `length` bytes of payload has come.
    #[inline(always)]
    pub(super) fn learn(&mut self, length: u32) {
        self.lines = (frame_bytes(u64::from(length)) / LINE_BYTES - 1).min(MOST);
    }

    /// Nothing has come: asks for the lines behind `position`.
    #[inline(always)]
    pub(super) fn fetch(&self, ring: &Ring, position: u64) {
        for line in 1..=self.lines {
            ring.prefetch(position + line * LINE_BYTES);
        }
    }
}
