//! The engines, one file each.

mod colo;
mod lobster;
mod matchcore;
mod orderbook_rs;

use bench_kit::book::{Ladder, SortedBook, TreeBook};
use bench_kit::flow::Flow;
use bench_kit::measure::{Contestant, Named, Now};
use serde::Serialize;

use crate::error::CompareError;

/// What an engine is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Facts {
    /// Name in the tables.
    pub(super) name: &'static str,
    /// Version in the registry; of the plain books, ours.
    pub(super) version: &'static str,
    /// How it is set up.
    pub(super) setup: &'static str,
}

/// All engines; the first is the one that others are compared with.
pub(super) const ALL: [Facts; 7] = [
    colo::FACTS,
    matchcore::FACTS,
    lobster::FACTS,
    orderbook_rs::FACTS,
    Facts {
        name: "sorted vector",
        version: "plain",
        setup: "levels in sorted vectors, a VecDeque each, std HashMap from id to level",
    },
    Facts {
        name: "BTreeMap",
        version: "plain",
        setup: "levels in BTreeMaps, a VecDeque each, std HashMap from id to level",
    },
    Facts {
        name: "bare ladder",
        version: "floor",
        setup: "an array of ticks, a bitmap, orders at places that the flow gives; no index of ids, no reports",
    },
];

/// Makes an engine for a flow.
pub(super) fn make<N: Now + 'static>(
    facts: &Facts,
    flow: &Flow,
) -> Result<Box<dyn Contestant<N>>, CompareError> {
    Ok(match facts.name {
        name if name == colo::FACTS.name => Box::new(Named::new(name, colo::Colo::new()?)),
        name if name == matchcore::FACTS.name => Box::new(Named::new(name, matchcore::Matchcore::new(flow))),
        name if name == lobster::FACTS.name => Box::new(Named::new(name, lobster::Lobster::new(flow))),
        name if name == orderbook_rs::FACTS.name => {
            Box::new(Named::new(name, orderbook_rs::OrderbookRs::new()))
        }
        "sorted vector" => Box::new(Named::new(facts.name, SortedBook::default())),
        "BTreeMap" => Box::new(Named::new(facts.name, TreeBook::default())),
        _ => Box::new(Named::new(facts.name, Ladder::new(flow))),
    })
}
