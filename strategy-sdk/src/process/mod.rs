//! The strategies of one process on its node: one, or many that share it.
//!
//! ```text
//!                        ┌─ Dispatch: topic → members ─┐
//!   md.quotes ──────────►│                             ├──► Member: Session ──► orders.STRATEGY
//!   reports, state ─────►│  seat → member              │    (guarded, timed)
//!   md.instruments ─────►└─ everybody ─────────────────┘
//! ```
//!
//! Every journal is read once, whoever many strategies there are. A strategy that has a process of its own is the only
//! member of its node; a host is a node of its own, and each of its members has a seat beside it.
//!
//! A call of a strategy's that panics ends that strategy. With a process of its own the process ends with it; in a host
//! the others go on.

mod calls;
mod dispatch;
mod early;
mod member;
mod presence;
mod watch;

use node::WriteError;
use node::{Component, Context, Counter, Frame, Gap, InputId, JoinError, Node, NodeHandle, Output, RunError};
use topology::HostSection;
use topology::NodeKind;
use wire::{Nanos, SnapshotBegin};

use crate::port::{Outgoing, Port};
use crate::roster::{Made, Roster};
use crate::run::{StrategyError, ledger_of};
use crate::session::Role;
use dispatch::Dispatch;
use early::Kept;
pub(crate) use member::Driven;
use member::Member;
use watch::Watch;

/// The order journal holds one strategy's messages for td alone.
const ORDERS_TOPIC: u32 = 0;
/// No member: of topics that are nobody's.
const NOBODY: u16 = u16::MAX;

/// A strategy's way out: its own journal of orders, its own counters, the platform's clock.
pub(crate) struct NodePort {
    pub(crate) output: Output,
    pub(crate) handle: NodeHandle,
    /// Seat of the ledger, if there is one.
    pub(crate) ledger: Option<u32>,
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
        Ok(())
    }

    fn ask_state(&mut self) {
        if let Some(ledger) = self.ledger {
            self.handle.ask(ledger);
        }
    }

    fn settle_state(&mut self) {
        if let Some(ledger) = self.ledger {
            self.handle.settle(ledger);
        }
    }

    #[inline]
    fn count(&mut self, counter: Counter, amount: u64) {
        self.handle.add(counter, amount);
    }
}

/// What the node's poll loop runs.
pub(crate) struct Strategies {
    /// The process's own seat.
    handle: NodeHandle,
    /// How to make the strategies of a host; `None`: the one strategy there is has the process to itself.
    roster: Option<Roster>,
    deterministic: bool,
    /// The loop sleeps between messages, so that a look at everything now and then costs nothing.
    sleeps: bool,
    members: Vec<Member>,
    quotes_to: Dispatch,
    /// By topic of the reports: the member.
    reports_to: Vec<u16>,
    /// By topic of the ledger's state: the member.
    state_to: Vec<u16>,
    /// By input: what it is, and the number of its journal.
    inputs: Vec<(Option<Role>, u32)>,
    quotes: InputId,
    state: Option<InputId>,
    /// Seat of the ledger that members ask for their state.
    ledger: Option<u32>,
    instruments: InputId,
    /// End of the instruments that were listed when the node joined.
    list_end: u64,
    list_is_whole: bool,
    /// For members that join later.
    listing: Vec<Kept>,
    /// From the start until all members that were to start have started: market data and reports wait in their journals.
    opening: bool,
    /// Members that have joined and not started.
    unstarted: usize,
    /// Members that hold market data back.
    holding: usize,
    /// Topics of members have changed.
    table_is_stale: bool,
    /// The earliest deadline of all members, or before it.
    next_due: u64,
    watch: Watch,
    rounds: u32,
    last_look: u64,
    last_beat: u64,
}

impl Strategies {
    /// For a strategy that has this node to itself.
    pub(crate) fn alone(node: &mut Node, made: Made) -> Result<Strategies, JoinError> {
        let mut member = Member::new(node.name().to_owned(), node.handle());
        let topic = SnapshotBegin::topic_of(made.seat);
        member.arrive(made.driven, made.budget);
        let mut strategies = Strategies::new(node, None, vec![member], vec![0], &[topic])?;
        strategies.unstarted = 1;
        Ok(strategies)
    }

    /// For a host: its strategies join one after the other, once it runs.
    pub(crate) fn hosted(node: &mut Node, roster: Roster) -> Result<Strategies, StrategyError> {
        let section: HostSection = node.section()?;
        let mut reports_to = Vec::new();
        let mut members = Vec::new();
        let mut topics = Vec::new();
        for strategy in section.strategies {
            reports_to.resize(usize::from(strategy.seat), NOBODY);
            reports_to.push(members.len() as u16);
            topics.push(SnapshotBegin::topic_of(wire::StrategyId(strategy.seat)));
            let handle = node.handle().of_seat(u32::from(strategy.seat));
            members.push(Member::new(strategy.name, handle));
        }
        debug_assert_eq!(node.kind(), NodeKind::Host);
        Ok(Strategies::new(node, Some(roster), members, reports_to, &topics)?)
    }

