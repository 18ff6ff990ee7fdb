//! Reports: what matching says, and what td refuses, to the strategy that it is for.

use node::{Context, Counter, Frame};
use wire::StrategyId;

use super::Td;
use crate::{Delivery, Report};

impl Td {
    /// To this strategy and to no other.
    pub(super) fn report(&mut self, context: &Context, to: StrategyId, message_id: u16, payload: &[u8]) {
        let place = self.routes.of(to);
        let output = place.and_then(|(index, topic)| Some((self.reports.get_mut(index)?, topic)));
        let delivered =
            output.is_some_and(|(output, topic)| output.post_bytes(message_id, topic, payload).is_ok());
        if !delivered {
            context.handle().gave_up(u32::from(to.0));
        }
    }

    pub(super) fn execution(&mut self, context: &Context, frame: &Frame<'_>) {
        let outcome = self.gateway.execution(frame.position, frame.message_id, frame.payload);
        if let Some(anomaly) = outcome.anomaly {
            context.add(Counter::Anomalies, 1);
            log::warn!("execution at position {}: {}", frame.position, anomaly.as_str());
        }
        if let Some(delivery) = &outcome.deliver {
            self.deliver(context, frame.position, delivery);
        }
    }

    /// Passes an execution on, unless a predecessor did.
    pub(super) fn deliver(&mut self, context: &Context, position: u64, delivery: &Delivery) {
        let Delivery { to, report } = delivery;
        let Some((index, topic)) = self.routes.of(*to) else {
            return context.handle().gave_up(u32::from(to.0));
        };
        if position <= self.told[index] {
            return;
        }
        let counter = match report {
            Report::Fill(_) => Some(Counter::Fills),
            Report::Update(update) => Counter::of_refusal(update.status),
        };
        if let Some(counter) = counter {
            context.add(counter, 1);
        }
        if self.reports[index].post_bytes(report.message_id(), topic, report.bytes()).is_err() {
            context.handle().gave_up(u32::from(to.0));
        }
    }
}
