//! The topology: which nodes run and which journals join them, as plain data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use settings::duration;

use crate::config::{
    AccountChoice, AccountConfig, DeskConfig, Durability, Fill, GatewayConfig, InstrumentChoice,
    LedgerConfig, MarketData, MasterConfig, MatchingConfig, MdConfig, Mode, OnDeath, PinConfig, PinRule,
    ReaderFrom, ReaderKind, RestartPolicy, TdConfig, TickRow, Wake,
};
use crate::market::Market;
use crate::services::{NodeKind, Service, Stream, Waiting};

/// Everything that runs in one instance. Master keeps it in the instance's folder as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// The instance's name.
    pub instance: String,
    /// Lock-step: see [`crate::config::PlatformSection::deterministic`].
    pub deterministic: bool,
    /// See [`crate::config::PlatformSection::one_process`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_process: Option<bool>,
    /// Whether nodes keep their memory in RAM.
    #[serde(default)]
    pub lock_memory: bool,
    /// Where who takes it down writes what came of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_folder: Option<RunFolder>,
    /// By seat: `nodes[n].seat == n`, and `nodes[0]` is master.
    pub nodes: Vec<NodeSpec>,
    /// By id: `journals[n].id == n + 1`.
    pub journals: Vec<JournalSpec>,
    /// Which node runs on which core.
    pub pin: PinConfig,
    /// What is true of instruments, and what trading them costs.
    #[serde(default, skip_serializing_if = "Market::is_empty")]
    pub market: Market,
}

/// Where a folder with what came of a run is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFolder {
    /// An absolute path.
    pub path: PathBuf,
    /// It is the folder itself, and not the one that the folders of runs are made in.
    pub is_itself: bool,
}

/// A journal, its writer and its readers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalSpec {
    /// From 1.
    pub id: u32,
    /// As in `md.quotes`.
    pub name: String,
    /// The one node that writes it.
    pub writer: String,
    /// Bytes of the ring: a power of two.
    pub capacity_bytes: u64,
    /// Frames carry a topic below this.
    pub topics: u32,
    /// What the ring lies on.
    pub pages: Pages,
    /// What it carries; `None` for a journal that a service from outside writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// What is said of its frames.
    #[serde(default = "not_recorded", skip_serializing_if = "is_not_recorded")]
    pub durability: Durability,
    /// The nodes that read it. Tools may read too, loosely, and are not listed.
    pub readers: Vec<ReaderSpec>,
}

fn not_recorded() -> Durability {
    Durability::None
}

fn is_not_recorded(durability: &Durability) -> bool {
    *durability == Durability::None
}

/// What a ring lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    /// 4 KiB pages.
    Small,
    /// Huge pages.
    Huge {
        /// Bytes of one page.
        size: u64,
        /// True: or nothing starts. False: else transparent ones, else 4 KiB pages, and it is said so.
        require: bool,
    },
    /// 4 KiB pages that the kernel is asked to join into transparent huge ones.
    Transparent,
}

/// A reader of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderSpec {
    /// Which node.
    pub node: String,
    /// What that node calls the journal.
    pub role: String,
    /// Whether the writer waits for it.
    pub kind: ReaderKind,
    /// Where it begins.
    pub from: ReaderFrom,
    /// What becomes of its cursor when it dies.
    pub on_death: OnDeath,
}

/// A process of the instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Unique in the instance.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The group that it was listed in, if it is a strategy.
    pub group: Option<String>,
    /// The node whose process it runs in, if it has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its place in the registry: 0 is master. The same file always gives the same seats.
    pub seat: u16,
    /// How it waits.
    pub mode: Mode,
    /// Who wakes it when it sleeps.
    pub wake: Wake,
    /// What runs.
    pub program: Program,
    /// Whether it is started again.
    pub restart: RestartSpec,
    /// Nodes start in this order; all that a node needs come before it.
    pub start_order: u32,
    /// Nodes that must be ready before it starts.
    pub needs: Vec<String>,
    /// Pause between the start before it and its own.
    #[serde(with = "duration")]
    pub stagger: Duration,
    /// What it writes.
    pub writes: Vec<WriteBinding>,
    /// What it reads.
    pub reads: Vec<ReadBinding>,
    /// Its part of the configuration: a struct of [`crate::config`], [`TdSection`] or [`StrategySection`] as JSON.
    pub section: Json,
    /// Handed to the program as they are.
    pub parameters: Json,
}

