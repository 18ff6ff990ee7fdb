//! Strategies that left: what they wrote before is taken first, whichever of the two td sees first.
//!
//! A strategy that stops cancels what works and leaves. Its cancels come through its own journal, and that it left through
//! master's; so without this it would be chance whether they are taken, or refused beside cancels of td's own.

use node::{InputId, RunError};
use wire::{NodeEvent, StrategyId};

use super::Td;

/// Those of whom something is still to be taken.
#[derive(Debug, Default)]
pub(super) struct Leaving(Vec<Leave>);

#[derive(Clone, Copy, Debug)]
struct Leave {
    event: NodeEvent,
    /// Its orders, and where they end.
    input: InputId,
    end: u64,
}

impl Leaving {
    fn waits(&mut self, event: NodeEvent, input: InputId, end: u64) {
        self.0.push(Leave { event, input, end });
    }

    /// The first that need not be waited for any longer.
    fn next(&mut self, is_done: impl Fn(&NodeEvent, InputId, u64) -> bool) -> Option<NodeEvent> {
        let done = self.0.iter().position(|leave| is_done(&leave.event, leave.input, leave.end))?;
        Some(self.0.remove(done).event)
    }
}

impl Td {
    /// A strategy left. What it wrote ends here.
    pub(super) fn strategy_left(&mut self, event: NodeEvent) -> Result<(), RunError> {
        let Some((input, end)) = self.lives.written(StrategyId(event.seat)) else {
            return self.strategy_ended(&event);
        };
        self.leaving.waits(event, input, end);
        self.see_off()
    }

    /// Deals with those who left and of whom everything is taken. Not waited for are those whose reports nobody reads: while
    /// these wait, nothing is taken of them.
    pub(super) fn see_off(&mut self) -> Result<(), RunError> {
        loop {
            let Td { leaving, routes, reports, positions, .. } = self;
            let is_read = |strategy| {
                let reports = routes.of(strategy).and_then(|(index, _)| reports.get(index));
                reports.is_none_or(|reports| reports.backlog() == 0)
            };
            let done = leaving.next(|event, input, end| {
                positions.get(input.0).is_none_or(|taken| *taken >= end) || !is_read(StrategyId(event.seat))
            });
            let Some(event) = done else { return Ok(()) };
            self.strategy_ended(&event)?;
        }
    }

    /// A strategy is there again: nothing of its predecessor is waited for.
    pub(super) fn forget_leave(&mut self, strategy: StrategyId) -> Result<(), RunError> {
        match self.leaving.next(|event, _, _| event.seat == strategy.0) {
            Some(event) => self.strategy_ended(&event),
            None => Ok(()),
        }
    }

    /// Its epoch is over, and what works is cancelled.
    pub(super) fn strategy_ended(&mut self, event: &NodeEvent) -> Result<(), RunError> {
        self.lives.end(event);
        self.strategy_gone(StrategyId(event.seat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{NodeChange, NodeRole};

    fn left(seat: u16) -> NodeEvent {
        NodeEvent {
            generation: 1,
            seat,
            change: NodeChange::Left,
            role: NodeRole::Strategy,
            pid: 0,
            exit_code: 0,
            reserved: 0,
            reserved_tail: 0,
        }
    }

    #[test]
    fn those_who_left_are_seen_off_once_all_that_they_wrote_is_taken() {
        let mut leaving = Leaving::default();
        leaving.waits(left(5), InputId(0), 640);
        leaving.waits(left(6), InputId(1), 704);
        let at = |positions: [u64; 2]| move |_: &NodeEvent, input: InputId, end| positions[input.0] >= end;
        assert_eq!(leaving.next(at([576, 640])), None, "a cancel of each is still to be taken");
        assert_eq!(leaving.next(at([576, 704])), Some(left(6)));
        assert_eq!(leaving.next(at([576, 704])), None);
        assert_eq!(leaving.next(at([640, 704])), Some(left(5)));
        assert_eq!(leaving.next(at([640, 704])), None, "once each");
    }
}
