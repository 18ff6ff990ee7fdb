//! A session on a node: its inputs feed it, its output and its clock are the session's port.

use node::{
    Component, Context as NodeContext, Counter, Frame, Gap, InputId, JoinError, Node, NodeHandle, Output,
    RunError, WriteError,
};
use wire::{Nanos, SnapshotBegin, StrategyId};

use crate::instruments::Interest;
use crate::port::{Outgoing, Port};
use crate::session::{Role, Session, Setup};
use crate::strategy::Strategy;

/// The order journal holds one strategy's messages for td alone.
const ORDERS_TOPIC: u32 = 0;

struct NodePort {
    output: Output,
    handle: NodeHandle,
}

impl Port for NodePort {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos(self.handle.now())
    }

    #[inline]
    fn send(&mut self, message: &Outgoing) -> Result<(), WriteError> {
        match message {
            Outgoing::New(order) => self.output.send(ORDERS_TOPIC, order),
            Outgoing::Cancel(cancel) => self.output.send(ORDERS_TOPIC, cancel),
            Outgoing::Replace(replace) => self.output.send(ORDERS_TOPIC, replace),
        }?;
        self.handle.add(Counter::FramesWritten, 1);
        Ok(())
    }

    #[inline]
    fn count(&mut self, counter: Counter, amount: u64) {
        self.handle.add(counter, amount);
    }
}

/// What the node's poll loop runs.
pub(crate) struct StrategyNode<S> {
    session: Session<S>,
    /// By input: what it is, and the number of its journal.
    inputs: Vec<(Option<Role>, u32)>,
    quotes: InputId,
    state: Option<InputId>,
    instruments: InputId,
    /// End of the instruments that were listed when the node joined.
    list_end: u64,
    state_is_heard: bool,
}

impl<S: Strategy> StrategyNode<S> {
    pub(crate) fn new(
        node: &mut Node,
        strategy: S,
        interest: Interest,
    ) -> Result<StrategyNode<S>, JoinError> {
        let instruments = node.input("instruments")?;
        let quotes = node.input("quotes")?;
        node.input("reports")?;
        let state = node.inputs_of("state").next();
        let seat = u16::try_from(node.seat()).map(StrategyId).unwrap_or(SnapshotBegin::EVERYBODY);
        if let Some(input) = state.and_then(|state| node.input_mut(state)) {
            input.narrow(Some(&[SnapshotBegin::topic_of(seat)]))?;
        }
        let output = node.take_output("orders")?;
        let setup = Setup {
            name: node.name().to_owned(),
            strategy: seat,
            generation: node.generation(),
            epoch: output.epoch(),
            interest,
            deterministic: node.is_deterministic(),
            ledger: state.is_some(),
        };
        let list_end = node.inputs().get(instruments.0).map_or(0, node::Input::head);
        let inputs = node.inputs().iter().map(|input| (Role::of(input.role()), input.journal_id())).collect();
        let port = NodePort { output, handle: node.handle() };
        let session = Session::new(strategy, setup, Box::new(port));
        Ok(StrategyNode { session, inputs, quotes, state, instruments, list_end, state_is_heard: true })
    }

    /// Passes on what the session wants of the node.
    #[inline]
    fn forward(&mut self, context: &mut NodeContext) {
        if let Some(topics) = self.session.take_topics() {
            // In lock-step everybody waits until our cursor stands at the end: asleep over quotes of others it would
            // not. The session leaves those out by itself.
            let topics = topics.filter(|_| !self.session.is_deterministic());
            context.narrow(self.quotes, topics.as_deref());
        }
        if self.session.is_stop_requested() {
            context.request_stop();
        }
    }
}

impl<S: Strategy> Component for StrategyNode<S> {
    fn turn(&mut self, context: &mut NodeContext) -> Result<(), RunError> {
        self.session.turn();
        if self.state_is_heard && self.session.is_started() {
            self.state_is_heard = false;
            if let Some(state) = self.state {
                context.narrow(state, Some(&[]));
            }
        }
        self.forward(context);
        if let Some(deadline) = self.session.deadline() {
            context.wake_at(deadline.0);
        }
        Ok(())
    }

    /// In lock-step a quote and a report that it caused may lie there together, and which of the two journals is
    /// looked at first must not matter.
    fn in_time_order(&self) -> bool {
        self.session.is_deterministic()
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if input == self.instruments && position >= self.list_end {
            self.session.list_is_whole();
        }
        match self.inputs.get(input.0) {
            Some((Some(role), _)) => self.session.accepts(*role),
            // A role that is not ours: read, so that nobody waits for us, and left alone.
            _ => true,
        }
    }

    fn frame(
        &mut self,
        context: &mut NodeContext,
        input: InputId,
        frame: &Frame<'_>,
    ) -> Result<(), RunError> {
        if let Some((Some(role), journal)) = self.inputs.get(input.0) {
            self.session.frame(*role, *journal, frame);
            self.forward(context);
        }
        Ok(())
    }

    fn gap(&mut self, context: &mut NodeContext, input: InputId, gap: Gap) -> Result<(), RunError> {
        if let Some((Some(role), _)) = self.inputs.get(input.0) {
            self.session.gap(*role, gap);
            self.forward(context);
        }
        Ok(())
    }

    fn stop(&mut self, _context: &mut NodeContext) -> Result<(), RunError> {
        self.session.stop();
        Ok(())
    }
}
