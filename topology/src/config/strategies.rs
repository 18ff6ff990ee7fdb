//! `[strategies]` and `[[strategies.group]]`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{OnDeath, RunConfig};
use crate::schema::{Absent, Described, Kind, described, forms, section, words};
use crate::units::duration;

/// Strategies that come with the platform, for `program = "builtin:…"`.
pub const BUILTIN_STRATEGIES: [&str; 2] = ["taker", "market-maker"];

words! {
    /// A rule that gives instruments to strategies.
    pub enum InstrumentRule ("choice of instruments") {
        /// One each: strategy n hears instrument n, and after the last it starts over. Counted over all groups.
        RoundRobin = "round-robin",
        /// Every strategy hears all.
        All = "all",
    }
}

/// Which instruments the strategies of a group hear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InstrumentChoice {
    /// By a rule.
    Rule(InstrumentRule),
    /// These, by symbol.
    Listed(Vec<String>),
}

described! {
    InstrumentChoice = Kind::Either(&[
        <InstrumentRule as Described>::KIND,
        Kind::List(&Kind::Parsed(&forms::SYMBOL)),
    ]);
}

section! {
    /// Limits of a group's strategies, where they are not those of `[td]`.
    pub struct LimitsConfig {
        /// Largest quantity of one order; 0: no limit.
        max_order_quantity: Option<i64> = None, Absent::Derived("that of [td]");
        /// Orders that a strategy may have working at once; 0: no limit.
        max_working_orders: Option<u32> = None, Absent::Derived("that of [td]");
        /// Largest position, long or short, in one instrument; 0: no limit.
        max_position: Option<i64> = None, Absent::Derived("that of [td]");
    }
}

section! {
    /// Strategies that are started alike.
    pub struct StrategyGroup {
        /// The nodes are NAME-1 to NAME-count.
        name: String = "strategy".to_owned() => Kind::Parsed(&forms::NAME);
        /// "builtin:taker", "builtin:market-maker", or the path of a program (relative to the file).
        program: String = "builtin:taker".to_owned();
        /// How many processes.
        count: u32 = 8 => Kind::Integer { min: 0, max: 10_000 };
        /// Which instruments each of them hears.
        instruments: InstrumentChoice = InstrumentChoice::Rule(InstrumentRule::RoundRobin);
        /// Time between the starts of two of them.
        #[serde(with = "duration")]
        stagger: Duration = Duration::ZERO;
        /// What becomes of a dead one's cursors: held for its restart, or dropped.
        on_death: OnDeath = OnDeath::Drop, Absent::Derived("hold if it is restarted, else drop");
        /// Handed to the program as they are.
        params: Json = Json::Object(Map::new());
        /// Limits that td holds them to, where they are not those of `[td]`.
        limits: LimitsConfig = LimitsConfig::default();
        /// How they wait, and whether they are started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::never();
    }
}
