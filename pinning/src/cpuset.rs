//! A set of CPU numbers in the kernel's own notation.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// CPU numbers run from 0 to below this: the largest `NR_CPUS` that Linux can be built with on x86-64. It limits the
/// memory that a garbled list can request.
pub(crate) const MAX_CPUS: usize = 8_192;

/// A set of CPU numbers (or of NUMA node numbers), written as the kernel writes it: `2-5,7`.
///
/// It is a string in TOML and JSON. The empty set is the empty string.
///
/// ```
/// use pinning::CpuSet;
///
/// let planned: CpuSet = "2-5,7".parse()?;
/// let isolated: CpuSet = "4-7".parse()?;
/// assert_eq!(planned.len(), 5);
/// assert_eq!(planned.intersection(&isolated).to_string(), "4-5,7");
/// assert_eq!(planned.difference(&isolated).to_string(), "2-3");
/// # Ok::<(), pinning::ParseCpuSetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<usize>);

impl CpuSet {
    /// The empty set.
    pub fn new() -> CpuSet {
        CpuSet::default()
    }

    /// The set of a single CPU.
    pub fn single(cpu: usize) -> CpuSet {
        CpuSet(BTreeSet::from([cpu]))
    }

    /// Whether `cpu` is in the set.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// Adds `cpu`; `false` when it was in the set already.
    pub fn insert(&mut self, cpu: usize) -> bool {
        self.0.insert(cpu)
    }

    /// Removes `cpu`; `false` when it was not in the set.
    pub(crate) fn remove(&mut self, cpu: usize) -> bool {
        self.0.remove(&cpu)
    }

    /// Number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lowest CPU number.
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// Highest CPU number.
    pub fn last(&self) -> Option<usize> {
        self.0.last().copied()
    }

    /// The CPU numbers, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// The CPUs in either set.
    pub fn union(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 | &other.0)
    }

    /// The CPUs in both sets.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 & &other.0)
    }

    /// The CPUs in this set and not in the other.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        CpuSet(&self.0 - &other.0)
    }

    /// Whether every CPU of this set is in the other.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Whether any CPU is in both sets.
    pub fn overlaps(&self, other: &CpuSet) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    /// Reads a hexadecimal mask as the kernel prints it: groups of 32 bits, comma-separated, highest first
    /// (`00000001,0000000f`).
    pub(crate) fn from_mask(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let error = |reason| ParseCpuSetError::new(text, reason);
        let mut set = CpuSet::new();
        let mut base = 0;
        for group in text.trim().trim_start_matches("0x").rsplit(',') {
            if group.len() > 16 {
                return Err(error("a group of a mask has at most 16 hexadecimal digits"));
            }
            let bits = u64::from_str_radix(group, 16).map_err(|_| error("a mask is hexadecimal"))?;
            for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                if base + bit >= MAX_CPUS {
                    return Err(error("CPU numbers end at 8191"));
                }
                set.insert(base + bit);
            }
            base += 32;
        }
        Ok(set)
    }

    /// Prints the numbers separated by spaces, for a shell's `for`.
    pub(crate) fn spaced(&self) -> String {
        self.iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Prints a hexadecimal mask that [`CpuSet::from_mask`] and the kernel read.
    pub(crate) fn to_mask(&self) -> String {
        let group = |index: usize| {
            let bits = (0..32).filter(|bit| self.contains(index * 32 + bit));
            format!("{:x}", bits.fold(0_u32, |sum, bit| sum | 1 << bit))
        };
        (0..=self.last().unwrap_or(0) / 32).rev().map(group).collect::<Vec<_>>().join(",")
    }

    /// Reads a list from the kernel command line, where `all` and `N` (the last CPU, here `last`) are allowed and flags
    /// may precede the list (`isolcpus=domain,managed_irq,2-5`).
    pub(crate) fn from_command_line(text: &str, last: usize) -> Result<CpuSet, ParseCpuSetError> {
        let is_flag = |part: &str| part != "all" && part.starts_with(|c: char| c.is_ascii_lowercase());
        let parts: Vec<String> = text
            .split(',')
            .filter(|part| !is_flag(part))
            .map(|part| match part {
                "all" => format!("0-{last}"),
                _ => part.replace('N', &last.to_string()),
            })
            .collect();
        parts.join(",").parse()
    }
}

/// Text that is not a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of CPUs ({reason}): write numbers and ranges, as in 2-5,7")]
pub struct ParseCpuSetError {
    text: String,
    reason: &'static str,
}

