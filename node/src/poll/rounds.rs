//! One round over the inputs: which frames are passed on, in which order, and the component's requests meanwhile.

use journal::ReadError;

use super::PollLoop;
use crate::error::RunError;
use crate::input::InputId;
use crate::run::{Component, InputRequest};
use crate::state::Counter;

/// Frames taken from one input before the others get their turn.
const BURST: usize = 64;
/// Frames that a component may look at before they are passed on.
const AHEAD: usize = 16;

impl PollLoop {
    /// Reads what is there. True when anything was.
    pub(super) fn round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        if self.due.is_stepped() {
            for (index, input) in self.inputs.iter().enumerate() {
                if input.head() > input.position() {
                    self.due.look_at(index);
                }
            }
        }
        if component.in_time_order() { self.merged_round(component) } else { self.fair_round(component) }
    }

    /// One look at every marked input.
    fn fair_round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        let mut any = false;
        self.due.answer();
        let mut from = 0;
        while let Some(index) = self.due.next(from) {
            from = index + 1;
            let mut taken = 0;
            let mut accepts = true;
            let steps = component.looks_ahead(InputId(index));
            while taken < BURST {
                if steps > 0 && taken % AHEAD == 0 {
                    self.look_ahead(component, index, steps);
                }
                accepts = self.accepts(component, index);
                if !accepts || !self.take(component, index)? {
                    break;
                }
                taken += 1;
            }
            if taken == BURST && component.is_settled(InputId(index)) {
                // The last frame is finished. Its cursor is published before others write: a successor that read the
                // frame again would look for its effects, which may be overwritten by then.
                self.inputs[index].reader.publish();
            }
            self.accepting[index] = accepts;
            if accepts && taken < BURST {
                self.due.is_empty_now(index);
            }
            if taken > 0 {
                self.context.add(Counter::FramesRead, taken as u64);
                any = true;
            }
        }
        Ok(any)
    }

    fn look_ahead(&self, component: &impl Component, index: usize, steps: u32) {
        for step in 0..steps {
            let show = |frame: journal::Frame<'_>| component.ahead(InputId(index), step, &frame);
            self.inputs[index].reader.look_ahead(AHEAD, show);
        }
    }

    /// The earliest frames of all inputs, in the order of their times.
    fn merged_round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        let mut taken = 0;
        while taken < BURST {
            let Some(index) = self.earliest(component)? else { break };
            self.take(component, index)?;
            taken += 1;
        }
        if taken > 0 {
            self.context.add(Counter::FramesRead, taken as u64);
        }
        Ok(taken > 0)
    }

    /// The input with the earliest frame; of equal times, the journal with the lowest number.
    ///
    /// The cause of a frame was committed before it, but perhaps after we had looked at its journal. So a look counts
    /// only when the next one has the same result; of a node that somebody else turns the first, for nobody else writes.
    fn earliest(&mut self, component: &mut impl Component) -> Result<Option<usize>, RunError> {
        let mut before = None;
        loop {
            let mut found = None;
            for index in 0..self.inputs.len() {
                if self.due.is_stepped() && !self.due.is_marked(index) {
                    continue;
                }
                self.accepting[index] = self.accepts(component, index);
                if !self.accepting[index] {
                    continue;
                }
                if let Some(time) = self.peek_time(component, index)? {
                    let key = (time, self.inputs[index].journal_id(), index);
                    found = Some(found.map_or(key, |known: (u64, u32, usize)| known.min(key)));
                } else if self.due.is_stepped() {
                    self.due.is_empty_now(index);
                }
            }
            if found == before || self.due.is_stepped() {
                return Ok(found.map(|(_, _, index)| index));
            }
            before = found;
        }
    }

    fn peek_time(&mut self, component: &mut impl Component, index: usize) -> Result<Option<u64>, RunError> {
        loop {
            match self.inputs[index].reader.peek_time() {
                Ok(time) => return Ok(time),
                Err(error) => self.failed(component, index, error)?,
            }
        }
    }

    fn accepts(&mut self, component: &mut impl Component, index: usize) -> bool {
        let reader = &mut self.inputs[index].reader;
        let accepts = component.accepts(InputId(index), reader.position());
        if !accepts && component.is_settled(InputId(index)) {
            reader.publish();
        }
        accepts
    }

    /// Passes on the next frame of one input, or the gap before it. False when there is none.
    fn take(&mut self, component: &mut impl Component, index: usize) -> Result<bool, RunError> {
        match self.inputs[index].reader.read() {
            Ok(Some(frame)) => component.frame(&mut self.context, InputId(index), &frame)?,
            Ok(None) => return Ok(false),
            Err(error) => self.failed(component, index, error)?,
        }
        self.grant_requests()?;
        Ok(true)
    }

    #[cold]
    fn failed(
        &mut self,
        component: &mut impl Component,
        index: usize,
        error: ReadError,
    ) -> Result<(), RunError> {
        let ReadError::Lapped(gap) = error else {
            return Err(RunError::Read { journal: self.inputs[index].name().to_owned(), source: error });
        };
        self.context.add(Counter::Gaps, 1);
        self.context.add(Counter::BytesLost, gap.bytes());
        component.gap(&mut self.context, InputId(index), gap)
    }

    #[inline]
    pub(super) fn grant_requests(&mut self) -> Result<(), RunError> {
        if self.context.requests.is_empty() { Ok(()) } else { self.grant() }
    }

    #[cold]
    fn grant(&mut self) -> Result<(), RunError> {
        let mut narrowed = false;
        // The list keeps its memory: some components make requests on the path of messages.
        let mut requests = std::mem::take(&mut self.context.requests);
        for request in requests.drain(..) {
            match request {
                InputRequest::Keep(input, position) => {
                    if let Some(input) = self.inputs.get_mut(input.0) {
                        input.keep(position);
                    }
                }
                InputRequest::Finish(input) => {
                    if let Some(input) = self.inputs.get_mut(input.0) {
                        input.reader.publish();
                    }
                }
                InputRequest::Narrow(input, topics) => {
                    let Some(input) = self.inputs.get_mut(input.0) else { continue };
                    narrowed = true;
                    input.narrow(topics.as_deref()).map_err(|error| {
                        RunError::failed(format!(
                            "cannot choose topics of journal `{}`: {error}",
                            input.name()
                        ))
                    })?;
                }
            }
        }
        self.context.requests = requests;
        if !narrowed {
            return Ok(());
        }
        if !self.due.is_stepped() && (self.mode.sleeps() || self.due.has_bell()) {
            // Every writer must see an addition before we sleep, or rely on the bell, again.
            journal::wait::announce(&self.context.handle.registry);
        }
        self.due.everything();
        Ok(())
    }
}
