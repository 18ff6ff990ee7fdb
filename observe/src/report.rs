//! What came of a run.

use std::collections::{BTreeMap, BTreeSet};

use node::{Counter, NodeState};
use pinning::{Host, HostError, HostSummary};
use serde::{Deserialize, Serialize};
use topology::config::Decimal;
use topology::{NodeKind, Stream, Topology};
use wire::{Instrument, InstrumentId, Message, Money, PositionState};

use crate::caveats::{JournalMemory, caveats, never_started, of_marks, of_money, of_rows, of_window};
use crate::irregular::{self, Irregular};
use crate::matched::Matched;
use crate::stages::Stages;
use crate::totals::{Lost, Requests, StrategyTotals, Totals};
use crate::unfinished::Unfinished;
use crate::unrecorded::Unrecorded;
use crate::view::{InstanceView, SeatView};

/// What came of a run, from counters, journals and the ledger's last snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Where it ran.
    pub host: HostSummary,
    /// The instance.
    pub instance: String,
    /// Whether it ran in lock-step.
    pub deterministic: bool,
    /// From "everybody is ready" to the order to stop; when somebody else brought it up, from when it was made.
    pub seconds: f64,
    /// Where the time of orders went.
    #[serde(flatten)]
    pub stages: Stages,
    /// What the journals held.
    #[serde(flatten)]
    pub totals: Totals,
    /// What came of matching.
    #[serde(default)]
    pub matched: Matched,
    /// Messages read from the source, left out on purpose, not understood.
    pub source: SourceCounts,
    /// Number of entries in `lost_by`; zero: nothing was lost.
    pub lost: u64,
    /// What which reader lost of which journal.
    pub lost_by: Vec<Lost>,
    /// Orders that worked and were cancelled because a killed matching's books could not be found again.
    #[serde(default)]
    pub orders_lost: u64,
    /// Requests that matching refused because the market was closed.
    #[serde(default)]
    pub closed_rejects: u64,
    /// What was to be recorded and is not on disk.
    #[serde(default)]
    pub unrecorded: Vec<Unrecorded>,
    /// What was begun and not finished.
    #[serde(default)]
    pub unfinished: Vec<Unfinished>,
    /// Sleeps that a safety time-out had to end although there was news: must be zero.
    pub wait_timeouts_with_data: u64,
    /// One row a strategy.
    pub strategies: Vec<StrategyReport>,
    /// Strategies that were still warming up at the end: of them there is no result.
    #[serde(default)]
    pub never_started: Vec<String>,
    /// How each node ended.
    pub nodes: Vec<NodeOutcome>,
    /// In which money: of the instruments that somebody has traded, or of all where nobody has.
    #[serde(default)]
    pub currencies: Vec<String>,
    /// What lay behind each ring while it ran, by journal id.
    #[serde(default)]
    pub memory: Vec<JournalMemory>,
    /// What a reader of the figures must know: threads off the pin plan, journals on other pages than they asked for, a
    /// plan that was remapped. Empty when there is nothing.
    #[serde(default)]
    pub caveats: Vec<String>,
}

/// What was seen of a run before its nodes were stopped.
#[derive(Clone, Debug)]
pub struct Run {
    /// All seats.
    pub before: Vec<SeatView>,
    /// What lay behind each ring.
    pub memory: Vec<JournalMemory>,
    /// How long it ran.
    pub seconds: f64,
}

/// How md's source was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Rows or records.
    pub messages: u64,
    /// Left out on purpose.
    pub skipped: u64,
    /// Not understood.
    pub rejected: u64,
    /// What contradicts itself in them.
    #[serde(flatten, default)]
    pub irregular: Irregular,
}

/// What came of one strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrategyReport {
    /// Node name.
    pub name: String,
    /// What it asked, and how much of it was refused.
    #[serde(flatten)]
    pub requests: Requests,
    /// Fills.
    pub fills: u64,
    /// Sum of its positions over instruments.
    pub position: i64,
    /// Realised and unrealised profit and loss, in the currency: taken exactly, then rounded once.
    pub pnl: f64,
    /// The same to the last billionth, for tables and sums; `None` in a report of an older colo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pnl_exact: Option<Decimal>,
    /// Instrument by instrument.
    pub positions: Vec<Position>,
}

/// One strategy's position in one instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Number of the instrument.
    pub instrument: u32,
    /// Signed quantity.
    pub position: i64,
    /// Average price of what is open.
    pub average_price: f64,
    /// Profit and loss of what was closed.
    pub realised: f64,
    /// Profit and loss of what is open.
    pub unrealised: f64,
}

