//! The sections of a sweep file.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use settings::forms::NAME;
use settings::schema::{Absent, DAY_NS, Form, Kind, Section};
use settings::{TimeOfDay, described, duration, section, words};
use topology::config::MarketSource;

/// More runs than this are no sweep but a mistake.
pub const MOST_RUNS: u64 = 100_000;

words! {
    /// Which end of a measure is the good one.
    pub enum Goal ("goal") {
        /// The larger, the better.
        Max = "max",
        /// The smaller, the better.
        Min = "min",
    }
}

/// What stays of the runs' folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Of each run its manifest and its table of strategies.
    Tables,
    /// Everything.
    All,
    /// Everything of the best so many runs, of the others as [`Keep::Tables`].
    Best(usize),
}

impl std::str::FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Keep, String> {
        match text {
            "tables" => Ok(Keep::Tables),
            "all" => Ok(Keep::All),
            other => match other.strip_prefix("best:").map(str::parse) {
                Some(Ok(number)) if number > 0 => Ok(Keep::Best(number)),
                _ => Err("write \"tables\", \"all\", or \"best:10\" for the ten best runs".to_owned()),
            },
        }
    }
}

impl std::fmt::Display for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Keep::Tables => f.pad("tables"),
            Keep::All => f.pad("all"),
            Keep::Best(number) => f.pad(&format!("best:{number}")),
        }
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keep, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

const KEEP: Form = Form {
    what: "what to keep",
    example: "\"best:10\"",
    pattern: "^(tables|all|best:[1-9][0-9]*)$",
    parse: |text| text.parse().map(|keep: Keep| keep.to_string()),
    integer: false,
    longest: None,
};

described! {
    Keep = Kind::Parsed(&KEEP);
}

section! {
    /// A recorded day, or a part of one. The text alone stands for its `files`.
    pub struct DayConfig {
        /// The day's folder, or its one file; relative to the sweep file.
        files: PathBuf = PathBuf::new(), Absent::Required("write files = \"FOLDER\"");
        /// What it is called in tables.
        name: Option<String> = None => Kind::Parsed(&NAME), Absent::Derived("the name of the folder or file");
        /// Whose format it has.
        source: Option<MarketSource> = None, Absent::Derived("that of the platform file");
        /// What lies before this time of day only builds the books.
        from: Option<TimeOfDay> = None, Absent::Derived("that of the platform file");
        /// What lies after this time of day is left out.
        to: Option<TimeOfDay> = None, Absent::Derived("that of the platform file");
        /// Only these instruments; for lobster the name to use.
        symbols: Option<Vec<String>> = None, Absent::Derived("that of the platform file");
        /// Further keys of the platform file on this day, each KEY=VALUE.
        set: Vec<String> = Vec::new();
    }
}

section! {
    /// The days that each combination of parameters is tried on.
    pub struct DaysConfig {
        /// The days, each a table or the path of its data.
        list: Vec<DayConfig> = Vec::new() => Kind::Tables(<DayConfig as Section>::TABLE);
        /// Names of days that parameters are not chosen by: they show what a choice is worth on days it has not seen.
        test: Vec<String> = Vec::new();
    }
}

section! {
    /// A sweep: one platform, run with each combination of parameters on each day with each seed.
    pub struct SweepConfig {
        /// What it is called; its folder is called after it.
        name: Option<String> = None => Kind::Parsed(&NAME), Absent::Derived("the sweep file's name");
        /// The platform file; relative to the sweep file.
        platform: PathBuf = PathBuf::new(), Absent::Required("write platform = \"replay.toml\"");
        /// Whose measures count: a strategy, or a group. All strategies together where it is left out.
        strategy: Option<String> = None;
        /// The column of `strategies.csv` that combinations are compared by.
        measure: String = "pnl".to_owned();
        /// Which end of it is the good one.
        goal: Option<Goal> = None, Absent::Derived("min for max_drawdown, holding_s and what is refused, else max");
        /// Keys of the platform file that all runs have, each KEY=VALUE.
        set: Vec<String> = Vec::new();
        /// Each combination runs with each of these seeds; none: with what the platform file has.
        seeds: Vec<u64> = Vec::new();
        /// The keys that a seed is put into.
        seed_keys: Vec<String> = vec!["md.seed".to_owned()];
        /// Random search: so many combinations, drawn from the grid without putting back. All, where it is left out.
        sample: Option<u32> = None => Kind::Integer { min: 1, max: MOST_RUNS as i64 };
        /// Seed of that draw.
        seed: u64 = 1;
        /// Runs at a time.
        jobs: Option<u32> = None => Kind::Integer { min: 1, max: 1_024 }, Absent::Derived("as many as this host has cores and memory for");
        /// A run that takes longer is ended, and counts as failed.
        #[serde(with = "duration")]
        timeout: Duration = Duration::from_secs(3_600) => Kind::Duration { min_ns: 1_000_000_000, max_ns: 7 * DAY_NS };
        /// What stays of the runs' folders.
        keep: Keep = Keep::Tables;
        /// Keys of the platform file, each with a list of values or a range.
        parameters: Json = Json::Object(Map::new()), Absent::Required("write [parameters] with \"strategies.NAME.params.KEY\" = [1, 2, 3]");
        /// The days.
        days: DaysConfig = DaysConfig::default();
    }
}

/// Whether `text` is a sweep and not a platform file.
pub fn is_sweep(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("[parameters]") || line.starts_with("[parameters.")
    })
}
