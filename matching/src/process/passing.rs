//! Requests and answers that are under way, as the market's time passes.

use node::{Context, Phase, RunError};
use wire::{Execution, Request};

use super::latency::Way;
use super::recorded::{MarketInput, Recorded};
use super::{Books, Matching};
use crate::closed;

/// In nanoseconds: how often it is looked whether the platform stops, while something is under way.
const LOOK: u64 = 10_000_000;

impl Matching {
    fn under_way(&mut self) -> Option<(&mut Recorded, &mut Way, &mut u64)> {
        match (&mut self.books, &mut self.way) {
            (Books::Recorded(recorded), Some(way)) => Some((recorded, way, &mut self.request)),
            _ => None,
        }
    }

    /// A request is sent to the market.
    pub(super) fn send(&mut self, position: u64, request: Request) {
        let Some((recorded, way, answered)) = self.under_way() else { return };
        if let Some(request) = way.send(position, request) {
            *answered = position;
            recorded.request(&request, &mut way.fresh);
            way.leave(way.now(), position);
        }
        self.arrive();
    }

    /// What the market says; before it, what reaches the market until then.
    pub(super) fn pass(&mut self, message: &MarketInput) {
        let Some(time) = message.time() else { return self.end_the_way() };
        let Some((recorded, way, answered)) = self.under_way() else { return };
        while let Some((arrival, position, request)) = way.arrived_before(time) {
            *answered = position;
            recorded.request_at(arrival, &request, &mut way.fresh);
            way.leave(arrival, position);
        }
        way.pass(time);
        recorded.market(message, &mut way.fresh);
        way.leave(time, *answered);
        self.arrive();
    }

    /// Nothing follows: what has not reached the market never does.
    fn end_the_way(&mut self) {
        let Some((_, way, answered)) = self.under_way() else { return };
        let requests = way.end();
        if !requests.is_empty() {
            log::info!("{} requests had not reached the market when its data ended: refused", requests.len());
        }
        for (arrival, position, request) in requests {
            *answered = position;
            way.fresh.push(Execution::Update(closed::refuse(&request)));
            way.leave(arrival, position);
        }
        self.arrive();
    }

    fn arrive(&mut self) {
        if let Some(way) = &mut self.way {
            way.arrive(&mut self.answers);
        }
    }

    /// A platform that is stopped before its data ends has no later market time: as at the end.
    pub(super) fn look_for_the_stop(&mut self, context: &mut Context) -> Result<(), RunError> {
        let Some(way) = self.way.as_ref().filter(|way| !way.is_over()) else { return Ok(()) };
        if context.handle().phase() == Phase::Stopping {
            self.end_the_way();
            return self.answer(context);
        }
        if !way.is_empty() {
            context.wake_at(context.now() + LOOK);
        }
        Ok(())
    }
}