/// What a node runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// A part of colo itself, by name.
    Builtin(String),
    /// A program of somebody's own.
    Path(PathBuf),
}

/// True for a program in Python, which its interpreter starts: it need not be executable.
pub fn is_python(program: &Path) -> bool {
    program.extension().is_some_and(|extension| extension == "py")
}

/// Whether a node is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartSpec {
    /// When.
    pub policy: RestartPolicy,
    /// How often in a row at most.
    pub max: u32,
    /// Pause before; doubles with each one of a row.
    #[serde(with = "duration")]
    pub backoff: Duration,
}

/// A journal that a node writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteBinding {
    /// What the node calls it.
    pub role: String,
    /// The journal's name.
    pub journal: String,
}

/// A journal that a node reads. Of role "orders" td has one for each strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBinding {
    /// What the node calls it.
    pub role: String,
    /// The journal's name.
    pub journal: String,
    /// Whether the writer waits for it.
    pub kind: ReaderKind,
    /// Where it begins.
    pub from: ReaderFrom,
    /// What becomes of its cursor when it dies.
    pub on_death: OnDeath,
    /// While there is work, the reader looks by itself within this time, and need not be woken for each message. Zero:
    /// it must be.
    #[serde(default, skip_serializing_if = "Duration::is_zero", with = "duration")]
    pub wake_within: Duration,
}

/// What one node gets to know of the topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodePart {
    /// The instance's name.
    pub instance: String,
    /// Lock-step.
    pub deterministic: bool,
    /// The node itself.
    pub node: NodeSpec,
    /// The journals that it reads or writes.
    pub journals: Vec<JournalSpec>,
    /// Where it runs.
    pub pin: Option<PinRule>,
}

/// What td is told: its section, and who may send orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TdSection {
    /// `[td]`.
    #[serde(flatten)]
    pub config: TdConfig,
    /// Of `[platform]`: most requests at one market event in lock-step; 0: no limit.
    #[serde(default)]
    pub lock_step_limit: u64,
    /// Of `[matching]`: tables of ticks, by which prices are checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<TickRow>,
    /// The accounts, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desk: Option<DeskSection>,
    /// One a strategy, by seat.
    pub strategies: Vec<StrategyLimits>,
}

/// What md is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MdSection {
    /// `[md]`.
    #[serde(flatten)]
    pub config: MdConfig,
    /// What is true of instruments.
    #[serde(default, skip_serializing_if = "Market::is_empty")]
    pub market: Market,
}

/// The accounts as td and ledger are told of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeskSection {
    /// `[desk]`.
    #[serde(flatten)]
    pub config: DeskConfig,
    /// `[[accounts]]`.
    #[serde(default)]
    pub accounts: Vec<AccountConfig>,
    /// What is true of instruments.
    #[serde(default, skip_serializing_if = "Market::is_empty")]
    pub market: Market,
}

/// What the ledger is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerSection {
    /// `[ledger]`.
    #[serde(flatten)]
    pub config: LedgerConfig,
    /// The accounts, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desk: Option<DeskSection>,
}

/// What td keeps a strategy to, and where its reports go. A limit of zero is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyLimits {
    /// The node.
    pub name: String,
    /// Its seat, which is its [`wire::StrategyId`].
    pub seat: u16,
    /// Largest quantity of one order.
    pub max_order_quantity: i64,
    /// Orders working at once.
    pub max_working_orders: u32,
    /// Largest position, long or short, in one instrument.
    pub max_position: i64,
    /// The accounts that it may trade for; none: its own.
    #[serde(default, skip_serializing_if = "AccountChoice::is_own")]
    pub accounts: AccountChoice,
    /// The journal that its reports go to.
    pub reports: String,
    /// And the topic there.
    pub reports_topic: u32,
    /// Seats of the recorders without which it hears nothing: its reports are "sync".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorders: Vec<u16>,
    /// Its orders are its clients', who do not die with it: they work on while it is started again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub orders_stay: bool,
    /// All the same they end when it stops in good order.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cancel_on_stop: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What the gateway is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewaySection {
    /// `[gateway]`.
    #[serde(flatten)]
    pub config: GatewayConfig,
    /// Whether each order is for an account that has money and positions of its own.
    #[serde(default)]
    pub keeps_accounts: bool,
}

