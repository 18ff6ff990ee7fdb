//! When a recorded event is due on the wall clock. Pure: all times are passed in.

use std::str::FromStr;

use wire::Nanos;

/// The speed of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// As fast as the readers read; every event is due at once.
    Max,
    /// Recorded seconds per second; above zero and finite.
    Times(f64),
}

/// Text that is not a speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no speed: write \"max\", or how many recorded seconds go by in one second, such as 1.0 or 50"
)]
pub struct ParseSpeedError(String);

impl Speed {
    /// A factor above zero.
    ///
    /// # Errors
    /// Zero, negative, infinite or not a number.
    pub(crate) fn times(factor: f64) -> Result<Speed, ParseSpeedError> {
        if factor.is_finite() && factor > 0.0 {
            Ok(Speed::Times(factor))
        } else {
            Err(ParseSpeedError(factor.to_string()))
        }
    }
}

impl FromStr for Speed {
    type Err = ParseSpeedError;

    fn from_str(text: &str) -> Result<Speed, ParseSpeedError> {
        if text == "max" {
            return Ok(Speed::Max);
        }
        let factor: f64 = text.parse().map_err(|_| ParseSpeedError(text.to_owned()))?;
        Speed::times(factor).map_err(|_| ParseSpeedError(text.to_owned()))
    }
}

/// Maps the times of events to due times.
///
/// The first event is due at `start`. Due times never go back: an event whose time is slightly before an earlier one of
/// its file is due together with that one. When the clock of the file goes back by more than a minute, another
/// recording begins (a file put together from several sessions); it is due right after the previous one, at its own
/// pace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    speed: Speed,
    start: Nanos,
    /// Time of the event that was due at `start`.
    first: Option<Nanos>,
    /// Latest due time so far.
    latest: Nanos,
}

impl Pace {
    /// Starts at `start` on the platform's clock.
    pub(crate) fn new(speed: Speed, start: Nanos) -> Pace {
        Pace { speed, start, first: None, latest: start }
    }

    /// When an event of this time is due; `None` at the highest speed.
    pub(crate) fn due(&mut self, event_time: Nanos) -> Option<Nanos> {
        let Speed::Times(factor) = self.speed else { return None };
        let first = *self.first.get_or_insert(event_time);
        let elapsed = event_time.0.saturating_sub(first.0);
        // A float is exact to the nanosecond for 104 days; a conversion out of range saturates.
        let due = Nanos(self.start.0.saturating_add((elapsed as f64 / factor) as u64));
        self.latest = self.latest.max(due);
        Some(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_read_as_in_a_config() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("1.0".parse(), Ok(Speed::Times(1.0)));
        assert_eq!("50".parse(), Ok(Speed::Times(50.0)));
        for text in ["", "0", "-1", "inf", "NaN", "fast"] {
            assert!(text.parse::<Speed>().is_err(), "{text} was taken");
        }
    }

    #[test]
    fn due_times_never_go_back() {
        let mut pace = Pace::new(Speed::Times(2.0), Nanos(100));
        assert_eq!(pace.due(Nanos(1_000)), Some(Nanos(100)));
        assert_eq!(pace.due(Nanos(1_500)), Some(Nanos(350)));
        assert_eq!(pace.due(Nanos(1_200)), Some(Nanos(350)));
        assert_eq!(pace.due(Nanos(0)), Some(Nanos(350)));
        assert_eq!(pace.due(Nanos(2_000)), Some(Nanos(600)));
    }

    #[test]
    fn the_highest_speed_has_no_schedule_and_the_lowest_does_not_overflow() {
        assert_eq!(Pace::new(Speed::Max, Nanos(5)).due(Nanos(9)), None);
        let mut slow = Pace::new(Speed::Times(1e-300), Nanos(5));
        slow.due(Nanos(0));
        assert_eq!(slow.due(Nanos(u64::MAX)), Some(Nanos(u64::MAX)));
    }
}
