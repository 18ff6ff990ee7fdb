//! `[[recorder]]`: journals on disk.

use std::time::Duration;

use settings::schema::{Absent, DAY_NS, Kind};
use settings::{ByteSize, duration, section, words};

use super::run::LONGEST_NAP_NS;
use super::{RunConfig, fits};
use crate::forms;
use crate::services::NodeKind;

words! {
    /// What is said of a journal's frames once they are written.
    pub enum Durability ("degree of durability") {
        /// Not recorded.
        None = "none",
        /// Recorded, and nobody waits for it: a power cut takes the last moment.
        Async = "async",
        /// Recorded, and those for whom the journal is see a frame only when it is on disk, with all that led to it.
        Sync = "sync",
    }
}

words! {
    /// What happens when the disk is full or refuses to write.
    pub enum WhenFull ("rule for a disk that takes no more") {
        /// The recorded journals fill up, and their writers wait until there is room.
        Hold = "hold",
        /// Trading goes on, and the recording has a gap; where durability is "sync", orders are refused meanwhile.
        Gap = "gap",
    }
}

section! {
    /// A recorder: a node that writes journals to disk.
    pub struct RecorderConfig {
        /// Its name.
        name: String = "recorder".to_owned() => Kind::Parsed(&forms::NODE);
        /// The folder for recordings (relative to the file): each run of the instance has a folder of its own in it.
        path: String = String::new(), Absent::Required("write path = \"FOLDER\"");
        /// What it records: names of journals, patterns as in "orders.*", or "all"; of these all but those whose
        /// `durability` is "none". A journal belongs to the first recorder that names it.
        journals: Vec<String> = vec!["all".to_owned()] => Kind::List(&Kind::Parsed(&forms::JOURNALS));
        /// Those of them whose writers never wait for it; the recording has gaps where it was too slow.
        loose: Vec<String> = Vec::new() => Kind::List(&Kind::Parsed(&forms::JOURNALS));
        /// Bytes of a segment.
        segment: ByteSize = ByteSize::mib(64);
        /// A segment is closed when it is as old; 0s: only when it is full.
        #[serde(with = "duration")]
        roll: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: DAY_NS };
        /// Level of compression (zstd) of closed segments; 0: none.
        compress: u32 = 3 => Kind::Integer { min: 0, max: 19 };
        /// Closed segments are removed when the recordings of this instance take more; what a recovery needs stays.
        keep_bytes: Option<ByteSize> = None, Absent::Derived("all of them stay");
        /// Closed segments are removed when they are older; what a recovery needs stays.
        #[serde(with = "duration")]
        keep_for: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: 3_650 * DAY_NS };
        /// What happens when the disk takes no more.
        when_full: WhenFull = WhenFull::Hold;
        /// While messages come, it is not woken for each, but looks by itself within this time; only when it is quiet, it
        /// sleeps until it is woken. A `mode` of "fast" looks all the time, and takes a core.
        #[serde(with = "duration")]
        wake_within: Duration = Duration::from_micros(100) => Kind::Duration { min_ns: 0, max_ns: LONGEST_NAP_NS };
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Recorder);
    }
}

/// The pattern that covers every journal.
const ALL: &str = "all";

fn covers(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern == ALL || fits(pattern, name))
}

impl RecorderConfig {
    /// Whether it is to record a journal of that name.
    pub(crate) fn covers(&self, name: &str) -> bool {
        covers(&self.journals, name)
    }

    /// Whether that journal's writer never waits for it.
    pub(crate) fn is_loose(&self, name: &str) -> bool {
        covers(&self.loose, name)
    }
}
