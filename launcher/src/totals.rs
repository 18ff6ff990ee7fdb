//! What the journals of an instance have held since it was made: nothing of it is lost with a process that ends.

use node::{InstanceView, JournalView, SeatView, Tally};
use serde::{Deserialize, Serialize};
use topology::{NodeKind, StrategyAccount, TdSection, Topology};

/// Counts of messages in the journals, since the instance was made, whoever wrote them. Exact once the nodes have
/// stopped or died; while they run, each count is of another moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Quotes that md published.
    pub quotes: u64,
    /// Trade prints that md published.
    pub trades: u64,
    /// Order-flow events that md published.
    pub book_events: u64,
    /// What the strategies asked and were answered, taken together.
    #[serde(flatten)]
    pub requests: Requests,
    /// Fills that matching made. A trade between two orders of this instance is two.
    pub fills: u64,
}

/// What strategies asked, and how much of it was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// New orders.
    pub orders: u64,
    /// Of those: refused, by td or by matching.
    pub rejected: u64,
    /// Cancels.
    pub cancels: u64,
    /// Of those: refused.
    pub cancels_rejected: u64,
    /// Replaces.
    pub replaces: u64,
    /// Of those: refused.
    pub replaces_rejected: u64,
}

/// One strategy's share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrategyTotals {
    /// Its seat.
    pub seat: u32,
    /// What it asked.
    pub requests: Requests,
    /// Fills that it was told of.
    pub fills: u64,
}

/// What one reader lost of one journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The node that reads.
    pub node: String,
    /// The journal.
    pub journal: String,
    /// Bytes that were overwritten before it had read them.
    pub bytes: u64,
    /// How many times it was overtaken.
    pub gaps: u64,
    /// Messages that td could not keep for it any longer and gave up.
    pub undelivered: u64,
}

impl Requests {
    fn add(&mut self, other: &Requests) {
        self.orders += other.orders;
        self.rejected += other.rejected;
        self.cancels += other.cancels;
        self.cancels_rejected += other.cancels_rejected;
        self.replaces += other.replaces;
        self.replaces_rejected += other.replaces_rejected;
    }
}

impl Totals {
    /// Reads them, with those of each strategy by seat.
    pub fn read(view: &InstanceView, topology: &Topology) -> (Totals, Vec<StrategyTotals>) {
        let strategies = strategies(view, topology);
        let sum = |kind: NodeKind, role: &str, count: fn(&Tally) -> u64| -> u64 {
            written(topology, kind, role).map(|journal| count(&tally(view, journal))).sum()
        };
        let mut totals = Totals {
            quotes: sum(NodeKind::Md, "quotes", Tally::quotes),
            trades: sum(NodeKind::Md, "quotes", Tally::trades),
            book_events: sum(NodeKind::Md, "flow", Tally::book_events),
            requests: Requests::default(),
            fills: sum(NodeKind::Matching, "executions", Tally::fills),
        };
        strategies.iter().for_each(|strategy| totals.requests.add(&strategy.requests));
        (totals, strategies)
    }
}

/// The journals that nodes of this kind write in this role.
fn written<'a>(topology: &'a Topology, kind: NodeKind, role: &'a str) -> impl Iterator<Item = &'a str> {
    let nodes = topology.nodes.iter().filter(move |node| node.kind == kind);
    let writes = nodes.flat_map(|node| &node.writes).filter(move |write| write.role == role);
    writes.map(|write| write.journal.as_str())
}

fn tally(view: &InstanceView, journal: &str) -> Tally {
    view.tally(journal).unwrap_or_else(|error| {
        log::warn!("journal {journal} is not counted: {error}");
        Tally::default()
    })
}

/// td's accounts, which say where each strategy's reports go.
fn accounts(topology: &Topology) -> Vec<StrategyAccount> {
    let td = topology.nodes.iter().find(|node| node.kind == NodeKind::Td);
    let section = td.and_then(|td| serde_json::from_value::<TdSection>(td.section.clone()).ok());
    section.map(|section| section.strategies).unwrap_or_default()
}

fn strategies(view: &InstanceView, topology: &Topology) -> Vec<StrategyTotals> {
    let accounts = accounts(topology);
    let answers = |account: &StrategyAccount| -> Tally {
        let sharing = accounts.iter().filter(|other| other.reports == account.reports);
        let seats: Vec<u32> = sharing.map(|other| u32::from(other.seat)).collect();
        if seats.len() < 2 {
            return tally(view, &account.reports);
        }
        let place = seats.iter().position(|seat| *seat == u32::from(account.seat));
        let answers = view.answers(&account.reports, &seats).unwrap_or_else(|error| {
            log::warn!("journal {} is not counted: {error}", account.reports);
            Vec::new()
        });
        place.and_then(|place| answers.get(place)).copied().unwrap_or_default()
    };
    let row = |account: &StrategyAccount| {
        let node = topology.node(&account.name);
        let journal = node.and_then(|node| node.writes.iter().find(|write| write.role == "orders"));
        let asked = journal.map(|write| tally(view, &write.journal)).unwrap_or_default();
        let told = answers(account);
        StrategyTotals {
            seat: u32::from(account.seat),
            requests: Requests {
                orders: asked.orders(),
                rejected: told.rejected(),
                cancels: asked.cancels(),
                cancels_rejected: told.cancels_rejected(),
                replaces: asked.replaces(),
                replaces_rejected: told.replaces_rejected(),
            },
            fills: told.fills(),
        }
    };
    accounts.iter().map(row).collect()
}

impl Lost {
    /// All that was lost since the instance was made, by reader and journal.
    pub fn read(view: &InstanceView, topology: &Topology, seats: &[SeatView]) -> Vec<Lost> {
        let name = |number: u32| {
            let seat = seats.iter().find(|seat| seat.seat == number);
            seat.map_or_else(|| format!("seat {number}"), |seat| seat.name.clone())
        };
        let journals = view.journals().unwrap_or_default().sound;
        let of_journal = |(journal, row): &(journal::Journal, JournalView)| -> Vec<Lost> {
            let losers = journal.losers().into_iter().map(|reader| Lost {
                node: name(reader.seat),
                journal: row.stat.shape.name.clone(),
                bytes: reader.lost,
                gaps: reader.gaps,
                undelivered: 0,
            });
            losers.collect()
        };
        let mut lost: Vec<Lost> = journals.iter().flat_map(of_journal).collect();
        let accounts = accounts(topology);
        for seat in seats.iter().filter(|seat| seat.undelivered_to > 0) {
            let account = accounts.iter().find(|account| u32::from(account.seat) == seat.seat);
            lost.push(Lost {
                node: seat.name.clone(),
                journal: account.map_or_else(String::new, |account| account.reports.clone()),
                bytes: 0,
                gaps: 0,
                undelivered: seat.undelivered_to,
            });
        }
        lost
    }
}
