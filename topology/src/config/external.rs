//! `[[service]]`: a part of the platform that comes from outside, such as a recorder or a gateway.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use settings::forms::NAME;
use settings::schema::{Absent, Kind, Section};
use settings::{ByteSize, duration, section, words};

use super::run::LONGEST_NAP_NS;
use super::{OnDeath, ReaderFrom, ReaderKind, RunConfig};
use crate::forms;
use crate::services::NodeKind;

words! {
    /// When a service stops.
    pub enum Stop ("time to stop") {
        /// With the strategies, before market data: what it writes last is still handled.
        First = "first",
        /// When nobody trades any more, before the ledger alone: it sees what all others write.
        Last = "last",
    }
}

section! {
    /// Journals that a service reads.
    pub struct ReadConfig {
        /// A journal, as in "md.quotes"; a pattern of names, as in "orders.*"; or "all". What a pattern finds does not
        /// include the service's own journals, nor those that another entry names in full.
        journal: String = String::new() => Kind::Parsed(&forms::JOURNALS),
            Absent::Required("write journal = \"md.quotes\"");
        /// What the program calls them.
        role: Option<String> = None => Kind::Parsed(&NAME), Absent::Derived("as their writers do");
        /// Whether the writer waits for it.
        kind: ReaderKind = ReaderKind::Loose;
        /// Where it begins.
        from: ReaderFrom = ReaderFrom::Head, Absent::Derived("cursor if gated, else head");
        /// What becomes of its cursor when it dies.
        on_death: OnDeath = OnDeath::Drop, Absent::Derived("hold if it is restarted, else drop");
    }
}

section! {
    /// A journal that a service writes.
    pub struct WriteConfig {
        /// The journal's name, which no other node writes.
        journal: String = String::new() => Kind::Parsed(&forms::JOURNAL),
            Absent::Required("write journal = \"NODE.what\"");
        /// What the program calls it.
        role: String = String::new() => Kind::Parsed(&NAME), Absent::Derived("the journal's last word");
        /// Bytes of the ring: a power of two from 64KiB to 64GiB.
        capacity: Option<ByteSize> = None => Kind::Parsed(&forms::CAPACITY),
            Absent::Derived("of [journal], or else 1MiB");
        /// Topics that its frames may carry.
        topics: u32 = 1 => Kind::Integer { min: 1, max: crate::faults::MAX_TOPICS as i64 };
    }
}

section! {
    /// A service beside the standard ones.
    pub struct ServiceConfig {
        /// Its name.
        name: String = String::new() => Kind::Parsed(&forms::NODE), Absent::Required("write name = \"recorder\"");
        /// The path of its program (relative to the file).
        program: String = String::new(), Absent::Required("write program = \"PATH\"");
        /// Nodes that must be ready before it starts.
        needs: Option<Vec<String>> = None => Kind::List(&Kind::Parsed(&forms::MEMBER)),
            Absent::Derived("the writers of the journals that it names in full, or else master");
        /// What it reads; a text stands for a table with this `journal`.
        reads: Vec<ReadConfig> = Vec::new() => Kind::Tables(<ReadConfig as Section>::TABLE);
        /// What it writes; a text stands for a table with this `journal`.
        writes: Vec<WriteConfig> = Vec::new() => Kind::Tables(<WriteConfig as Section>::TABLE);
        /// When it stops.
        stop: Stop = Stop::Last, Absent::Derived("first if it writes a journal, else last");
        /// While messages come, it is not woken for each, but looks by itself within this time, as in "500us"; only when it
        /// is quiet, it sleeps until it is woken. Not in lock-step. 0s: woken for each message.
        #[serde(with = "duration")]
        wake_within: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: LONGEST_NAP_NS };
        /// Handed to the program as they are.
        params: Json = Json::Object(Map::new());
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Service);
    }
}

impl ServiceConfig {
    /// What its node is: when it stops follows from that.
    pub(crate) fn kind(&self) -> NodeKind {
        match self.stop {
            Stop::First => NodeKind::Service,
            Stop::Last => NodeKind::Observer,
        }
    }
}

impl ReadConfig {
    /// Whether it may stand for several journals.
    pub(crate) fn is_pattern(&self) -> bool {
        self.journal == ALL || self.journal.contains(['*', '?'])
    }

    /// Whether a journal of that name is one of them.
    pub(crate) fn covers(&self, name: &str) -> bool {
        self.journal == ALL || super::fits(&self.journal, name)
    }
}

/// The pattern that covers every journal.
const ALL: &str = "all";
