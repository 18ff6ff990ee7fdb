//! What people want of a strategy that runs: other parameters, or its end in a host that goes on.

use node::{Answer, Ask, Context, NodeState};
use serde_json::Value;

use super::Strategies;
use crate::panic::catch;
use crate::session::Needs;

impl Strategies {
    /// Hands a member the parameters that a person wants it to have, and answers.
    #[inline]
    pub(super) fn look_for_ask(&mut self, context: &mut Context, index: usize) {
        if self.members[index].handle.is_asked() {
            self.take_ask(context, index);
        }
    }

    #[cold]
    fn take_ask(&mut self, context: &mut Context, index: usize) {
        let member = &mut self.members[index];
        let Some(ask) = member.handle.asked() else { return };
        let number = ask.number;
        let Some(session) = &mut member.session else { return };
        let now = self.handle.now();
        self.handle.enters(&member.handle, now);
        let ended = self.watch.begin(index, now);
        let parameters = whole(ask, &self.given);
        let outcome = catch(|| session.set(parameters));
        self.charge(ended);
        let handle = self.members[index].handle.clone();
        let answered = |error: Option<String>| {
            if let Err(error) = handle.answer(&Answer { number, error }) {
                log::error!("the answer to new parameters cannot be written: {error}");
            }
        };
        match outcome {
            Ok(Ok(needs)) => {
                answered(None);
                log::info!("strategy `{}` took new parameters", self.members[index].name);
                self.follow(context, index, Ok::<Needs, _>(needs));
            }
            Ok(Err(why)) => answered(Some(why)),
            Err(panic) => {
                answered(Some(format!("it panicked: {panic}")));
                self.panicked(index, panic);
            }
        }
    }

    /// Whether a person wants that this member of a host leaves.
    pub(super) fn is_to_stop(&self, index: usize) -> bool {
        let member = &self.members[index];
        member.session.is_some() && member.handle.state() == NodeState::Stopping
    }

    #[cold]
    pub(super) fn stop_wanted(&mut self, context: &mut Context, index: usize) {
        log::info!("strategy `{}` stops: a person wants it", self.members[index].name);
        self.stop_member(context, index);
    }
}

/// All parameters: those of the command line go over the platform file's here too, but not over what is asked for now.
fn whole(ask: Ask, given: &[(String, Value)]) -> Value {
    let mut all = ask.params;
    let unasked = given.iter().filter(|(name, _)| !ask.changed.contains_key(name));
    all.extend(unasked.cloned());
    Value::Object(all)
}
