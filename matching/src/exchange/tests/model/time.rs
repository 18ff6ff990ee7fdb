//! What time brings.

use wire::{InstrumentId, Nanos, Reason};

use super::Model;
use crate::exchange::{Lifetime, Phase};

/// In the order in which they are done at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// An order ends; the older first.
    End { age: u64, id: u64 },
    /// A phase changes: from the schedule before the end of a volatility auction.
    Change { instrument: InstrumentId, volatility_ends: bool },
}

impl Model {
    pub(super) fn go_to(&mut self, now: u64) {
        if now < self.now {
            return;
        }
        while let Some((time, due)) = self.next_due().filter(|(time, _)| *time <= now) {
            self.now = self.now.max(time);
            match due {
                Due::End { id, .. } => self.end(id, Reason::Expired),
                Due::Change { instrument, volatility_ends: true } => {
                    self.change(instrument, Phase::Continuous)
                }
                Due::Change { instrument, volatility_ends: false } => {
                    let (_, phase) = self.market_mut(instrument).schedule.remove(0);
                    self.change(instrument, phase);
                }
            }
        }
        self.now = now;
    }

    fn next_due(&self) -> Option<(u64, Due)> {
        let ends = self.orders.iter().filter_map(|order| match order.order.lifetime {
            Lifetime::GoodTillDate(date) => Some((date.0, Due::End { age: order.age, id: order.order.id })),
            _ => None,
        });
        let changes = self.markets.iter().flat_map(|market| {
            let change = |volatility_ends| Due::Change { instrument: market.rules.id, volatility_ends };
            let scheduled = market.schedule.first().map(|(time, _)| (*time, change(false)));
            let volatility = market.volatility_ends.map(|time| (time, change(true)));
            scheduled.into_iter().chain(volatility)
        });
        ends.chain(changes).min()
    }

    pub(super) fn plan(&mut self, instrument: InstrumentId, phases: Vec<(Nanos, Phase)>) {
        let mut schedule: Vec<(u64, Phase)> =
            phases.into_iter().map(|(time, phase)| (time.0, phase)).collect();
        schedule.sort_by_key(|(time, _)| *time);
        self.market_mut(instrument).schedule = schedule;
    }
}
