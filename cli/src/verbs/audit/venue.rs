//! What the venue holds: its executions agree with each other, with what it publishes, and with the positions that the platform
//! shows.

use std::collections::{BTreeMap, HashMap};

use topology::{NodeKind, Topology};
use wire::{
    AnyMessage, Execution, Fill, Instrument, InstrumentId, Message, OrderStatus, PositionState, Quantity,
    SnapshotBegin, StrategyId, TradePrint, WideMoney,
};

use super::Stop;
use super::books::{Books, worth};
use super::findings::Findings;
use super::outside::Outside;
use crate::desk::{DROPS, EXECUTIONS, Fault, Seen, Source, Stream};

const MARKET: &str = "matching.market";
const STATE: &str = "ledger.state";
const INSTRUMENTS: &str = "md.instruments";

/// What the fills of a strategy in an instrument come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    bought: i64,
    sold: i64,
    fills: u64,
    orders: u64,
    cash: i128,
}

pub(super) struct Venue<'a> {
    pub(super) findings: Findings,
    executions: Stream<'a>,
    is_begin: bool,
    market: Option<Stream<'a>>,
    state: Option<Stream<'a>>,
    contracts: BTreeMap<InstrumentId, u64>,
    held: BTreeMap<(StrategyId, InstrumentId), Held>,
    /// The first fill of each trade, and whether the other one was there.
    trades: HashMap<u64, (Fill, bool)>,
    /// The market has no orders but ours: each trade has both sides.
    is_exchange: bool,
    /// Where orders go out to another market: what its program knows.
    outside: Option<Outside>,
    snapshots: u64,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "venue",
        "both sides of a trade agree, and with what the venue prints; positions are what its fills come to, all booked",
    )
}

