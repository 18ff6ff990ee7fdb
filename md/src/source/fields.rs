//! Numbers, times and dates of recorded files.

use std::path::Path;

use wire::Price;

use super::error::Fault;

/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;
/// Nanoseconds in a day.
pub(crate) const DAY: u64 = 86_400 * SECOND;

/// Digits only; anything else, including a sign or an empty field, is `None`.
pub(crate) fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    bytes.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// A whole number without a sign.
pub(crate) fn whole(column: &'static str, bytes: &[u8]) -> Result<u64, Fault> {
    digits(bytes).ok_or_else(|| Fault::text(column, bytes, "a whole number"))
}

/// A quantity above zero. `100.0` is read as 100: some vendors write every number with a point.
pub(crate) fn quantity(column: &'static str, bytes: &[u8]) -> Result<i64, Fault> {
    let point = bytes.iter().position(|&byte| byte == b'.').unwrap_or(bytes.len());
    let (number, fraction) = (&bytes[..point], bytes.get(point + 1..).unwrap_or(b""));
    digits(number)
        .filter(|_| fraction.iter().all(|&byte| byte == b'0'))
        .and_then(|value| i64::try_from(value).ok())
        .filter(|&value| value > 0)
        .ok_or_else(|| Fault::text(column, bytes, "a whole number above zero"))
}

/// A decimal price above zero whose last places are float noise: rounded to 0.0001, the finest step of the markets that
/// are read as text. A price further than 0.000001 from such a step is an error.
pub(crate) fn noisy_price(column: &'static str, bytes: &[u8]) -> Result<Price, Fault> {
    const STEP: i64 = 100_000;
    const NOISE: i64 = 1_000;
    let fault = || Fault::text(column, bytes, "a price above zero, a multiple of 0.0001");
    let point = bytes.iter().position(|&byte| byte == b'.').unwrap_or(bytes.len());
    let (number, fraction) = (&bytes[..point], bytes.get(point + 1..).unwrap_or(b""));
    if !fraction.iter().all(u8::is_ascii_digit) {
        return Err(fault());
    }
    let units = digits(number).and_then(|units| i64::try_from(units).ok());
    let nanos = (0..9)
        .fold(0, |sum, place| sum * 10 + i64::from(fraction.get(place).copied().unwrap_or(b'0') - b'0'));
    let raw = units
        .and_then(|units| units.checked_mul(Price::ONE))
        .and_then(|units| units.checked_add(nanos))
        .and_then(|raw| raw.checked_add(STEP / 2))
        .ok_or_else(fault)?
        - STEP / 2;
    let rounded = (raw + STEP / 2) / STEP * STEP;
    if (raw - rounded).abs() > NOISE || rounded <= 0 { Err(fault()) } else { Ok(Price(rounded)) }
}

