//! What orders at work hold back, when the prices move that they are measured at.

use wire::{InstrumentId, Price};

use crate::contracts::NO_EDGE;
use crate::desk::Desk;
use crate::intake::widen;
use crate::positions::NOTHING;

/// Whether a mark lies beyond a price of an order's own: below a buy, above a sell. Only such an order depends on the mark.
fn passes(edge: [i64; 2], marks: &[Price]) -> bool {
    marks.iter().any(|mark| mark.is_some() && (mark.0 < edge[0] || mark.0 > edge[1]))
}

impl Desk {
    /// A mark has moved from the first to the second price: the orders that it passes are measured anew.
    ///
    /// Where it passes none, as is usual, this reads one line of memory.
    pub(crate) fn measure_passed(&mut self, instrument: InstrumentId, marks: [Price; 2]) {
        if self.contracts.get(instrument).is_some_and(|contract| passes(contract.edge, &marks)) {
            self.measure(instrument, |edge| passes(edge, &marks));
        }
    }

    /// The band has changed: all orders at work are measured anew.
    pub(crate) fn measure_all(&mut self, instrument: InstrumentId) {
        self.measure(instrument, |_| true);
    }

    /// Measures the orders of the accounts whose own edge `is_due`, and takes the edges anew.
    fn measure(&mut self, instrument: InstrumentId, is_due: impl Fn([i64; 2]) -> bool) {
        let Some(contract) = self.contracts.get_mut(instrument) else { return };
        let mut traders = std::mem::take(&mut contract.traders);
        let mut edge = NO_EDGE;
        traders.retain(|&account| {
            let Some(of_account) = self.measure_account(account, instrument, &is_due) else { return false };
            edge = [edge[0].max(of_account[0]), edge[1].min(of_account[1])];
            true
        });
        if let Some(contract) = self.contracts.get_mut(instrument) {
            (contract.traders, contract.edge) = (traders, edge);
        }
    }

    /// The account's edge; `None`, and no longer listed, where nothing of it works.
    fn measure_account(
        &mut self,
        account: u32,
        instrument: InstrumentId,
        is_due: impl Fn([i64; 2]) -> bool,
    ) -> Option<[i64; 2]> {
        let slot = self.accounts.get_mut(account as usize)?.slot_mut(instrument)?;
        let (first, known) = (slot.first, slot.edge);
        if first == [NOTHING; 2] {
            slot.is_listed = false;
            return None;
        }
        if !is_due(known) {
            return Some(known);
        }
        let mut edge = NO_EDGE;
        for (side, mut next) in first.into_iter().enumerate() {
            while let Some(order) = self.orders.get(next) {
                widen(&mut edge, side, order.low, order.high);
                let this = std::mem::replace(&mut next, order.next);
                self.reserve(this);
            }
        }
        self.accounts.get_mut(account as usize)?.slot_mut(instrument)?.edge = edge;
        Some(edge)
    }
}
