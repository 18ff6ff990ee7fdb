//! The newest orders of the whole platform, as td has passed them on.

use std::collections::VecDeque;

use journal::{Journal, LooseReader, OpenError, ReadError};
use node::InstanceDir;
use serde::Serialize;
use topology::Stream;
use utoipa::ToSchema;
use wire::{Message, NewOrder};

use super::Look;
use crate::view;

/// So many are shown.
const SHOWN: usize = 12;

/// An order that td has passed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RecentView {
    /// Its id.
    order_id: String,
    /// Who sent it.
    strategy: String,
    /// In what.
    instrument: u32,
    /// `buy` or `sell`.
    side: String,
    /// Its limit; none: at any price.
    price: Option<String>,
    /// How much.
    quantity: i64,
    /// Since td passed it on.
    age_ms: u64,
}

/// Follows td's journal from look to look.
#[derive(Debug, Default)]
pub(super) struct Recent {
    reader: Option<LooseReader>,
    /// Time and order, the newest last.
    newest: VecDeque<(u64, NewOrder)>,
}

impl Recent {
    /// Takes what has come since the last look. Where some of it was overwritten meanwhile, those before are not the newest any more.
    pub(super) fn follow(&mut self, instance: &InstanceDir) {
        let name = Stream::Orders.journal().unwrap_or("td.orders");
        self.follow_from(|| {
            let journal = Journal::open_read_only(instance.find_journal(name))?;
            journal.oldest_frame().and_then(|oldest| journal.observe(oldest))
        });
    }

    /// `open` gives a reader of all that the journal holds.
    fn follow_from(&mut self, open: impl Fn() -> Result<LooseReader, OpenError>) {
        // A reader that was lapped is far ahead of what the journal holds: it begins once more, and only once, for the writer may be
        // quicker.
        for is_last in [false, true] {
            if self.reader.is_none() {
                self.reader = open().ok();
            }
            if !self.take(is_last) {
                return;
            }
            self.reader = None;
        }
    }

    /// Reads what is there. True: the reader was lapped, and is to begin once more.
    fn take(&mut self, is_last: bool) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        loop {
            match reader.read() {
                Ok(Some(frame)) if frame.message_id == NewOrder::ID => {
                    if let Ok(order) = NewOrder::decode(frame.payload) {
                        self.newest.push_back((frame.time, order));
                        if self.newest.len() > SHOWN {
                            self.newest.pop_front();
                        }
                    }
                }
                Ok(Some(_)) => {}
                Err(ReadError::Lapped(_)) => {
                    self.newest.clear();
                    if !is_last {
                        return true;
                    }
                }
                Ok(None) => return false,
                Err(_) => {
                    self.reader = None;
                    return false;
                }
            }
        }
    }

    /// The newest first.
    pub(super) fn rows(&self, look: &Look) -> Vec<RecentView> {
        let row = |(time, order): &(u64, NewOrder)| RecentView {
            order_id: order.order_id.to_string(),
            strategy: look.name_of(u32::from(order.order_id.strategy().0)),
            instrument: order.instrument.0,
            side: order.side.to_string(),
            price: if order.order_type.has_price() { view::price(order.price) } else { None },
            quantity: order.quantity.0,
            age_ms: look.at_ns.saturating_sub(*time) / 1_000_000,
        };
        self.newest.iter().rev().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use journal::{Clock, JournalShape};
    use wire::{InstrumentId, OrderId, OrderType, Price, Quantity, Side, StrategyId, TimeInForce};

    use super::*;

    #[test]
    fn orders_from_before_what_was_overwritten_are_not_the_newest() {
        let shape = JournalShape {
            id: 1,
            name: "td.orders".into(),
            capacity: 1 << 16,
            seats: 64,
            topics: 4,
            page: 4096,
        };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        let mut recent = Recent::default();
        let open = || journal.observe(journal.oldest_frame()?);
        let order = |writer: &mut journal::Writer, number: u32| {
            let id = OrderId::new(StrategyId(1), 1, number);
            let (side, kind, time) = (Side::Buy, OrderType::Limit, TimeInForce::Day);
            let order = NewOrder::plain(id, InstrumentId(1), side, kind, time, Price::ZERO, Quantity(1));
            writer.write(NewOrder::ID, 0, wire::Message::bytes(&order)).unwrap();
            id
        };
        for number in 0..20 {
            order(&mut writer, number);
        }
        recent.follow_from(open);
        assert_eq!(recent.newest.len(), SHOWN);
        // The reader is lapped, and of what came meanwhile the ring holds two orders.
        for number in 20..100 {
            order(&mut writer, number);
        }
        for _ in 0..1_000 {
            writer.write(1, 0, &[0; 100]).unwrap();
        }
        let last = [200, 201].map(|number| order(&mut writer, number));
        recent.follow_from(open);
        let shown: Vec<OrderId> = recent.newest.iter().map(|(_, order)| order.order_id).collect();
        assert_eq!(shown, last);
    }
}
