//! When accounts are looked at.

/// A survey takes at most this part of the time: a tenth.
const PART_OF_TIME: u64 = 10;

/// Surveys keep their distance. They follow news, and while an account is past its bound the clock: a refusal brings no news.
#[derive(Clone, Debug)]
pub(crate) struct Surveys {
    /// Nanoseconds between two.
    every: u64,
    is_due: bool,
    next: u64,
    /// The next, where a step of a liquidation has come back, waits for no more than this.
    next_step: u64,
}

impl Surveys {
    pub(crate) fn new(every: u64, is_due: bool) -> Surveys {
        Surveys { every, is_due, next: 0, next_step: 0 }
    }

    /// Something has changed.
    pub(crate) fn news(&mut self) {
        self.is_due = true;
    }

    /// What a liquidation waits for has come back: the next step does not wait for the distance.
    pub(crate) fn step(&mut self) {
        self.is_due = true;
        self.next = self.next.min(self.next_step);
    }

    /// When the next one is due. `is_busy`: an account is past its bound.
    pub(crate) fn deadline(&self, is_busy: bool) -> Option<u64> {
        (self.is_due || is_busy).then_some(self.next)
    }

    /// One was made, from one time to another.
    pub(crate) fn made(&mut self, begin: u64, end: u64) {
        self.is_due = false;
        self.next_step = begin.saturating_add(end.saturating_sub(begin).saturating_mul(PART_OF_TIME));
        self.next = self.next_step.max(begin.saturating_add(self.every));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_follows_news_and_keeps_its_distance() {
        let mut surveys = Surveys::new(100, true);
        assert_eq!(surveys.deadline(false), Some(0), "the first at once");
        surveys.made(0, 5);
        assert_eq!(surveys.deadline(false), None, "nothing is new");
        surveys.news();
        assert_eq!(surveys.deadline(false), Some(100));
        surveys.made(100, 120);
        surveys.news();
        assert_eq!(surveys.deadline(false), Some(300), "it takes a tenth of the time at most");
    }

    #[test]
    fn while_an_account_is_past_its_bound_one_follows_the_clock_without_any_news() {
        let mut surveys = Surveys::new(100, true);
        for begin in [0, 100, 200, 300] {
            assert_eq!(surveys.deadline(true), Some(begin));
            surveys.made(begin, begin);
            assert_eq!(surveys.deadline(false), None);
        }
    }

    #[test]
    fn a_step_that_has_come_back_waits_for_no_distance() {
        let mut surveys = Surveys::new(100, true);
        surveys.made(0, 2);
        surveys.step();
        assert_eq!(surveys.deadline(true), Some(20));
        surveys.made(20, 21);
        assert_eq!(surveys.deadline(true), Some(120));
    }
}
