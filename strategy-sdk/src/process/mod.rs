//! The strategies of one process on its node: one, or many that share it.
//!
//! ```text
//!                        ┌─ Dispatch: topic → members ─┐
//!   md.best, md.quotes ─►│                             ├──► Member: Session ──► orders.STRATEGY
//!   reports, state ─────►│  seat → member              │    (guarded, timed)
//!   md.instruments ─────►└─ all members ───────────────┘
//! ```
//!
//! Every journal is read once, for any number of strategies. A strategy with a process of its own is the only member of its
//! node; a host is a node of its own, and each of its members has a seat beside it.
//!
//! A panic ends the strategy that was called: its process, or in a host that member only.

mod backlog;
mod calls;
mod dispatch;
mod member;
mod presence;
mod wanted;
mod watch;

use node::{Component, Context, Counter, Frame, Gap, InputId, JoinError, Node, NodeHandle, RunError};
use serde_json::Value;
use topology::{HostSection, NodeKind};
use wire::{MarketTime, Message, SnapshotBegin};

use crate::error::StrategyError;
use crate::factory::Factory;
use crate::run::Rest;
use crate::session::Role;
use backlog::Kept;
use dispatch::Dispatch;
use member::Member;
use watch::Watch;

/// No member: the topic belongs to none.
const NONE: u16 = u16::MAX;

/// A journal of market data, and who reads what of it.
struct Market {
    role: Role,
    input: InputId,
    to: Dispatch,
}

/// What the node's poll loop runs.
pub(crate) struct Strategies {
    /// The process's own seat.
    handle: NodeHandle,
    rest: Option<Rest>,
    /// Makes the members of a host as they join; `None`: the process is that of a single strategy.
    factory: Option<Factory>,
    deterministic: bool,
    /// The loop sleeps between messages, so that a look at all seats in each round costs nothing.
    sleeps: bool,
    members: Vec<Member>,
    /// The journals of market data: one for each kind of it that a member hears.
    markets: Vec<Market>,
    /// By topic of the reports: the member.
    reports_to: Vec<u16>,
    /// By topic of the ledger's state: the member.
    state_to: Vec<u16>,
    /// By input: what it is, and the number of its journal.
    inputs: Vec<(Option<Role>, u32)>,
    state: Option<InputId>,
    /// Seat of the ledger that members ask for their state.
    ledger: Option<u32>,
    instruments: InputId,
    /// End of the instruments that were listed when the node joined.
    list_end: u64,
    list_is_whole: bool,
    /// The list of instruments, for members that join later.
    listing: Vec<Kept>,
    /// Until all members that start with the process have started: market data and reports wait in their journals.
    opening: bool,
    /// Members that have joined and not started.
    unstarted: usize,
    /// Requests that all members together have sent: each is answered through the reports.
    requests: u64,
    /// Members that hold market data back.
    holding: usize,
    /// Topics of members have changed.
    table_is_stale: bool,
    /// No later than the earliest deadline of all members.
    next_due: u64,
    watch: Watch,
    rounds: u32,
    last_look: u64,
    last_beat: u64,
    /// Parameters of the command line, which go over the platform file's.
    given: Vec<(String, Value)>,
}

impl Strategies {
    /// The strategy of this node, or the members of this host.
    pub(crate) fn new(node: &mut Node, factory: Factory) -> Result<Strategies, StrategyError> {
        let rest = factory.rest();
        let given = factory.options().parameters.clone();
        let made = if node.assignment().kind == NodeKind::Host {
            Strategies::hosted(node, factory)
        } else {
            Strategies::alone(node, &factory)
        };
        Ok(Strategies { rest, given, ..made? })
    }

    /// A strategy with a process of its own.
    fn alone(node: &mut Node, factory: &Factory) -> Result<Strategies, StrategyError> {
        let ledger = ledger_of(node);
        // The author's constructor may block the process, as any other call of a strategy may.
        let handle = node.handle();
        handle.enters(&handle, handle.now());
        let made = factory.make(node, ledger)?;
        let mut member = Member::new(node.assignment().node.clone(), node.handle());
        let topic = SnapshotBegin::topic_of(made.seat);
        member.join(made.session, made.data, made.budget);
        member.handle.listen();
        let mut strategies = Strategies::of(node, None, vec![member], vec![0], &[topic])?;
        strategies.unstarted = 1;
        Ok(strategies)
    }

    /// A host: its members join one after the other, once it runs.
    fn hosted(node: &mut Node, factory: Factory) -> Result<Strategies, StrategyError> {
        let section: HostSection = node.section()?;
        let mut reports_to = Vec::new();
        let mut members = Vec::new();
        let mut topics = Vec::new();
        for strategy in section.strategies {
            reports_to.resize(usize::from(strategy.seat), NONE);
            reports_to.push(members.len() as u16);
            topics.push(SnapshotBegin::topic_of(wire::StrategyId(strategy.seat)));
            let handle = node.handle().of_seat(u32::from(strategy.seat));
            members.push(Member::new(strategy.name, handle));
        }
        Ok(Strategies::of(node, Some(factory), members, reports_to, &topics)?)
    }

