//! The poll loop that every node runs.

use std::time::Duration;

use journal::{Frame, Gap, Parker, ReadError, SAFETY_TIMEOUT, Wakeup};

use crate::error::RunError;
use crate::input::{Input, InputId};
use crate::node::{Node, NodeHandle};
use crate::state::{Counter, NodeState, WaitMode};

/// What a node does with what it hears. All methods run on the one thread of the poll loop.
///
/// ```text
/// start ─► ┌ turn ─► frame* / gap* ─► (nothing to do: wait until news or deadline) ┐ ─► stop
///          └───────────────────────────────────────────────────────────────────────┘
/// ```
pub trait Component {
    /// Once, before anything is polled.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }

    /// Before each round over the inputs: timers, work that is due, messages kept back. Says through
    /// [`Context::wake_at`] when it wants to be called again even without news.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn turn(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }

    /// False while frames of this input cannot be taken; they stay where they are.
    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        true
    }

    /// One frame.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError>;

    /// A loose input was overtaken.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn gap(&mut self, _context: &mut Context, _input: InputId, _gap: Gap) -> Result<(), RunError> {
        Ok(())
    }

    /// Once, after the last frame of a clean stop.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }
}

/// What a component may ask of its node.
#[derive(Debug)]
pub struct Context {
    handle: NodeHandle,
    deadline: Option<u64>,
    stop_requested: bool,
}

impl Context {
    /// The platform's time in nanoseconds since the epoch.
    #[inline]
    pub fn now(&self) -> u64 {
        self.handle.now()
    }

    /// Calls [`Component::turn`] again at `time` at the latest. Holds for one wait; the earliest wish counts.
    pub fn wake_at(&mut self, time: u64) {
        self.deadline = Some(self.deadline.map_or(time, |known| known.min(time)));
    }

    /// Ends the node in good order after this call.
    pub fn request_stop(&mut self) {
        self.stop_requested = true;
    }

    /// Counters, phase, state.
    pub fn handle(&self) -> &NodeHandle {
        &self.handle
    }

    /// Adds to one of the node's counters.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        self.handle.add(counter, amount);
    }
}

/// Frames taken from one input before the others get their turn.
const BURST: usize = 64;
/// Idle rounds of a busy-polling node between two looks at the clock.
const IDLE_ROUNDS: u32 = 1 << 10;
/// Signs of life are at least this far apart, in nanoseconds.
const HEARTBEAT: u64 = 10_000_000;
/// A frame that a safety time-out finds and that is older than this was missed; a younger one may have been
/// committed by a writer that is about to wake us.
const MISSED: u64 = 10_000_000;

impl Node {
    /// Polls until asked to stop.
    ///
    /// # Errors
    /// What the component or a journal ended it with. The seat's state says so too.
    pub fn run(mut self, component: &mut impl Component) -> Result<(), RunError> {
        let mut poll = PollLoop::new(&mut self);
        let outcome = poll.run(component);
        let handle = poll.context.handle;
        let exit = outcome.as_ref().err().map_or(0, |error| error.exit().code());
        if let Some(seat) = self.registry.occupy(self.assignment.seat) {
            seat.set_exit(u64::from(exit) + 1);
        }
        handle.set_state(NodeState::Stopped);
        outcome
    }
}

struct PollLoop<'a> {
    inputs: &'a mut Vec<Input>,
    context: Context,
    parker: Option<Parker>,
    mode: WaitMode,
    last_news: u64,
    last_heartbeat: u64,
    idle_rounds: u32,
    /// Which inputs took frames in this round: only they can end a sleep.
    accepting: Vec<bool>,
}

