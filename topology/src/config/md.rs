//! `[md]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use settings::schema::{DAY_NS, Kind, Section};
use settings::{TimeOfDay, described, duration, section, words};

use super::{ReaderKind, RunConfig};
use crate::forms;
use crate::services::NodeKind;

words! {
    /// Where market data comes from.
    pub enum MarketSource ("source of market data") {
        /// Simulated instruments; needs no file.
        Sim = "sim",
        /// Shanghai Level 2: a file of orders and a file of trades.
        Sse = "sse",
        /// LOBSTER: a message file.
        Lobster = "lobster",
        /// BATS PITCH.
        Pitch = "pitch",
        /// Databento DBN, market by order.
        Dbn = "dbn",
        /// Nasdaq TotalView-ITCH 5.0.
        Itch = "itch",
        /// ITCH 5.0 over UDP multicast (MoldUDP64), with gap fill.
        Multicast = "multicast",
        /// Another run, as a recorder has it.
        Recording = "recording",
        /// The strategies themselves: matching is the exchange, and md publishes its book.
        Exchange = "exchange",
    }
}

impl MarketSource {
    /// True for a recorded day, which has files and an order flow.
    pub fn is_replay(self) -> bool {
        !matches!(self, MarketSource::Sim | MarketSource::Exchange | MarketSource::Multicast)
    }

    /// True where every order of the market is known.
    pub fn has_flow(self) -> bool {
        self.is_replay() || self == MarketSource::Multicast
    }
}

words! {
    /// How simulated instruments keep their time.
    pub enum Generator ("generator") {
        /// One thread an instrument.
        Threads = "threads",
        /// One thread for all, which goes by a schedule.
        Timed = "timed",
    }
}

words! {
    /// What a row that cannot be understood does.
    pub enum BadRow ("rule for bad rows") {
        /// The replay ends with an error that names the row.
        Stop = "stop",
        /// The row is counted and left out.
        Skip = "skip",
    }
}

words! {
    /// Which orders from before its first row a LOBSTER book begins with.
    pub enum PriorOrders ("rule for orders from before the first row") {
        /// Those that a later row names: the book is fuller, and knows them from those rows.
        LaterRows = "later-rows",
        /// None: the book holds nothing that its rows have not said by then.
        None = "none",
    }
}

words! {
    /// The one speed that is a word.
    pub enum SpeedWord ("replay speed") {
        /// As fast as the readers take it.
        Max = "max",
    }
}

/// How fast a recorded day is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Speed {
    /// Without a schedule.
    Word(SpeedWord),
    /// So many times as fast as the day went: 1.0 is the day's own pace.
    Times(f64),
}

impl Speed {
    /// As fast as the readers take it.
    pub const MAX: Speed = Speed::Word(SpeedWord::Max);
}

described! {
    Speed = Kind::Either(&[<SpeedWord as settings::schema::Described>::KIND, Kind::Number { min: 0.001, max: 1e6 }]);
    Files = Kind::Either(&[Kind::Text, Kind::Table(<NamedFiles as Section>::TABLE)]);
}

/// The files of a recorded day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Files {
    /// A folder that holds them, or the one file there is.
    Path(PathBuf),
    /// Each by what it holds.
    Named(NamedFiles),
}

impl Files {
    /// Every path that is named.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Files::Path(path) => vec![path],
            Files::Named(named) => [&named.orders, &named.trades, &named.messages]
                .into_iter()
                .flatten()
                .map(PathBuf::as_path)
                .collect(),
        }
    }

    /// Relative paths start at `folder`.
    pub(crate) fn rebase(&mut self, folder: &Path) {
        match self {
            Files::Path(path) => *path = folder.join(&*path),
            Files::Named(named) => {
                for path in [&mut named.orders, &mut named.trades, &mut named.messages].into_iter().flatten()
                {
                    *path = folder.join(&*path);
                }
            }
        }
    }
}

section! {
    /// The files of a recorded day, each by what it holds; plain, .gz or .zst.
    pub struct NamedFiles {
        /// Orders and cancels (sse).
        orders: Option<PathBuf> = None;
        /// Trades (sse).
        trades: Option<PathBuf> = None;
        /// Messages (lobster, pitch, dbn, itch).
        messages: Option<PathBuf> = None;
    }
}

