//! What every node has: how it waits, what happens when it dies; and how a reader reads.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use settings::schema::{Absent, DAY_NS, Kind, Section, Words};
use settings::{described, duration, section, words};

use crate::services::{NodeKind, Service};

/// How a node waits for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Looks all the time; takes a whole core.
    Fast,
    /// Sleeps until it is woken.
    Parked,
    /// Looks for a while, then sleeps.
    Adaptive {
        /// How long it looks.
        #[serde(with = "duration")]
        spin: Duration,
    },
    /// While there is work, sleeps by the clock, so that nobody has to wake it; parks when it is quiet. `wake_within`
    /// of a node that parks makes it this.
    Napping {
        /// How long it sleeps at most before it looks again.
        #[serde(with = "duration")]
        within: Duration,
    },
}

impl Mode {
    /// As it is printed, without how long.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Fast => "fast",
            Mode::Parked => "parked",
            Mode::Adaptive { .. } => "adaptive",
            Mode::Napping { .. } => "napping",
        }
    }

    /// This mode, or if it parks and `within` is not zero, naps for that long at most.
    pub(crate) fn napping(self, within: Duration) -> Mode {
        match self {
            Mode::Parked if !within.is_zero() => Mode::Napping { within },
            other => other,
        }
    }

    /// True for a node that ever sleeps, and therefore must be woken.
    pub fn sleeps(self) -> bool {
        !self.is_fast()
    }

    /// True for a node that never sleeps.
    pub fn is_fast(self) -> bool {
        self == Mode::Fast
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mode::Fast => f.pad("fast"),
            Mode::Parked => f.pad("parked"),
            Mode::Adaptive { spin } => f.pad(&format!("adaptive {}", humantime::format_duration(*spin))),
            Mode::Napping { within } => f.pad(&format!("napping {}", humantime::format_duration(*within))),
        }
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Word(String),
            // Before the other table, whose keys all have defaults.
            Naps { napping: Naps },
            Table(AdaptiveMode),
        }
        #[derive(Deserialize)]
        struct Naps {
            #[serde(with = "duration")]
            within: Duration,
        }
        match Form::deserialize(deserializer)? {
            Form::Table(table) => Ok(Mode::Adaptive { spin: table.adaptive.spin }),
            Form::Naps { napping } => Ok(Mode::Napping { within: napping.within }),
            Form::Word(word) => match word.as_str() {
                "fast" => Ok(Mode::Fast),
                "parked" => Ok(Mode::Parked),
                "adaptive" => Ok(Mode::Adaptive { spin: Adaptive::default().spin }),
                _ => Err(serde::de::Error::unknown_variant(&word, &["fast", "parked", "adaptive"])),
            },
        }
    }
}

const MODE_WORDS: Words = Words {
    what: "wait mode",
    words: &[
        ("fast", "busy-polls; takes a whole core"),
        ("parked", "sleeps until it is woken"),
        ("adaptive", "busy-polls for 30us, then sleeps; { adaptive = { spin = \"…\" } } sets how long"),
    ],
};

described! {
    Mode = Kind::Either(&[Kind::Words(&MODE_WORDS), Kind::Table(<AdaptiveMode as Section>::TABLE)]);
}

section! {
    /// `{ adaptive = { spin = "30us" } }`.
    pub struct AdaptiveMode {
        /// Looks for a while, then sleeps.
        adaptive: Adaptive = Adaptive::default();
    }
}

section! {
    /// How an adaptive node waits.
    pub struct Adaptive {
        /// How long it looks before it sleeps; about what one wake-up costs.
        #[serde(with = "duration")]
        spin: Duration = Duration::from_micros(30) => Kind::Duration { min_ns: 0, max_ns: 1_000_000_000 };
    }
}

words! {
    /// Who wakes a node that sleeps, and when.
    pub enum Wake ("way to wake a node") {
        /// Whoever writes what the node wants wakes it.
        Targeted = "targeted",
        /// The relay on its core does; [pin] says where one runs. While it does not run, whoever writes.
        Relay = "relay",
        /// Whoever writes wakes it for every message of every journal that it reads: a baseline.
        Broadcast = "broadcast",
    }
}

words! {
    /// Whether a node that stopped is started again.
    pub enum RestartPolicy ("restart policy") {
        /// Never.
        Never = "never",
        /// When it died or answered a failure.
        OnFailure = "on-failure",
        /// Also when it stopped in good order.
        Always = "always",
    }
}

words! {
    /// What the writer of a journal owes to a reader.
    pub enum ReaderKind ("kind of reader") {
        /// The writer may not lap it: nothing is lost, and a slow reader slows the writer.
        Gated = "gated",
        /// The writer never waits: a slow reader loses, and learns exactly what.
        Loose = "loose",
    }
}

words! {
    /// Where a reader begins.
    pub enum ReaderFrom ("place to read from") {
        /// At the oldest frame that is still there; also after a restart.
        Start = "start",
        /// At what comes next; also after a restart.
        Head = "head",
        /// The first time at the start, after a restart where it stood.
        Cursor = "cursor",
    }
}

words! {
    /// What becomes of a gated reader's cursor when the reader dies.
    pub enum OnDeath ("fate of a dead reader's cursor") {
        /// It stays for the restart: nothing is lost, and the writer may have to wait.
        Hold = "hold",
        /// It goes: the writer goes on, and a restarted reader has missed something.
        Drop = "drop",
    }
}

section! {
    /// How a node waits, and whether it is started again.
    pub struct RunConfig {
        /// How it waits for news; may differ from node to node.
        mode: Mode = Mode::Parked;
        /// Who wakes it when it sleeps.
        wake: Option<Wake> = None, Absent::Derived("relay where [pin] gives the node one, else targeted");
        /// Whether it is started again when it stopped.
        restart: RestartPolicy = RestartPolicy::OnFailure;
        /// After this many restarts in a row it stays down; ten seconds of life end the row.
        restart_max: u32 = 5 => Kind::Integer { min: 0, max: 1_000_000 };
        /// Pause before a restart; doubles with each one of a row.
        #[serde(with = "duration")]
        restart_backoff: Duration = Duration::from_millis(200) => Kind::Duration { min_ns: 0, max_ns: DAY_NS };
    }
}

/// Longest `wake_within`: a node that is asked to stop, or whose writer waits for room, is not kept waiting for longer.
pub(crate) const LONGEST_NAP_NS: u64 = 100_000_000;

impl RunConfig {
    /// As a node of this kind runs unless the file says otherwise.
    pub(crate) fn of(kind: NodeKind) -> RunConfig {
        RunConfig { restart: Service::of(kind).restart, ..RunConfig::default() }
    }

    /// What should become of this node's cursors: held when someone may come back to them.
    pub(crate) fn on_death(&self) -> OnDeath {
        if self.restart == RestartPolicy::Never { OnDeath::Drop } else { OnDeath::Hold }
    }
}