/// Nanoseconds after midnight of `HH:MM:SS`, `HH:MM:SS.fff…`, or the number `HHMMSSmmm` (with or without the leading
/// zero). A date before it, separated by a blank or a `T`, is skipped.
pub(crate) fn time_of_day(bytes: &[u8]) -> Option<u64> {
    let bytes = match bytes.iter().rposition(|&byte| byte == b' ' || byte == b'T') {
        Some(part) => &bytes[part + 1..],
        None => bytes,
    };
    if !bytes.contains(&b':') {
        let number = digits(bytes).filter(|_| (7..=9).contains(&bytes.len()))?;
        let (clock, millis) = (number / 1_000, number % 1_000);
        return clock_time(clock / 10_000, clock / 100 % 100, clock % 100, millis * 1_000_000);
    }
    let mut parts = bytes.splitn(3, |&byte| byte == b':');
    let (hours, minutes, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let point = rest.iter().position(|&byte| byte == b'.').unwrap_or(rest.len());
    let nanos = match rest.get(point + 1..) {
        None => 0,
        Some(fraction) => {
            digits(fraction).filter(|_| fraction.len() <= 9)? * 10_u64.pow(9 - fraction.len() as u32)
        }
    };
    let two = |part: &[u8]| digits(part).filter(|_| part.len() <= 2);
    clock_time(two(hours)?, two(minutes)?, two(&rest[..point])?, nanos)
}

fn clock_time(hours: u64, minutes: u64, seconds: u64, nanos: u64) -> Option<u64> {
    let valid = hours < 24 && minutes < 60 && seconds <= 60;
    valid.then(|| (hours * 3_600 + minutes * 60 + seconds) * SECOND + nanos)
}

/// Midnight of `YYYYMMDD` or `YYYY-MM-DD` (also with `/`, `.`, `_`), in nanoseconds since the Unix epoch.
pub(crate) fn date(bytes: &[u8]) -> Option<u64> {
    let compact: Vec<u8> = match bytes.len() {
        8 => bytes.to_vec(),
        10 if b"-/._".contains(&bytes[4]) && bytes[4] == bytes[7] => {
            [&bytes[..4], &bytes[5..7], &bytes[8..]].concat()
        }
        _ => return None,
    };
    let number = digits(&compact)?;
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !(1970..2200).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if day == 0 || day > lengths[month as usize - 1] {
        return None;
    }
    let leaps_before = |year: u64| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let days = (year - 1970) * 365 + leaps_before(year) - leaps_before(1970)
        + lengths[..month as usize - 1].iter().sum::<u64>()
        + day
        - 1;
    Some(days * DAY)
}

/// The date in a file's name, otherwise in the name of its folder.
pub(crate) fn date_in_path(path: &Path) -> Option<u64> {
    let names = [path.file_name(), path.parent().and_then(Path::file_name)];
    names.into_iter().flatten().find_map(|name| {
        let bytes = name.as_encoded_bytes();
        let alone = |start: usize, length: usize| {
            let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
            !digit(start.checked_sub(1)) && !digit(Some(start + length))
        };
        [10, 8].into_iter().find_map(|length| {
            bytes.windows(length).enumerate().find_map(|(start, window)| {
                date(window).filter(|&day| day >= date(b"19900101").unwrap_or(0) && alone(start, length))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_noise_rounds_away_and_anything_else_is_an_error() {
        for (text, cents) in [
            ("1801.00999999999999", 180_101),
            ("1854.980000000000018", 185_498),
            ("1745", 174_500),
            ("7.", 700),
        ] {
            assert_eq!(noisy_price("p", text.as_bytes()).unwrap(), Price(cents * 10_000_000), "{text}");
        }
        for text in ["", "0", "-1", "1.00005", "1e3", "12x", "1.2.3", "99999999999999999999", "9223372036.9"]
        {
            assert!(noisy_price("p", text.as_bytes()).is_err(), "{text} was taken");
        }
    }

    #[test]
    fn times_of_day_read_in_every_spelling() {
        let expected = Some((9 * 3_600 + 25 * 60) * SECOND + 60_000_000);
        for text in
            ["09:25:00.060", "92500060", "092500060", "2023-02-01T09:25:00.06", "2023.02.01 09:25:00.060"]
        {
            assert_eq!(time_of_day(text.as_bytes()), expected, "{text}");
        }
        for text in
            ["", "9:25", "25:00:00", "09:61:00", "09:25:00.", "1", "09:25:xx", ":::", "09:25:00.1234567890"]
        {
            assert_eq!(time_of_day(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn dates_are_days_since_the_epoch() {
        assert_eq!(date(b"19700101"), Some(0));
        assert_eq!(date(b"2000-03-01"), Some(11_017 * DAY));
        assert_eq!(date(b"20230201"), Some(19_389 * DAY));
        for text in ["20230229", "20231301", "20230100", "2023-02/01", "1969-12-31", "abcdefgh"] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(date_in_path(Path::new("x/sse-600519-20230201/entrust.csv.gz")), date(b"20230201"));
        let official = "AAPL_2012-06-21_34200000_57600000_message_10.csv";
        assert_eq!(date_in_path(Path::new(official)), date(b"20120621"));
        assert_eq!(date_in_path(Path::new("pitch-288/pitch.txt.gz")), None);
    }

    #[test]
    fn quantities_are_whole_and_above_zero() {
        assert_eq!(quantity("q", b"100").unwrap(), 100);
        assert_eq!(quantity("q", b"100.00").unwrap(), 100);
        for text in ["0", "", "1.5", "-3", "99999999999999999999", "x"] {
            assert!(quantity("q", text.as_bytes()).is_err(), "{text} was taken");
        }
    }
}
