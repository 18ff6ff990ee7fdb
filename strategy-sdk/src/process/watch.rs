//! How long the strategies' calls take, for the price of one look at the clock a round.

/// Times calls that follow each other: where one begins, the one before it has ended.
///
/// A call begins with the look at the clock that says when its message was in hand, which is needed anyway. Only the
/// last call of a round or of a turn costs a look of its own, and that one comes behind the order that the call may have
/// sent. What the loop does between two calls counts to the first of them: some ten nanoseconds against budgets of microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// Whose call, and since when.
    running: Option<(usize, u64)>,
}

impl Watch {
    /// A call of `member` begins. Answers whose call has ended with that, and how long it took.
    #[inline]
    pub(super) fn begin(&mut self, member: usize, now: u64) -> Option<(usize, u64)> {
        let ended = self.end(now);
        self.running = Some((member, now));
        ended
    }

    /// Nobody's call runs any more.
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
    /// Whether to say it in the log: at the 1st, 2nd, 4th, 8th, … only, so that the log is no second burden.
    pub(super) is_said: bool,
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
        Overrun { count: self.overruns, longest: self.longest, is_said: self.overruns.is_power_of_two() }
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
        assert_eq!(budget.charge(101), Some(Overrun { count: 1, longest: 101, is_said: true }));
        assert_eq!(budget.charge(700), Some(Overrun { count: 2, longest: 700, is_said: true }));
        assert_eq!(budget.charge(300), Some(Overrun { count: 3, longest: 700, is_said: false }));
        assert_eq!(Budget::new(0).charge(u64::MAX - 1), None, "zero is no limit");
    }
}
