//! Messages with everything filled in, and a stream of executions as a market would write it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use ledger::{Book, SnapshotMessage};
use wire::fold::{Snapshot, SnapshotReader};
use wire::*;

pub(crate) const ME: StrategyId = StrategyId(7);
pub(crate) const STOCK: InstrumentId = InstrumentId(3);

pub(crate) fn id(strategy: u16, sequence: u32) -> OrderId {
    OrderId::new(StrategyId(strategy), 1, sequence)
}

pub(crate) fn update(order_id: OrderId, status: OrderStatus, quantity: i64, filled: i64) -> OrderUpdate {
    OrderUpdate {
        order_id,
        instrument: STOCK,
        side: Side::Buy,
        status,
        reason: Reason::None,
        reserved: 0,
        price: Price(10),
        quantity: Quantity(quantity),
        filled: Quantity(filled),
        remaining: Quantity(if status.is_final() { 0 } else { quantity - filled }),
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
        refused_request: 0,
        reported_up_to: 0,
    }
}

pub(crate) fn fill(order_id: OrderId, price: i64, quantity: i64, remaining: i64) -> Fill {
    Fill {
        order_id,
        trade_id: 1,
        instrument: STOCK,
        side: Side::Buy,
        liquidity: Liquidity::Maker,
        reserved: [0; 2],
        price: Price(price),
        quantity: Quantity(quantity),
        remaining: Quantity(remaining),
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
    }
}

pub(crate) fn quote(instrument: u32, bid: i64, ask: i64) -> Quote {
    let mut quote = Quote::empty(InstrumentId(instrument));
    quote.bids[0] = Level { price: Price(bid), quantity: Quantity(5) };
    quote.asks[0] = Level { price: Price(ask), quantity: Quantity(5) };
    quote
}

pub(crate) fn print(instrument: u32, price: i64) -> TradePrint {
    TradePrint {
        instrument: InstrumentId(instrument),
        aggressor: Aggressor::None,
        reserved: [0; 3],
        due: Nanos(0),
        event_time: Nanos(0),
        sequence: 0,
        price: Price(price),
        quantity: Quantity(1),
        trade_id: 0,
    }
}

pub(crate) fn joined(seat: u16, generation: u64) -> NodeEvent {
    NodeEvent {
        generation,
        seat,
        change: NodeChange::Joined,
        role: NodeRole::Strategy,
        pid: 1,
        exit_code: -1,
        reserved: 0,
        reserved_tail: 0,
    }
}

/// A snapshot with its number taken out, so that two can be compared.
pub(crate) fn state(book: &mut Book, strategy: StrategyId) -> Vec<SnapshotMessage> {
    let plain = |message| match message {
        SnapshotMessage::Begin(begin) => SnapshotMessage::Begin(SnapshotBegin { snapshot: 0, ..begin }),
        SnapshotMessage::End(end) => SnapshotMessage::End(SnapshotEnd { snapshot: 0, ..end }),
        other => other,
    };
    book.snapshot(strategy).map(plain).collect()
}

pub(crate) fn everything(book: &mut Book) -> Vec<SnapshotMessage> {
    state(book, SnapshotBegin::EVERYBODY)
}

/// Feeds an execution as a frame of matching's journal.
pub(crate) fn feed(execution: &Execution, book: &mut Book, position: u64) -> Option<ledger::Anomaly> {
    book.on_execution(position, execution.message_id(), execution.bytes())
}

/// What a die says happens in the market.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throw {
    pub(crate) kind: u8,
    pub(crate) strategy: u16,
    pub(crate) instrument: u32,
    pub(crate) buy: bool,
    pub(crate) price: i64,
    pub(crate) quantity: i64,
    pub(crate) pick: usize,
}

/// What matching would write about these.
pub(crate) fn executions(throws: &[Throw]) -> Vec<Execution> {
    let mut live: Vec<OrderUpdate> = Vec::new();
    let mut out = Vec::new();
    for (sequence, throw) in (0..).zip(throws) {
        let pick = throw.pick % live.len().max(1);
        match (throw.kind % 8, live.get_mut(pick)) {
            (0..=2, _) | (_, None) => {
                let order = OrderUpdate {
                    instrument: InstrumentId(throw.instrument),
                    side: if throw.buy { Side::Buy } else { Side::Sell },
                    price: Price(throw.price),
                    ..update(id(throw.strategy, sequence), OrderStatus::Accepted, throw.quantity, 0)
                };
                live.push(order);
                out.push(Execution::Update(order));
            }
            (3..=5, Some(order)) => {
                let quantity = Quantity(throw.quantity.min(order.remaining.0));
                order.filled += quantity;
                order.remaining -= quantity;
                order.status = OrderStatus::PartiallyFilled;
                if order.remaining == Quantity::ZERO {
                    order.status = OrderStatus::Filled;
                }
                out.push(Execution::Fill(Fill {
                    instrument: order.instrument,
                    side: order.side,
                    ..fill(order.order_id, throw.price, quantity.0, order.remaining.0)
                }));
                out.push(Execution::Update(*order));
            }
            (6, Some(order)) => {
                order.quantity += Quantity(throw.quantity);
                order.remaining += Quantity(throw.quantity);
                out.push(Execution::Update(OrderUpdate { status: OrderStatus::Replaced, ..*order }));
            }
            (_, Some(order)) => {
                order.remaining = Quantity::ZERO;
                order.status = OrderStatus::Cancelled;
                out.push(Execution::Update(*order));
            }
        }
        live.retain(|order| !order.status.is_final());
    }
    out
}

/// The snapshot that these messages are, if they are a whole one of everybody.
pub(crate) fn whole(messages: impl IntoIterator<Item = AnyMessage>) -> Option<Snapshot> {
    let mut reader = SnapshotReader::of_everybody();
    messages.into_iter().find_map(|message| reader.take(message).ok().flatten())
}

/// The book's snapshot of everybody.
pub(crate) fn snapshot(book: &mut Book) -> Snapshot {
    whole(book.snapshot(SnapshotBegin::EVERYBODY).map(AnyMessage::from)).expect("a book's snapshot is whole")
}
