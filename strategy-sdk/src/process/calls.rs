//! Calls of strategies: timed, guarded against panics, and followed by what the session then needs.

use node::{Context, Exit, Frame, NodeState};
use wire::Nanos;

use super::dispatch::Dispatch;
use super::{Market, Strategies};
use crate::panic::{Panicked, catch};
use crate::session::{AnySession, Needs, Role};

impl Strategies {
    /// Hands one frame to one member.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        context: &mut Context,
        index: usize,
        role: Role,
        journal: u32,
        frame: &Frame<'_>,
    ) {
        let member = &mut self.members[index];
        if !member.started && (role.is_market() || role == Role::Reports) {
            return member.backlog.keep(role, journal, frame);
        }
        let Some(session) = &mut member.session else { return };
        // First of all: this is the time at which the strategy receives the frame, and at which the call before ended.
        let now = self.handle.now();
        self.handle.enters(&member.handle, now);
        let ended = self.watch.begin(index, now);
        let outcome = catch(|| session.frame(role, journal, frame, Nanos(now)));
        self.charge(ended);
        self.follow(context, index, outcome);
    }

    /// Any other call of one member, if it runs.
    pub(super) fn call(
        &mut self,
        context: &mut Context,
        index: usize,
        call: impl FnOnce(&mut dyn AnySession) -> Needs,
    ) {
        let member = &mut self.members[index];
        let Some(session) = &mut member.session else { return };
        let now = self.handle.now();
        self.handle.enters(&member.handle, now);
        let ended = self.watch.begin(index, now);
        let outcome = catch(|| call(session.as_mut()));
        self.charge(ended);
        self.follow(context, index, outcome);
    }

    /// The call that ran until now has ended.
    pub(super) fn call_ended(&mut self, now: u64) {
        let ended = self.watch.end(now);
        self.charge(ended);
    }

    #[inline]
    pub(super) fn charge(&mut self, ended: Option<(usize, u64)>) {
        if let Some((member, took)) = ended {
            self.members[member].charge(took);
        }
    }

    #[inline]
    pub(super) fn follow(&mut self, context: &mut Context, index: usize, outcome: Result<Needs, Panicked>) {
        match outcome {
            Ok(needs) => {
                let member = &mut self.members[index];
                member.deadline = needs.deadline.map_or(u64::MAX, |deadline| deadline.0);
                self.next_due = self.next_due.min(member.deadline);
                member.set_market_due(needs.market_due);
                self.requests += needs.requests.wrapping_sub(member.requests);
                member.requests = needs.requests;
                if needs.topics
                    || needs.stop
                    || (needs.started, needs.holds) != (member.started, member.holds)
                {
                    self.changed(context, index, needs);
                }
            }
            Err(panic) => self.panicked(index, panic),
        }
    }

    #[cold]
    fn changed(&mut self, context: &mut Context, index: usize, needs: Needs) {
        let member = &mut self.members[index];
        if needs.holds != member.holds {
            member.holds = needs.holds;
            self.holding = if needs.holds { self.holding + 1 } else { self.holding.saturating_sub(1) };
        }
        if needs.topics
            && let Some(topics) = member.session.as_mut().and_then(|session| session.take_topics())
        {
            member.topics = topics;
            self.table_is_stale = true;
        }
        if needs.started && !member.started {
            self.has_started(context, index);
        }
        if needs.stop {
            match self.factory {
                None => context.request_stop(),
                Some(_) => self.stop_on_request(context, index),
            }
        }
    }

    /// A member has started: hands over, oldest first, the frames that arrived before.
    fn has_started(&mut self, context: &mut Context, index: usize) {
        let member = &mut self.members[index];
        member.started = true;
        self.unstarted = self.unstarted.saturating_sub(1);
        if self.factory.is_some() {
            member.handle.set_state(NodeState::Running);
        }
        let (backlog, dropped) = member.backlog.take();
        if dropped > 0 {
            log::warn!(
                "strategy `{}`: {dropped} messages of market data from before its start are lost",
                member.name
            );
        }
        for (role, journal, kept) in backlog {
            self.deliver(context, index, role, journal, &kept.frame());
        }
        if self.unstarted == 0 && !self.opening {
            self.narrow_state(context);
        }
    }

    /// Calls the members whose deadlines have passed.
    pub(super) fn take_turns(&mut self, context: &mut Context, now: u64) {
        for index in 0..self.members.len() {
            if self.members[index].deadline <= now {
                self.call(context, index, |session| session.turn());
            }
        }
        // A deadline in the minimum may have been cancelled since.
        self.next_due = self.members.iter().map(|member| member.deadline).min().unwrap_or(u64::MAX);
    }

    /// All instruments are taken that were listed when the node joined.
    pub(super) fn list_is_whole(&mut self) {
        self.list_is_whole = true;
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            if let Some(session) = &mut member.session {
                self.handle.enters(&member.handle, self.handle.now());
                // Its needs are read at its next turn, which is near: it has not started.
                if let Err(panic) = catch(|| session.complete_list()) {
                    self.panicked(index, panic);
                }
            }
        }
    }

    /// While members start, and after their topics have changed.
    #[cold]
    pub(super) fn settle(&mut self, context: &mut Context) {
        if self.unstarted > 0 {
            for index in 0..self.members.len() {
                if !self.members[index].started {
                    self.call(context, index, |session| session.turn());
                }
            }
        }
        if self.opening && self.all_have_started() {
            self.opening = false;
            self.narrow_state(context);
        }
        if std::mem::take(&mut self.table_is_stale) {
            for market in 0..self.markets.len() {
                self.read_what_is_heard(context, market);
            }
        }
    }

    /// Reads of a journal of market data what members hear of it, and nothing else.
    fn read_what_is_heard(&mut self, context: &mut Context, market: usize) {
        let Some(Market { role, input, to }) = self.markets.get_mut(market) else { return };
        let before = to.topics();
        let nothing: &[u32] = &[];
        let interests = self.members.iter().enumerate().map(|(index, member)| {
            let hears = member.hears == *role;
            (index as u16, if hears { member.topics.as_deref() } else { Some(nothing) })
        });
        *to = Dispatch::new(interests);
        let topics = to.topics();
        // In lock-step all nodes wait until this node's cursors are at the end, which they would not reach while it
        // sleeps over market data that no member reads.
        if topics != before && !self.deterministic {
            context.narrow(*input, topics.as_deref());
        }
    }

    /// A strategy has panicked: in a host it is stopped, otherwise the process ends.
    #[cold]
    pub(super) fn panicked(&mut self, index: usize, panic: Panicked) {
        if self.factory.is_none() {
            std::panic::resume_unwind(panic.0);
        }
        let name = &self.members[index].name;
        log::error!("strategy `{name}` panicked: {panic}; it is stopped, the others go on");
        self.end_member(index, NodeState::Dead, Exit::Failed);
    }

    /// A strategy has requested its own stop.
    fn stop_on_request(&mut self, context: &mut Context, index: usize) {
        log::info!("strategy `{}` stops, as it asked", self.members[index].name);
        self.stop_member(context, index);
    }

    /// Stops a member in good order.
    pub(super) fn stop_member(&mut self, _context: &mut Context, index: usize) {
        let member = &mut self.members[index];
        member.set_market_due(0);
        let Some(session) = &mut member.session else { return };
        self.handle.enters(&member.handle, self.handle.now());
        let keeps_orders = member.handle.keeps_orders();
        match catch(|| session.stop(keeps_orders)) {
            Ok(()) if self.factory.is_some() => self.end_member(index, NodeState::Stopped, Exit::Done),
            Ok(()) => {}
            Err(panic) => self.panicked(index, panic),
        }
    }

    /// A member of a host has ended.
    pub(super) fn end_member(&mut self, index: usize, state: NodeState, exit: Exit) {
        let member = &mut self.members[index];
        self.unstarted -= usize::from(member.session.is_some() && !member.started);
        self.holding -= usize::from(member.holds);
        member.leave();
        member.handle.leave(state, exit);
        self.table_is_stale = true;
    }
}
