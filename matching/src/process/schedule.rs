//! The day of the platform file, as times of the platform's clock.

use topology::config::{PhaseStart, UtcOffset, rows_for};
use wire::Nanos;

use crate::exchange::Phase;

const MINUTE: i64 = 60 * 1_000_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// When the phases of an instrument begin, the earliest first. `start` is when the instruments were listed.
pub(super) fn schedule(
    phases: &[PhaseStart],
    symbol: &str,
    start: Nanos,
    offset: UtcOffset,
) -> Vec<(Nanos, Phase)> {
    let midnight = midnight(start, offset);
    let begins = |row: &PhaseStart| match row.at {
        Some(at) => Nanos(midnight.saturating_add_unsigned(at.0).max(0) as u64),
        None => Nanos(start.0.saturating_add(row.after.unwrap_or_default().as_nanos() as u64)),
    };
    let mut schedule: Vec<(Nanos, Phase)> =
        rows_for(phases, symbol).into_iter().map(|row| (begins(row), row.phase.phase())).collect();
    schedule.sort_by_key(|(time, _)| *time);
    schedule
}

/// The midnight before `time` where the market is. Before 1970 it is negative.
fn midnight(time: Nanos, offset: UtcOffset) -> i64 {
    let ahead = i64::from(offset.minutes) * MINUTE;
    let local = i64::try_from(time.0).unwrap_or(i64::MAX).saturating_add(ahead);
    local.saturating_sub(local.rem_euclid(DAY)).saturating_sub(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use topology::config::PhaseName;

    fn at(clock: &str, phase: PhaseName, instruments: &[&str]) -> PhaseStart {
        let instruments = instruments.iter().map(|name| (*name).to_owned()).collect();
        PhaseStart { after: None, at: Some(clock.parse().unwrap()), phase, instruments }
    }

    #[test]
    fn times_of_day_are_those_of_the_market_on_the_day_of_the_start_there() {
        // 2026-11-22 23:30 UTC is 07:30 of the 23rd in Shanghai, and 18:30 of the 22nd in New York.
        let start = Nanos(1_795_390_200_000_000_000);
        let rows =
            [at("09:15:00", PhaseName::OpeningAuction, &[]), at("09:30:00.5", PhaseName::Continuous, &[])];
        let minutes_from_start = |offset: &str| {
            let schedule = schedule(&rows, "A", start, offset.parse().unwrap());
            (schedule[0].0.0 as i64 - start.0 as i64) / MINUTE
        };
        assert_eq!(minutes_from_start("+08:00"), 105);
        assert_eq!(minutes_from_start("-05:00"), -(9 * 60 + 15));
        assert_eq!(minutes_from_start("+00:00"), -(14 * 60 + 15));
        let schedule = schedule(&rows, "A", start, "+08:00".parse().unwrap());
        assert_eq!(schedule[1].0.0 - schedule[0].0.0, 15 * MINUTE as u64 + 500_000_000);
        assert_eq!(schedule[1].1, Phase::Continuous);
    }

    #[test]
    fn an_instrument_with_rows_of_its_own_follows_those_only() {
        let after = |seconds, phase| PhaseStart {
            after: Some(Duration::from_secs(seconds)),
            at: None,
            phase,
            instruments: Vec::new(),
        };
        let rows = [
            after(1, PhaseName::Continuous),
            at("12:00:00", PhaseName::Halt, &["B"]),
            after(2, PhaseName::Closed),
        ];
        let of = |symbol| schedule(&rows, symbol, Nanos(5), UtcOffset::default());
        assert_eq!(
            of("A"),
            [(Nanos(1_000_000_005), Phase::Continuous), (Nanos(2_000_000_005), Phase::Closed)]
        );
        assert_eq!(of("B"), [(Nanos(12 * 60 * MINUTE as u64), Phase::Halt)]);
    }

    #[test]
    fn no_time_is_too_early_or_too_late() {
        let rows = [at("00:00:00", PhaseName::Continuous, &[]), at("23:59:59", PhaseName::Closed, &[])];
        for start in [0, 1, u64::MAX] {
            for offset in ["+14:59", "-14:59"] {
                let schedule = schedule(&rows, "A", Nanos(start), offset.parse().unwrap());
                assert!(schedule[0].0 <= schedule[1].0);
            }
        }
    }
}