impl<'a> Venue<'a> {
    pub(super) fn new(source: &'a Source, topology: &Topology) -> Result<Venue<'a>, Stop> {
        let mut findings = part();
        // The state before the executions: it contains none that is not there.
        let state = source.held(STATE)?;
        if state.is_none() {
            findings
                .lacks(format!("there is no {STATE}: positions that strategies are shown are not looked at"));
        }
        let market = source.held(MARKET)?;
        let fill = fill_of(topology);
        let outside = match fill {
            Some("external") => Outside::look(source, &mut findings),
            _ => None,
        };
        let mut executions = super::held(source, EXECUTIONS)?;
        let is_begin = executions.is_at_begin()?;
        if !is_begin {
            findings
                .lacks(format!("{EXECUTIONS} does not reach back to its begin: positions are not counted"));
        }
        let mut contracts = BTreeMap::new();
        if let Some(mut stream) = source.stream(INSTRUMENTS, 0)? {
            while let Some(seen) = stream.next()? {
                if let Ok(AnyMessage::Instrument(instrument)) = AnyMessage::decode(seen.id, &seen.payload) {
                    contracts.insert(instrument.id, Instrument::contract(&instrument));
                }
            }
        }
        Ok(Venue {
            findings,
            executions,
            is_begin,
            market,
            state,
            contracts,
            held: BTreeMap::new(),
            trades: HashMap::new(),
            is_exchange: fill == Some("exchange"),
            outside,
            snapshots: 0,
        })
    }

    pub(super) fn compare(mut self, books: Option<&Books>) -> Result<Findings, Stop> {
        self.positions()?;
        self.prints()?;
        for (position, fill) in books.map(|books| books.unbooked.as_slice()).unwrap_or_default() {
            let found =
                format!("{} lots of {} that the venue reports are not booked", fill.quantity, fill.order_id);
            self.findings.differs(DROPS, *position, found, "an order of the account that they are of");
        }
        if let Some(outside) = self.outside.take() {
            outside.compare(&mut self.findings, self.is_begin);
        }
        if self.is_exchange {
            let mut alone: Vec<_> = self.trades.values().filter(|(_, is_paired)| !is_paired).collect();
            alone.sort_unstable_by_key(|(fill, _)| fill.trade_id);
            // The oldest may be the second half of one whose first half is overwritten.
            for (fill, _) in alone.into_iter().filter(|_| self.is_begin) {
                let found = format!("trade {} has a fill of {} alone", fill.trade_id, fill.order_id);
                self.findings.differs(EXECUTIONS, None, found, "a fill of the other side too");
            }
        }
        let snapshots = self.snapshots;
        self.findings.notes.push(format!("{snapshots} snapshots of positions were compared"));
        Ok(self.findings)
    }

    /// Each snapshot of positions against the fills before it.
    fn positions(&mut self) -> Result<(), Fault> {
        let mut begun: Option<(SnapshotBegin, Vec<(u64, PositionState)>)> = None;
        while let Some(seen) = self.state.as_mut().map_or(Ok(None), Stream::next)? {
            match AnyMessage::decode(seen.id, &seen.payload) {
                Ok(AnyMessage::SnapshotBegin(begin)) => begun = Some((begin, Vec::new())),
                Ok(AnyMessage::PositionState(state)) => {
                    if let Some((_, states)) = &mut begun {
                        states.push((seen.position, state));
                    }
                }
                Ok(AnyMessage::SnapshotEnd(end)) => {
                    if let Some((begin, states)) =
                        begun.take().filter(|(begin, _)| begin.snapshot == end.snapshot)
                    {
                        self.read_to(begin.execution)?;
                        if self.is_begin {
                            self.snapshot(&begin, &states, seen.position);
                        }
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
        self.read_to(u64::MAX)
    }

    fn snapshot(&mut self, begin: &SnapshotBegin, states: &[(u64, PositionState)], end: u64) {
        self.snapshots += 1;
        let is_of = |owner: StrategyId| begin.strategy == SnapshotBegin::EVERYBODY || begin.strategy == owner;
        for (position, state) in states {
            let held = self.held.get(&(state.strategy, state.instrument)).copied().unwrap_or_default();
            let shown = Held {
                bought: state.bought.0,
                sold: state.sold.0,
                fills: state.fills,
                orders: state.orders,
                cash: state.cash.wide(),
            };
            self.findings.checked += 1;
            let net = held.bought.saturating_sub(held.sold);
            if shown != held || state.position.0 != net {
                let name = format!("seat {}, instrument {}", state.strategy.0, state.instrument);
                let found = format!("{name}: {}", words(state.position, &shown));
                self.findings.differs(STATE, *position, found, words(Quantity(net), &held));
            }
            self.profit(*position, state);
        }
        let missing = self.held.keys().find(|(owner, instrument)| {
            let its = |state: &PositionState| (state.strategy, state.instrument) == (*owner, *instrument);
            is_of(*owner) && !states.iter().any(|(_, state)| its(state))
        });
        if let Some((owner, instrument)) = missing {
            let found =
                format!("a snapshot without the position of seat {} in instrument {instrument}", owner.0);
            self.findings.differs(STATE, end, found, "it: there are fills");
        }
    }

    /// Realised and unrealised profit together are what was paid and what is open at the mark, but for what is rounded.
    fn profit(&mut self, position: u64, state: &PositionState) {
        if !state.mark_price.is_some() {
            return;
        }
        let contract = self.contracts.get(&state.instrument).copied().unwrap_or(1);
        let all = state.profit(contract) / 1_000;
        let shown = i128::from(state.realised.0) + i128::from(state.unrealised.0);
        self.findings.checked += 1;
        if (shown - all).abs() > 2 {
            let found = format!(
                "seat {}, instrument {}: realised {}, unrealised {} at {}",
                state.strategy.0, state.instrument, state.realised, state.unrealised, state.mark_price
            );
            let expected = format!("together {}", WideMoney::from_wide(all * 1_000));
            self.findings.differs(STATE, position, found, expected);
        }
    }

    /// Takes the executions before a position.
    fn read_to(&mut self, position: u64) -> Result<(), Fault> {
        while self.executions.peek()?.is_some_and(|seen| seen.position < position) {
            let Some(seen) = self.executions.next()? else { break };
            match Execution::decode(seen.id, &seen.payload) {
                Ok(Execution::Fill(fill)) => self.fill(&seen, &fill),
                Ok(Execution::Update(update)) if update.status == OrderStatus::Accepted => {
                    self.held.entry((update.order_id.strategy(), update.instrument)).or_default().orders += 1;
                }
                Ok(Execution::Update(_)) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn fill(&mut self, seen: &Seen, fill: &Fill) {
        let contract = self.contracts.get(&fill.instrument).copied().unwrap_or(1);
        let held = self.held.entry((fill.order_id.strategy(), fill.instrument)).or_default();
        let sum = if fill.side.sign() > 0 { &mut held.bought } else { &mut held.sold };
        *sum = sum.saturating_add(fill.quantity.0);
        held.fills += 1;
        held.cash -= i128::from(fill.side.sign()) * worth(fill.price, fill.quantity.0, contract);
        if let Some(outside) = &mut self.outside {
            outside.fill(fill);
        }
        if fill.trade_id == 0 || !self.is_exchange {
            return;
        }
        self.findings.checked += 1;
        let Some((other, is_paired)) = self.trades.get_mut(&fill.trade_id) else {
            self.trades.insert(fill.trade_id, (*fill, false));
            return;
        };
        let is_third = std::mem::replace(is_paired, true);
        let alike = |fill: &Fill| (fill.instrument, fill.price, fill.quantity);
        if is_third || alike(other) != alike(fill) || other.side == fill.side {
            let found = side(fill);
            let expected = format!("the other side of {}", side(other));
            self.findings.differs(EXECUTIONS, seen.position, found, expected);
        }
    }

    /// What the venue prints of its trades.
    fn prints(&mut self) -> Result<(), Fault> {
        while let Some(seen) = self.market.as_mut().map_or(Ok(None), Stream::next)? {
            if seen.id != TradePrint::ID {
                continue;
            }
            let Ok(print) = TradePrint::decode(&seen.payload) else { continue };
            let Some((fill, _)) = self.trades.get(&print.trade_id) else { continue };
            self.findings.checked += 1;
            if (fill.instrument, fill.price, fill.quantity) != (print.instrument, print.price, print.quantity)
            {
                let found = format!(
                    "trade {} of instrument {}: {} at {}",
                    print.trade_id, print.instrument, print.quantity, print.price
                );
                self.findings.differs(MARKET, seen.position, found, side(fill));
            }
        }
        Ok(())
    }
}

/// By which rules orders are filled.
pub(super) fn fill_of(topology: &Topology) -> Option<&str> {
    let matching = topology.nodes.iter().find(|node| node.kind == NodeKind::Matching)?;
    matching.section.get("fill")?.as_str()
}

fn side(fill: &Fill) -> String {
    let Fill { trade_id, side, quantity, price, instrument, .. } = fill;
    format!("trade {trade_id}: {side} {quantity} of instrument {instrument} at {price}")
}

fn words(net: Quantity, held: &Held) -> String {
    let cash = WideMoney::from_wide(held.cash);
    let Held { bought, sold, fills, orders, .. } = held;
    format!("net {net}, bought {bought}, sold {sold}, {fills} fills, {orders} orders, cash {cash}")
}