impl<'a> PollLoop<'a> {
    fn new(node: &'a mut Node) -> PollLoop<'a> {
        let parker = Parker::new(std::sync::Arc::clone(&node.registry), node.assignment.seat);
        let handle = node.handle();
        PollLoop {
            mode: node.assignment.mode,
            accepting: vec![true; node.inputs.len()],
            inputs: &mut node.inputs,
            context: Context { handle, deadline: None, stop_requested: false },
            parker,
            last_news: 0,
            last_heartbeat: 0,
            idle_rounds: 0,
        }
    }

    fn run(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        component.start(&mut self.context)?;
        self.context.handle.set_state(NodeState::Running);
        self.beat();
        while !self.context.handle.is_stopping() && !self.context.stop_requested {
            self.context.deadline = None;
            component.turn(&mut self.context)?;
            if self.round(component)? {
                self.idle_rounds = 0;
                self.news();
            } else {
                self.wait();
            }
        }
        self.context.handle.set_state(NodeState::Stopping);
        // What was committed before the stop is still ours to handle.
        while self.round(component)? {}
        component.stop(&mut self.context)
    }

    /// One look at every input. True when anything was taken.
    fn round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        let mut any = false;
        for index in 0..self.inputs.len() {
            let id = InputId(index);
            let mut taken = 0;
            let mut accepts = true;
            while taken < BURST {
                let input = &mut self.inputs[index];
                accepts = component.accepts(id, input.reader.position());
                if !accepts {
                    input.reader.publish();
                    break;
                }
                match input.reader.read() {
                    Ok(Some(frame)) => {
                        component.frame(&mut self.context, id, &frame)?;
                        taken += 1;
                    }
                    Ok(None) => break,
                    Err(ReadError::Lapped(gap)) => {
                        self.context.add(Counter::Gaps, 1);
                        self.context.add(Counter::BytesLost, gap.bytes());
                        component.gap(&mut self.context, id, gap)?;
                        taken += 1;
                    }
                    Err(source) => return Err(RunError::Read { journal: input.name().to_owned(), source }),
                }
            }
            self.accepting[index] = accepts;
            if taken > 0 {
                self.context.add(Counter::FramesRead, taken as u64);
                any = true;
            }
        }
        Ok(any)
    }

    fn news(&mut self) {
        if !matches!(self.mode, WaitMode::Parked) {
            self.last_news = self.context.now();
            self.beat_at(self.last_news);
        } else {
            self.idle_rounds += 1;
            if self.idle_rounds.is_multiple_of(IDLE_ROUNDS) {
                self.beat();
            }
        }
    }

    /// Nothing was there: polls on, or sleeps.
    fn wait(&mut self) {
        match self.mode {
            WaitMode::Fast => self.spin(),
            WaitMode::Parked => self.park(),
            WaitMode::Adaptive { spin_ns } => {
                if self.context.now().saturating_sub(self.last_news) < spin_ns {
                    self.spin();
                } else {
                    self.park();
                }
            }
        }
    }

    #[inline]
    fn spin(&mut self) {
        std::hint::spin_loop();
        self.idle_rounds = self.idle_rounds.wrapping_add(1);
        if self.idle_rounds.is_multiple_of(IDLE_ROUNDS) {
            self.beat();
        }
    }

    fn park(&mut self) {
        let now = self.context.now();
        self.beat_at(now);
        let (timeout, is_safety) = match self.context.deadline {
            Some(deadline) if deadline <= now => return,
            Some(deadline) if deadline - now < SAFETY_TIMEOUT.as_nanos() as u64 => {
                (Duration::from_nanos(deadline - now), false)
            }
            _ => (SAFETY_TIMEOUT, true),
        };
        let Some(parker) = &self.parker else { return };
        let (inputs, accepting, handle) = (&*self.inputs, &self.accepting, &self.context.handle);
        let has_news = || {
            handle.is_stopping()
                || inputs.iter().zip(accepting).any(|(input, accepts)| *accepts && input.reader.has_news())
        };
        let Some(wakeup) = parker.park(timeout, has_news) else { return };
        self.context.add(Counter::Parks, 1);
        match wakeup {
            Wakeup::Woken => self.context.add(Counter::Wakes, 1),
            Wakeup::TimedOut if is_safety => {
                self.context.add(Counter::WaitTimeouts, 1);
                self.count_missed();
            }
            Wakeup::TimedOut => {}
        }
    }

    /// A safety time-out must find nothing that is older than a moment.
    fn count_missed(&mut self) {
        let now = self.context.now();
        let mut missed = false;
        for (input, accepts) in self.inputs.iter_mut().zip(&self.accepting) {
            if *accepts && let Ok(Some(time)) = input.reader.peek_time() {
                missed |= now.saturating_sub(time) > MISSED;
            }
        }
        if missed {
            self.context.add(Counter::WaitTimeoutsWithData, 1);
        }
    }

    fn beat(&mut self) {
        self.beat_at(self.context.now());
    }

    fn beat_at(&mut self, now: u64) {
        if now.saturating_sub(self.last_heartbeat) >= HEARTBEAT {
            self.last_heartbeat = now;
            self.context.handle.beat(now);
        }
    }
}
