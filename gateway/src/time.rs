//! Times as text: in Beijing's time for DIFF, in UTC for FIX.

pub(crate) use fix_codec::time::{read_utc, read_utc_nanos, utc};

use fix_codec::time::date;

const SECOND_NS: u64 = 1_000_000_000;
const DAY_S: u64 = 86_400;
/// Beijing is so far ahead.
pub(crate) const AHEAD_NS: u64 = 8 * 3_600 * SECOND_NS;

/// As in 2026-11-23 14:09:00.000000.
pub(crate) fn datetime(time_ns: u64) -> String {
    let local = time_ns.saturating_add(AHEAD_NS);
    let (seconds, micros) = (local / SECOND_NS, local % SECOND_NS / 1_000);
    let ((year, month, day), second) = (date(seconds / DAY_S), seconds % DAY_S);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{micros:06}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// As in 20261123.
pub(crate) fn day(time_ns: u64) -> String {
    let (year, month, day) = date(time_ns.saturating_add(AHEAD_NS) / SECOND_NS / DAY_S);
    format!("{year:04}{month:02}{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_beijing_s_over_leap_years_and_ends_of_months() {
        for (seconds, text) in [
            (0, "1970-01-01 08:00:00.000000"),
            (951_782_400, "2000-02-29 08:00:00.000000"),
            (1_709_222_399, "2024-02-29 23:59:59.000000"),
            (1_735_660_800, "2025-01-01 00:00:00.000000"),
        ] {
            assert_eq!(datetime(seconds * SECOND_NS), text);
        }
        assert_eq!(
            (datetime(1_500), day(1_735_660_799 * SECOND_NS)),
            ("1970-01-01 08:00:00.000001".into(), "20241231".into())
        );
    }
}
