//! What the poll loop asks of a component, and what a component may ask of its node.

use journal::{Frame, Gap};

use crate::error::RunError;
use crate::handle::NodeHandle;
use crate::input::InputId;
use crate::state::Counter;

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

    /// Asked once more when the node is marked as asleep: true when it was given work that no input shows. Whoever gives
    /// it such work wakes the node afterwards.
    fn is_wanted(&self) -> bool {
        false
    }

    /// True: frames are handed out in the order of their times over all inputs, one at a time, and none before what
    /// caused it. False: input by input, which is faster. For nodes whose answers must not depend on which of two
    /// journals they happen to look at first.
    fn in_time_order(&self) -> bool {
        false
    }

    /// False while frames of this input cannot be taken; they stay where they are.
    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        true
    }

    /// True when all that this input's frames made the component write is committed. While it is not, the input's cursor
    /// stays before the last frame taken, so that a successor takes that one again; such an input must not be accepted
    /// meanwhile.
    fn is_settled(&self, _input: InputId) -> bool {
        true
    }

    /// Writes what was kept back. False while some of it remains; asked again and again at a clean stop, for a while.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn flush(&mut self, _context: &mut Context) -> Result<bool, RunError> {
        Ok(true)
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
    pub(crate) handle: NodeHandle,
    pub(crate) deadline: Option<u64>,
    pub(crate) stop_requested: bool,
    pub(crate) wishes: Vec<Wish>,
}

/// What a component wants of an input; granted when its call has returned.
#[derive(Debug)]
pub(crate) enum Wish {
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

    /// Calls [`Component::turn`] again at `time` at the latest. Holds for one wait; the earliest wish counts.
    pub fn wake_at(&mut self, time: u64) {
        self.deadline = Some(self.deadline.map_or(time, |known| known.min(time)));
    }

    /// Hears only these topics of an input from now on (`None`: all), and is woken only for them. Takes effect after
    /// this call, before anything else is read.
    pub fn narrow(&mut self, input: InputId, topics: Option<&[u32]>) {
        self.wishes.push(Wish::Narrow(input, topics.map(<[u32]>::to_vec)));
    }

    /// Keeps frames of a gated input from `position` on from being overwritten although they are read, for a successor
    /// that must read them again. Grows only.
    pub fn keep(&mut self, input: InputId, position: u64) {
        self.wishes.push(Wish::Keep(input, position));
    }

    /// Moves a gated input's cursor behind the last frame taken: for a component that could not write all that came of that
    /// frame ([`Component::is_settled`]), and now has.
    pub fn finish(&mut self, input: InputId) {
        self.wishes.push(Wish::Finish(input));
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
