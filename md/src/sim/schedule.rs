//! When simulated quotes are due.

use wire::Nanos;

/// Due times that follow from the start alone, so that a generator which falls behind can catch up but never hide its
/// lateness: the `n`th quote of the `i`th instrument is due at `start + i × stagger + n × interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// When the first quote of the first instrument is due, on the platform's clock.
    pub start: Nanos,
    /// Time between two quotes of an instrument, in nanoseconds.
    pub interval: Nanos,
    /// Quotes per instrument; zero: unlimited.
    pub count: u64,
    /// Time between the starts of two instruments, in nanoseconds.
    pub stagger: Nanos,
}

impl Schedule {
    /// When quote `number` (from 0) of instrument `index` (from 0) is due; `None` behind the last one.
    pub(crate) fn due(&self, index: u64, number: u64) -> Option<Nanos> {
        if self.count != 0 && number >= self.count {
            return None;
        }
        let offset =
            self.stagger.0.saturating_mul(index).saturating_add(self.interval.0.saturating_mul(number));
        Some(self.start + Nanos(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_times_follow_from_the_start() {
        let schedule = Schedule { start: Nanos(1_000), interval: Nanos(10), count: 3, stagger: Nanos(4) };
        assert_eq!(
            (0..4).map(|n| schedule.due(0, n).map(|due| due.0)).collect::<Vec<_>>(),
            [Some(1_000), Some(1_010), Some(1_020), None]
        );
        assert_eq!(schedule.due(2, 1), Some(Nanos(1_018)));
        let endless = Schedule { count: 0, ..schedule };
        assert_eq!(endless.due(0, 1_000_000), Some(Nanos(10_001_000)));
        assert_eq!(endless.due(u64::MAX, u64::MAX), Some(Nanos(u64::MAX)));
    }
}
