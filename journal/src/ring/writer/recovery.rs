//! The state that a new writer finds.

use crate::files::control::Control;
use crate::layout::{self, control as at, frame_bytes};
use crate::ring::bytes::Ring;
use crate::sync::Ordering;

/// The end of the frames.
pub(crate) struct End {
    /// Behind the last committed frame.
    pub(crate) position: u64,
    /// Frames committed so far.
    pub(crate) frames: u64,
    /// Time of the last.
    pub(crate) time: u64,
}

/// How far ahead of our clock a predecessor's last time may be, in nanoseconds: readings of different cores differ by
/// far less. A time beyond that is damage, and would be the time of all frames until then.
const MOST_AHEAD: u64 = 1_000_000_000;

impl End {
    /// The time that no later frame may be before, as far as it is believed: see [`MOST_AHEAD`].
    pub(super) fn time_to_follow(&self, now: u64) -> u64 {
        if self.time > now.saturating_add(MOST_AHEAD) { 0 } else { self.time }
    }
}

/// Walks from the last published head over frames that were committed but not yet counted: those of one write, one
/// claim or one batch, since the head follows every commit; garbage may contain more.
pub(crate) fn end_of_frames(ring: &Ring, control: &Control) -> Result<End, String> {
    let head = control.head();
    if !control.is_plausible() || control.intent() < head {
        return Err(format!("head {head} and intent {} do not belong together", control.intent()));
    }
    let frames_word = control.load(at::FRAMES);
    let mut end =
        End { position: head, frames: layout::frames_of(frames_word), time: control.load(at::LAST_TIME) };
    let mut found = 0;
    // SYNC: commit.
    while ring.commit_word(end.position).load(Ordering::Acquire) == end.position {
        let header = ring.header(end.position);
        let length = u64::from(header.length);
        if length > control.max_payload() {
            return Err(format!("the frame at its end, position {}, claims {length} bytes", end.position));
        }
        end.position += frame_bytes(length);
        end.time = end.time.max(header.time);
        found += 1;
        if end.position > head + ring.capacity() {
            return Err("its frames have no end".to_owned());
        }
    }
    if ring.commit_word(end.position).load(Ordering::Relaxed) != 0 {
        return Err(format!("the line behind its last frame, position {}, is not clear", end.position));
    }
    // They became visible together. The writer was killed before or after it counted them; the mark says which.
    if layout::frames_word(end.frames, end.position) != frames_word {
        end.frames = end.frames.wrapping_add(found);
    }
    Ok(end)
}
