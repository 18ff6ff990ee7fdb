//! `[[node]]`: what hangs off the side, such as a recorder or a gateway.

use serde_json::{Map, Value as Json};
use settings::forms::NAME;
use settings::schema::{Absent, Kind, Section};
use settings::{ByteSize, section};

use super::{OnDeath, ReaderFrom, ReaderKind, RunConfig};
use crate::forms;

section! {
    /// A journal that a further node reads.
    pub struct ReadConfig {
        /// The journal, as in "md.quotes".
        journal: String = String::new() => Kind::Parsed(&forms::JOURNAL),
            Absent::Required("write journal = \"md.quotes\"");
        /// What the program calls it.
        role: String = String::new() => Kind::Parsed(&NAME), Absent::Derived("the journal's last word");
        /// Whether the writer waits for it.
        kind: ReaderKind = ReaderKind::Loose;
        /// Where it begins.
        from: ReaderFrom = ReaderFrom::Head, Absent::Derived("cursor if gated, else head");
        /// What becomes of its cursor when it dies.
        on_death: OnDeath = OnDeath::Drop, Absent::Derived("hold if it is restarted, else drop");
    }
}

section! {
    /// A journal that a further node writes.
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
    /// A node beside the standard ones.
    pub struct NodeConfig {
        /// Its name.
        name: String = String::new() => Kind::Parsed(&forms::NODE), Absent::Required("write name = \"recorder\"");
        /// The path of its program (relative to the file).
        program: String = String::new(), Absent::Required("write program = \"PATH\"");
        /// Nodes that must be ready before it starts.
        needs: Option<Vec<String>> = None => Kind::List(&Kind::Parsed(&forms::MEMBER)),
            Absent::Derived("the writers of what it reads");
        /// What it reads.
        reads: Vec<ReadConfig> = Vec::new() => Kind::Tables(<ReadConfig as Section>::TABLE);
        /// What it writes.
        writes: Vec<WriteConfig> = Vec::new() => Kind::Tables(<WriteConfig as Section>::TABLE);
        /// Handed to the program as they are.
        params: Json = Json::Object(Map::new());
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::never();
    }
}
