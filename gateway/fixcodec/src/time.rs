//! Times as FIX writes them, in UTC.

const SECOND_NS: u64 = 1_000_000_000;
const DAY_S: u64 = 86_400;

/// Year, month and day of a number of days since the epoch (proleptic Gregorian).
pub fn date(days: u64) -> (u64, u64, u64) {
    // From the first of March of year 0 on: leap days are at the ends of years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// As in 20261123-14:09:00.000000, in UTC.
pub fn utc(time_ns: u64) -> String {
    let (seconds, micros) = (time_ns / SECOND_NS, time_ns % SECOND_NS / 1_000);
    let ((year, month, day), second) = (date(seconds / DAY_S), seconds % DAY_S);
    format!(
        "{year:04}{month:02}{day:02}-{:02}:{:02}:{:02}.{micros:06}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// Seconds since the epoch of a time as in 20261123-14:09:00, with or without a fraction.
pub fn read_utc(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let separators = [(8, b'-'), (11, b':'), (14, b':')];
    if separators.iter().any(|(place, byte)| text.as_bytes().get(*place) != Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(12, 14)?, number(15, 17)?);
    if year < 1970
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    // The inverse of `date`.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * DAY_S + hour * 3_600 + minute * 60 + second)
}

/// Nanoseconds since the epoch of such a time, with its fraction; what lies below a nanosecond is cut off.
pub fn read_utc_nanos(text: &str) -> Option<u64> {
    let seconds = read_utc(text)?;
    let Some(fraction) = text.get(17..).filter(|rest| !rest.is_empty()) else {
        return Some(seconds * SECOND_NS);
    };
    let digits = fraction.strip_prefix('.')?;
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let kept = digits.get(..9).unwrap_or(digits);
    let nanos = kept.parse::<u64>().ok()? * 10_u64.pow(9 - kept.len() as u32);
    Some(seconds * SECOND_NS + nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_fix_are_read_as_they_are_written() {
        for seconds in (0..4_102_444_800_u64).step_by(1_234_567) {
            let text = utc(seconds * SECOND_NS);
            assert_eq!(read_utc(&text), Some(seconds), "{text}");
        }
        assert_eq!(utc(1_709_222_399 * SECOND_NS + 1_000), "20240229-15:59:59.000001");
        for bad in [
            "",
            "20261123",
            "20261123 14:09:00",
            "20261323-14:09:00",
            "2026112é-14:09:00",
            "19691231-00:00:00",
        ] {
            assert_eq!(read_utc(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_fraction_of_a_time_is_read_to_the_nanosecond() {
        let second = 1_709_222_399 * SECOND_NS;
        for (fraction, nanos) in [
            ("", 0),
            (".5", 500_000_000),
            (".001", 1_000_000),
            (".123456789", 123_456_789),
            (".0000000019", 1),
        ] {
            assert_eq!(
                read_utc_nanos(&format!("20240229-15:59:59{fraction}")),
                Some(second + nanos),
                "{fraction}"
            );
        }
        for bad in [".", ".x", "5", ".5Z"] {
            assert_eq!(read_utc_nanos(&format!("20240229-15:59:59{bad}")), None, "{bad}");
        }
    }
}
