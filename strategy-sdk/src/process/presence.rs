//! Members of a host that join and leave.
//!
//! Master requests a member by setting the state of its seat to *starting*. The host reads that at its next look, registers
//! for the seat, and from then on the member is a node like any other, with a journal of orders, counters and a state of its
//! own. Members are restarted in the same way.

use node::{Context, Exit, NodeState};

use super::Strategies;
use crate::panic::catch;
use crate::session::Role;

/// Most members that join in one look while others run, which wait meanwhile. All members that start with the process join
/// in the first look, and wait for the ledger together.
const MOST_AT_ONCE: usize = 4;
/// Between two looks at all seats, in nanoseconds.
const LOOK: u64 = 1_000_000;
/// Between two heartbeats of the members.
const BEAT: u64 = 100_000_000;

impl Strategies {
    /// Starts the members that master requests, and writes the heartbeats of those that run.
    #[cold]
    pub(super) fn look_after_members(&mut self, context: &mut Context) {
        let now = self.handle.now();
        if now.saturating_sub(self.last_look) < LOOK && !self.opening {
            return;
        }
        self.last_look = now;
        for index in 0..self.members.len() {
            self.look_for_ask(context, index);
            if self.is_to_stop(index) {
                self.stop_wanted(context, index);
            }
        }
        let most = if self.opening { self.members.len() } else { MOST_AT_ONCE };
        let mut joined = 0;
        for index in 0..self.members.len() {
            if !self.is_requested(index) {
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
            for member in self.members.iter().filter(|member| member.session.is_some()) {
                member.handle.beat(now);
            }
        }
    }

    fn is_requested(&self, index: usize) -> bool {
        let member = &self.members[index];
        member.session.is_none() && member.handle.state() == NodeState::Starting
    }

    /// True once all members that start with the process have started.
    pub(super) fn all_have_started(&self) -> bool {
        self.list_is_whole
            && self.unstarted == 0
            && (self.factory.is_none() || (0..self.members.len()).all(|index| !self.is_requested(index)))
    }

    /// Takes the seat of a member, and hands it the list of instruments.
    fn join(&mut self, context: &mut Context, index: usize) {
        // The call of the member before this one has ended.
        self.call_ended(self.handle.now());
        let Some(factory) = &self.factory else { return };
        let name = self.members[index].name.clone();
        let seat = self.handle.join_as(&name);
        let now = self.handle.now();
        self.handle.enters(&self.members[index].handle, now);
        // The author's constructor is guarded as any other call is.
        let ledger = self.ledger;
        let made = catch(|| seat.map_err(Into::into).and_then(|mut seat| factory.make(&mut seat, ledger)));
        // However long that took: the process is not blocked any more.
        self.handle.beat(self.handle.now());
        let made = match made {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => {
                log::error!("strategy `{name}` does not start: {error}");
                // Counted as started, so that its end is reported.
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
        self.members[index].join(made.session, made.data, made.budget);
        self.members[index].handle.listen();
        self.unstarted += 1;
        if !self.opening {
            self.narrow_state(context);
        }
        let journal = self.inputs.get(self.instruments.0).map_or(0, |(_, journal)| *journal);
        let listing = std::mem::take(&mut self.listing);
        for kept in &listing {
            self.deliver(context, index, Role::Instruments, journal, &kept.frame());
        }
        self.listing = listing;
        if self.list_is_whole {
            self.call(context, index, |session| session.complete_list());
        }
    }

    /// Narrows the ledger's state to the members that wait for theirs: nothing else wakes the process.
    pub(super) fn narrow_state(&self, context: &mut Context) {
        let Some(state) = self.state else { return };
        let waits = |member: &u16| {
            let member = self.members.get(usize::from(*member));
            member.is_some_and(|member| member.session.is_some() && !member.started)
        };
        let topics =
            (0_u32..).zip(&self.state_to).filter(|(_, member)| waits(member)).map(|(topic, _)| topic);
        context.narrow(state, Some(&topics.collect::<Vec<_>>()));
    }
}
