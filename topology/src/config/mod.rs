//! The platform file as typed data: one struct a section, each key a documented field with its default.
//!
//! The structs serialise to what the file says (`"2ms"`, `"4MiB"`, `"parked"`), so that a node's section travels
//! to it as JSON and comes out of `serde_json::from_value` the same. Missing keys take their defaults.
//!
//! ```
//! use topology::config::{MarketSource, MdConfig};
//!
//! let md: MdConfig = serde_json::from_str(r#"{ "source": "lobster", "speed": 50.0 }"#)?;
//! assert_eq!(md.source, MarketSource::Lobster);
//! assert_eq!(md.on_bad_row, MdConfig::default().on_bad_row);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod desk;
mod exchange;
mod external;
mod gateway;
mod journal;
mod latency;
mod matching;
mod md;
mod pin;
mod recorded;
mod recorder;
mod run;
mod services;
mod strategies;

pub use desk::{
    AccountConfig, AccountRules, ChargeEvent, ChargeLiquidity, ChargeRule, ChargeSide, ContractConfig,
    CostRule, CurrencyConfig, Decimal, DeskConfig, DeskGroup, DeskLimits, DeskStrategy, FeeConfig,
    MarginConfig, Rate, SwitchedCheck,
};
pub use exchange::{
    ByInstrument, PhaseName, PhaseStart, RuleSet, SelfTradeRule, TickRow, UtcOffset, named, rows_for,
    ticks_of,
};
pub use external::{ReadConfig, ServiceConfig, Stop, WriteConfig};
pub use gateway::{FixConfig, GatewayConfig, TlsConfig};
pub use journal::{
    HugePages, JournalConfig, LedgerJournals, MatchingJournals, MdJournals, PageSize, RingConfig, TdJournals,
};
pub use latency::{
    DrawnLatency, Latency, LatencyStage, LognormalLatency, NormalLatency, Queue, UniformLatency,
};
pub use matching::{Fill, MatchingConfig};
pub use md::{
    BadRow, Files, Generator, MarketSource, MdConfig, MulticastConfig, NamedFiles, PriorOrders, Speed,
    SpeedWord,
};
pub use pin::{PinConfig, PinRule, RelayConfig};
pub(crate) use pin::{Placing, fits};
pub use recorded::{CallAuctionRule, SelfTradeOwner};
pub use recorder::{Durability, RecorderConfig, WhenFull};
pub use run::{
    Adaptive, AdaptiveMode, Mode, OnDeath, ReaderFrom, ReaderKind, RestartPolicy, RunConfig, Wake,
};
pub use services::{LedgerConfig, MasterConfig, PlatformSection, TdConfig};
pub(crate) use strategies::BUILTIN_STRATEGIES;
pub use strategies::{
    AccountChoice, AccountRule, HostConfig, InstrumentChoice, InstrumentRule, LimitsConfig, MarketData,
    StrategyGroup,
};

use settings::schema::{Absent, Groups, Kind, Section};
use settings::section;

section! {
    /// A platform: what runs in one instance, and how its parts are joined.
    pub struct PlatformConfig {
        /// The instance as a whole.
        platform: PlatformSection = PlatformSection::default();
        /// Rings in shared memory: how large, on which pages.
        journal: JournalConfig = JournalConfig::default();
        /// Owns the instance: registry, journals, supervision.
        master: MasterConfig = MasterConfig::default();
        /// Market data in: simulated instruments, or recorded days.
        md: MdConfig = MdConfig::default(),
            Absent::Required("write [md] with source = \"sim\", or a replay source and its files");
        /// Trade gateway: takes the strategies' orders, checks them, passes them on.
        td: TdConfig = TdConfig::default();
        /// Where orders meet: the order books.
        matching: MatchingConfig = MatchingConfig::default();
        /// Positions, profit and loss, the starting state of who joins late.
        ledger: LedgerConfig = LedgerConfig::default();
        /// What holds for all accounts: currencies, charges, margins, limits.
        desk: DeskConfig = DeskConfig::default();
        /// Accounts, opened when the platform starts.
        accounts: Vec<AccountConfig> = Vec::new() => Kind::Tables(<AccountConfig as Section>::TABLE);
        /// The strategies: one group, or the defaults of several.
        strategies: Vec<StrategyGroup> = vec![StrategyGroup::default()]
            => Kind::Groups(&Groups {
                table: <StrategyGroup as Section>::TABLE,
                doc: "Groups of strategies; what a group does not say, it takes from [strategies].",
                unnamed: "write name = \"takers\": its nodes are takers-1, takers-2, …",
            }),
            Absent::Required("write [strategies] with a program and a count; count = 0 runs none");
        /// Further services beside the standard ones, by name.
        service: Vec<ServiceConfig> = Vec::new() => Kind::Tables(<ServiceConfig as Section>::TABLE);
        /// Recorders: what of the journals is on disk.
        recorder: Vec<RecorderConfig> = Vec::new() => Kind::Tables(<RecorderConfig as Section>::TABLE);
        /// The way in for clients from outside; without this section there is none.
        gateway: Option<GatewayConfig> = None;
        /// Which node runs on which core.
        pin: PinConfig = PinConfig::default();
    }
}

impl PlatformConfig {
    /// Whether every market event is answered in full before the next.
    pub fn is_in_lock_step(&self) -> bool {
        let PlatformSection { deterministic, live, .. } = self.platform;
        // At a pace, or with readers that may lose some of it, a replay is watched; otherwise it is a backtest.
        let is_backtest = self.md.source.is_replay()
            && self.md.speed == Speed::MAX
            && self.md.readers == ReaderKind::Gated
            && self.gateway.is_none();
        deterministic.unwrap_or(is_backtest && !live)
    }
}
