//! How full a limit of a rate is, as far as the drop copy says: between what td may and what it must have counted.

use wire::AccountLimit;

use super::rules::{Counts, WRITTEN_WITHIN};

const SECOND: f64 = 1e9;

/// Tokens that are left. Below zero, the limit is passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    per_second: f64,
    burst: f64,
    /// With what counts for certain.
    most: f64,
    /// With all that may count.
    least: f64,
    at: u64,
    /// Tokens by which both may be wrong.
    doubt: f64,
}

impl Gauge {
    /// A full one.
    pub(super) fn new(limit: &AccountLimit) -> Gauge {
        let burst = f64::from(limit.burst.max(1));
        Gauge { per_second: limit.number as f64, burst, most: burst, least: burst, at: 0, doubt: 0.0 }
    }

    /// A switch was lifted: how much was counted meanwhile is not known.
    pub(super) fn revived(&mut self) {
        (self.most, self.least, self.doubt) = (0.0, 0.0, self.burst);
    }

    pub(super) fn count(&mut self, counts: Counts, time: u64) {
        let added = time.saturating_sub(self.at) as f64 / SECOND * self.per_second;
        self.at = self.at.max(time);
        self.most = (self.most + added).min(self.burst);
        self.least = (self.least + added).min(self.burst);
        if self.least >= self.burst {
            self.doubt = 0.0;
        }
        self.most -= if counts == Counts::Yes { 1.0 } else { 0.0 };
        self.least -= if counts == Counts::No { 0.0 } else { 1.0 };
    }

    /// td counts by a clock that the drop copy does not have.
    fn slack(&self) -> f64 {
        self.doubt + self.per_second * (WRITTEN_WITHIN as f64 / SECOND)
    }

    pub(super) fn must_have_passed(&self) -> bool {
        self.most + self.slack() < -1e-6
    }

    pub(super) fn may_have_passed(&self) -> bool {
        self.least - self.slack() < 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gauge(number: u64, burst: u32) -> Gauge {
        let limit = AccountLimit {
            subject: 7,
            scope: wire::AccountScope::Account,
            limit: wire::LimitKind::RejectRate,
            change: wire::LimitChange::Set,
            reserved: 0,
            instrument: wire::InstrumentId(0),
            burst,
            number,
            amount: wire::WideMoney::default(),
            who: wire::Text::cut("ann"),
            why: wire::Text::cut("test"),
        };
        Gauge::new(&limit)
    }

    #[test]
    fn between_what_must_and_what_cannot_be_lies_what_is_not_written_down() {
        let second = SECOND as u64;
        let mut few = gauge(1, 5);
        (0..3).for_each(|_| few.count(Counts::Yes, second));
        assert!(!few.may_have_passed() && !few.must_have_passed(), "two are left");
        (0..3).for_each(|_| few.count(Counts::Maybe, second));
        assert!(few.may_have_passed() && !few.must_have_passed());
        (0..4).for_each(|_| few.count(Counts::Yes, second));
        assert!(few.must_have_passed());
        few.revived();
        assert!(few.may_have_passed() && !few.must_have_passed());
        few.count(Counts::No, 100 * second);
        assert!(!few.may_have_passed(), "it is full again");
    }
}
