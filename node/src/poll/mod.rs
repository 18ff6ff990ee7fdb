//! The poll loop of every node: rounds over its inputs, and the wait between them.

mod doze;
mod drain;
mod folder;
mod rounds;
mod sleep;

use std::time::Duration;

use journal::wait::Parker;
use topology::config::Mode;

use self::doze::Patience;
pub(crate) use self::drain::DrainState;
use self::folder::FolderWatch;
use self::sleep::SafetyNet;
use crate::due::Due;
use crate::error::RunError;
use crate::input::Input;
use crate::node::Node;
use crate::run::{Component, Context};
use crate::state::NodeState;

impl Node {
    /// Polls until asked to stop.
    ///
    /// # Errors
    /// What the component or a journal ended it with. The seat's state says so too.
    pub fn run(mut self, component: &mut impl Component) -> Result<(), RunError> {
        let mut poll = PollLoop::new(&mut self);
        let outcome = poll.run(component);
        poll.context.handle.ended(&outcome);
        outcome
    }
}

/// A node's loop, which may also be turned by somebody else, round by round ([`Steps`](crate::Steps)).
pub(crate) struct PollLoop {
    inputs: Vec<Input>,
    pub(crate) context: Context,
    parker: Option<Parker>,
    net: SafetyNet,
    mode: Mode,
    /// It was said that it runs.
    is_ready: bool,
    last_news: u64,
    last_heartbeat: u64,
    idle_rounds: u32,
    /// The input that need not wake the node, if it has one.
    patience: Option<Patience>,
    /// Naps since the last news.
    quiet_naps: u32,
    /// How long a clean stop reads what is left, and waits for room to write what was kept back.
    drain: Duration,
    folder: FolderWatch,
    /// Which inputs were accepted at the last look: only they can end a sleep.
    accepting: Vec<bool>,
    /// Which inputs to look at.
    due: Due,
}

impl PollLoop {
    /// Takes the node's inputs.
    pub(crate) fn new(node: &mut Node) -> PollLoop {
        let parker = Parker::new(std::sync::Arc::clone(&node.registry), node.assignment.seat);
        let handle = node.handle();
        PollLoop {
            mode: node.assignment.mode,
            accepting: vec![true; node.inputs.len()],
            due: Due::of(node),
            patience: Patience::of(&node.inputs),
            inputs: std::mem::take(&mut node.inputs),
            context: Context {
                handle,
                deadline: None,
                stop_requested: false,
                requests: Vec::new(),
                worked: false,
            },
            parker,
            net: SafetyNet::new(),
            is_ready: false,
            last_news: 0,
            last_heartbeat: 0,
            idle_rounds: 0,
            quiet_naps: sleep::QUIET_NAPS,
            drain: node.assignment.drain,
            folder: FolderWatch::new(&node.instance),
        }
    }

    pub(crate) fn run(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        self.start(component)?;
        while !self.is_asked_to_stop() {
            if self.turn(component)? {
                self.news();
            } else {
                // A component's call has returned in a child of a fork: no input has anything for it, ever.
                self.context.handle.registry.check_process()?;
                self.wait(component);
            }
        }
        self.drain(component)?;
        component.stop(&mut self.context)
    }

    pub(crate) fn start(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        component.start(&mut self.context)?;
        self.grant_requests()?;
        self.look_whether_ready(component);
        self.beat();
        Ok(())
    }

    #[cold]
    fn look_whether_ready(&mut self, component: &impl Component) {
        if component.is_ready() {
            self.is_ready = true;
            self.context.handle.set_state(NodeState::Running);
        }
    }

    pub(crate) fn is_asked_to_stop(&self) -> bool {
        self.context.handle.is_stopping() || self.context.stop_requested
    }

    /// True when frames lie in any input.
    pub(crate) fn has_news(&self) -> bool {
        self.inputs.iter().any(|input| input.head() > input.position())
    }

    /// True while frames lie in an input that was not accepted at the last look.
    pub(crate) fn holds_back(&self) -> bool {
        let inputs = self.inputs.iter().zip(&self.accepting);
        inputs.into_iter().any(|(input, accepts)| !accepts && input.head() > input.position())
    }

    /// The component's turn, and one round over the inputs. False when nothing was there.
    #[inline]
    pub(crate) fn turn(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        self.context.deadline = None;
        component.turn(&mut self.context)?;
        if !self.is_ready {
            self.look_whether_ready(component);
        }
        self.grant_requests()?;
        let worked = std::mem::take(&mut self.context.worked);
        Ok(self.round(component)? || worked)
    }
}

#[cfg(test)]
mod adaptive;
#[cfg(test)]
mod dozing;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod tests;
