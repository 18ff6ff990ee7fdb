//! Values that TOML has no type for, written as text: sizes, times of day, durations, lists of CPUs.
//!
//! Each has one parser and one printed form, and the printed form parses to the same value.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of bytes, written `"64KiB"`, `"4MiB"`, `"1GiB"`, or as a bare integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

impl ByteSize {
    const UNITS: [(&'static str, u32); 4] = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

    /// `count` × 1024 bytes.
    pub const fn kib(count: u64) -> ByteSize {
        ByteSize(count << 10)
    }

    /// `count` × 1024² bytes.
    pub const fn mib(count: u64) -> ByteSize {
        ByteSize(count << 20)
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<ByteSize, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (count, unit) = (&text[..digits], text[digits..].trim_start());
        if count.is_empty() {
            return Err("it starts with no number".to_owned());
        }
        let shift = match Self::UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, shift)) => *shift,
            None if unit.is_empty() => 0,
            None => return Err(format!("`{unit}` is no unit: use KiB, MiB or GiB (powers of 1024)")),
        };
        count
            .parse::<u64>()
            .ok()
            .and_then(|count| count.checked_mul(1 << shift))
            .map(ByteSize)
            .ok_or_else(|| "the number is too large".to_owned())
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, shift) = Self::UNITS
            .into_iter()
            .find(|(_, shift)| self.0 != 0 && self.0.is_multiple_of(1 << shift))
            .unwrap_or(("B", 0));
        f.pad(&format!("{}{unit}", self.0 >> shift))
    }
}

/// A time of day in the market's own clock, in nanoseconds after midnight; written `"09:30:00"` or
/// `"09:30:00.25"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(pub u64);

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeOfDay, String> {
        let shape = || "write hours, minutes and seconds, as in 09:30:00".to_owned();
        let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
        let mut parts = clock.split(':');
        let mut part = |limit: u64, optional: bool| match parts.next() {
            None if optional => Ok(0),
            Some(digits) if digits.len() == 2 => match digits.parse::<u64>() {
                Ok(value) if value < limit => Ok(value),
                _ => Err(shape()),
            },
            _ => Err(shape()),
        };
        let seconds = part(24, false)? * 3600 + part(60, false)? * 60 + part(60, true)?;
        let digits = fraction.len() as u32;
        if parts.next().is_some() || digits > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(shape());
        }
        let nanos = fraction.parse::<u64>().unwrap_or(0) * 10_u64.pow(9 - digits);
        Ok(TimeOfDay(seconds * 1_000_000_000 + nanos))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let text = format!("{clock}.{nanos:09}");
        f.pad(if nanos == 0 { &clock } else { text.trim_end_matches('0') })
    }
}

/// A set of CPU numbers, ascending and without repeats; written as the kernel writes it: `"2-5,7"`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

impl CpuList {
    /// Highest CPU number that is believed.
    pub(crate) const MAX_CPU: u32 = 8_191;
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<CpuList, String> {
        let number = |digits: &str| match digits.trim().parse::<u32>() {
            Ok(cpu) if cpu <= Self::MAX_CPU => Ok(cpu),
            _ => Err(format!("`{digits}` is no CPU number from 0 to {}", Self::MAX_CPU)),
        };
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("`{}` runs backwards", part.trim()));
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(CpuList(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.to_string(),
            [] => String::new(),
        });
        f.pad(&runs.collect::<Vec<_>>().join(","))
    }
}

macro_rules! serde_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
serde_as_text!(ByteSize, TimeOfDay, CpuList);

/// Durations as text (`"2ms"`, `"1s 500ms"`), for `#[serde(with = "settings::duration")]`.
pub mod duration {
    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    /// The duration as text. Whole days are days: humantime's months are of 30.44.
    pub fn text(value: Duration) -> String {
        match value.as_secs() / DAY {
            days if days > 0 && value == Duration::from_secs(days * DAY) => format!("{days}days"),
            _ => humantime::format_duration(value).to_string(),
        }
    }

    /// Writes the duration as text.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&text(*value))
    }

    /// Reads what [`serialize`] wrote.
    ///
    /// # Errors
    /// Text that is no duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_days_are_said_in_days() {
        let day = Duration::from_secs(24 * 60 * 60);
        for (value, text) in
            [(90 * day, "90days"), (day + Duration::from_secs(1), "1day 1s"), (day / 2, "12h")]
        {
            assert_eq!(duration::text(value), text);
            assert_eq!(humantime::parse_duration(text).unwrap(), value);
        }
    }

    #[test]
    fn sizes_print_as_they_parse() {
        for (text, bytes) in [("64KiB", 65_536), ("4MiB", 4 << 20), ("1GiB", 1 << 30), ("1000B", 1_000)] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)));
            assert_eq!(ByteSize(bytes).to_string(), text);
        }
        assert_eq!("4 MiB".parse(), Ok(ByteSize::mib(4)));
        assert_eq!("4096".parse(), Ok(ByteSize(4096)));
        for wrong in ["", "MiB", "4MB", "4.5MiB", "99999999999999999999", "99999999999GiB"] {
            assert!(wrong.parse::<ByteSize>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_of_day_print_as_they_parse() {
        assert_eq!("09:30:00".parse(), Ok(TimeOfDay(34_200_000_000_000)));
        assert_eq!("09:30".parse(), Ok(TimeOfDay(34_200_000_000_000)));
        assert_eq!("00:00:00.25".parse::<TimeOfDay>().unwrap().to_string(), "00:00:00.25");
        assert_eq!("23:59:59".parse::<TimeOfDay>().unwrap().to_string(), "23:59:59");
        for wrong in ["", "9:30", "24:00:00", "09:60:00", "09:30:00:00", "09:30:00.1234567890", "09:30:00.x"]
        {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn cpu_lists_print_as_they_parse() {
        assert_eq!("2-5,7".parse(), Ok(CpuList(vec![2, 3, 4, 5, 7])));
        assert_eq!("7,3,2,3".parse::<CpuList>().unwrap().to_string(), "2-3,7");
        for wrong in ["", "a", "5-2", "1,,2", "99999", "0-4294967295"] {
            assert!(wrong.parse::<CpuList>().is_err(), "{wrong}");
        }
    }
}
