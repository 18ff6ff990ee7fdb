//! What the journals of an instance have held since it was made: nothing of it is lost with a process that ends.

use node::Tally;
use serde::{Deserialize, Serialize};
use topology::{NodeKind, StrategyAccount, TdSection, Topology};

use crate::view::{InstanceView, JournalView, SeatView};

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

#[cfg(test)]
mod tests {
    use wire::{
        BookEvent, CancelOrder, EndOfStream, Fill, NewOrder, OrderStatus, Quote, ReplaceOrder, TradePrint,
    };

    use super::*;
    use crate::fixture::{Instance, blank, update};

    #[test]
    fn totals_are_what_the_journals_held_whoever_wrote_them() {
        let made = Instance::new("totals");
        let [first, second] = made.strategies();
        let orders = |seat: u32| format!("orders.{}", made.name(seat));
        let reports = |seat: u32| format!("reports.{}", made.name(seat));
        made.write("md.quotes", &[blank::<Quote>(), blank::<TradePrint>(), blank::<Quote>()]);
        // The next one goes on where the first has ended.
        made.write("md.quotes", &[blank::<Quote>(), blank::<EndOfStream>()]);
        made.write(&orders(first), &[blank::<NewOrder>(), blank::<NewOrder>(), blank::<CancelOrder>()]);
        made.write(&orders(second), &[blank::<NewOrder>(), blank::<ReplaceOrder>()]);
        let accepted = || update(OrderStatus::Accepted);
        made.write(&reports(first), &[accepted(), blank::<Fill>(), update(OrderStatus::Rejected)]);
        made.write(&reports(second), &[accepted(), update(OrderStatus::ReplaceRejected)]);
        made.write("matching.executions", &[blank::<Fill>(), blank::<Fill>()]);

        let (totals, strategies) = Totals::read(&made.view(), &made.topology);
        assert_eq!((totals.quotes, totals.trades, totals.book_events), (3, 1, 0));
        // Matching's fills count, not those that were reported: a trade may be with somebody else's order.
        assert_eq!(totals.fills, 2);
        let of_first = Requests { orders: 2, rejected: 1, cancels: 1, ..Requests::default() };
        let of_second = Requests { orders: 1, replaces: 1, replaces_rejected: 1, ..Requests::default() };
        let expected = [
            StrategyTotals { seat: first, requests: of_first, fills: 1 },
            StrategyTotals { seat: second, requests: of_second, fills: 0 },
        ];
        assert_eq!(strategies, expected);
        let mut sum = of_first;
        sum.add(&of_second);
        assert_eq!(totals.requests, sum);
        assert_eq!((sum.orders, sum.rejected, sum.replaces_rejected), (3, 1, 1));
    }

    #[test]
    fn nothing_was_held_and_nothing_lost_before_anybody_wrote() {
        let made = Instance::new("nothing");
        let view = made.view();
        let (totals, strategies) = Totals::read(&view, &made.topology);
        assert_eq!(totals, Totals::default());
        assert_eq!(strategies.len(), 2);
        assert_eq!(Lost::read(&view, &made.topology, &view.seats()), []);
    }

    #[test]
    fn what_was_given_up_is_lost_to_the_strategy_in_its_journal_of_reports() {
        let made = Instance::new("given-up");
        let [_, second] = made.strategies();
        made.registry.occupy(second).unwrap().set_undelivered(5);
        let view = made.view();
        let lost = Lost::read(&view, &made.topology, &view.seats());
        let (node, journal) = (made.name(second).to_owned(), format!("reports.{}", made.name(second)));
        assert_eq!(lost, [Lost { node, journal, bytes: 0, gaps: 0, undelivered: 5 }]);
    }

    #[test]
    fn book_events_are_those_of_the_flow() {
        let made = Instance::new("flow");
        // Only a recorded day has such a journal: in any other they are none of md's flow.
        made.write("md.quotes", &[blank::<BookEvent>()]);
        assert_eq!(Totals::read(&made.view(), &made.topology).0.book_events, 0);
    }
}