section! {
    /// A multicast group that carries ITCH 5.0 in MoldUDP64, and the server that sends again what was lost. Messages are taken from
    /// the session's first; what neither the group nor the server has is a declared gap.
    pub struct MulticastConfig {
        /// The group.
        group: String = "239.192.64.1".to_owned();
        /// Its port.
        port: u16 = 26_400 => Kind::Integer { min: 1, max: 65_535 };
        /// The address of the interface that it is heard on.
        interface: String = "127.0.0.1".to_owned();
        /// The server, as HOST:PORT; not set: nothing is asked for again.
        server: Option<String> = None;
        /// Only this session, up to ten characters; not set: the first that is heard.
        session: Option<String> = None;
        /// How long a gap stays open, requests among it, before it is declared lost.
        #[serde(with = "duration")]
        fill_within: Duration = Duration::from_secs(1) => Kind::Duration { min_ns: 1_000_000, max_ns: 600_000_000_000 };
        /// How long the group may be silent, heartbeats included, before md gives up.
        #[serde(with = "duration")]
        silence: Duration = Duration::from_secs(30) => Kind::Duration { min_ns: 10_000_000, max_ns: DAY_NS };
    }
}

section! {
    /// Market data. Which keys count depends on `source`: `instruments` to `generator` are the simulation's,
    /// `files` to `symbols` are for recorded days.
    pub struct MdConfig {
        /// Where market data comes from.
        source: MarketSource = MarketSource::Sim;
        /// Whether md waits for strategies that are slower than it ("gated"), or they lose quotes ("loose").
        readers: ReaderKind = ReaderKind::Loose;
        /// Simulated instruments, or those of an exchange.
        instruments: u32 = 8 => Kind::Integer { min: 1, max: wire::MAX_INSTRUMENTS as i64 - 1 };
        /// Time between two quotes of one instrument.
        #[serde(with = "duration")]
        interval: Duration = Duration::from_millis(2) => Kind::Duration { min_ns: 1_000, max_ns: DAY_NS };
        /// Quotes of each instrument; 0: without end.
        count: u64 = 2_500;
        /// Time between the starts of two instruments.
        #[serde(with = "duration")]
        stagger: Duration = Duration::ZERO;
        /// Seed of the simulation's prices.
        seed: u64 = 1;
        /// How simulated instruments keep their time.
        generator: Generator = Generator::Threads;
        /// The recorded day: a folder, a file, or a table of files. For recording, its folder.
        files: Option<Files> = None;
        /// What is true of instruments: a TOML file with tables [[contracts]], [[fees]] and [[margins]] as in [desk], or a ready set
        /// by name, as in "ready:shanghai-stock". Not set: tick, lot, multiplier and currency of the source's market.
        instruments_file: Option<String> = None;
        /// How fast it is replayed: "max", or times the day's own pace.
        speed: Speed = Speed::MAX;
        /// What lies before this time of day only builds the books. For recording, times of day are UTC.
        from: Option<TimeOfDay> = None;
        /// What lies after this time of day is left out.
        to: Option<TimeOfDay> = None;
        /// What a row that cannot be understood does.
        on_bad_row: BadRow = BadRow::Stop;
        /// With which orders from before its first row a LOBSTER book begins. "later-rows" looks ahead: a strategy sees, and trades with,
        /// orders that only a later row proves to have rested there. "none" does not, and its book begins thin.
        prior: PriorOrders = PriorOrders::LaterRows;
        /// How many of a recorded day's rows may contradict others, as a share, before the replay stops with an error that
        /// names the first: numbers given out twice, clocks that go back, trades off the price or beyond the quantity of
        /// their order. They are counted and shown in any case. The days at hand have none, or (a file put together from
        /// five sessions) 4 in 100,000.
        tolerate: f64 = 0.001 => Kind::Number { min: 0.0, max: 1.0 };
        /// Only these instruments; empty: all. For lobster, whose files name none, the name to use.
        symbols: Vec<String> = Vec::new() => Kind::List(&Kind::Parsed(&forms::SYMBOL));
        /// The group of source = "multicast".
        multicast: MulticastConfig = MulticastConfig::default();
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Md);
    }
}
