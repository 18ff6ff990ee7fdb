//! The last rounds of a stopping node: it handles the frames that were there when it was asked to stop, and no others.

use std::time::{Duration, Instant};

use journal::{Frame, Gap};

use super::PollLoop;
use crate::error::RunError;
use crate::input::{Input, InputId};
use crate::run::{Component, Context};
use crate::state::NodeState;

/// Pause between two attempts to write what was kept.
const STOP_RETRY: Duration = Duration::from_micros(200);

/// How far each input is read at the stop, and how long that may take.
#[derive(Debug)]
pub(crate) struct DrainState {
    /// By input: the end of its frames.
    ends: Vec<u64>,
    patience: Instant,
}

impl DrainState {
    fn is_over(&self) -> bool {
        Instant::now() >= self.patience
    }
}

/// Passes a component frames up to where each input ended at the stop. Other nodes still write: a node that reads more
/// slowly than they do would never find its inputs empty.
struct Draining<'c, C> {
    component: &'c mut C,
    state: &'c DrainState,
}

impl<C: Component> Component for Draining<'_, C> {
    fn in_time_order(&self) -> bool {
        self.component.in_time_order()
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        // Called in any case: components also learn from it how far an input was read.
        let accepts = self.component.accepts(input, position);
        let ends = &self.state.ends;
        accepts && ends.get(input.0).is_some_and(|end| position < *end) && !self.state.is_over()
    }

    fn is_settled(&self, input: InputId) -> bool {
        self.component.is_settled(input)
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        self.component.frame(context, input, frame)
    }

    fn gap(&mut self, context: &mut Context, input: InputId, gap: Gap) -> Result<(), RunError> {
        self.component.gap(context, input, gap)
    }
}

impl PollLoop {
    /// Handles the frames committed before the stop, and writes the messages kept back.
    pub(super) fn drain(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        self.context.handle.set_state(NodeState::Stopping);
        let state = self.begin_drain();
        while !self.drain_once(component, &state)? {
            std::thread::sleep(STOP_RETRY);
        }
        Ok(())
    }

    /// Notes what is there.
    pub(crate) fn begin_drain(&mut self) -> DrainState {
        self.due.everything();
        let ends = self.inputs.iter().map(Input::head).collect();
        DrainState { ends, patience: Instant::now() + self.drain }
    }

    /// One attempt. False when it is worth another one later: somebody has to make room.
    pub(crate) fn drain_once(
        &mut self,
        component: &mut impl Component,
        state: &DrainState,
    ) -> Result<bool, RunError> {
        let mut draining = Draining { component, state };
        loop {
            while self.round(&mut draining)? {}
            let is_written = draining.component.flush(&mut self.context)?;
            self.grant_requests()?;
            // Some inputs are accepted only once nothing is kept back.
            let is_done = is_written && !self.round(&mut draining)?;
            if state.is_over() {
                if !is_written {
                    log::error!(
                        "stops although not all could be written: its readers made no room in {:?}",
                        self.drain
                    );
                }
                self.tell_unread(&state.ends);
                return Ok(true);
            }
            if is_done {
                // What it does not take at all, as a strategy that waits for its state: nobody is going to read it.
                self.tell_unread(&state.ends);
            }
            if is_done || !is_written {
                return Ok(is_done);
            }
        }
    }

    fn tell_unread(&self, ends: &[u64]) {
        for (input, end) in self.inputs.iter().zip(ends) {
            let left = end.saturating_sub(input.position());
            if left > 0 {
                log::warn!("stops with {left} bytes of `{}` unread", input.name());
            }
        }
    }
}
