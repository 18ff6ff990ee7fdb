//! Orders of one owner that would trade with each other.

use wire::{AccountId, Reason};

use super::Model;
use super::order::Working;
use crate::exchange::{Event, Owner, SelfTrade};

impl Model {
    /// What the incoming order asks for.
    pub(super) fn policy(&self, incoming: &Working) -> SelfTrade {
        let rules = &self.market(incoming.order.instrument).rules.market;
        incoming.order.self_trade.unwrap_or(rules.self_trade)
    }

    /// Whether these two must not trade.
    pub(super) fn is_prevented(&self, incoming: &Working, resting: &Working) -> bool {
        let (one, other) = (&incoming.order, &resting.order);
        let same_strategy = one.strategy == other.strategy;
        let same_owner = match self.market(one.instrument).rules.market.owner {
            Owner::Strategy => same_strategy,
            Owner::Account => {
                one.account == other.account && (one.account != AccountId::OWN || same_strategy)
            }
        };
        same_owner && self.policy(incoming) != SelfTrade::Allow
    }

    /// Instead of their trade. True: the incoming order has ended.
    pub(super) fn prevent(&mut self, incoming: &mut Working, resting: &Working) -> bool {
        let policy = self.policy(incoming);
        if policy == SelfTrade::Decrement {
            return self.decrement(incoming, resting);
        }
        if matches!(policy, SelfTrade::CancelOldest | SelfTrade::CancelBoth) {
            self.end(resting.order.id, Reason::SelfTrade);
        }
        if policy == SelfTrade::CancelOldest {
            return false;
        }
        self.say(Event::Cancelled(incoming.state(), Reason::SelfTrade));
        true
    }

    fn decrement(&mut self, incoming: &mut Working, resting: &Working) -> bool {
        let quantity = incoming.open.min(resting.open);
        if quantity == resting.open {
            self.end(resting.order.id, Reason::SelfTrade);
        } else {
            let working = self.working_mut(resting.order.id);
            working.open -= quantity;
            working.shown = working.shown.min(working.open);
            let state = working.state();
            self.say(Event::Decremented(state));
        }
        if quantity == incoming.open {
            self.say(Event::Cancelled(incoming.state(), Reason::SelfTrade));
            return true;
        }
        incoming.open -= quantity;
        self.say(Event::Decremented(incoming.state()));
        false
    }
}
