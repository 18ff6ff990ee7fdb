//! Members of a host that come and go.
//!
//! Master asks for a member by setting the state of its seat to *starting*. The host sees that on its next look, takes
//! the seat with a registration of its own, and from then on the member is a node like any other: its journal of orders,
//! its counters, its state. That is how all of them start, and how one that died starts again.

use node::{Context, Exit, NodeState};

use super::Strategies;
use super::member::guarded;
use crate::session::Role;

/// Members that join in one look while others run, who wait meanwhile. Those that start with the process all join in the
/// first: they wait for the ledger together, however long it takes.
const MOST_AT_ONCE: usize = 4;
/// Between two looks at all seats, in nanoseconds.
const LOOK: u64 = 1_000_000;
/// Between two signs of life of the members.
const BEAT: u64 = 100_000_000;

impl Strategies {
    /// Who is to start, starts; who lives, shows it.
    #[cold]
    pub(super) fn look_after_members(&mut self, context: &mut Context) {
        let now = self.handle.now();
        if now.saturating_sub(self.last_look) < LOOK && !self.opening {
            return;
        }
        self.last_look = now;
        let most = if self.opening { self.members.len() } else { MOST_AT_ONCE };
        let mut joined = 0;
        for index in 0..self.members.len() {
            if !self.is_asked_for(index) {
                continue;
            }
            if joined == most {
                context.wake_at(now + LOOK);
                break;
            }
            joined += 1;
            self.join(context, index);
        }
        if now.saturating_sub(self.last_beat) >= BEAT {
            self.last_beat = now;
            for member in self.members.iter().filter(|member| member.driven.is_some()) {
                member.handle.beat(now);
            }
        }
    }

    fn is_asked_for(&self, index: usize) -> bool {
        let member = &self.members[index];
        member.driven.is_none() && member.handle.state() == NodeState::Starting
    }

    /// True when no member is left that was to start with the process.
    pub(super) fn everybody_has_started(&self) -> bool {
        self.list_is_whole
            && self.unstarted == 0
            && (self.roster.is_none() || (0..self.members.len()).all(|index| !self.is_asked_for(index)))
    }

    /// Takes the seat of a member, and tells it what the others know already.
    fn join(&mut self, context: &mut Context, index: usize) {
        // What the member before this one was called for ends here.
        self.call_ended(self.handle.now());
        let Some(roster) = &self.roster else { return };
        let name = self.members[index].name.clone();
        let seat = self.handle.join_as(&name);
        let now = self.handle.now();
        self.handle.enters(&self.members[index].handle, now);
        // Making a strategy runs its author's code as any other call does.
        let ledger = self.ledger;
        let made = guarded(|| seat.map_err(Into::into).and_then(|mut seat| roster.make(&mut seat, ledger)));
        // However long that took: the process is not held any more.
        self.handle.beat(self.handle.now());
        let made = match made {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => {
                log::error!("strategy `{name}` does not start: {error}");
                // Counted as started, so that its end is told.
                self.members[index].handle.leave(NodeState::Dead, error.exit());
                return;
            }
            Err(panic) => {
                log::error!(
                    "strategy `{name}` panicked as it was made: {panic}; it does not start, the others go on"
                );
                self.members[index].handle.leave(NodeState::Dead, Exit::Failed);
                return;
            }
        };
        self.members[index].arrive(made.driven, made.budget);
        self.unstarted += 1;
        if !self.opening {
            self.hear_state(context);
        }
        let journal = self.inputs.get(self.instruments.0).map_or(0, |(_, journal)| *journal);
        let listing = std::mem::take(&mut self.listing);
        for kept in &listing {
            self.deliver(context, index, Role::Instruments, journal, &kept.frame());
        }
        self.listing = listing;
        if self.list_is_whole {
            self.call(context, index, |driven| driven.list_is_whole());
        }
    }

    /// Hears of the ledger's state what members wait for, and is woken for nothing else.
    pub(super) fn hear_state(&self, context: &mut Context) {
        let Some(state) = self.state else { return };
        let waits = |member: &u16| {
            let member = self.members.get(usize::from(*member));
            member.is_some_and(|member| member.driven.is_some() && !member.started)
        };
        let topics =
            (0_u32..).zip(&self.state_to).filter(|(_, member)| waits(member)).map(|(topic, _)| topic);
        context.narrow(state, Some(&topics.collect::<Vec<_>>()));
    }
}
