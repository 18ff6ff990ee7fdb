//! The sections of a scenario file.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use settings::forms::NAME;
use settings::schema::{Absent, Kind, Section};
use settings::{duration, section, words};
use topology::config::Generator;

const HOUR_NS: u64 = 3_600_000_000_000;

section! {
    /// What the scenario is called.
    pub struct ScenarioHead {
        /// Its name; instances are called after it.
        name: String = "scenario".to_owned() => Kind::Parsed(&NAME),
            Absent::Required("write name = \"matrix\"");
        /// One line for the head of the report.
        title: String = "tick-to-order".to_owned();
        /// What a reader of the figures must know: how many samples, what was left out.
        note: Option<String> = None;
    }
}

words! {
    /// In which order cells run.
    pub enum RunOrder ("order of cells") {
        /// As the file lists them.
        Listed = "listed",
        /// Mixed by `seed`, so that what drifts on the host does not fall on one group.
        Shuffled = "shuffled",
        /// Loads mixed by `seed`, and at each load the groups one after the other, mixed too: what is compared lies close
        /// together in time. Every second pass runs backwards.
        Interleaved = "interleaved",
    }
}

section! {
    /// How a cell is measured. A load may have its own `repeats`, `samples`, `shortest`, `longest` and `warmup`.
    pub struct RunRules {
        /// In which order cells run. Repeats are passes over all cells, so that they lie far apart.
        order: RunOrder = RunOrder::Interleaved;
        /// Seed of that order, and of the simulated prices.
        seed: u64 = 1;
        /// Fresh platforms a cell.
        repeats: u32 = 3 => Kind::Integer { min: 1, max: 1_000 };
        /// Processes with one strategy each; a group may have its own.
        strategies: u32 = 80 => Kind::Integer { min: 1, max: 1_000 };
        /// Simulated instruments; strategy n hears instrument n.
        instruments: u32 = 80 => Kind::Integer { min: 1, max: 4_000 };
        /// A thread an instrument, or one timed thread for all.
        generator: Generator = Generator::Threads;
        /// Time between the starts of two strategies.
        #[serde(with = "duration")]
        stagger: Duration = Duration::from_secs(1) => Kind::Duration { min_ns: 0, max_ns: HOUR_NS };
        /// What comes before it is not counted.
        #[serde(with = "duration")]
        warmup: Duration = Duration::from_secs(1) => Kind::Duration { min_ns: 0, max_ns: HOUR_NS };
        /// A run ends when it has so many samples …
        samples: u64 = 10_000 => Kind::Integer { min: 1, max: 1_000_000_000 };
        /// … but not before this …
        #[serde(with = "duration")]
        shortest: Duration = Duration::from_secs(2) => Kind::Duration { min_ns: 0, max_ns: HOUR_NS };
        /// … and not after this.
        #[serde(with = "duration")]
        longest: Duration = Duration::from_secs(60) => Kind::Duration { min_ns: 1_000_000, max_ns: 24 * HOUR_NS };
        /// How long a strategy computes between a quote and its order.
        #[serde(with = "duration")]
        think: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: 1_000_000_000 };
        /// A cell with fewer samples is marked, and claims about it stay open.
        fewest_samples: u64 = 5 => Kind::Integer { min: 1, max: 1_000_000 };
        /// How often the threads' places are looked at while a run lasts.
        #[serde(with = "duration")]
        look: Duration = Duration::from_secs(1) => Kind::Duration { min_ns: 50_000_000, max_ns: HOUR_NS };
        /// A run is cut into slices of this length, and those in which the host did something else are left out.
        #[serde(with = "duration")]
        slice: Duration = Duration::from_millis(500) => Kind::Duration { min_ns: 100_000_000, max_ns: 10_000_000_000 };
        /// For the plan: what bringing a platform up and down takes, beside the stagger.
        #[serde(with = "duration")]
        overhead: Duration = Duration::from_secs(3) => Kind::Duration { min_ns: 0, max_ns: HOUR_NS };
    }
}

