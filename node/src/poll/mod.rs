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
use self::folder::FolderWatch;
use self::sleep::SafetyNet;
use crate::due::Due;
use crate::error::RunError;
use crate::exit::Exit;
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
        let handle = poll.context.handle;
        let exit = outcome.as_ref().map_or_else(|error| error.exit(), |()| Exit::Done);
        if let Some(seat) = self.registry.occupy(self.assignment.seat) {
            seat.set_exit(exit.to_word(outcome.as_ref().is_err_and(RunError::gives_up)));
        }
        // An error is no way to leave: whoever looks must not take it for the end of the node's work.
        handle.set_state(if outcome.is_ok() { NodeState::Stopped } else { NodeState::Dead });
        outcome
    }
}

struct PollLoop<'a> {
    inputs: &'a mut Vec<Input>,
    pub(crate) context: Context,
    parker: Option<Parker>,
    net: SafetyNet,
    mode: Mode,
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

impl<'a> PollLoop<'a> {
    pub(crate) fn new(node: &'a mut Node) -> PollLoop<'a> {
        let parker = Parker::new(std::sync::Arc::clone(&node.registry), node.assignment.seat);
        let handle = node.handle();
        PollLoop {
            mode: node.assignment.mode,
            accepting: vec![true; node.inputs.len()],
            due: Due::of(node),
            patience: Patience::of(&node.inputs),
            inputs: &mut node.inputs,
            context: Context {
                handle,
                deadline: None,
                stop_requested: false,
                requests: Vec::new(),
                worked: false,
            },
            parker,
            net: SafetyNet::new(),
            last_news: 0,
            last_heartbeat: 0,
            idle_rounds: 0,
            quiet_naps: sleep::QUIET_NAPS,
            drain: node.assignment.drain,
            folder: FolderWatch::new(&node.instance),
        }
    }

    pub(crate) fn run(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        component.start(&mut self.context)?;
        self.grant_requests()?;
        self.context.handle.set_state(NodeState::Running);
        self.beat();
        while !self.context.handle.is_stopping() && !self.context.stop_requested {
            self.context.deadline = None;
            component.turn(&mut self.context)?;
            self.grant_requests()?;
            let worked = std::mem::take(&mut self.context.worked);
            if self.round(component)? || worked {
                self.news();
            } else {
                self.wait(component);
            }
        }
        self.context.handle.set_state(NodeState::Stopping);
        self.drain(component)?;
        component.stop(&mut self.context)
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
