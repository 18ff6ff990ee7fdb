//! What the journals of an instance have held since it was made: nothing of it is lost with a process that ends.

use node::Tally;
use serde::{Deserialize, Serialize};
use topology::{JournalSpec, Stream, Topology};

use crate::view::{InstanceView, JournalView, SeatView};

/// Counts of messages in the journals, since the instance was made, whoever wrote them. Exact once the nodes have
/// stopped or died; while they run, each count is of another moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Quotes that md published; where it publishes no depth, bests.
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
        let sum = |stream: Stream, count: fn(&Tally) -> u64| -> u64 {
            topology.carrying(stream).map(|journal| count(&tally(view, &journal.name))).sum()
        };
        // Where nobody wants the depth, quotes are bests.
        let quotes = match topology.carrying(Stream::Quotes).next() {
            Some(_) => Stream::Quotes,
            None => Stream::Best,
        };
        let mut totals = Totals {
            quotes: sum(quotes, Tally::quotes),
            trades: sum(quotes, Tally::trades),
            book_events: sum(Stream::Flow, Tally::book_events),
            requests: Requests::default(),
            fills: sum(Stream::Executions, Tally::fills),
        };
        strategies.iter().for_each(|strategy| totals.requests.add(&strategy.requests));
        (totals, strategies)
    }
}

fn tally(view: &InstanceView, journal: &str) -> Tally {
    view.tally(journal).unwrap_or_else(|error| {
        log::warn!("journal {journal} is not counted: {error}");
        Tally::default()
    })
}

/// A strategy, with the journals that hold what it asked and was answered.
struct Trader<'a> {
    seat: u32,
    requests: &'a str,
    reports: &'a str,
}

/// Who sends requests, by seat.
fn traders<'a>(topology: &'a Topology) -> Vec<Trader<'a>> {
    let trader = |journal: &'a JournalSpec| {
        let node = topology.node(&journal.writer)?;
        let reports = &topology.reports_of(node)?.name;
        Some(Trader { seat: u32::from(node.seat), requests: &journal.name, reports })
    };
    let mut all: Vec<Trader<'_>> = topology.carrying(Stream::Requests).filter_map(trader).collect();
    all.sort_by_key(|trader| trader.seat);
    all
}

fn strategies(view: &InstanceView, topology: &Topology) -> Vec<StrategyTotals> {
    let traders = traders(topology);
    let answers = |trader: &Trader<'_>| -> Tally {
        let sharing = traders.iter().filter(|other| other.reports == trader.reports);
        let seats: Vec<u32> = sharing.map(|other| other.seat).collect();
        if seats.len() < 2 {
            return tally(view, trader.reports);
        }
        let place = seats.iter().position(|seat| *seat == trader.seat);
        let answers = view.answers(trader.reports, &seats).unwrap_or_else(|error| {
            log::warn!("journal {} is not counted: {error}", trader.reports);
            Vec::new()
        });
        place.and_then(|place| answers.get(place)).copied().unwrap_or_default()
    };
    let row = |trader: &Trader<'_>| {
        let asked = tally(view, trader.requests);
        let told = answers(trader);
        StrategyTotals {
            seat: trader.seat,
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
    traders.iter().map(row).collect()
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
        let traders = traders(topology);
        for seat in seats.iter().filter(|seat| seat.undelivered_to > 0) {
            let trader = traders.iter().find(|trader| trader.seat == seat.seat);
            lost.push(Lost {
                node: seat.name.clone(),
                journal: trader.map_or_else(String::new, |trader| trader.reports.to_owned()),
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
