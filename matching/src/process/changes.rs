//! What has changed in an exchange since it was last written down for a successor.

use wire::{InstrumentId, StrategyId};

/// Numbers, each once.
#[derive(Debug, Default)]
struct Marked {
    numbers: Vec<u32>,
    is_marked: Vec<bool>,
}

impl Marked {
    #[inline]
    fn mark(&mut self, number: u32) {
        let index = number as usize;
        if self.is_marked.len() <= index {
            self.is_marked.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.is_marked[index], true) {
            self.numbers.push(number);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let number = self.numbers.pop()?;
        self.is_marked[number as usize] = false;
        Some(number)
    }
}

/// What has changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Orders, some of them several times.
    orders: Vec<u64>,
    instruments: Marked,
    strategies: Marked,
}

impl Changes {
    /// An order came, was changed, or ended.
    #[inline]
    pub(super) fn order(&mut self, id: u64) {
        if self.orders.last() != Some(&id) {
            self.orders.push(id);
        }
    }

    /// Something happened in an instrument's market.
    #[inline]
    pub(super) fn instrument(&mut self, instrument: InstrumentId) {
        self.instruments.mark(instrument.0);
    }

    /// A strategy has used a number.
    #[inline]
    pub(super) fn strategy(&mut self, strategy: StrategyId) {
        self.strategies.mark(u32::from(strategy.0));
    }

    /// Moves up to `most` orders into `orders`, each once.
    pub(super) fn take_orders(&mut self, most: usize, orders: &mut Vec<u64>) {
        let from = self.orders.len().saturating_sub(most);
        orders.clear();
        orders.extend(self.orders.drain(from..));
        orders.sort_unstable();
        orders.dedup();
    }

    /// Takes an instrument.
    pub(super) fn take_instrument(&mut self) -> Option<InstrumentId> {
        self.instruments.pop().map(InstrumentId)
    }

    /// Takes a strategy.
    pub(super) fn take_strategy(&mut self) -> Option<StrategyId> {
        self.strategies.pop().map(|seat| StrategyId(seat as u16))
    }

    /// Orders that wait to be written down, those that are there several times counted so.
    pub(super) fn orders(&self) -> usize {
        self.orders.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once_and_again_when_it_changes_again() {
        let mut changes = Changes::default();
        [7, 7, 8, 7, 9].into_iter().for_each(|id| changes.order(id));
        let mut orders = Vec::new();
        changes.take_orders(10, &mut orders);
        assert_eq!(orders, [7, 8, 9]);
        changes.order(7);
        changes.take_orders(10, &mut orders);
        assert_eq!((orders, changes.orders()), (vec![7], 0));
        for _ in 0..2 {
            changes.instrument(InstrumentId(3));
            changes.instrument(InstrumentId(3));
            assert_eq!(changes.take_instrument(), Some(InstrumentId(3)));
            assert_eq!(changes.take_instrument(), None);
        }
        changes.strategy(StrategyId(2));
        assert_eq!((changes.take_strategy(), changes.take_strategy()), (Some(StrategyId(2)), None));
    }
}
