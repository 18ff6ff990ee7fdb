//! Strategies that leave: their last requests are taken before the leave, in whichever order td reads the two.
//!
//! A strategy that stops cancels its working orders and leaves. The cancels are in its own journal, the leave is in
//! master's. Without this it would be random whether td takes the cancels, or refuses them and writes its own.

use node::{InputId, RunError};
use wire::{NodeChange, NodeEvent, StrategyId};

use super::Td;

/// Leaves of strategies whose last requests are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Leaving(Vec<Leave>);

#[derive(Clone, Copy, Debug)]
struct Leave {
    event: NodeEvent,
    /// Its journal of orders, and its end.
    input: InputId,
    end: u64,
}

impl Leaving {
    fn add(&mut self, event: NodeEvent, input: InputId, end: u64) {
        self.0.push(Leave { event, input, end });
    }

    /// Removes the first that is done.
    fn next(&mut self, is_done: impl Fn(&NodeEvent, InputId, u64) -> bool) -> Option<NodeEvent> {
        let done = self.0.iter().position(|leave| is_done(&leave.event, leave.input, leave.end))?;
        Some(self.0.remove(done).event)
    }
}

impl Td {
    /// A strategy left: its journal of orders ends at its current head.
    pub(super) fn strategy_left(&mut self, event: NodeEvent) -> Result<(), RunError> {
        let Some((input, end)) = self.epochs.written(StrategyId(event.seat)) else {
            return self.strategy_ended(&event);
        };
        self.leaving.add(event, input, end);
        self.finish_leaving()
    }

    /// Ends the strategies that left and whose requests are all taken. Those whose reports wait for room end at once: none
    /// of their requests is taken while that is so.
    pub(super) fn finish_leaving(&mut self) -> Result<(), RunError> {
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

    /// A strategy was restarted: its predecessor's leave takes effect at once.
    pub(super) fn finish_leave_of(&mut self, strategy: StrategyId) -> Result<(), RunError> {
        match self.leaving.next(|event, _, _| event.seat == strategy.0) {
            Some(event) => self.strategy_ended(&event),
            None => Ok(()),
        }
    }

    /// Its epoch is over, and its working orders are cancelled unless a person wants them to work on.
    pub(super) fn strategy_ended(&mut self, event: &NodeEvent) -> Result<(), RunError> {
        let strategy = StrategyId(event.seat);
        self.epochs.end(event);
        if event.change == NodeChange::Paused {
            self.paused.insert(strategy);
            self.gateway.strategy_paused(strategy);
            return Ok(());
        }
        if self.paused.remove(&strategy) {
            // It has gone already; now its orders go too.
            let cancels = self.gateway.cancel_all(strategy);
            return self.cancel(cancels);
        }
        self.cancel_orders_of(strategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::NodeRole;

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
    fn a_leave_is_done_once_all_requests_before_it_are_taken() {
        let mut leaving = Leaving::default();
        leaving.add(left(5), InputId(0), 640);
        leaving.add(left(6), InputId(1), 704);
        let at = |positions: [u64; 2]| move |_: &NodeEvent, input: InputId, end| positions[input.0] >= end;
        assert_eq!(leaving.next(at([576, 640])), None, "a cancel of each is still to be taken");
        assert_eq!(leaving.next(at([576, 704])), Some(left(6)));
        assert_eq!(leaving.next(at([576, 704])), None);
        assert_eq!(leaving.next(at([640, 704])), Some(left(5)));
        assert_eq!(leaving.next(at([640, 704])), None, "once each");
    }
}
