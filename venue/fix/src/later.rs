//! Orders that are asked for bit by bit: nothing waits for the answers, and markets limit the messages of a second.

use std::collections::{BTreeSet, VecDeque};

use venue::Target;

/// Between two questions, in nanoseconds.
const PACE: u64 = 1_000_000_000 / 50;

/// The questions that are left, each order once.
#[derive(Debug, Default)]
pub(crate) struct Later {
    row: VecDeque<Target>,
    names: BTreeSet<String>,
    /// When the next one may be sent.
    at: u64,
}

impl Later {
    pub(crate) fn add(&mut self, of: &Target) {
        if self.names.insert(of.name.clone()) {
            self.row.push_back(of.clone());
        }
    }

    /// The line is another one: the driver asks again there.
    pub(crate) fn forget(&mut self) {
        self.row.clear();
        self.names.clear();
    }

    /// The next order, where its time has come.
    pub(crate) fn next(&mut self, now: u64) -> Option<Target> {
        if now < self.at {
            return None;
        }
        let of = self.row.pop_front()?;
        self.names.remove(&of.name);
        self.at = now + PACE;
        Some(of)
    }
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, NewOrder, OrderId, OrderType, Price, Quantity, Side, StrategyId, TimeInForce};

    use super::*;

    fn target(name: &str) -> Target {
        let (price, quantity) = (Price(1), Quantity(1));
        let (kind, life) = (OrderType::Limit, TimeInForce::Day);
        let order = NewOrder::plain(
            OrderId::new(StrategyId(5), 1, 1),
            InstrumentId(1),
            Side::Buy,
            kind,
            life,
            price,
            quantity,
        );
        Target { name: name.to_owned(), order, quantity, price }
    }

    #[test]
    fn each_order_is_asked_for_once_in_its_turn_and_not_faster_than_markets_allow() {
        let mut later = Later::default();
        for name in ["a", "b", "a", "c"] {
            later.add(&target(name));
        }
        let mut asked = Vec::new();
        for now in 0..100 {
            asked.extend(later.next(now * PACE / 10).map(|of| (of.name, now)));
        }
        assert_eq!(asked, [("a".to_owned(), 0), ("b".to_owned(), 10), ("c".to_owned(), 20)]);
        later.add(&target("d"));
        later.forget();
        assert!(later.next(u64::MAX / 2).is_none());
        later.add(&target("d"));
        assert!(later.next(u64::MAX / 2).is_some());
    }
}
