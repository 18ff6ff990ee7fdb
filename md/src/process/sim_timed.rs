//! Simulated instruments on one thread, by one schedule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use node::{Component, Context, Frame, InputId, Node, NodeState, Phase, RunError, WriteError};
use topology::config::MdConfig;
use wire::Nanos;

use super::lock_step::LockStep;
use super::market_time::MarketClock;
use super::publisher::Publisher;
use super::recall::Published;
use crate::sim::{Schedule, SimEvent, SimInstrument, instruments};
use crate::source::Counts;

/// Pause before a full journal is tried again, in nanoseconds.
const RETRY: u64 = 20_000;
/// Quotes published in one turn, before the node checks whether to stop.
const BURST: usize = 64;

/// Quotes in the order of their due times.
pub(super) struct SimTimed {
    listed: u32,
    generators: Vec<SimInstrument>,
    schedule: Schedule,
    /// Next due time, instrument, number of the quote.
    queue: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// Generated and not written yet.
    pending: Option<SimEvent>,
    publisher: Publisher,
    published: Published,
    lock_step: LockStep,
    clock: MarketClock,
    started: bool,
    ended: bool,
}

/// The schedule of a configuration, starting at `start`.
pub(super) fn schedule(config: &MdConfig, start: u64) -> Schedule {
    let nanos = |duration: std::time::Duration| Nanos(duration.as_nanos() as u64);
    Schedule {
        start: Nanos(start),
        interval: nanos(config.interval),
        count: config.count,
        stagger: nanos(config.stagger),
    }
}

/// An instrument that continues where it was.
pub(super) fn generator(config: &MdConfig, index: u32, published: &Published) -> SimInstrument {
    let mut generator = SimInstrument::new(index, config.seed);
    generator.skip(published.of(u64::from(index)).quote);
    generator
}

/// A start time that makes the next quote due now.
pub(super) fn start(schedule: &Schedule, now: u64, published: &Published) -> Nanos {
    Nanos(now.saturating_sub(schedule.interval.0.saturating_mul(published.least())))
}

impl SimTimed {
    pub(super) fn new(
        config: &MdConfig,
        publisher: Publisher,
        published: Published,
        node: &Node,
    ) -> Result<SimTimed, RunError> {
        let lock_step = LockStep::of(node)?;
        Ok(SimTimed {
            listed: config.instruments,
            generators: (0..config.instruments).map(|index| generator(config, index, &published)).collect(),
            schedule: schedule(config, 0),
            queue: BinaryHeap::new(),
            pending: None,
            publisher,
            published,
            clock: MarketClock::of(node, &lock_step)?,
            lock_step,
            started: false,
            ended: false,
        })
    }

    fn begin(&mut self, now: u64) {
        self.started = true;
        // In lock-step nothing may depend on the start time of the run: then time counts from the epoch.
        self.schedule.start = match self.lock_step.is_on() {
            true => Nanos(1),
            false => start(&self.schedule, now, &self.published),
        };
        for index in 0..self.generators.len() as u64 {
            self.enqueue(index, self.published.of(index).quote);
        }
    }

    fn enqueue(&mut self, index: u64, number: u64) {
        if let Some(due) = self.schedule.due(index, number) {
            self.queue.push(Reverse((due.0, index, number)));
        }
    }

    /// Writes the pending event; in lock-step one message of it, like a replay.
    fn write(&mut self) -> Result<(), WriteError> {
        let Some(event) = &mut self.pending else { return Ok(()) };
        let next = event.trade.map_or(event.quote.event_time, |trade| trade.event_time);
        if let Some(time) = self.clock.due_before(Some(next)) {
            self.publisher.market_time(time)?;
            self.clock.announced(time);
            self.lock_step.wrote();
            return Ok(());
        }
        self.clock.published(next);
        if let Some(trade) = event.trade {
            self.publisher.trade(&trade)?;
            event.trade = None;
            self.lock_step.wrote();
            if self.lock_step.is_on() {
                return Ok(());
            }
        }
        self.publisher.quote(&event.quote)?;
        self.lock_step.wrote();
        self.pending = None;
        Ok(())
    }
}

impl Component for SimTimed {
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.publisher.list(&instruments(self.listed))
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if context.handle().phase() == Phase::Starting {
            context.wake_at(context.now() + 1_000_000);
            return Ok(());
        }
        if !self.started {
            self.begin(context.now());
        }
        self.lock_step.begin_turn();
        for _ in 0..BURST {
            // Nothing more is published after a stop.
            if context.handle().is_stopping() {
                return Ok(());
            }
            let now = context.now();
            if !self.lock_step.is_quiet() {
                if self.lock_step.goes_on() {
                    context.worked();
                }
                context.wake_at(now + RETRY);
                return Ok(());
            }
            match self.write() {
                Ok(()) if self.pending.is_some() => continue,
                Ok(()) => {}
                Err(WriteError::Full { .. }) => {
                    context.wake_at(now + RETRY);
                    return Ok(());
                }
                Err(source) => return Err(self.publisher.failed(source)),
            }
            let Some(Reverse((due, index, number))) = self.queue.peek().copied() else { break };
            if due > now {
                context.wake_at(due);
                return Ok(());
            }
            self.queue.pop();
            self.pending = self.generators.get_mut(index as usize).map(|generator| {
                let mut event = generator.next(Nanos(due));
                if number < self.published.of(index).trade {
                    event.trade = None;
                }
                if self.lock_step.is_on() {
                    // In lock-step nothing waits for the clock, so no quote has a due time.
                    event.quote.due = Nanos(0);
                    event.trade.iter_mut().for_each(|trade| trade.due = Nanos(0));
                }
                event
            });
            self.enqueue(index, number + 1);
        }
        if self.queue.is_empty() && self.pending.is_none() {
            if !self.ended
                && let Some(time) = self.clock.due_before(None)
            {
                if self.publisher.market_time(time).is_ok() {
                    self.clock.announced(time);
                    self.lock_step.wrote();
                }
                context.wake_at(context.now());
                return Ok(());
            }
            if !self.ended && self.publisher.end(&Counts::default()).is_ok() {
                self.ended = true;
                context.handle().set_state(NodeState::Finished);
            }
        } else {
            context.wake_at(context.now());
        }
        Ok(())
    }

    fn frame(&mut self, _context: &mut Context, _input: InputId, _frame: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}
