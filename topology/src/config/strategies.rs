//! `[strategies]` and `[[strategies.group]]`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use settings::schema::{Absent, DAY_NS, Described, Kind};
use settings::{CpuList, described, duration, section, words};

use super::run::LONGEST_NAP_NS;
use super::{Durability, Mode, OnDeath, RunConfig};
use crate::forms;
use crate::services::NodeKind;

/// Strategies that come with the platform, for `program = "builtin:…"`.
pub(crate) const BUILTIN_STRATEGIES: [&str; 4] = ["taker", "market-maker", "noise", "round-trips"];

words! {
    /// A rule that gives instruments to strategies.
    pub enum InstrumentRule ("choice of instruments") {
        /// One each: strategy n hears instrument n, and after the last it starts over. Counted over all groups.
        RoundRobin = "round-robin",
        /// Every strategy hears all.
        All = "all",
    }
}

words! {
    /// What strategies hear of the market.
    pub enum MarketData ("market data") {
        /// The best bid and ask when they change, in one cache line, and trades; the depth on request.
        Best = "best",
        /// Ten levels of both sides whenever one of them changes, and trades.
        Depth = "depth",
        /// Order by order: the recorded market's flow, or an exchange's own events.
        Flow = "flow",
    }
}

impl MarketData {
    /// Why orders that answer this must not trade with quotes; `None`: they may.
    pub fn fault_beside_quotes(self) -> Option<&'static str> {
        (self == MarketData::Flow).then_some(
            "reads the flow of orders, which is published before the quotes that orders trade with (matching.fill is \
             \"quotes\"): it would trade on quotes older than what it answers",
        )
    }
}

impl Default for MarketData {
    /// What every strategy understands.
    fn default() -> MarketData {
        MarketData::Depth
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

words! {
    /// A rule that gives accounts to strategies.
    pub enum AccountRule ("choice of accounts") {
        /// All that are there, those among them that are opened later; each order names its own.
        All = "all",
    }
}

/// For which accounts the strategies of a group may trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AccountChoice {
    /// By a rule.
    Rule(AccountRule),
    /// These, by number.
    Listed(Vec<u32>),
}

impl AccountChoice {
    /// True for all accounts.
    pub fn is_all(&self) -> bool {
        matches!(self, AccountChoice::Rule(AccountRule::All))
    }

    /// Those that are listed.
    pub fn listed(&self) -> &[u32] {
        match self {
            AccountChoice::Rule(_) => &[],
            AccountChoice::Listed(accounts) => accounts,
        }
    }

    /// True where each trades for its own.
    pub fn is_own(&self) -> bool {
        !self.is_all() && self.listed().is_empty()
    }
}

impl Default for AccountChoice {
    fn default() -> AccountChoice {
        AccountChoice::Listed(Vec::new())
    }
}

described! {
    AccountChoice = Kind::Either(&[
        <AccountRule as Described>::KIND,
        Kind::List(&Kind::Integer { min: 0, max: 1 << 20 }),
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
    /// One process that runs many strategies on one core. Each keeps its seat, its order journal and its name.
    pub struct HostConfig {
        /// Name of its node; groups that say the same name share the process.
        name: String = "host".to_owned() => Kind::Parsed(&forms::NODE);
        /// The cores that it may run on, as in "3".
        cpus: Option<CpuList> = None, Absent::Derived("as [pin] says, or else the kernel");
        /// How it waits for news, for all of its strategies.
        mode: Mode = Mode::Fast;
    }
}

section! {
    /// Strategies that are started alike.
    pub struct StrategyGroup {
        /// The nodes are NAME-1 to NAME-count.
        name: String = "strategy".to_owned() => Kind::Parsed(&forms::NODE);
        /// "builtin:taker", "builtin:market-maker", "builtin:noise", "builtin:round-trips" (docs/strategies.md), or the path of a program (relative to the file).
        program: String = "builtin:taker".to_owned();
        /// The command that makes the program: `colo check` names it where the program is not there.
        build: String = String::new();
        /// How many.
        count: u32 = 8 => Kind::Integer { min: 0, max: 10_000 };
        /// Which instruments each of them hears.
        instruments: InstrumentChoice = InstrumentChoice::Rule(InstrumentRule::RoundRobin);
        /// What they hear of the market: the best bid and ask, ten levels, or order by order.
        data: MarketData = MarketData::Depth;
        /// Time between the starts of two of them.
        #[serde(with = "duration")]
        stagger: Duration = Duration::ZERO;
        /// What becomes of a dead one's cursors: held for its restart, or dropped.
        on_death: OnDeath = OnDeath::Drop, Absent::Derived("hold if it is restarted, else drop");
        /// Handed to the program as they are.
        params: Json = Json::Object(Map::new());
        /// While reports come or are expected, they do not wake a strategy one by one: it looks for them by itself within this time, as in
        /// "500us". All else wakes it, and when it is quiet, reports do too. Where it sleeps, and not in lock-step. 0s: each
        /// report wakes it.
        #[serde(with = "duration")]
        wake_within: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: LONGEST_NAP_NS };
        /// How much of the market they hear before their start, by the market's time, as in "30m": bars and averages are there by
        /// then. Orders are refused meanwhile. 0s: none.
        #[serde(with = "duration")]
        warm_up: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: 30 * DAY_NS };
        /// The folder of a recording whose last part they hear as warm-up, in one go. Without it, it is what md publishes first.
        history: Option<PathBuf> = None;
        /// Run in one process, on one core, instead of one process each.
        host: Option<HostConfig> = None;
        /// Longest that one call of a strategy should take; longer ones are counted and named. 0s: not measured.
        #[serde(with = "duration")]
        budget: Duration = Duration::from_micros(100) => Kind::Duration { min_ns: 0, max_ns: DAY_NS };
        /// What their reports say is on disk ("sync": with all that led to it), where a recorder is there.
        durability: Option<Durability> = None, Absent::Derived("that of [journal.reports]");
        /// The accounts that they may trade for, by number; the first is meant where an order names none. Empty: each trades for
        /// its own account.
        accounts: AccountChoice = AccountChoice::default();
        /// Limits that td holds them to, where they are not those of `[td]`.
        limits: LimitsConfig = LimitsConfig::default();
        /// How they wait, and whether they are started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Strategy);
    }
}
