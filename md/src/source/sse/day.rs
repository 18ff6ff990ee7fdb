//! The day of the stocks: each enters the phases that begin by the clock.

use wire::{InstrumentId, TradingPhase};

use super::merge::Placed;
use super::{SseSource, phase};
use crate::source::SourceEvent;
use crate::source::recorded::Place;

impl SseSource {
    /// A stock enters a phase that begins before this row. False: all have.
    pub(super) fn enter(&mut self, placed: &Placed, event: &mut SourceEvent) -> bool {
        if placed.instrument == InstrumentId::default() || self.window.place(placed.time) == Place::After {
            return false;
        }
        if self.entering.is_none() {
            let begun = match self.clock {
                Some(clock) => phase::next(clock, placed.time),
                // The files begin within a phase.
                None => phase::of(placed.time)
                    .filter(|phase| *phase != TradingPhase::Continuous)
                    .map(|phase| (placed.time, phase)),
            };
            self.clock = begun.map(|(begin, _)| begin).or(self.clock).or(Some(placed.time));
            self.entering = begun.map(|(begin, phase)| (begin, phase, 0));
        }
        self.last = (self.last.0.max(placed.time), placed.line);
        self.give_phase(event)
    }

    /// Nothing follows: files that go on until the closing auction's end end the day.
    pub(super) fn close(&mut self, event: &mut SourceEvent) -> bool {
        let close = phase::close(self.last.0).filter(|close| self.window.place(*close) != Place::After);
        if let Some(close) = close.filter(|_| !std::mem::replace(&mut self.is_closed, true)) {
            self.entering = Some((close, TradingPhase::Closed, 0));
        }
        self.give_phase(event)
    }

    /// The next stock enters the phase that begins.
    fn give_phase(&mut self, event: &mut SourceEvent) -> bool {
        let Some((begin, phase, index)) = self.entering else { return false };
        self.entering = (index + 1 < self.instruments.len()).then_some((begin, phase, index + 1));
        let instrument = self.instruments[index].id;
        let sequence = self.last_sequence[instrument.0 as usize].unwrap_or(0);
        let place = self.window.place(begin);
        event.begin(instrument, begin, sequence, self.last.1, place);
        event.enter(phase);
        event.finish()
    }
}
