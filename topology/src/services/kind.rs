//! What a node is.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal => $word:literal,)*) => {
        /// What a node is. The numbers stand in shared memory and keep their meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum NodeKind { $($(#[$doc])* $kind = $number,)* }

        impl NodeKind {
            /// All of them.
            pub(crate) const ALL: &[NodeKind] = &[$(NodeKind::$kind,)*];

            /// As it is printed; of a service that is there once also the name of its node.
            pub fn as_str(self) -> &'static str {
                match self { $(NodeKind::$kind => $word,)* }
            }
        }
    };
}

kinds! {
    /// Owns the instance.
    Master = 1 => "master",
    /// Market data in.
    Md = 2 => "md",
    /// Trade gateway.
    Td = 3 => "td",
    /// Order books.
    Matching = 4 => "matching",
    /// Positions, working orders, latest quotes.
    Ledger = 5 => "ledger",
    /// A strategy.
    Strategy = 6 => "strategy",
    /// A service of the platform file that stops after all others have traded: a recorder, a report, a gateway.
    Observer = 7 => "observer",
    /// A service of the platform file that stops before the market does.
    Service = 8 => "service",
    /// Wakes those who sleep on its core, or only keeps the core awake.
    Relay = 9 => "relay",
    /// Runs strategies that have no process of their own.
    Host = 10 => "host",
    /// Writes journals to disk.
    Recorder = 11 => "recorder",
    /// The way in for clients from outside: it sends their orders, and outlives none of its journals.
    Gateway = 12 => "gateway",
}

impl NodeKind {
    /// The number that stands in shared memory.
    pub fn to_word(self) -> u64 {
        self as u64
    }

    /// `None` for a number that no version of ours writes.
    pub fn from_word(word: u64) -> Option<NodeKind> {
        NodeKind::ALL.iter().copied().find(|kind| kind.to_word() == word)
    }

    /// True for a part of the platform that a platform file has added.
    pub(crate) fn is_added(self) -> bool {
        matches!(self, NodeKind::Observer | NodeKind::Service)
    }

    /// True for whoever sends orders under a name of its own: a strategy, or the gateway.
    pub fn sends(self) -> bool {
        matches!(self, NodeKind::Strategy | NodeKind::Gateway)
    }

    /// True for a strategy, for a process that runs some, and for the gateway, which sends its clients' orders.
    pub fn trades(self) -> bool {
        matches!(self, NodeKind::Strategy | NodeKind::Host | NodeKind::Gateway)
    }
}

impl std::fmt::Display for NodeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