/// How a node ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOutcome {
    /// Its name.
    pub name: String,
    /// State when the order to stop came.
    pub state: NodeState,
    /// Exit code, if it left one.
    pub exit: Option<u8>,
    /// It did not stop when it was asked to, and was killed.
    #[serde(default)]
    pub overstayed: bool,
    /// A person had stopped it.
    #[serde(default)]
    pub by_a_person: bool,
    /// Starts in its seat.
    pub starts: u64,
    /// Its part of the report's `wait_timeouts_with_data`.
    #[serde(default)]
    pub wait_timeouts_with_data: u64,
    /// What it said when it ended by itself with an error.
    #[serde(default)]
    pub reason: Option<String>,
}

impl NodeOutcome {
    /// A person has stopped it, and it has not failed by itself before: by SIGTERM, before it could handle that, or killed because
    /// it did not end.
    fn was_only_stopped(&self) -> bool {
        self.by_a_person && (self.overstayed || matches!(self.exit, None | Some(0 | 143)))
    }
}

impl Report {
    /// Gathers what the stopped nodes left in shared memory.
    ///
    /// # Errors
    /// [`HostError`] when the host's topology cannot be read.
    pub fn gather(view: &InstanceView, topology: &Topology, run: Run) -> Result<Report, HostError> {
        let Run { before, memory, seconds } = run;
        let host = Host::read("/".as_ref())?;
        let seats = view.seats();
        let sum = |kind: NodeKind, counter: Counter| -> u64 {
            seats.iter().filter(|seat| seat.kind == kind).map(|seat| seat.counter(counter)).sum()
        };
        let positions = last_positions(view);
        let listed = listed(view, topology);
        let contracts = contracts(&listed);
        let traded: BTreeSet<InstrumentId> = positions.iter().map(|state| state.instrument).collect();
        let currencies = currencies(&listed, &traded);
        let lost_by = Lost::read(view, topology, &seats);
        let (totals, strategies) = Totals::read(view, topology);
        let (intended, unfinished): (Vec<Unfinished>, Vec<Unfinished>) =
            Unfinished::read(view, topology, &seats)
                .into_iter()
                .partition(|row| row.is_intended(topology, &seats));
        Ok(Report {
            host: host.summary(),
            instance: view.instance().name().to_owned(),
            deterministic: topology.deterministic,
            seconds,
            stages: Stages::read(view, Some(topology), &totals),
            matched: Matched::read(topology, &totals, &seats),
            source: SourceCounts {
                messages: sum(NodeKind::Md, Counter::SourceMessages),
                skipped: sum(NodeKind::Md, Counter::SourceSkipped),
                rejected: sum(NodeKind::Md, Counter::SourceRejected),
                irregular: Irregular::gather(|kind| sum(NodeKind::Md, Counter::of_irregularity(kind))),
            },
            lost: lost_by.len() as u64,
            lost_by,
            orders_lost: sum(NodeKind::Matching, Counter::OrdersLost),
            closed_rejects: sum(NodeKind::Matching, Counter::ClosedRejects),
            unrecorded: Unrecorded::read(view, topology, &seats),
            unfinished,
            wait_timeouts_with_data: seats
                .iter()
                .map(|seat| seat.counter(Counter::WaitTimeoutsWithData))
                .sum(),
            strategies: seats
                .iter()
                .filter(|seat| seat.kind.sends())
                .map(|seat| strategy(seat, &strategies, &positions, &contracts))
                .collect(),
            never_started: never_started(&seats),
            nodes: seats
                .iter()
                .map(|seat| NodeOutcome {
                    name: seat.name.clone(),
                    state: before
                        .iter()
                        .find(|old| old.seat == seat.seat)
                        .map_or(seat.state, |old| old.state),
                    exit: seat.exit,
                    overstayed: seat.overstayed,
                    by_a_person: seat.by_a_person,
                    starts: seat.generation,
                    wait_timeouts_with_data: seat.counter(Counter::WaitTimeoutsWithData),
                    reason: seat
                        .exit
                        .filter(|exit| *exit != 0)
                        .and_then(|_| irregular::last_words(&view.instance().log(&seat.name))),
                })
                .collect(),
            caveats: {
                let mut all = caveats(topology, &host, &seats, &memory);
                all.extend(of_money(&currencies, !traded.is_empty()));
                all.extend(of_window(topology, &before, &totals));
                all.extend(of_rows(topology, &listed));
                all.extend(of_marks(&positions, &listed));
                all.extend(intended.iter().map(|row| format!("{row} (gateway.cancel_on_stop = false)")));
                all
            },
            currencies,
            totals,
            memory,
        })
    }

