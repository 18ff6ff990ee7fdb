//! The durations of the strategies' calls, at the cost of one more reading of the clock per round.

/// Times calls that follow each other: the start of one is the end of the one before.
///
/// A call starts at the receive time of its message, which is read anyway. Only the end of the last call of a round or turn
/// needs a reading of its own, after the order that the call may have sent. The loop's own work between two calls counts
/// towards the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// The member that is called, and since when.
    running: Option<(usize, u64)>,
}

impl Watch {
    /// A call of `member` begins. Returns the member whose call has ended with that, and how long it took.
    #[inline]
    pub(super) fn begin(&mut self, member: usize, now: u64) -> Option<(usize, u64)> {
        let ended = self.end(now);
        self.running = Some((member, now));
        ended
    }

    /// No call runs any more.
    #[inline]
    pub(super) fn end(&mut self, now: u64) -> Option<(usize, u64)> {
        self.running.take().map(|(member, since)| (member, now.saturating_sub(since)))
    }

    /// True while a call is timed.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

/// Calls of one strategy that took longer than they should.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Nanoseconds; zero in the platform file means no limit.
    limit: u64,
    overruns: u64,
    longest: u64,
}

/// A call took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overrun {
    /// How often it has happened.
    pub(super) count: u64,
    /// The longest so far, in nanoseconds.
    pub(super) longest: u64,
    /// Whether to log it: at the 1st, 2nd, 4th, 8th, … only, to limit the cost of logging.
    pub(super) is_logged: bool,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Budget {
        Budget { limit: if limit == 0 { u64::MAX } else { limit }, overruns: 0, longest: 0 }
    }

    /// A call took this long.
    #[inline]
    pub(super) fn charge(&mut self, took: u64) -> Option<Overrun> {
        if took <= self.limit { None } else { Some(self.overrun(took)) }
    }

    #[cold]
    fn overrun(&mut self, took: u64) -> Overrun {
        self.overruns += 1;
        self.longest = self.longest.max(took);
        Overrun { count: self.overruns, longest: self.longest, is_logged: self.overruns.is_power_of_two() }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_lasts_until_the_next_begins_or_the_round_ends() {
        let mut watch = Watch::default();
        assert_eq!(watch.begin(3, 100), None);
        assert_eq!(watch.begin(3, 150), Some((3, 50)));
        assert_eq!(watch.begin(1, 155), Some((3, 5)));
        assert!(watch.is_running());
        assert_eq!(watch.end(175), Some((1, 20)));
        assert_eq!(watch.end(999), None);
        assert!(!watch.is_running());
    }

    #[test]
    fn only_what_is_longer_than_the_budget_counts() {
        let mut budget = Budget::new(100);
        assert_eq!(budget.charge(100), None);
        assert_eq!(budget.charge(101), Some(Overrun { count: 1, longest: 101, is_logged: true }));
        assert_eq!(budget.charge(700), Some(Overrun { count: 2, longest: 700, is_logged: true }));
        assert_eq!(budget.charge(300), Some(Overrun { count: 3, longest: 700, is_logged: false }));
        assert_eq!(Budget::new(0).charge(u64::MAX - 1), None, "zero is no limit");
    }
}
