//! What journals carry, and how nodes publish it and subscribe to it.

use serde::{Deserialize, Serialize};
use settings::ByteSize;

use super::{NodeKind, publications, wanted};
use crate::config::{Fill, JournalConfig, MarketData, PlatformConfig, ReaderFrom, ReaderKind, RingConfig};

macro_rules! streams {
    ($($(#[$doc:meta])* $stream:ident => $word:literal,)*) => {
        /// What a journal of the standard platform carries. Readers find their journals by it, wherever they come from.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Stream { $($(#[$doc])* $stream,)* }

        impl Stream {
            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Stream] = &[$(Stream::$stream,)*];

            /// As it is printed.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Stream::$stream => $word,)* }
            }
        }
    };
}

streams! {
    /// Nodes that come and go.
    Events => "events",
    /// One message an instrument.
    Instruments => "instruments",
    /// Quotes and trade prints.
    Quotes => "quotes",
    /// Best bids and asks, and trade prints.
    Best => "best",
    /// The recorded market's order flow.
    Flow => "flow",
    /// The exchange's own book, trades and phases.
    Market => "market",
    /// What strategies ask for: orders, cancels and replaces.
    Requests => "requests",
    /// Requests that passed the checks.
    Orders => "orders",
    /// The latency of each order.
    Samples => "samples",
    /// What became of each order.
    Executions => "executions",
    /// The same, for the strategy that it belongs to.
    Reports => "reports",
    /// Snapshots, for who joins late.
    State => "state",
    /// What people and programs change about accounts.
    Entries => "entries",
    /// All that took effect on accounts, in td's order: entries, requests, executions, marks.
    Drops => "drops",
    /// Marks, and what the ledger asks td to do.
    Risk => "risk",
    /// Snapshots of the accounts.
    Desk => "desk",
    /// Images of an exchange's books, for the successor of a killed matching.
    Books => "books",
}

impl Stream {
    /// What the journal of that name carries; `None` for one that a service from outside writes.
    pub fn of(journal: &str) -> Option<Stream> {
        let is_it = |publication: &&Publication| match publication.journals {
            Journals::One(name) => name == journal,
            Journals::EachWriter(family) | Journals::EachReader(family, _) => {
                journal.strip_prefix(family).is_some_and(|rest| rest.starts_with('.'))
            }
        };
        publications().find(is_it).map(|publication| publication.stream)
    }

    /// The name of its journal, if every platform has exactly one.
    pub fn journal(self) -> Option<&'static str> {
        let mut its = publications().filter(|publication| publication.stream == self);
        match (its.next()?, its.next()) {
            (Publication { journals: Journals::One(name), when: When::Always, .. }, None) => Some(*name),
            _ => None,
        }
    }

    /// True for what strategies may answer: an order that names a frame of it has a tick-to-order time.
    pub fn is_answered(self) -> bool {
        self.is_market_data() && self != Stream::Instruments
    }

    /// True for what the market publishes.
    pub fn is_market_data(self) -> bool {
        matches!(self, Stream::Instruments | Stream::Quotes | Stream::Best | Stream::Flow | Stream::Market)
    }
}

impl std::fmt::Display for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A stream that the nodes of a row write.
pub(crate) struct Publication {
    pub(crate) stream: Stream,
    /// What the writer calls its journal.
    pub(crate) role: &'static str,
    pub(crate) journals: Journals,
    pub(crate) topics: Topics,
    /// Bytes of the ring, unless the file says otherwise.
    pub(crate) capacity: fn(&PlatformConfig) -> ByteSize,
    /// The sections of the file that speak of the ring, the nearest last.
    pub(crate) rings: fn(&JournalConfig) -> Vec<&RingConfig>,
    pub(crate) when: When,
}

/// The journals of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journals {
    /// One, of this name.
    One(&'static str),
    /// One a writer: the family's name and the writer's.
    EachWriter(&'static str),
    /// One for each node of a kind that has a process of its own, which alone reads it: the family's name and the
    /// reader's.
    EachReader(&'static str, NodeKind),
}

/// The topics of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topics {
    /// One.
    One,
    /// The instrument's number.
    Instruments,
    /// What took effect, and what was refused.
    TakenAndRefused,
    /// The strategy's seat.
    Seats,
    /// 0 for everybody, else the strategy's seat and one more.
    EverybodyAndSeats,
}

/// A stream that the nodes of a row read.
pub(crate) struct Subscription {
    pub(crate) stream: Stream,
    /// What the reader calls it.
    pub(crate) role: &'static str,
    pub(crate) manner: Manner,
    pub(crate) when: When,
}

/// How a subscription is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The writer waits for it; a restarted reader goes on where it stood.
    Gated,
    /// The writer does not wait.
    Loose(ReaderFrom),
    /// Gated in lock-step, where nobody may be behind, nor lose anything; else loose from the start.
    GatedInLockStep,
    /// As `md.readers` says. A restarted loose reader starts at the head: old quotes must not trigger orders.
    AsMarket,
}

/// Whether a publication or a subscription is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Always.
    Always,
    /// If orders are filled so.
    Fills(Fill),
    /// A publication: if anybody wants this of the market. A subscription of strategies: if they hear it; of another
    /// node: if it is published.
    Wanted(MarketData),
    /// A subscription: if md publishes no depth.
    NoDepth,
    /// If accounts are kept.
    Accounts,
}

impl When {
    /// Of a publication, or of a subscription of a node that hears nothing of its own choice.
    pub(crate) fn holds(self, config: &PlatformConfig) -> bool {
        match self {
            When::Always => true,
            When::Fills(fill) => config.matching.fill == fill,
            When::Wanted(data) => wanted::is_published(config, data),
            When::Accounts => config.keeps_accounts(),
            When::NoDepth => !wanted::is_published(config, MarketData::Depth),
        }
    }

    /// Of a subscription of strategies that hear `heard`.
    pub(crate) fn holds_for(self, config: &PlatformConfig, heard: &[MarketData]) -> bool {
        match self {
            When::Wanted(data) => heard.contains(&data),
            _ => self.holds(config),
        }
    }
}

impl Manner {
    pub(crate) fn resolve(self, config: &PlatformConfig) -> (ReaderKind, ReaderFrom) {
        let gated = (ReaderKind::Gated, ReaderFrom::Cursor);
        match self {
            Manner::Gated => gated,
            Manner::Loose(from) => (ReaderKind::Loose, from),
            Manner::GatedInLockStep if config.is_in_lock_step() => gated,
            Manner::GatedInLockStep => (ReaderKind::Loose, ReaderFrom::Start),
            Manner::AsMarket if config.md.readers == ReaderKind::Gated => gated,
            Manner::AsMarket => (ReaderKind::Loose, ReaderFrom::Head),
        }
    }
}

impl Topics {
    /// How many there are; `strategies` have the seats behind the first `services`.
    pub(crate) fn count(self, config: &PlatformConfig, services: u32, strategies: u32) -> u32 {
        match self {
            Topics::One => 1,
            Topics::TakenAndRefused => 2,
            Topics::Instruments if config.md.source.has_flow() => wire::MAX_INSTRUMENTS,
            // Ids start at 1.
            Topics::Instruments => config.md.instruments + 1,
            Topics::Seats => services + strategies,
            Topics::EverybodyAndSeats => services + strategies + 1,
        }
    }
}