    /// Profit and loss of all strategies, to show: the exact sum, rounded once where every strategy has its exact amount.
    pub fn pnl(&self) -> f64 {
        let exact: Option<i128> =
            self.strategies.iter().try_fold(0_i128, |sum, one| Some(sum.saturating_add(one.pnl_exact?.0)));
        match exact {
            Some(sum) => Money::from_wide(sum).to_f64(),
            None => self.strategies.iter().map(|strategy| strategy.pnl).sum(),
        }
    }

    /// Nodes that had died or failed before the platform was stopped.
    pub fn failed_nodes(&self) -> impl Iterator<Item = &NodeOutcome> {
        self.nodes.iter().filter(|node| {
            let failed = matches!(node.state, NodeState::Dead | NodeState::Failed)
                || node.exit.is_some_and(|exit| exit != 0);
            failed && !node.was_only_stopped()
        })
    }
}

fn strategy(
    seat: &SeatView,
    totals: &[StrategyTotals],
    positions: &[PositionState],
    contracts: &BTreeMap<InstrumentId, u64>,
) -> StrategyReport {
    let totals = totals.iter().find(|totals| totals.seat == seat.seat).cloned().unwrap_or_default();
    let own = || positions.iter().filter(|state| u32::from(state.strategy.0) == seat.seat);
    let mine: Vec<Position> = own()
        .map(|state| Position {
            instrument: state.instrument.0,
            position: state.position.0,
            average_price: state.average_price.to_f64(),
            realised: state.realised.to_f64(),
            unrealised: state.unrealised.to_f64(),
        })
        .collect();
    let exact = profit(own(), contracts);
    StrategyReport {
        name: seat.name.clone(),
        requests: totals.requests,
        fills: totals.fills,
        position: mine.iter().map(|position| position.position).sum(),
        pnl: Money::from_wide(exact).to_f64(),
        // A decimal's text has no place for the least number of 128 bits.
        pnl_exact: Some(Decimal(exact.max(-i128::MAX))),
        positions: mine,
    }
}

/// Realised and unrealised profit and loss of these positions together, exactly, in 1e-9 of the currency. `contracts`: what
/// prices are multiplied by, where that is not 1.
pub fn profit<'a>(
    positions: impl IntoIterator<Item = &'a PositionState>,
    contracts: &BTreeMap<InstrumentId, u64>,
) -> i128 {
    let contract = |state: &PositionState| contracts.get(&state.instrument).copied().unwrap_or(1);
    positions.into_iter().fold(0_i128, |sum, state| sum.saturating_add(state.profit(contract(state))))
}

/// What the prices of instruments are multiplied by, where that is not 1.
fn contracts(listed: &BTreeMap<InstrumentId, Instrument>) -> BTreeMap<InstrumentId, u64> {
    let contracts = listed.values().map(|instrument| (instrument.id, instrument.contract()));
    contracts.filter(|(_, contract)| *contract != 1).collect()
}

/// In which money these instruments are paid; all, where none of them is there.
fn currencies(listed: &BTreeMap<InstrumentId, Instrument>, traded: &BTreeSet<InstrumentId>) -> Vec<String> {
    let is_meant = |id: &InstrumentId| traded.is_empty() || traded.contains(id);
    let of = listed.values().filter(|instrument| is_meant(&instrument.id));
    let names: BTreeSet<String> = of.map(|instrument| instrument.currency.as_str().to_owned()).collect();
    names.into_iter().filter(|name| !name.is_empty()).collect()
}

/// The instruments of the run.
fn listed(view: &InstanceView, topology: &Topology) -> BTreeMap<InstrumentId, Instrument> {
    let mut listed = BTreeMap::new();
    for journal in topology.carrying(Stream::Instruments) {
        let read = node::read_held(view.instance(), &journal.name, None, |frame| {
            if frame.message_id == Instrument::ID
                && let Ok(instrument) = Instrument::decode(frame.payload)
            {
                listed.insert(instrument.id, instrument);
            }
        });
        if let Err(error) = read {
            log::warn!("no multipliers: {error}");
        }
    }
    listed
}

/// Positions of the ledger's last whole snapshot of everything; empty when there is none.
fn last_positions(view: &InstanceView) -> Vec<PositionState> {
    let snapshot = node::last_snapshot(view.instance()).unwrap_or_else(|error| {
        log::warn!("no positions: {error}");
        None
    });
    snapshot.map_or_else(Vec::new, |snapshot| snapshot.positions)
}

#[cfg(test)]
mod tests {
    use node::Exit;
    use wire::{
        Fill, LatencySample, NewOrder, OrderStatus, Price, Quantity, Quote, SnapshotBegin, SnapshotEnd,
        StrategyId, WideMoney,
    };

