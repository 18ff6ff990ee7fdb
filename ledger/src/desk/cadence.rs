//! When a snapshot of the accounts is due.

/// A snapshot that is larger than this is not written by the clock: only when the drop copy has grown, or at the end.
const SMALL: u64 = 256 << 10;

/// Each snapshot lets go of the drop copy before it.
#[derive(Clone, Debug)]
pub(crate) struct Cadence {
    /// Bytes of the drop copy after which one is due: half of its ring.
    half: u64,
    /// Nanoseconds between two by the clock; zero: none by the clock.
    interval: u64,
    /// Position in the drop copy of the last one.
    last: u64,
    /// Bytes of the last one.
    bytes: u64,
    changed: bool,
    /// The next one by the clock is no earlier.
    next: u64,
}

impl Cadence {
    /// `ring`: bytes of the drop copy's ring.
    pub(crate) fn new(ring: u64, interval: u64) -> Cadence {
        Cadence { half: ring / 2, interval, last: 0, bytes: 0, changed: false, next: 0 }
    }

    /// A frame of the drop copy was taken. True: a snapshot is due before the next.
    pub(crate) fn frame(&mut self, position: u64) -> bool {
        self.changed = true;
        position.saturating_sub(self.last) > self.half
    }

    /// True when one is due by the clock.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.deadline().is_some_and(|due| now >= due)
    }

    /// When one is due by the clock.
    pub(crate) fn deadline(&self) -> Option<u64> {
        (self.changed && self.interval > 0 && self.bytes < SMALL).then_some(self.next)
    }

    /// One was made that contains the drop copy before `position`.
    pub(crate) fn made(&mut self, position: u64, bytes: u64, now: u64) {
        (self.last, self.bytes, self.changed) = (position, bytes, false);
        self.next = now.saturating_add(self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_due_when_half_of_the_ring_has_gone_by() {
        let mut cadence = Cadence::new(2_048, 0);
        cadence.made(4_096, 100, 0);
        assert!(!cadence.frame(4_160) && !cadence.frame(5_120));
        assert!(cadence.frame(5_184));
        assert!(cadence.frame(5_248), "until it is made");
        cadence.made(5_249, 100, 0);
        assert!(!cadence.frame(5_312) && cadence.frame(6_400));
        assert_eq!(cadence.deadline(), None, "none by the clock");
    }

    #[test]
    fn by_the_clock_only_what_has_changed_and_is_small() {
        let mut cadence = Cadence::new(1 << 20, 1_000);
        cadence.made(64, SMALL - 1, 500);
        assert!(!cadence.is_due(9_000), "nothing has changed");
        cadence.frame(64);
        assert_eq!(cadence.deadline(), Some(1_500));
        assert!(!cadence.is_due(1_499) && cadence.is_due(1_500));
        cadence.made(65, SMALL, 1_500);
        cadence.frame(128);
        assert!(!cadence.is_due(u64::MAX), "it is large");
    }
}