impl ParseCpuSetError {
    fn new(text: &str, reason: &'static str) -> ParseCpuSetError {
        // The text ends up in a message, so only one line of it is kept.
        let text = text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
        ParseCpuSetError { text, reason }
    }
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    fn from_str(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let error = |reason| ParseCpuSetError::new(text, reason);
        let number = |part: &str| -> Result<usize, ParseCpuSetError> {
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(error("a part is no number"));
            }
            match part.parse() {
                Ok(number) if number < MAX_CPUS => Ok(number),
                _ => Err(error("CPU numbers end at 8191")),
            }
        };
        let mut set = CpuSet::new();
        let trimmed = text.trim();
        // Some kernels print `(null)` for a set that was never allocated.
        if trimmed.is_empty() || trimmed == "(null)" {
            return Ok(set);
        }
        for part in trimmed.split(',').map(str::trim) {
            // `0-31:2/4` is the kernel's stride: the first 2 of every 4.
            let (range, stride) = match part.split_once(':') {
                Some((range, stride)) => (range, Some(stride)),
                None => (part, None),
            };
            let (used, group) = match stride.map(|stride| stride.split_once('/')) {
                None => (1, 1),
                Some(Some((used, group))) => (number(used)?, number(group)?),
                Some(None) => return Err(error("a stride is written 0-31:2/4")),
            };
            if group == 0 || used == 0 || used > group {
                return Err(error("a stride takes 1 to all of its group"));
            }
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (number(first.trim())?, number(last.trim())?),
                None => (number(range)?, number(range)?),
            };
            if first > last {
                return Err(error("a range runs upwards"));
            }
            set.0.extend((first..=last).filter(|cpu| (cpu - first) % group < used));
        }
        Ok(set)
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut rest = self.iter().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while rest.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&first.to_string());
            if last > first {
                text.push_str(&format!("-{last}"));
            }
        }
        f.pad(&text)
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> CpuSet {
        CpuSet(cpus.into_iter().collect())
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CpuSet, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CpuSet, MAX_CPUS};

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn a_list_reads_as_the_kernel_means_it() {
        assert_eq!(set("2-5,7").iter().collect::<Vec<_>>(), [2, 3, 4, 5, 7]);
        assert_eq!(set("0-7:2/4").to_string(), "0-1,4-5");
        assert_eq!(set("").len(), 0);
        assert_eq!(set("(null)\n").len(), 0);
        assert_eq!(set(" 3 , 1-2\n").to_string(), "1-3");
    }

    #[test]
    fn a_list_that_is_none_is_refused() {
        for text in ["x", "1-", "-1", "5-2", "1,,2", "1.5", "8192", "0-99999999999", "0-3:0/0", "0-3:2", "+1"]
        {
            let error = text.parse::<CpuSet>().unwrap_err().to_string();
            assert!(error.contains("is no list of CPUs"), "{text}: {error}");
        }
        let long = "9".repeat(10_000).parse::<CpuSet>().unwrap_err().to_string();
        assert!(long.len() < 250, "a message stays short: {}", long.len());
    }

    #[test]
    fn a_mask_reads_from_the_right() {
        assert_eq!(CpuSet::from_mask("f").unwrap().to_string(), "0-3");
        assert_eq!(CpuSet::from_mask("00000001,0000000f\n").unwrap().to_string(), "0-3,32");
        assert_eq!(CpuSet::from_mask("ffffffffffffffff").unwrap().len(), 64);
        assert!(CpuSet::from_mask("xyz").is_err());
        assert!(CpuSet::from_mask(&"ffffffff,".repeat(300)).is_err());
    }

    #[test]
    fn the_command_line_knows_flags_and_the_last_cpu() {
        let read = |text| CpuSet::from_command_line(text, 11).unwrap().to_string();
        assert_eq!(read("domain,managed_irq,2-5"), "2-5");
        assert_eq!(read("all"), "0-11");
        assert_eq!(read("4-N"), "4-11");
        assert_eq!(read("nohz,domain"), "");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(cpus in prop::collection::btree_set(0..MAX_CPUS, 0..200)) {
            let set: CpuSet = cpus.into_iter().collect();
            prop_assert_eq!(&set.to_string().parse::<CpuSet>().unwrap(), &set);
            prop_assert_eq!(CpuSet::from_mask(&set.to_mask()).unwrap(), set);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = text.parse::<CpuSet>();
            let _ = CpuSet::from_mask(&text);
            let _ = CpuSet::from_command_line(&text, 7);
        }
    }
}