    fn of(
        node: &mut Node,
        factory: Option<Factory>,
        members: Vec<Member>,
        reports_to: Vec<u16>,
        topics: &[u32],
    ) -> Result<Strategies, JoinError> {
        let instruments = node.input("instruments")?;
        let kinds = node.inputs().iter().map(|input| Role::of(&input.role)).enumerate();
        let markets: Vec<Market> = kinds
            .filter_map(|(index, role)| Some((InputId(index), role.filter(|role| role.is_market())?)))
            .map(|(input, role)| Market { role, input, to: Dispatch::new(std::iter::empty()) })
            .collect();
        if markets.is_empty() {
            // Its error says that the node has no market data.
            node.input("quotes")?;
        }
        node.input("reports")?;
        let state = node.inputs_of("state").next();
        if let Some(input) = state.and_then(|state| node.input_mut(state)) {
            input.narrow(Some(topics))?;
        }
        let mut state_to = Vec::new();
        for (index, topic) in topics.iter().enumerate() {
            state_to.resize(*topic as usize, NONE);
            state_to.push(index as u16);
        }
        Ok(Strategies {
            handle: node.handle(),
            rest: None,
            factory,
            deterministic: node.assignment().deterministic,
            sleeps: node.assignment().mode.sleeps(),
            members,
            markets,
            reports_to,
            state_to,
            inputs: node.inputs().iter().map(|input| (Role::of(&input.role), input.journal_id())).collect(),
            state,
            ledger: ledger_of(node),
            instruments,
            list_end: node.inputs().get(instruments.0).map_or(0, node::Input::head),
            list_is_whole: false,
            listing: Vec::new(),
            opening: true,
            unstarted: 0,
            requests: 0,
            holding: 0,
            table_is_stale: false,
            next_due: u64::MAX,
            watch: Watch::default(),
            rounds: 0,
            last_look: 0,
            last_beat: 0,
            given: Vec::new(),
        })
    }

    /// Market data: one look-up, then each member that reads the topic.
    #[inline]
    fn on_market(&mut self, context: &mut Context, role: Role, journal: u32, frame: &Frame<'_>) {
        // A node reads one of them, as a rule; a host three at most.
        let Some(market) = self.markets.iter().position(|market| market.role == role) else { return };
        if frame.message_id == MarketTime::ID {
            // Of no instrument: for all that hear this journal.
            for member in 0..self.members.len() {
                if self.members[member].hears == role {
                    self.deliver(context, member, role, journal, frame);
                }
            }
            return;
        }
        for place in self.markets[market].to.row(frame.topic) {
            let member = self.markets[market].to.member(place);
            self.deliver(context, member, role, journal, frame);
        }
    }

    /// A message for one strategy, by its topic.
    #[inline]
    fn on_own(&mut self, context: &mut Context, role: Role, journal: u32, frame: &Frame<'_>) {
        let table = if role == Role::Reports { &self.reports_to } else { &self.state_to };
        match table.get(frame.topic as usize) {
            Some(member) if *member != NONE => {
                self.deliver(context, usize::from(*member), role, journal, frame);
            }
            // The journal is this node's own, but the topic belongs to no member.
            _ => self.handle.add(Counter::Malformed, 1),
        }
    }

    fn on_instruments(&mut self, context: &mut Context, journal: u32, frame: &Frame<'_>) {
        if self.factory.is_some() {
            self.listing.push(Kept::new(frame));
        }
        for member in 0..self.members.len() {
            self.deliver(context, member, Role::Instruments, journal, frame);
        }
    }
}

impl Component for Strategies {
    /// A strategy alone runs when it has started, or hears the market of before its start: what goes wrong until then is a
    /// start that failed. The members of a host each say so in their own seats.
    fn is_ready(&self) -> bool {
        self.factory.is_some() || !self.opening
    }

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
        if self.sleeps || self.opening || self.rounds.is_multiple_of(ROUNDS_A_LOOK) {
            match self.factory {
                Some(_) => self.look_after_members(context),
                None => self.look_for_ask(context, 0),
            }
        }
        if self.watch.is_running() {
            // A call of this turn: a sleep may follow.
            self.call_ended(self.handle.now());
        }
        if self.next_due != u64::MAX {
            context.wake_at(self.next_due);
        }
        Ok(())
    }

    fn falls_asleep(&self) {
        if let Some(rest) = self.rest {
            (rest.before)();
        }
    }

    fn wakes_up(&self) {
        if let Some(rest) = self.rest {
            (rest.after)();
        }
    }

    fn questions(&self) -> u64 {
        self.requests
    }

    /// In lock-step a quote and a report that it caused may be unread together, and the result must not depend on which of
    /// the two journals is read first.
    fn in_time_order(&self) -> bool {
        self.deterministic
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if input == self.instruments && !self.list_is_whole && position >= self.list_end {
            self.list_is_whole();
        }
        match self.inputs.get(input.0) {
            Some((Some(role), _)) if role.is_market() => !self.opening && self.holding == 0,
            Some((Some(Role::Reports), _)) => !self.opening,
            // Another role: read, so that its writer is not blocked, and ignored.
            _ => true,
        }
    }

    #[inline]
    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let Some((Some(role), journal)) = self.inputs.get(input.0).copied() else { return Ok(()) };
        match role {
            Role::Quotes | Role::Best | Role::Flow => self.on_market(context, role, journal, frame),
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

/// Seat of the ledger that has the state of this node's strategies.
fn ledger_of(node: &Node) -> Option<u32> {
    let state = node.inputs_of("state").next()?;
    node.inputs().get(state.0).map(|input| input.peer_seat)
}

/// Rounds of a busy-polling host between two looks at its members' seats.
const ROUNDS_A_LOOK: u32 = 1 << 12;
