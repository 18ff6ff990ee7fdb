//! The ledger's book, which takes executions, market data and node events.

use std::collections::BTreeMap;

use wire::fold::WorkingOrders;
use wire::{
    Best, EndOfStream, Execution, Fill, Instrument, InstrumentId, MarketPhase, MarketTime, Message, Money,
    NodeChange, NodeEvent, NodeRole, OrderStatus, OrderUpdate, Price, Quantity, Quote, SnapshotBegin,
    StrategyId, TradePrint,
};

use crate::anomalies::{Anomalies, Anomaly};
use crate::marks::Marks;
use crate::position::Position;

/// The state of the ledger. See the crate's page for its guarantees and an example.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub(crate) positions: BTreeMap<(StrategyId, InstrumentId), Position>,
    /// Orders that have not ended, and how far executions are booked.
    pub(crate) orders: WorkingOrders,
    pub(crate) marks: Marks,
    /// What the prices of instruments are multiplied by, where that is not 1.
    pub(crate) contracts: BTreeMap<InstrumentId, u64>,
    /// Generation of each node's seat.
    pub(crate) generations: BTreeMap<StrategyId, u64>,
    /// Number of the latest snapshot.
    pub(crate) snapshots: u64,
    pub(crate) anomalies: Anomalies,
}

/// One strategy over all its instruments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Orders that matching accepted.
    pub orders: u64,
    /// Fills.
    pub fills: u64,
    /// Orders that have not ended.
    pub working: u64,
    /// Sum of the positions, whatever they are in.
    pub position: Quantity,
    /// Summed in 1e-9, then rounded towards zero to 1e-6.
    pub realised: Money,
    /// Likewise, at the latest marks.
    pub unrealised: Money,
}

impl Book {
    /// An empty book.
    pub fn new() -> Book {
        Book::default()
    }

    /// Notes what an instrument's price is multiplied by, its reference price and its tick. To be known before its first execution.
    pub fn list(&mut self, instrument: &Instrument) {
        self.marks.list(instrument.id, instrument.reference_price, instrument.tick);
        match instrument.contract() {
            1 => self.contracts.remove(&instrument.id),
            contract => self.contracts.insert(instrument.id, contract),
        };
    }

    /// What the price of an instrument is multiplied by.
    pub fn contract(&self, instrument: InstrumentId) -> u64 {
        self.contracts.get(&instrument).copied().unwrap_or(1)
    }

    /// Takes one frame from matching's executions. `position` is the frame's; positions grow, and one that was
    /// seen before is ignored. `Some`: what is wrong with it, counted already.
    pub fn on_execution(&mut self, position: u64, message_id: u16, payload: &[u8]) -> Option<Anomaly> {
        let anomaly = match Execution::decode(message_id, payload) {
            Ok(execution) => self.book(position, &execution),
            Err(_) if self.orders.advance_unreadable(position) => Some(Anomaly::Unreadable),
            Err(_) => Some(Anomaly::Redelivered),
        };
        anomaly.map(|anomaly| self.anomalies.note(anomaly))
    }

    /// Part of an order traded; see [`Book::on_execution`].
    pub fn on_fill(&mut self, position: u64, fill: &Fill) -> Option<Anomaly> {
        let anomaly = self.book(position, &Execution::Fill(*fill));
        anomaly.map(|anomaly| self.anomalies.note(anomaly))
    }

    /// An order's state changed; see [`Book::on_execution`].
    pub fn on_update(&mut self, position: u64, update: &OrderUpdate) -> Option<Anomaly> {
        let anomaly = self.book(position, &Execution::Update(*update));
        anomaly.map(|anomaly| self.anomalies.note(anomaly))
    }

    /// Takes one frame from md's quotes or bests: a quote, a best, a trade, or a time, a phase or the end of the stream, which
    /// change nothing. The topic is the instrument of a best.
    pub fn on_market(&mut self, topic: u32, message_id: u16, payload: &[u8]) -> Option<Anomaly> {
        match message_id {
            Best::ID => Best::decode(payload).ok().map(|best| self.on_best(InstrumentId(topic), &best)),
            Quote::ID => Quote::decode(payload).ok().map(|quote| self.on_quote(&quote)),
            TradePrint::ID => TradePrint::decode(payload).ok().map(|trade| self.on_trade(&trade)),
            EndOfStream::ID | MarketTime::ID | MarketPhase::ID => Some(None),
            _ => None,
        }
        .unwrap_or_else(|| Some(self.anomalies.note(Anomaly::Unreadable)))
    }

    /// The book of an instrument changed.
    pub fn on_quote(&mut self, quote: &Quote) -> Option<Anomaly> {
        let known = self.marks.on_quote(quote);
        (!known).then(|| self.anomalies.note(Anomaly::UnknownInstrument))
    }

