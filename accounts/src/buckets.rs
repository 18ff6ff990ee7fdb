//! Token buckets: so many a second, so many at once. Whole numbers only.

use std::num::NonZeroU32;

use wire::Nanos;

use crate::state::{Reader, State};

/// One bucket. Levels are in 1e-9 of a token, so that a nanosecond at one token a second is one.
///
/// Small, and as an option no larger: accounts have several, and checks read them of accounts at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    per_second: u32,
    /// Tokens that it holds at most.
    burst: NonZeroU32,
    level: u64,
    at: u64,
}
const _: () = assert!(size_of::<Option<Bucket>>() == 24);

impl State for Bucket {
    fn put(&self, out: &mut Vec<u8>) {
        self.per_second.put(out);
        self.burst.get().put(out);
        self.level.put(out);
        self.at.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Option<Bucket> {
        Some(Bucket {
            per_second: State::get(from)?,
            burst: NonZeroU32::new(State::get(from)?)?,
            level: State::get(from)?,
            at: State::get(from)?,
        })
    }
}

impl Bucket {
    const TOKEN: u64 = 1_000_000_000;
    /// The largest rate and the largest burst.
    pub(crate) const MOST: u64 = 1_000_000_000;

    /// A full one.
    pub(crate) fn new(per_second: u64, burst: u32) -> Bucket {
        let burst = NonZeroU32::new(burst.min(Bucket::MOST as u32)).unwrap_or(NonZeroU32::MIN);
        let per_second = per_second.min(Bucket::MOST) as u32;
        Bucket { per_second, burst, level: u64::from(burst.get()) * Bucket::TOKEN, at: 0 }
    }

    /// How many a second, and how many at once.
    pub(crate) fn rate(&self) -> (u64, u32) {
        (u64::from(self.per_second), self.burst.get())
    }

    /// Full at this time.
    pub(crate) fn fill(&mut self, now: Nanos) {
        (self.level, self.at) = (u64::from(self.burst.get()) * Bucket::TOKEN, now.0);
    }

    /// Empty at this time.
    pub(crate) fn empty(&mut self, now: Nanos) {
        (self.level, self.at) = (0, now.0);
    }

    fn refill(&mut self, now: Nanos) {
        let elapsed = now.0.saturating_sub(self.at);
        if elapsed > 0 {
            let added = elapsed.saturating_mul(u64::from(self.per_second));
            let most = u64::from(self.burst.get()) * Bucket::TOKEN;
            self.level = self.level.saturating_add(added).min(most);
            self.at = now.0;
        }
    }

    /// Takes a token; false, and nothing taken, where there is none. Time that goes back counts as standing still.
    pub(crate) fn take(&mut self, now: Nanos) -> bool {
        self.refill(now);
        let taken = self.level.checked_sub(Bucket::TOKEN);
        self.level = taken.unwrap_or(self.level);
        taken.is_some()
    }

    /// Takes a token if there is one: of a request that is never refused for its rate.
    pub(crate) fn drain(&mut self, now: Nanos) {
        self.refill(now);
        self.level = self.level.saturating_sub(Bucket::TOKEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        let mut bucket = Bucket::new(10, 3);
        let start = 5_000_000_000;
        assert_eq!((0..5).filter(|_| bucket.take(Nanos(start))).count(), 3);
        assert!(!bucket.take(Nanos(start + 99_999_999)));
        assert!(bucket.take(Nanos(start + 100_000_000)));
        assert!(!bucket.take(Nanos(start)), "time that goes back fills nothing");
        assert_eq!((0..9).filter(|_| bucket.take(Nanos(u64::MAX))).count(), 3, "never more than the burst");
    }

    #[test]
    fn a_rate_of_zero_lets_the_burst_through_and_no_more() {
        let mut bucket = Bucket::new(0, 2);
        assert_eq!((0..9).filter(|&second| bucket.take(Nanos(second * 1_000_000_000))).count(), 2);
    }
}