/// What a strategy is told, beside its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategySection {
    /// Its group.
    pub group: String,
    /// From 0, counted over all groups: with [`InstrumentChoice::Rule`] round-robin, strategy `index` hears
    /// instrument `index % instruments + 1`.
    pub index: u32,
    /// From 0, within its group.
    pub index_in_group: u32,
    /// Which instruments it hears.
    pub instruments: InstrumentChoice,
    /// What it hears of them.
    #[serde(default)]
    pub data: MarketData,
    /// The name behind `builtin:`, for a strategy that comes with the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Longest that one call of it should take; zero: not measured.
    #[serde(default, with = "duration")]
    pub budget: Duration,
    /// The accounts that it may trade for, the one that is meant where an order names none first; empty: its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<u32>,
    /// How much of the market it hears before its start, by the market's time; zero: none.
    #[serde(default, with = "duration", skip_serializing_if = "Duration::is_zero")]
    pub warm_up: Duration,
    /// The folder of the recording that it is taken from; none: it is what md publishes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<PathBuf>,
}

/// What a host is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSection {
    /// The strategies that run in it, by seat.
    pub strategies: Vec<HostedStrategy>,
}

/// A strategy without a process of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedStrategy {
    /// The node.
    pub name: String,
    /// Its seat, which is the topic of its reports too.
    pub seat: u16,
}

/// What a relay is told. Without seats it only keeps its core from going idle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelaySection {
    /// The core that it runs on.
    pub cpu: u32,
    /// Whom it wakes.
    pub seats: Vec<u16>,
    /// All journals that they read.
    pub journals: Vec<String>,
}

impl NodeSpec {
    /// True for a node that keeps a whole core busy. A relay yields to everybody.
    pub(crate) fn takes_a_core(&self) -> bool {
        self.mode.is_fast() && Service::of(self.kind).waiting != Waiting::Yielding
    }
}

impl Topology {
    /// Master's own section.
    pub fn master(&self) -> MasterConfig {
        let section = self.nodes.first().map(|master| serde_json::from_value(master.section.clone()));
        section.and_then(Result::ok).unwrap_or_default()
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&NodeSpec> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The journal of that name.
    pub fn journal(&self, name: &str) -> Option<&JournalSpec> {
        self.journals.iter().find(|journal| journal.name == name)
    }

    /// The journals that carry this: one each of strategies' requests and reports, else at most one.
    pub fn carrying(&self, stream: Stream) -> impl Iterator<Item = &JournalSpec> {
        self.journals.iter().filter(move |journal| journal.stream == Some(stream))
    }

    /// The journal that the reports of a strategy go to: its own, or its host's.
    pub fn reports_of(&self, strategy: &NodeSpec) -> Option<&JournalSpec> {
        let reader = strategy.host.as_ref().unwrap_or(&strategy.name);
        let is_its = |journal: &&JournalSpec| journal.readers.iter().any(|read| read.node == *reader);
        self.carrying(Stream::Reports).find(is_its)
    }

    /// Whether orders go out to a market elsewhere.
    pub fn trades_elsewhere(&self) -> bool {
        let node = self.nodes.iter().find(|node| node.kind == NodeKind::Matching);
        let config =
            node.and_then(|node| serde_json::from_value::<MatchingConfig>(node.section.clone()).ok());
        config.is_some_and(|config| config.fill == Fill::External)
    }

    /// The nodes in the order in which they start.
    pub fn start_sequence(&self) -> Vec<&NodeSpec> {
        let mut nodes: Vec<_> = self.nodes.iter().collect();
        nodes.sort_by_key(|node| node.start_order);
        nodes
    }

    /// What the node of that name gets to know; `None` when there is no such node.
    pub fn part(&self, name: &str) -> Option<NodePart> {
        let node = self.node(name)?;
        let mine = |journal: &&JournalSpec| {
            journal.writer == name || journal.readers.iter().any(|reader| reader.node == name)
        };
        Some(NodePart {
            instance: self.instance.clone(),
            deterministic: self.deterministic,
            node: node.clone(),
            journals: self.journals.iter().filter(mine).cloned().collect(),
            pin: self.pin.rule_for(name),
        })
    }
}
