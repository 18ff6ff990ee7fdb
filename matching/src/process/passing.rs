//! Requests and answers that are under way, as the market's time passes.

use node::{Context, Counter, Phase, RunError};
use wire::{Execution, Nanos, Request};

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
        let Some((_, way, _)) = self.under_way() else { return };
        if let Some(request) = way.send(position, request) {
            let now = way.now();
            self.carry_out(now, position, &request);
        }
        self.arrive();
    }

    /// A request has reached the market.
    fn carry_out(&mut self, arrival: Nanos, position: u64, request: &Request) {
        self.note_read(position);
        let Some((recorded, way, answered)) = self.under_way() else { return };
        *answered = position;
        recorded.request_at(arrival, request, &mut way.fresh);
        way.leave(arrival, position);
    }

    /// What the market says; before it, what reaches the market until then.
    pub(super) fn pass(&mut self, position: u64, message: &MarketInput) {
        let Some(time) = message.time() else {
            self.read_up_to(position);
            if let Some((recorded, way, answered)) = self.under_way() {
                recorded.market(message, &mut way.fresh);
                way.leave(way.now(), *answered);
            }
            return self.end_the_way();
        };
        let is_announced = matches!(message, MarketInput::Time(_));
        while let Some((arrival, place, request)) =
            self.way.as_mut().filter(|_| !is_announced).and_then(|way| way.arrived_before(time))
        {
            self.carry_out(arrival, place, &request);
        }
        self.read_up_to(position);
        let Some((recorded, way, answered)) = self.under_way() else { return };
        if is_announced {
            way.settle(time);
        } else {
            way.pass(time);
        }
        recorded.market(message, &mut way.fresh);
        way.leave(time, *answered);
        while let Some((arrival, place, request)) =
            self.way.as_mut().filter(|_| is_announced).and_then(|way| way.arrived_by(time))
        {
            self.carry_out(arrival, place, &request);
        }
        self.arrive();
    }

    /// Tells md when something that is under way arrives: before the next event of the market it announces that time.
    pub(super) fn say_when_due(&mut self, context: &Context) {
        let due = match (&self.way, &self.books) {
            (Some(way), Books::Recorded(recorded)) => way.due(recorded.reopens_at()),
            _ => 0,
        };
        if std::mem::replace(&mut self.due, due) != due {
            context.handle().set(Counter::MarketDue, due);
        }
    }

    fn read_up_to(&mut self, position: u64) {
        if let Books::Recorded(recorded) = &mut self.books {
            recorded.read = position;
        }
    }

    /// Nothing follows: what has not reached the market never does, but for what was sent without a delay.
    fn end_the_way(&mut self) {
        while let Some((arrival, position, request)) =
            self.way.as_mut().and_then(|way| way.arrived_by(way.now()))
        {
            self.carry_out(arrival, position, &request);
        }
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