    use super::*;
    use crate::fixture::{Instance, blank, update};

    fn position(seat: u32, instrument: u32, quantity: i64, profit: i128) -> (u16, Vec<u8>) {
        let blank = PositionState::decode(&[0; PositionState::SIZE]).unwrap();
        let state = PositionState {
            strategy: StrategyId(seat as u16),
            instrument: InstrumentId(instrument),
            position: Quantity(quantity),
            mark_price: Price::ZERO,
            cash: WideMoney::from_wide(profit),
            ..blank
        };
        (PositionState::ID, state.bytes().to_vec())
    }

    fn snapshot(inside: &[(u16, Vec<u8>)]) -> Vec<(u16, Vec<u8>)> {
        let mut begin = SnapshotBegin::decode(&[0; SnapshotBegin::SIZE]).unwrap();
        begin.strategy = SnapshotBegin::EVERYBODY;
        let mut end = SnapshotEnd::decode(&[0; SnapshotEnd::SIZE]).unwrap();
        end.strategy = SnapshotBegin::EVERYBODY;
        end.frames = inside.len() as u64;
        let begin = (SnapshotBegin::ID, begin.bytes().to_vec());
        let end = (SnapshotEnd::ID, end.bytes().to_vec());
        [vec![begin], inside.to_vec(), vec![end]].concat()
    }

    fn report(made: &Instance) -> Report {
        let view = made.view();
        let run = Run { before: view.seats(), memory: Vec::new(), seconds: 2.5 };
        Report::gather(&view, &made.topology, run).unwrap()
    }

    #[test]
    fn a_strategy_is_reported_with_its_requests_fills_and_positions() {
        let made = Instance::new("report");
        let [first, second] = made.strategies();
        made.write("md.quotes", &[blank::<Quote>()]);
        made.write(&format!("orders.{}", made.name(first)), &[blank::<NewOrder>(), blank::<NewOrder>()]);
        let reports = [blank::<Fill>(), update(OrderStatus::Rejected)];
        made.write(&format!("reports.{}", made.name(first)), &reports);
        // A penny is 10 million of 1e-9.
        let old = snapshot(&[position(first, 1, 9, 0)]);
        let new = snapshot(&[
            position(first, 1, 5, 10_000_000),
            position(second, 1, 7, 0),
            position(first, 2, -3, 1_999),
        ]);
        made.write("ledger.state", &[old, new].concat());

        let report = report(&made);
        assert_eq!((report.seconds, report.totals.quotes, report.lost), (2.5, 1, 0));
        let [one, two] = report.strategies.as_slice() else { panic!("two strategies: {report:?}") };
        assert_eq!((one.name.as_str(), one.requests.orders, one.requests.rejected), (made.name(first), 2, 1));
        assert_eq!((one.fills, one.position), (1, 2), "the last snapshot counts");
        assert_eq!(one.pnl, 0.010_001, "the exact sum is rounded once, towards zero");
        assert_eq!(one.pnl_exact, Some(Decimal(10_001_999)), "and is there as it is");
        assert_eq!(report.pnl(), 0.010_001);
        assert_eq!(one.positions.len(), 2);
        assert_eq!((two.fills, two.position), (0, 7));
        // Two new orders, and td took none.
        assert_eq!((report.stages.orders_not_taken, report.stages.orders_without_quote), (2, 0));
    }

    #[test]
    fn who_had_failed_before_the_end_or_left_an_error_is_a_failed_node() {
        let made = Instance::new("failed");
        let [first, second] = made.strategies();
        let seat = |number: u32| made.registry.occupy(number).unwrap();
        seat(first).set_state(NodeState::Failed.to_word());
        let view = made.view();
        let run = Run { before: view.seats(), memory: Vec::new(), seconds: 1.0 };
        // Failed before the order to stop, whatever it is now.
        seat(first).set_state(NodeState::Stopped.to_word());
        seat(second).set_exit(Exit::Failed.to_word(false));
        let report = Report::gather(&view, &made.topology, run).unwrap();
        let failed: Vec<&str> = report.failed_nodes().map(|node| node.name.as_str()).collect();
        assert_eq!(failed, [made.name(first), made.name(second)]);
    }

    #[test]
    fn a_clean_run_has_no_failed_nodes_and_comes_back_from_json() {
        let made = Instance::new("json");
        made.write("td.samples", &[blank::<LatencySample>()]);
        let report = report(&made);
        assert_eq!(report.failed_nodes().count(), 0);
        let text = serde_json::to_string(&report).unwrap();
        let again: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }
}
