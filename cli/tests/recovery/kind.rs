//! Kinds of processes, and which two of them die at once.

use crate::load::Load;

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Master,
    Md,
    Td,
    Matching,
    Ledger,
    Strategy,
    Host,
    Relay,
    Recorder,
}

impl Kind {
    /// Every kind that a platform without hosts and relays has.
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Md, Kind::Td, Kind::Matching, Kind::Ledger, Kind::Strategy, Kind::Master];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Master => "master",
            Kind::Md => "md",
            Kind::Td => "td",
            Kind::Matching => "matching",
            Kind::Ledger => "ledger",
            Kind::Strategy => "strategy",
            Kind::Host => "host",
            Kind::Relay => "relay",
            Kind::Recorder => "recorder",
        }
    }

    /// Whether the node of this name is one. Strategies in a host have no process of their own.
    pub(crate) fn is(self, node: &str, load: Load) -> bool {
        match self {
            Kind::Strategy => {
                (node.starts_with("takers-") || node.starts_with("makers-")) && !load.hosts(node)
            }
            Kind::Relay => node.starts_with("relay-"),
            Kind::Recorder => node.starts_with("recorder"),
            kind => node == kind.name(),
        }
    }
}

/// Two that die together.
pub(crate) type Pair = [Kind; 2];

/// All pairs of these kinds, that of two strategies among them.
pub(crate) fn pairs(kinds: &[Kind]) -> Vec<Pair> {
    let pairs = kinds.iter().enumerate().flat_map(|(index, first)| {
        let others = kinds[index..].iter().filter(move |second| *second != first || *first == Kind::Strategy);
        others.map(move |second| [*first, *second])
    });
    pairs.collect()
}

/// One of these with each of those.
pub(crate) fn pairs_with(one: Kind, others: &[Kind]) -> Vec<Pair> {
    others.iter().map(|other| [one, *other]).collect()
}

pub(crate) fn name(pair: Pair) -> String {
    format!("{} + {}", pair[0].name(), pair[1].name())
}
