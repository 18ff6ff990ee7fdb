//! A market that says what it should not.

use accounts::Anomaly;
use wire::*;

use super::Life;
use crate::support::*;

impl Life {
    /// The market says what it should not.
    pub(super) fn lie(&mut self) {
        let sequence = 1 + self.random.below(u64::from(self.numbers.max(1))) as u32;
        let id = OrderId::new(StrategyId(1 + self.random.below(2) as u16), 1, sequence);
        let Some(state) = self.desk.order(id) else { return };
        let order = NewOrder {
            order_id: id,
            instrument: state.instrument,
            side: state.side,
            price: price(3),
            ..order(0, CASH, STOCK, Side::Buy, 1, 1)
        };
        let lots = 1 + self.random.below(500) as i64;
        let statuses = [
            OrderStatus::Accepted,
            OrderStatus::PartiallyFilled,
            OrderStatus::Replaced,
            OrderStatus::ReplaceRejected,
            OrderStatus::CancelRejected,
            OrderStatus::Reduced,
            OrderStatus::Triggered,
            OrderStatus::MassCancelled,
        ];
        let execution = match self.random.below(4) {
            0 => fill(&order, self.trades, lots, price(3), 0),
            1 => fill(&order, 1_000_000_000 + self.trades, -lots, price(3), 0),
            2 => fill(&order, 2_000_000_000 + u64::from(self.numbers), lots, price(3), 0),
            _ => update(&order, statuses[self.random.below(8) as usize], lots, state.filled.0),
        };
        let before = self.desk.snapshot();
        match self.desk.execution(&execution) {
            Some(Anomaly::Doubled | Anomaly::Garbled | Anomaly::UnknownOrder) => {
                // Nothing but the count of anomalies has changed: the checksum's row and one counter.
                assert_eq!(before.len(), self.desk.snapshot().len());
            }
            _ => self.count("lies"),
        }
        // Whatever now differs from what the market of this test thinks is cancelled.
        self.open.retain(|order| {
            let state = self.desk.order(order.order_id).unwrap();
            if order.order_id == id {
                let _ = self.desk.execution(&update(order, OrderStatus::Cancelled, 1, state.filled.0));
                return false;
            }
            true
        });
    }
}