    fn new(
        node: &mut Node,
        roster: Option<Roster>,
        members: Vec<Member>,
        reports_to: Vec<u16>,
        topics: &[u32],
    ) -> Result<Strategies, JoinError> {
        let instruments = node.input("instruments")?;
        let quotes = node.input("quotes")?;
        node.input("reports")?;
        let state = node.inputs_of("state").next();
        if let Some(input) = state.and_then(|state| node.input_mut(state)) {
            input.narrow(Some(topics))?;
        }
        let mut state_to = Vec::new();
        for (index, topic) in topics.iter().enumerate() {
            state_to.resize(*topic as usize, NOBODY);
            state_to.push(index as u16);
        }
        Ok(Strategies {
            handle: node.handle(),
            roster,
            deterministic: node.is_deterministic(),
            sleeps: node.mode().sleeps(),
            members,
            quotes_to: Dispatch::new(std::iter::empty()),
            reports_to,
            state_to,
            inputs: node.inputs().iter().map(|input| (Role::of(input.role()), input.journal_id())).collect(),
            quotes,
            state,
            ledger: ledger_of(node),
            instruments,
            list_end: node.inputs().get(instruments.0).map_or(0, node::Input::head),
            list_is_whole: false,
            listing: Vec::new(),
            opening: true,
            unstarted: 0,
            holding: 0,
            table_is_stale: false,
            next_due: u64::MAX,
            watch: Watch::default(),
            rounds: 0,
            last_look: 0,
            last_beat: 0,
        })
    }

    /// A message of the market: one look-up, and then those who want it.
    #[inline]
    fn on_quotes(&mut self, context: &mut Context, journal: u32, frame: &Frame<'_>) {
        for place in self.quotes_to.row(frame.topic) {
            let member = self.quotes_to.member(place);
            self.deliver(context, member, Role::Quotes, journal, frame);
        }
    }

    /// A message for one strategy, whose seat the topic tells.
    #[inline]
    fn on_own(&mut self, context: &mut Context, role: Role, journal: u32, frame: &Frame<'_>) {
        let table = if role == Role::Reports { &self.reports_to } else { &self.state_to };
        match table.get(frame.topic as usize) {
            Some(member) if *member != NOBODY => {
                self.deliver(context, usize::from(*member), role, journal, frame);
            }
            // Ours alone is the journal, but nobody's is the topic.
            _ => self.handle.add(Counter::Malformed, 1),
        }
    }

    fn on_instruments(&mut self, context: &mut Context, journal: u32, frame: &Frame<'_>) {
        if self.roster.is_some() {
            self.listing.push(Kept::new(frame));
        }
        for member in 0..self.members.len() {
            self.deliver(context, member, Role::Instruments, journal, frame);
        }
    }
}

impl Component for Strategies {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.rounds = self.rounds.wrapping_add(1);
        let is_due = self.next_due != u64::MAX;
        if self.watch.is_running() || is_due {
            let now = self.handle.now();
            self.call_ended(now);
            if now >= self.next_due {
                self.take_turns(context, now);
            }
        }
        if self.opening || self.unstarted > 0 || self.table_is_stale {
            self.settle(context);
        }
        if self.roster.is_some() && (self.sleeps || self.opening || self.rounds.is_multiple_of(ROUNDS_A_LOOK))
        {
            self.look_after_members(context);
        }
        if self.watch.is_running() {
            // A call of this turn: what follows it may be a sleep.
            self.call_ended(self.handle.now());
        }
        if self.next_due != u64::MAX {
            context.wake_at(self.next_due);
        }
        Ok(())
    }

    /// In lock-step a quote and a report that it caused may lie there together, and which of the two journals is
    /// looked at first must not matter.
    fn in_time_order(&self) -> bool {
        self.deterministic
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if input == self.instruments && !self.list_is_whole && position >= self.list_end {
            self.list_is_whole();
        }
        match self.inputs.get(input.0) {
            Some((Some(Role::Quotes), _)) => !self.opening && self.holding == 0,
            Some((Some(Role::Reports), _)) => !self.opening,
            // A role that is not ours: read, so that nobody waits for us, and left alone.
            _ => true,
        }
    }

    #[inline]
    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let Some((Some(role), journal)) = self.inputs.get(input.0).copied() else { return Ok(()) };
        match role {
            Role::Quotes => self.on_quotes(context, journal, frame),
            Role::Reports | Role::State => self.on_own(context, role, journal, frame),
            Role::Instruments => self.on_instruments(context, journal, frame),
        }
        Ok(())
    }

    fn gap(&mut self, context: &mut Context, input: InputId, gap: Gap) -> Result<(), RunError> {
        if let Some((Some(role), _)) = self.inputs.get(input.0).copied() {
            for member in 0..self.members.len() {
                self.call(context, member, |driven| driven.gap(role, gap));
            }
        }
        Ok(())
    }

    fn stop(&mut self, context: &mut Context) -> Result<(), RunError> {
        for member in 0..self.members.len() {
            self.stop_member(context, member);
        }
        Ok(())
    }
}

/// Rounds of a busy-polling host between two looks at its members' seats.
const ROUNDS_A_LOOK: u32 = 1 << 12;
