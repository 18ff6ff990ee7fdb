//! A node whose loop somebody else turns, round by round: how many nodes share one thread.

use crate::error::RunError;
use crate::node::Node;
use crate::poll::{DrainState, PollLoop};
use crate::run::Component;
use crate::state::NodeState;

/// Gets a node with the component that it runs, which differs from service to service, and does with it what is to be done:
/// so each service is set up in one place, however it is run.
pub trait Runner {
    /// What comes of it.
    type Outcome;

    /// Takes both over.
    ///
    /// # Errors
    /// [`RunError`].
    fn run<C: Component + 'static>(self, node: Node, component: C) -> Result<Self::Outcome, RunError>;
}

/// Polls until asked to stop ([`Node::run`]).
#[derive(Clone, Copy, Debug)]
pub struct ToItsEnd;

impl Runner for ToItsEnd {
    type Outcome = ();

    fn run<C: Component + 'static>(self, node: Node, mut component: C) -> Result<(), RunError> {
        node.run(&mut component)
    }
}

/// Leaves it to the caller when the node does what.
#[derive(Clone, Copy, Debug)]
pub struct Stepwise;

impl Runner for Stepwise {
    type Outcome = Box<dyn Steps>;

    fn run<C: Component + 'static>(self, mut node: Node, component: C) -> Result<Box<dyn Steps>, RunError> {
        let poll = PollLoop::new(&mut node);
        Ok(Box::new(Stepped { node, poll, component, draining: None }))
    }
}

/// A node that is turned by its owner.
///
/// ```text
/// start ─► step* ─► begin_stop ─► drain until true ─► end
/// ```
pub trait Steps {
    /// The node's name.
    fn name(&self) -> &str;

    /// Called once, before the first step.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn start(&mut self) -> Result<(), RunError>;

    /// The component's turn, and one round over the inputs. False when nothing was there.
    ///
    /// # Errors
    /// Any [`RunError`] ends the node.
    fn step(&mut self) -> Result<bool, RunError>;

    /// False when no input has frames: a step would be the component's turn alone.
    fn has_news(&self) -> bool;

    /// When the component wants its next turn even without frames.
    fn deadline(&self) -> Option<u64>;

    /// True while it leaves frames in a journal that it cannot take yet.
    fn holds_back(&self) -> bool;

    /// True once the component has asked for its own end.
    fn wants_to_stop(&self) -> bool;

    /// Asks the node to stop: it takes what is there now, and no more.
    fn begin_stop(&mut self);

    /// One attempt to handle what was there at the stop, and to write what was kept back. True when all is done.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn drain(&mut self) -> Result<bool, RunError>;

    /// The component's last call.
    ///
    /// # Errors
    /// Any [`RunError`] makes the exit a failure.
    fn stop(&mut self) -> Result<(), RunError>;

    /// Says in the node's seat what became of it.
    fn ended(&self, outcome: &Result<(), RunError>);
}

struct Stepped<C> {
    node: Node,
    poll: PollLoop,
    component: C,
    draining: Option<DrainState>,
}

impl<C: Component> Steps for Stepped<C> {
    fn name(&self) -> &str {
        &self.node.assignment.node
    }

    fn start(&mut self) -> Result<(), RunError> {
        self.poll.start(&mut self.component)
    }

    fn step(&mut self) -> Result<bool, RunError> {
        self.poll.turn(&mut self.component)
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.poll.has_news()
    }

    fn deadline(&self) -> Option<u64> {
        self.poll.context.deadline
    }

    fn holds_back(&self) -> bool {
        self.poll.holds_back()
    }

    fn wants_to_stop(&self) -> bool {
        self.poll.context.stop_requested
    }

    fn begin_stop(&mut self) {
        self.node.stop.set();
        self.poll.context.handle.set_state(NodeState::Stopping);
        self.draining = Some(self.poll.begin_drain());
    }

    fn drain(&mut self) -> Result<bool, RunError> {
        let Some(draining) = &self.draining else { return Ok(true) };
        self.poll.drain_once(&mut self.component, draining)
    }

    fn stop(&mut self) -> Result<(), RunError> {
        self.component.stop(&mut self.poll.context)
    }

    fn ended(&self, outcome: &Result<(), RunError>) {
        self.poll.context.handle.ended(outcome);
    }
}
