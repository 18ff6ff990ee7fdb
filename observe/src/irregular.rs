//! What went wrong with md's source: what contradicts itself in it, and a node's own last words.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::Irregularity;

/// How often each [`Irregularity`] was seen. All zero for a sound day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Irregular([u64; Irregularity::COUNT]);

impl Irregular {
    /// With these counts.
    pub fn gather(mut count: impl FnMut(Irregularity) -> u64) -> Irregular {
        let mut counts = [0; Irregularity::COUNT];
        Irregularity::ALL.iter().for_each(|kind| counts[*kind as usize] = count(*kind));
        Irregular(counts)
    }

    /// How often this one was seen.
    pub fn of(&self, kind: Irregularity) -> u64 {
        self.0[kind as usize]
    }
}

/// One key for each kind.
impl Serialize for Irregular {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Irregularity::ALL.iter().map(|kind| (kind.as_str(), self.of(*kind))))
    }
}

impl<'de> Deserialize<'de> for Irregular {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Irregular, D::Error> {
        let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(Irregular::gather(|kind| counts.get(kind.as_str()).copied().unwrap_or_default()))
    }
}

/// The last error that a node's log holds, without the time before it.
pub(crate) fn last_words(log: &Path) -> Option<String> {
    /// More than a message has.
    const TAIL: u64 = 1 << 16;
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().rev().find_map(error_of).map(str::to_owned)
}

/// What a line says that was logged as an error: `[TIME ERROR TARGET] WORDS`.
fn error_of(line: &str) -> Option<&str> {
    let (head, words) = line.strip_prefix('[')?.split_once("] ")?;
    (head.split_ascii_whitespace().nth(1) == Some("ERROR")).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_key_of_its_own_and_one_that_is_not_there_is_zero() {
        let seen = Irregular::gather(|kind| kind as u64 + 1);
        let json = serde_json::to_value(seen).unwrap();
        assert_eq!(
            (json["displaced"].as_u64(), json["crossed"].as_u64()),
            (Some(1), Some(Irregularity::COUNT as u64))
        );
        assert_eq!(serde_json::from_value::<Irregular>(json).unwrap(), seen);
        let one: Irregular = serde_json::from_str("{\"stale\": 3}").unwrap();
        assert_eq!((one.of(Irregularity::Stale), one.of(Irregularity::Prior)), (3, 0));
    }

    #[test]
    fn the_last_error_of_a_log_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("md.log");
        assert_eq!(last_words(&log), None);
        let lines = [
            "[2026-01-05T08:15:48Z ERROR colo::verbs::run] old",
            "[2026-01-05T08:15:49Z ERROR colo::verbs::run] o.csv, row 7: bad",
            "[2026-01-05T08:15:50Z INFO  md::process] ERROR is no word of this line",
        ];
        std::fs::write(&log, lines.join("\n")).unwrap();
        assert_eq!(last_words(&log).as_deref(), Some("o.csv, row 7: bad"));
    }
}
