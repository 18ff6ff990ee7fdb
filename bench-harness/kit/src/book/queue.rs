//! A queue of one price, as one writes it first.

use std::collections::VecDeque;

use super::Tally;

/// Orders of one price, oldest first: id and open quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue(VecDeque<(u64, u32)>);

impl Queue {
    pub(super) fn push(&mut self, id: u64, quantity: u32) {
        self.0.push_back((id, quantity));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes an order out.
    pub(super) fn remove(&mut self, id: u64) {
        if let Some(index) = self.0.iter().position(|&(found, _)| found == id) {
            self.0.remove(index);
        }
    }

    /// Trades with the oldest first; returns what is left. `ended` gets the ids of those that are filled.
    pub(super) fn trade(
        &mut self,
        tick: u32,
        mut quantity: u32,
        tally: &mut Tally,
        mut ended: impl FnMut(u64),
    ) -> u32 {
        while quantity > 0
            && let Some((id, open)) = self.0.front_mut()
        {
            let traded = quantity.min(*open);
            *open -= traded;
            quantity -= traded;
            tally.trade(tick, traded);
            if *open == 0 {
                ended(*id);
                self.0.pop_front();
            }
        }
        quantity
    }
}
