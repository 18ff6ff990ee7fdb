//! Calling strategies: timed, guarded, and what follows from each call.

use node::{Context, Exit, Frame, NodeState};
use wire::Nanos;

use super::Strategies;
use super::dispatch::Dispatch;
use super::member::{Driven, Panicked, guarded};
use crate::session::{Needs, Role};

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
        if !member.started && matches!(role, Role::Quotes | Role::Reports) {
            return member.early.keep(role, journal, frame);
        }
        let Some(driven) = &mut member.driven else { return };
        // Before anything else: this is when the strategy has it in hand, and the call before this one has ended.
        let now = self.handle.now();
        self.handle.enters(&member.handle, now);
        let ended = self.watch.begin(index, now);
        let outcome = guarded(|| driven.frame(role, journal, frame, Nanos(now)));
        self.charge(ended);
        self.follow(context, index, outcome);
    }

    /// Any other call of one member, if it is there.
    pub(super) fn call(
        &mut self,
        context: &mut Context,
        index: usize,
        call: impl FnOnce(&mut dyn Driven) -> Needs,
    ) {
        let member = &mut self.members[index];
        let Some(driven) = &mut member.driven else { return };
        let now = self.handle.now();
        self.handle.enters(&member.handle, now);
        let ended = self.watch.begin(index, now);
        let outcome = guarded(|| call(driven.as_mut()));
        self.charge(ended);
        self.follow(context, index, outcome);
    }

    /// The call that ran until now has ended.
    pub(super) fn call_ended(&mut self, now: u64) {
        let ended = self.watch.end(now);
        self.charge(ended);
    }

    #[inline]
    fn charge(&mut self, ended: Option<(usize, u64)>) {
        if let Some((member, took)) = ended {
            self.members[member].charge(took);
        }
    }

    #[inline]
    fn follow(&mut self, context: &mut Context, index: usize, outcome: Result<Needs, Panicked>) {
        match outcome {
            Ok(needs) => {
                let member = &mut self.members[index];
                member.deadline = needs.deadline.map_or(u64::MAX, |deadline| deadline.0);
                self.next_due = self.next_due.min(member.deadline);
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
            && let Some(topics) = member.driven.as_mut().and_then(|driven| driven.take_topics())
        {
            member.topics = topics;
            self.table_is_stale = true;
        }
        if needs.started && !member.started {
            self.has_started(context, index);
        }
        if needs.stop {
            match self.roster {
                None => context.request_stop(),
                Some(_) => self.leaves_by_itself(context, index),
            }
        }
    }

    /// It goes first where what came early came before.
    fn has_started(&mut self, context: &mut Context, index: usize) {
        let member = &mut self.members[index];
        member.started = true;
        self.unstarted = self.unstarted.saturating_sub(1);
        if self.roster.is_some() {
            member.handle.set_state(NodeState::Running);
        }
        let (early, dropped) = member.early.take();
        if dropped > 0 {
            log::warn!(
                "strategy `{}`: {dropped} messages of market data from before its start are lost",
                member.name
            );
        }
        for (role, journal, kept) in early {
            self.deliver(context, index, role, journal, &kept.frame());
        }
        if self.unstarted == 0 && !self.opening {
            self.hear_state(context);
        }
    }

    /// Those whose time has come.
    pub(super) fn take_turns(&mut self, context: &mut Context, now: u64) {
        for index in 0..self.members.len() {
            if self.members[index].deadline <= now {
                self.call(context, index, |driven| driven.turn());
            }
        }
        // What was in the minimum may have been taken back since.
        self.next_due = self.members.iter().map(|member| member.deadline).min().unwrap_or(u64::MAX);
    }

    /// All instruments are taken that were listed when the node joined.
    pub(super) fn list_is_whole(&mut self) {
        self.list_is_whole = true;
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            if let Some(driven) = &mut member.driven {
                self.handle.enters(&member.handle, self.handle.now());
                // What it needs from then on is asked at its next turn, which is near: it has not started.
                if let Err(panic) = guarded(|| driven.list_is_whole()) {
                    self.panicked(index, panic);
                }
            }
        }
    }

    /// While members start, and when their topics have changed.
    #[cold]
    pub(super) fn settle(&mut self, context: &mut Context) {
        if self.unstarted > 0 {
            for index in 0..self.members.len() {
                if !self.members[index].started {
                    self.call(context, index, |driven| driven.turn());
                }
            }
        }
        if self.opening && self.everybody_has_started() {
            self.opening = false;
            self.hear_state(context);
        }
        if std::mem::take(&mut self.table_is_stale) {
            let before = self.quotes_to.topics();
            let wishes = self.members.iter().enumerate();
            self.quotes_to =
                Dispatch::new(wishes.map(|(index, member)| (index as u16, member.topics.as_deref())));
            let topics = self.quotes_to.topics();
            // In lock-step everybody waits until our cursor stands at the end: asleep over quotes of others it would
            // not. Those lead to nobody here.
            if topics != before && !self.deterministic {
                context.narrow(self.quotes, topics.as_deref());
            }
        }
    }

    /// A strategy has panicked: with a process of its own the process ends; in a host the strategy does.
    #[cold]
    fn panicked(&mut self, index: usize, panic: Panicked) {
        if self.roster.is_none() {
            std::panic::resume_unwind(panic.0);
        }
        let name = &self.members[index].name;
        log::error!("strategy `{name}` panicked: {panic}; it is stopped, the others go on");
        self.gone(index, NodeState::Dead, Exit::Failed);
    }

    /// Asked for by the strategy itself.
    fn leaves_by_itself(&mut self, context: &mut Context, index: usize) {
        log::info!("strategy `{}` stops, as it asked", self.members[index].name);
        self.stop_member(context, index);
    }

    /// In good order.
    pub(super) fn stop_member(&mut self, _context: &mut Context, index: usize) {
        let member = &mut self.members[index];
        let Some(driven) = &mut member.driven else { return };
        self.handle.enters(&member.handle, self.handle.now());
        match guarded(|| driven.stop()) {
            Ok(()) if self.roster.is_some() => self.gone(index, NodeState::Stopped, Exit::Done),
            Ok(()) => {}
            Err(panic) => self.panicked(index, panic),
        }
    }

    /// A member of a host is not there any more.
    pub(super) fn gone(&mut self, index: usize, state: NodeState, exit: Exit) {
        let member = &mut self.members[index];
        self.unstarted -= usize::from(member.driven.is_some() && !member.started);
        self.holding -= usize::from(member.holds);
        member.depart();
        member.handle.leave(state, exit);
        self.table_is_stale = true;
    }
}
