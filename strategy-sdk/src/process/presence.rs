//! Members of a host that come and go.
//!
//! Master asks for a member by setting the state of its seat to *starting*. The host sees that on its next look, takes
//! the seat with a registration of its own, and from then on the member is a node like any other: its journal of orders,
//! its counters, its state. That is how all of them start, and how one that died starts again.

use node::{Context, NodeState};

use super::Strategies;
use crate::session::Role;

/// Members that wait for the ledger at the same time. Each waits for a snapshot of up to some 100 KiB in the ledger's
/// journal, which must not go round before it is read.
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
        for index in 0..self.members.len() {
            if self.unstarted < MOST_AT_ONCE && self.is_asked_for(index) {
                self.join(context, index);
            }
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
        let Some(roster) = &self.roster else { return };
        let name = self.members[index].name.clone();
        let made = self.handle.join_as(&name).map_err(Into::into).and_then(|mut seat| {
            let ledger = self.state.is_some();
            self.handle.enters(&self.members[index].handle, self.handle.now());
            roster.make(&mut seat, ledger)
        });
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                log::error!("strategy `{name}` does not start: {error}");
                // Counted as started, so that its end is told.
                self.members[index].handle.leave(NodeState::Dead, error.exit());
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
