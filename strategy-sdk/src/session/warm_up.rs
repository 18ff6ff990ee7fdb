//! The stage between joining and the start: the strategy hears the market, and sends nothing.
//!
//! ```text
//!   from a recording      instrument* ─► its last part, in one go ─► start
//!   from the platform     instrument* ─► what md publishes, until as much market time has passed ─► start ─► the event behind it
//! ```
//!
//! Events are handed over as ever, [`Context::is_warming_up`] is true, and orders are refused. Timers that are set then fire
//! then: by the market's time, if that is the clock.

use std::time::Duration;

use wire::{Cause, Nanos};

use super::Session;
use crate::context::{EventClock, Stage};
use crate::strategy::Strategy;

#[cfg(doc)]
use crate::context::Context;

impl<S: Strategy> Session<S> {
    pub(super) fn begin_warm_up(&mut self) {
        self.context.stage = Stage::WarmingUp;
        self.context.port.warms_up(true);
        self.name_instruments();
        let Some(mut history) = self.history.take() else { return };
        let (mut taken, mut first, mut last) = (0_u64, None, Nanos(0));
        loop {
            match history.next() {
                Ok(Some(past)) => {
                    let listed = self.context.instruments.by_symbol(past.symbol.as_str());
                    let Some(id) = listed.map(|listed| listed.id) else { continue };
                    if !self.context.instruments.is_selected(id) {
                        continue;
                    }
                    (taken, last) = (taken + 1, past.time);
                    first.get_or_insert(past.time);
                    self.on_listed_market(&past.market.of(id), Cause::NONE, Some(past.time));
                }
                Ok(None) => break,
                Err(error) => {
                    log::warn!("{}: history ends early: {error}", self.context.name());
                    break;
                }
            }
        }
        let lasts = Duration::from_millis((last - first.unwrap_or(last)).0 / 1_000_000);
        let name = self.context.name();
        match taken {
            0 => {
                log::warn!("{name}: the history holds nothing of the instruments that it reads; starts cold")
            }
            _ => log::info!("{name}: warmed up with {taken} messages of {lasts:?}"),
        }
        if let Some(clock) = &mut self.context.event_clock {
            // What the strategy sets at its start counts from the platform's first event, not from yesterday.
            *clock = EventClock { recorded: clock.recorded, ..EventClock::default() };
        }
        self.start_warm();
    }

    /// The platform's own market has reached this time.
    pub(super) fn warm_up_until(&mut self, time: Nanos) {
        if self.history.is_some() {
            return;
        }
        let until = *self.warm_until.get_or_insert(time + self.warm_up);
        if time >= until {
            self.start_warm();
        }
    }

    fn start_warm(&mut self) {
        self.context.stage = Stage::Open;
        self.context.port.warms_up(false);
        self.strategy.start(&mut self.context);
    }
}