    /// The best bid or ask of an instrument changed.
    pub fn on_best(&mut self, instrument: InstrumentId, best: &Best) -> Option<Anomaly> {
        let known = self.marks.on_best(instrument, best);
        (!known).then(|| self.anomalies.note(Anomaly::UnknownInstrument))
    }

    /// The market traded.
    pub fn on_trade(&mut self, trade: &TradePrint) -> Option<Anomaly> {
        let known = self.marks.on_trade(trade);
        (!known).then(|| self.anomalies.note(Anomaly::UnknownInstrument))
    }

    /// A node joined or left. `Some`: a strategy joined, and waits for its [`Book::snapshot`].
    pub fn on_node_event(&mut self, event: &NodeEvent) -> Option<StrategyId> {
        let strategy = StrategyId(event.seat);
        if event.change != NodeChange::Joined {
            return None;
        }
        // Of every node: the gateway is none of the strategies and asks too.
        self.generations.insert(strategy, event.generation);
        (event.role == NodeRole::Strategy).then_some(strategy)
    }

    /// A strategy's position in an instrument; flat when it never traded there.
    pub fn position(&self, strategy: StrategyId, instrument: InstrumentId) -> Position {
        let flat = || Position::of(self.contract(instrument));
        self.positions.get(&(strategy, instrument)).copied().unwrap_or_else(flat)
    }

    /// Latest mid, or last trade, as far as the book bounds it; [`Price::NONE`] before the first.
    pub fn mark(&self, instrument: InstrumentId) -> Price {
        self.marks.mark(instrument)
    }

    /// How often the book of an instrument has become too wide for its mid to be the mark.
    pub fn wide_books(&self) -> u64 {
        self.marks.wide_books()
    }

    /// Latest quote.
    pub fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.marks.quote(instrument)
    }

    /// One strategy over all its instruments; with [`SnapshotBegin::EVERYBODY`] all of them together.
    pub fn totals(&self, strategy: StrategyId) -> Totals {
        let mut totals =
            Totals { working: self.orders.of_strategy(strategy).count() as u64, ..Totals::default() };
        let (mut realised, mut unrealised) = (0_i128, 0_i128);
        for (&(_, instrument), position) in self.positions_of(strategy) {
            totals.orders += position.orders();
            totals.fills += position.fills();
            totals.position += Quantity(position.quantity());
            realised = realised.saturating_add(position.realised());
            unrealised = unrealised.saturating_add(position.unrealised(self.mark(instrument)));
        }
        totals.realised = Money::from_wide(realised);
        totals.unrealised = Money::from_wide(unrealised);
        totals
    }

    /// Strategies with an accepted order, ascending.
    pub fn strategies(&self) -> Vec<StrategyId> {
        let mut strategies: Vec<_> = self.positions.keys().map(|&(strategy, _)| strategy).collect();
        strategies.dedup();
        strategies
    }

    /// Executions before this position have been seen.
    pub fn next_execution(&self) -> u64 {
        self.orders.next_execution()
    }

    /// Input that a correct platform does not produce, counted by kind.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// By strategy, then instrument; of one strategy or of [`SnapshotBegin::EVERYBODY`].
    pub(crate) fn positions_of(
        &self,
        strategy: StrategyId,
    ) -> impl Iterator<Item = (&(StrategyId, InstrumentId), &Position)> {
        let (first, last) = span(strategy);
        self.positions.range((first, InstrumentId(0))..=(last, InstrumentId(u32::MAX)))
    }

    fn book(&mut self, position: u64, execution: &Execution) -> Option<Anomaly> {
        if !self.orders.advance(position, execution) {
            return Some(Anomaly::Redelivered);
        }
        if !self.orders.fits(execution) {
            return Some(Anomaly::BadExecution);
        }
        match execution {
            Execution::Fill(fill) => {
                let holder = (fill.order_id.strategy(), fill.instrument);
                let held = self.position(holder.0, holder.1);
                let Some(traded) = held.trade(fill.side, fill.price, fill.quantity) else {
                    return Some(Anomaly::Overflow);
                };
                self.positions.insert(holder, traded);
            }
            Execution::Update(update) if update.status == OrderStatus::Accepted => {
                let holder = (update.order_id.strategy(), update.instrument);
                let flat = Position::of(self.contract(update.instrument));
                self.positions.entry(holder).or_insert(flat).count_order();
            }
            Execution::Update(_) => {}
        }
        self.orders.apply(position, execution).map(Anomaly::from)
    }
}

/// First and last seat of the strategies meant.
fn span(strategy: StrategyId) -> (StrategyId, StrategyId) {
    if strategy == SnapshotBegin::EVERYBODY {
        (StrategyId(0), StrategyId(u16::MAX))
    } else {
        (strategy, strategy)
    }
}