section! {
    /// A load: one row of each group's table. Loads are numbered from 1 in the order of the file.
    pub struct LoadConfig {
        /// Quotes a second over all instruments.
        rate: f64 = 80.0 => Kind::Number { min: 0.001, max: 10_000_000.0 }, Absent::Required("write rate = 80");
        /// Fresh platforms a cell.
        repeats: Option<u32> = None => Kind::Integer { min: 1, max: 1_000 }, Absent::Derived("that of [run]");
        /// Samples of one run.
        samples: Option<u64> = None => Kind::Integer { min: 1, max: 1_000_000_000 }, Absent::Derived("that of [run]");
        /// What comes before it is not counted.
        #[serde(with = "optional_duration", skip_serializing_if = "Option::is_none")]
        warmup: Option<Duration> = None, Absent::Derived("that of [run]");
        /// A run takes this long at least.
        #[serde(with = "optional_duration", skip_serializing_if = "Option::is_none")]
        shortest: Option<Duration> = None, Absent::Derived("that of [run]");
        /// A run takes this long at most.
        #[serde(with = "optional_duration", skip_serializing_if = "Option::is_none")]
        longest: Option<Duration> = None, Absent::Derived("that of [run]");
    }
}

section! {
    /// A group: one way to run the platform, measured at each load.
    pub struct GroupConfig {
        /// A letter or a short word; a cell is the group's name and the load's number: A10.
        name: String = "A".to_owned() => Kind::Parsed(&NAME), Absent::Required("write name = \"A\"");
        /// What it is, in a few words.
        title: String = "a group".to_owned();
        /// Only the loads of these rates; all, if it is left out.
        rates: Option<Vec<f64>> = None;
        /// Processes with one strategy each.
        strategies: Option<u32> = None => Kind::Integer { min: 1, max: 1_000 }, Absent::Derived("that of [run]");
        /// Simulated instruments.
        instruments: Option<u32> = None => Kind::Integer { min: 1, max: 4_000 }, Absent::Derived("that of [run]");
        /// Fresh platforms a cell.
        repeats: Option<u32> = None => Kind::Integer { min: 1, max: 1_000 }, Absent::Derived("that of the load");
        /// On a host with fewer CPUs the group is left out, with a message.
        cores: u32 = 1 => Kind::Integer { min: 1, max: 4_096 };
        /// Sections of a platform file that this group has on top of [base].
        platform: Json = Json::Object(Map::new());
    }
}

section! {
    /// Something that was said before and that the figures bear out or do not.
    pub struct ClaimConfig {
        /// A short name.
        name: String = "claim".to_owned() => Kind::Parsed(&NAME), Absent::Required("write name = \"pinning\"");
        /// What is claimed, in words.
        says: String = "a claim".to_owned(), Absent::Required("write says = \"pinning helps at 80/s\"");
        /// Who claims it.
        source: String = "colo".to_owned();
        /// The claim as a comparison: `mean(D, 80) < mean(A, 80)`.
        holds: String = "true".to_owned(), Absent::Required("write holds = \"mean(D, 80) < mean(A, 80)\"");
    }
}

section! {
    /// A scenario: groups × loads, measured cell by cell, each on a platform of its own.
    pub struct ScenarioConfig {
        /// What it is called.
        scenario: ScenarioHead = ScenarioHead::default(), Absent::Required("write [scenario] with a name");
        /// How a cell is measured.
        run: RunRules = RunRules::default();
        /// The loads, the rows of each table.
        load: Vec<LoadConfig> = Vec::new() => Kind::Tables(<LoadConfig as Section>::TABLE);
        /// Sections of a platform file that all groups have.
        base: Json = Json::Object(Map::new());
        /// The groups.
        group: Vec<GroupConfig> = Vec::new() => Kind::Tables(<GroupConfig as Section>::TABLE);
        /// What the figures are held against.
        claim: Vec<ClaimConfig> = Vec::new() => Kind::Tables(<ClaimConfig as Section>::TABLE);
    }
}

/// A duration that may be missing, as text.
mod optional_duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_some(&humantime::format_duration(*value).to_string()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| humantime::parse_duration(&text).map_err(serde::de::Error::custom)).transpose()
    }
}
