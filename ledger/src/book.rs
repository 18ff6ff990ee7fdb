//! The ledger's book: executions, market data and node events go in here.

use std::collections::BTreeMap;

use wire::{
    EndOfStream, Fill, InstrumentId, Message, Money, NodeChange, NodeEvent, NodeRole, OrderId, OrderStatus,
    OrderUpdate, Price, Quantity, Quote, SnapshotBegin, StrategyId, TradePrint,
};

use crate::anomalies::{Anomalies, Anomaly};
use crate::marks::Marks;
use crate::position::Position;

/// All that the ledger knows. See the crate's page for what it promises and an example.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub(crate) positions: BTreeMap<(StrategyId, InstrumentId), Position>,
    /// The latest about each order that has not ended, with `execution` set.
    pub(crate) working: BTreeMap<OrderId, OrderUpdate>,
    pub(crate) marks: Marks,
    /// Generation of each strategy's seat.
    pub(crate) generations: BTreeMap<StrategyId, u64>,
    /// Executions before this position have been seen.
    pub(crate) next_execution: u64,
    /// Number of the last trade in them.
    pub(crate) last_trade: u64,
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

    /// Takes one frame from matching's executions. `position` is the frame's; positions grow, and one that was
    /// seen before is ignored.
    pub fn on_execution(&mut self, position: u64, message_id: u16, payload: &[u8]) -> Option<Anomaly> {
        match message_id {
            Fill::ID => Fill::decode(payload).ok().map(|fill| self.on_fill(position, &fill)),
            OrderUpdate::ID => {
                OrderUpdate::decode(payload).ok().map(|update| self.on_update(position, &update))
            }
            _ => None,
        }
        .unwrap_or_else(|| {
            let anomaly = if self.is_new(position) { Anomaly::Unreadable } else { Anomaly::Redelivered };
            Some(self.anomalies.note(anomaly))
        })
    }

    /// Part of an order traded; see [`Book::on_execution`]. `Some`: what is wrong with it, counted already.
    pub fn on_fill(&mut self, position: u64, fill: &Fill) -> Option<Anomaly> {
        // Also of a fill that cannot be booked: its number is used up.
        self.last_trade = self.last_trade.max(fill.trade_id);
        let anomaly =
            if self.is_new(position) { self.book_fill(position, fill) } else { Some(Anomaly::Redelivered) };
        anomaly.map(|anomaly| self.anomalies.note(anomaly))
    }

    /// An order's state changed; see [`Book::on_execution`]. `Some`: what is wrong with it, counted already.
    pub fn on_update(&mut self, position: u64, update: &OrderUpdate) -> Option<Anomaly> {
        let anomaly = if self.is_new(position) {
            self.book_update(position, update)
        } else {
            Some(Anomaly::Redelivered)
        };
        anomaly.map(|anomaly| self.anomalies.note(anomaly))
    }

    /// Takes one frame from md's quotes: a quote, a trade, or the end of the stream, which changes nothing.
    pub fn on_market(&mut self, message_id: u16, payload: &[u8]) -> Option<Anomaly> {
        match message_id {
            Quote::ID => Quote::decode(payload).ok().map(|quote| self.on_quote(&quote)),
            TradePrint::ID => TradePrint::decode(payload).ok().map(|trade| self.on_trade(&trade)),
            EndOfStream::ID => Some(None),
            _ => None,
        }
        .unwrap_or_else(|| Some(self.anomalies.note(Anomaly::Unreadable)))
    }

    /// The book of an instrument changed.
    pub fn on_quote(&mut self, quote: &Quote) -> Option<Anomaly> {
        let known = self.marks.on_quote(quote);
        (!known).then(|| self.anomalies.note(Anomaly::UnknownInstrument))
    }

    /// The market traded.
    pub fn on_trade(&mut self, trade: &TradePrint) -> Option<Anomaly> {
        let known = self.marks.on_trade(trade);
        (!known).then(|| self.anomalies.note(Anomaly::UnknownInstrument))
    }

    /// A node came or went. `Some`: a strategy joined, and waits for its [`Book::snapshot`].
    pub fn on_node_event(&mut self, event: &NodeEvent) -> Option<StrategyId> {
        let joined = event.role == NodeRole::Strategy && event.change == NodeChange::Joined;
        joined.then(|| {
            let strategy = StrategyId(event.seat);
            self.generations.insert(strategy, event.generation);
            strategy
        })
    }

    /// What a strategy holds in an instrument; flat when it never traded there.
    pub fn position(&self, strategy: StrategyId, instrument: InstrumentId) -> Position {
        self.positions.get(&(strategy, instrument)).copied().unwrap_or(Position::FLAT)
    }

    /// Latest mid, or last trade; [`Price::NONE`] before the first.
    pub fn mark(&self, instrument: InstrumentId) -> Price {
        self.marks.mark(instrument)
    }

    /// Latest quote.
    pub fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.marks.quote(instrument)
    }

    /// One strategy over all its instruments; with [`SnapshotBegin::EVERYBODY`] all of them together.
    pub fn totals(&self, strategy: StrategyId) -> Totals {
        let mut totals = Totals { working: self.working_of(strategy).count() as u64, ..Totals::default() };
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

    /// Strategies that matching ever accepted an order of, ascending.
    pub fn strategies(&self) -> Vec<StrategyId> {
        let mut strategies: Vec<_> = self.positions.keys().map(|&(strategy, _)| strategy).collect();
        strategies.dedup();
        strategies
    }

    /// Executions before this position have been seen.
    pub fn next_execution(&self) -> u64 {
        self.next_execution
    }

    /// What should not have come up, and how often it did.
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

    /// By id; of one strategy or of [`SnapshotBegin::EVERYBODY`].
    pub(crate) fn working_of(&self, strategy: StrategyId) -> impl Iterator<Item = &OrderUpdate> {
        let (first, last) = span(strategy);
        let ids = OrderId::new(first, 0, 0)..=OrderId::new(last, u16::MAX, u32::MAX);
        self.working.range(ids).map(|(_, update)| update)
    }

    fn is_new(&mut self, position: u64) -> bool {
        let new = position >= self.next_execution;
        if new {
            self.next_execution = position.saturating_add(1);
        }
        new
    }

    fn book_fill(&mut self, position: u64, fill: &Fill) -> Option<Anomaly> {
        if fill.quantity.0 <= 0 || fill.remaining.0 < 0 {
            return Some(Anomaly::BadExecution);
        }
        let order = self.working.get_mut(&fill.order_id);
        if let Some(order) = &order
            && (order.instrument != fill.instrument || order.side != fill.side)
        {
            return Some(Anomaly::BadExecution);
        }
        let holder = (fill.order_id.strategy(), fill.instrument);
        let held = self.positions.get(&holder).copied().unwrap_or(Position::FLAT);
        let Some(traded) = held.trade(fill.side, fill.price, fill.quantity) else {
            return Some(Anomaly::Overflow);
        };
        self.positions.insert(holder, traded);
        let Some(order) = order else { return Some(Anomaly::UnknownOrder) };
        let over = fill.quantity > order.remaining;
        // Matching's own update follows; until then a snapshot must not show the position without the order.
        order.status = OrderStatus::PartiallyFilled;
        order.filled += fill.quantity;
        order.remaining = fill.remaining;
        order.event_time = fill.event_time;
        order.execution = position;
        over.then_some(Anomaly::OverFill)
    }

    fn book_update(&mut self, position: u64, update: &OrderUpdate) -> Option<Anomaly> {
        if update.quantity.0 < 0 || update.filled.0 < 0 || update.remaining.0 < 0 {
            return Some(Anomaly::BadExecution);
        }
        let known = self.working.get(&update.order_id);
        match update.status {
            OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => return None,
            // Such an order never worked. If this one does, its second copy is meant.
            OrderStatus::Rejected => return known.map(|_| Anomaly::OutOfStep),
            _ => {}
        }
        if known.is_some_and(|order| order.instrument != update.instrument || order.side != update.side) {
            return Some(Anomaly::BadExecution);
        }
        let anomaly = match (update.status, known.is_some()) {
            (OrderStatus::Accepted, true) => Some(Anomaly::OutOfStep),
            (OrderStatus::Accepted, false) => None,
            (_, known) => (!known).then_some(Anomaly::UnknownOrder),
        };
        if update.status == OrderStatus::Accepted {
            self.positions.entry((update.order_id.strategy(), update.instrument)).or_default().count_order();
        }
        if update.status.is_final() {
            self.working.remove(&update.order_id);
        } else {
            self.working.insert(update.order_id, OrderUpdate { execution: position, ..*update });
        }
        anomaly
    }
}

/// First and last seat of those meant.
fn span(strategy: StrategyId) -> (StrategyId, StrategyId) {
    if strategy == SnapshotBegin::EVERYBODY {
        (StrategyId(0), StrategyId(u16::MAX))
    } else {
        (strategy, strategy)
    }
}
