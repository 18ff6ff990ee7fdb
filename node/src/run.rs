//! The interface between the poll loop and a component.

use journal::{Frame, Gap};

use crate::error::RunError;
use crate::handle::NodeHandle;
use crate::input::InputId;
use crate::state::Counter;

/// The behaviour of a node. All methods run on the one thread of the poll loop.
///
/// ```text
/// start ─► ┌ turn ─► frame* / gap* ─► (nothing to do: wait until news or deadline) ┐ ─► stop
///          └───────────────────────────────────────────────────────────────────────┘
/// ```
pub trait Component {
    /// Called once, before anything is polled.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }

    /// Whether it does what it is there for. Until then the node polls, and counts as joined: who waits for it to be ready
    /// waits on, and its end is that of a start that failed.
    fn is_ready(&self) -> bool {
        true
    }

    /// Called before each round over the inputs: timers, due work, messages kept back. Sets with [`Context::wake_at`]
    /// when it is to be called again even without frames.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn turn(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }

    /// Called once more when the node is marked as asleep: true when there is work that no input shows. A process that
    /// creates such work wakes the node afterwards.
    fn is_wanted(&self) -> bool {
        false
    }

    /// The node's thread is about to sleep: for a component that gives up something meanwhile, as an interpreter's lock.
    fn falls_asleep(&self) {}

    /// The sleep is over, whatever ended it. Called once for each [`Component::falls_asleep`], before anything else.
    fn wakes_up(&self) {}

    /// How many messages it has written whose answers come through an input that may wait
    /// ([`ReadAssignment::wake_within`](crate::protocol::ReadAssignment::wake_within)). After each new one the node
    /// expects answers, and dozes instead of parking.
    fn questions(&self) -> u64 {
        0
    }

    /// True: frames are passed on in the order of their times over all inputs, one at a time, and none before its
    /// cause. False: input by input, which is faster. For nodes whose answers must not depend on which journal they
    /// happen to look at first.
    fn in_time_order(&self) -> bool {
        false
    }

    /// False while frames of this input cannot be accepted; they stay in the journal.
    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        true
    }

    /// In how many steps this component wants to look ahead in an input: before some of its frames are passed on, all of them
    /// are shown to [`Component::ahead`] once a step. Zero: not at all.
    fn looks_ahead(&self, _input: InputId) -> u32 {
        0
    }

    /// A frame that comes soon: the component may read what it will need for it, so that what lies far from the processor is
    /// fetched for several frames at once and not one after the other. Nothing may be changed. In each step it reads what
    /// the step before has told it the place of; steps count from zero.
    fn ahead(&self, _input: InputId, _step: u32, _frame: &Frame<'_>) {}

    /// True when everything that this input's frames made the component write is committed. Until then the input's
    /// cursor stays before the last frame read, so that a successor reads that one again; such an input must not be
    /// accepted meanwhile.
    fn is_settled(&self, _input: InputId) -> bool {
        true
    }

    /// Writes messages kept back. False while some remain; called repeatedly at a clean stop, for a limited time.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn flush(&mut self, _context: &mut Context) -> Result<bool, RunError> {
        Ok(true)
    }

    /// Handles one frame.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError>;

    /// A loose input was lapped.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn gap(&mut self, _context: &mut Context, _input: InputId, _gap: Gap) -> Result<(), RunError> {
        Ok(())
    }

    /// Called once, after the last frame of a clean stop.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        Ok(())
    }
}

/// What a component may request of its node.
#[derive(Debug)]
pub struct Context {
    pub(crate) handle: NodeHandle,
    pub(crate) deadline: Option<u64>,
    pub(crate) stop_requested: bool,
    pub(crate) requests: Vec<InputRequest>,
    /// This turn had work that no input shows.
    pub(crate) worked: bool,
}

/// A component's request about an input; granted when its call has returned.
#[derive(Debug)]
pub(crate) enum InputRequest {
    Narrow(InputId, Option<Vec<u32>>),
    Keep(InputId, u64),
    Finish(InputId),
}

impl Context {
    /// The platform's time in nanoseconds since the epoch.
    #[inline]
    pub fn now(&self) -> u64 {
        self.handle.now()
    }

    /// Calls [`Component::turn`] again at `time` at the latest. Applies to one wait; the earliest request counts.
    pub fn wake_at(&mut self, time: u64) {
        self.deadline = Some(self.deadline.map_or(time, |known| known.min(time)));
    }

    /// Reads only these topics of an input from now on (`None`: all), and is woken only for them. Takes effect after
    /// this call, before anything else is read.
    pub fn narrow(&mut self, input: InputId, topics: Option<&[u32]>) {
        self.requests.push(InputRequest::Narrow(input, topics.map(<[u32]>::to_vec)));
    }

    /// Prevents frames of a gated input from `position` on from being overwritten although they were read, for a
    /// successor that must read them again. The position only grows.
    pub fn keep(&mut self, input: InputId, position: u64) {
        self.requests.push(InputRequest::Keep(input, position));
    }

    /// Moves a gated input's cursor behind the last frame read: for a component that could not write everything that
    /// frame caused ([`Component::is_settled`]), and now has.
    pub fn finish(&mut self, input: InputId) {
        self.requests.push(InputRequest::Finish(input));
    }

    /// Stops the node cleanly after this call.
    pub fn request_stop(&mut self) {
        self.stop_requested = true;
    }

    /// Says in [`Component::turn`] that there was work: the next turn follows at once.
    pub fn worked(&mut self) {
        self.worked = true;
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
