//! Records which strategy a process is calling, visible from outside.
//!
//! A process that is blocked in a strategy cannot report it any more. So it records each call beforehand, in one word
//! of its own seat that lies among the counters without being one:
//!
//! ```text
//!   63                                        10 9             0
//!   | when the call began, ns, 1,024 at a time  | callee: seat |     0: no call so far
//! ```
//!
//! A call costs one relaxed store. Nothing is stored when it returns: from then on the poll loop updates its heartbeat
//! again, and a heartbeat that is later than the call shows that the call has ended.

use journal::Seat;
use journal::layout::MAX_SEATS;

use crate::handle::NodeHandle;
use crate::state::CALL_WORD;

/// The bits of the word that hold a seat.
const SEAT_BITS: u64 = (1 << 10) - 1;
const _: () = assert!(MAX_SEATS as u64 == SEAT_BITS + 1, "every seat's number fits");

/// A call blocks its process when it has lasted this long, in nanoseconds, without a later heartbeat. A running poll
/// loop updates the heartbeat every 10 ms, and after each sleep, which the safety net ends.
pub const HELD_NS: u64 = 1_000_000_000;
const _: () =
    assert!(journal::wait::LONGEST_SLEEP.as_nanos() * 2 < HELD_NS as u128, "who sleeps holds nobody");

/// A strategy's callback that does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Seat of the strategy.
    pub seat: u32,
    /// When its callback began: nanoseconds on the platform's clock.
    pub since: u64,
}

impl NodeHandle {
    /// Records that this process is about to call the strategy in `callee`'s seat, at `now`.
    #[inline]
    pub fn enters(&self, callee: &NodeHandle, now: u64) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_counter(CALL_WORD, now & !SEAT_BITS | u64::from(callee.seat));
        }
    }
}

/// The strategy that has blocked the process of this seat for [`HELD_NS`] or longer. `None` also for a process that has
/// ended or was stopped by a signal: then no strategy is to blame.
pub fn held(seat: &Seat<'_>, now: u64) -> Option<Held> {
    let held = lasting(seat.counter(CALL_WORD), seat.heartbeat(), now)?;
    let process = seat.process();
    (process.is_alive() && !process.is_stopped()).then_some(held)
}

fn lasting(word: u64, heartbeat: u64, now: u64) -> Option<Held> {
    let since = word & !SEAT_BITS;
    // A heartbeat in the same 1,024 ns counts as one before the call.
    let lasts = word != 0 && heartbeat & !SEAT_BITS <= since && now.saturating_sub(since) >= HELD_NS;
    lasts.then_some(Held { seat: (word & SEAT_BITS) as u32, since })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const NOW: u64 = 1_800_000_000 * SECOND;

    fn word(seat: u64, at: u64) -> u64 {
        at & !SEAT_BITS | seat
    }

    #[test]
    fn a_call_without_a_sign_of_life_since_holds_its_process() {
        let began = NOW - 3 * SECOND;
        let held = lasting(word(1_023, began), began - 5_000_000, NOW).expect("held");
        assert_eq!(held.seat, 1_023);
        assert!(began - held.since < 1_024, "{held:?}");
        assert!(lasting(word(7, began), began, NOW).is_some(), "the sign of life was before the call");
    }

    #[test]
    fn who_has_returned_or_was_never_called_holds_nobody() {
        let began = NOW - 3 * SECOND;
        assert_eq!(lasting(0, NOW - 3 * SECOND, NOW), None, "nobody was called yet");
        assert_eq!(lasting(word(7, began), began + 2_048, NOW), None, "it has returned");
        assert_eq!(lasting(word(7, NOW - SECOND / 2), 0, NOW), None, "not long enough");
        assert_eq!(lasting(word(7, NOW + SECOND), 0, NOW), None, "a clock that is behind");
    }
}
