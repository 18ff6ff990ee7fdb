//! What came of a run.

use node::{Counter, InstanceView, NodeKind, NodeState, SeatView};
use pinning::{Host, HostSummary};
use serde::{Deserialize, Serialize};
use topology::Topology;
use wire::{Money, PositionState};

use crate::error::LaunchError;
use crate::irregular::{self, Irregular};
use crate::stages::Stages;
use crate::stains::{self, JournalMemory};
use crate::start::system;
use crate::totals::{Lost, Requests, StrategyTotals, Totals};

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
    /// Messages read from the source, left out on purpose, not understood.
    pub source: SourceCounts,
    /// Number of entries in `lost_by`; zero: nothing was lost.
    pub lost: u64,
    /// What which reader lost of which journal.
    pub lost_by: Vec<Lost>,
    /// Sleeps that a safety time-out had to end although there was news: must be zero.
    pub wait_timeouts_with_data: u64,
    /// One row a strategy.
    pub strategies: Vec<StrategyReport>,
    /// How each node ended.
    pub nodes: Vec<NodeOutcome>,
    /// What lay behind each ring while it ran, by journal id.
    #[serde(default)]
    pub memory: Vec<JournalMemory>,
    /// What a reader of the figures must know: threads off the pin plan, journals on other pages than they asked for, a
    /// plan that was remapped. Empty when nothing stains them.
    #[serde(default)]
    pub stains: Vec<String>,
}

/// What was seen of a run before its nodes were stopped.
pub(crate) struct Run {
    pub(crate) before: Vec<SeatView>,
    pub(crate) memory: Vec<JournalMemory>,
    pub(crate) seconds: f64,
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
    /// Starts in its seat.
    pub starts: u64,
    /// What it said when it ended by itself with an error.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Report {
    /// Gathers what the stopped nodes left in shared memory.
    pub(crate) fn gather(view: &InstanceView, topology: &Topology, run: Run) -> Result<Report, LaunchError> {
        let Run { before, memory, seconds } = run;
        let host = Host::read("/".as_ref())
            .map_err(|error| system("read the host's topology")(std::io::Error::other(error)))?;
        let seats = view.seats();
        let sum = |kind: NodeKind, counter: Counter| -> u64 {
            seats.iter().filter(|seat| seat.kind == kind).map(|seat| seat.counter(counter)).sum()
        };
        let positions = last_positions(view);
        let lost_by = Lost::read(view, topology, &seats);
        let (totals, strategies) = Totals::read(view, topology);
        Ok(Report {
            host: host.summary(),
            instance: view.instance().name().to_owned(),
            deterministic: topology.deterministic,
            seconds,
            stages: Stages::read(view, &totals),
            totals,
            source: SourceCounts {
                messages: sum(NodeKind::Md, Counter::SourceMessages),
                skipped: sum(NodeKind::Md, Counter::SourceSkipped),
                rejected: sum(NodeKind::Md, Counter::SourceRejected),
                irregular: Irregular::gather(|counter| sum(NodeKind::Md, counter)),
            },
            lost: lost_by.len() as u64,
            lost_by,
            wait_timeouts_with_data: seats
                .iter()
                .map(|seat| seat.counter(Counter::WaitTimeoutsWithData))
                .sum(),
            strategies: seats
                .iter()
                .filter(|seat| seat.kind == NodeKind::Strategy)
                .map(|seat| strategy(seat, &strategies, &positions))
                .collect(),
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
                    starts: seat.generation,
                    reason: seat
                        .exit
                        .filter(|exit| *exit != 0)
                        .and_then(|_| irregular::last_words(&view.instance().log(&seat.name))),
                })
                .collect(),
            stains: stains::stains(topology, &host, &seats, &memory),
            memory,
        })
    }

    /// Nodes that had died or failed before the platform was stopped.
    pub fn failed_nodes(&self) -> impl Iterator<Item = &NodeOutcome> {
        self.nodes.iter().filter(|node| {
            matches!(node.state, NodeState::Dead | NodeState::Failed)
                || node.exit.is_some_and(|exit| exit != 0)
        })
    }
}

fn strategy(seat: &SeatView, totals: &[StrategyTotals], positions: &[PositionState]) -> StrategyReport {
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
    StrategyReport {
        name: seat.name.clone(),
        requests: totals.requests,
        fills: totals.fills,
        position: mine.iter().map(|position| position.position).sum(),
        pnl: profit(own()),
        positions: mine,
    }
}

/// Realised and unrealised profit and loss of these positions together, in the currency: the exact sum, rounded towards
/// zero to 1e-6.
pub fn profit<'a>(positions: impl IntoIterator<Item = &'a PositionState>) -> f64 {
    let exact = positions.into_iter().fold(0_i128, |sum, state| sum.saturating_add(state.profit()));
    Money::from_wide(exact).to_f64()
}

/// Positions of the ledger's last whole snapshot of everything; empty when there is none.
fn last_positions(view: &InstanceView) -> Vec<PositionState> {
    let snapshot = node::last_snapshot(view.instance()).unwrap_or_else(|error| {
        log::warn!("no positions: {error}");
        None
    });
    snapshot.map_or_else(Vec::new, |snapshot| snapshot.positions)
}
