//! The snapshot that a late joiner starts from.

use wire::{AnyMessage, Message, OrderUpdate, PositionState, Quote, SnapshotBegin, SnapshotEnd, StrategyId};

use crate::book::Book;

/// One message of a snapshot, in the order in which they are written: begin, positions, orders, quotes, end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack until it is written to the journal")]
pub enum SnapshotMessage {
    /// Who it is for, and up to where executions are in it.
    Begin(SnapshotBegin),
    /// A position. By strategy, then instrument.
    Position(PositionState),
    /// An order that works; `execution` is the position of matching's latest frame about it. By order id.
    Order(OrderUpdate),
    /// The latest quote of an instrument. By instrument; of all instruments, also for one strategy.
    Quote(Quote),
    /// It is whole.
    End(SnapshotEnd),
}

impl SnapshotMessage {
    /// Id for the header of the frame to write.
    pub fn message_id(&self) -> u16 {
        match self {
            SnapshotMessage::Begin(_) => SnapshotBegin::ID,
            SnapshotMessage::Position(_) => PositionState::ID,
            SnapshotMessage::Order(_) => OrderUpdate::ID,
            SnapshotMessage::Quote(_) => Quote::ID,
            SnapshotMessage::End(_) => SnapshotEnd::ID,
        }
    }

    /// Payload of the frame to write. Its topic is [`SnapshotBegin::topic_of`] whom it is for.
    pub fn bytes(&self) -> &[u8] {
        match self {
            SnapshotMessage::Begin(begin) => begin.bytes(),
            SnapshotMessage::Position(position) => position.bytes(),
            SnapshotMessage::Order(order) => order.bytes(),
            SnapshotMessage::Quote(quote) => quote.bytes(),
            SnapshotMessage::End(end) => end.bytes(),
        }
    }
}

impl From<SnapshotMessage> for AnyMessage {
    fn from(message: SnapshotMessage) -> AnyMessage {
        match message {
            SnapshotMessage::Begin(begin) => AnyMessage::SnapshotBegin(begin),
            SnapshotMessage::Position(position) => AnyMessage::PositionState(position),
            SnapshotMessage::Order(order) => AnyMessage::OrderUpdate(order),
            SnapshotMessage::Quote(quote) => AnyMessage::Quote(quote),
            SnapshotMessage::End(end) => AnyMessage::SnapshotEnd(end),
        }
    }
}

impl Book {
    /// The state of one strategy, or with [`SnapshotBegin::EVERYBODY`] of all. Each call gives the snapshot a new
    /// number; nothing else depends on how many were taken.
    pub fn snapshot(&mut self, strategy: StrategyId) -> impl Iterator<Item = SnapshotMessage> + '_ {
        self.snapshots = self.snapshots.wrapping_add(1);
        let book = &*self;
        let (snapshot, generation) = (book.snapshots, book.generations.get(&strategy).copied().unwrap_or(0));
        let begin = SnapshotBegin {
            snapshot,
            execution: book.orders.next_execution(),
            strategy,
            reserved: [0; 3],
            generation,
            trade: book.orders.last_trade(),
        };
        let frames = book.body(strategy).count() as u64;
        let end = SnapshotEnd { snapshot, frames, strategy, reserved: [0; 3], generation };
        std::iter::once(SnapshotMessage::Begin(begin))
            .chain(book.body(strategy))
            .chain(std::iter::once(SnapshotMessage::End(end)))
    }

    fn body(&self, strategy: StrategyId) -> impl Iterator<Item = SnapshotMessage> + '_ {
        let positions = self.positions_of(strategy).map(|(&(strategy, instrument), position)| {
            SnapshotMessage::Position(position.state(strategy, instrument, self.mark(instrument)))
        });
        let orders = self.orders.of_strategy(strategy).copied().map(SnapshotMessage::Order);
        let quotes = self.marks.quotes().copied().map(SnapshotMessage::Quote);
        positions.chain(orders).chain(quotes)
    }
}
