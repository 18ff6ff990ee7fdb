//! Orders of one owner that would trade with each other.

use wire::*;

use super::{Naive, Resting};
use crate::engine::{OrderOwner, SelfTrade};

impl Naive {
    pub(super) fn is_prevented(&self, taker: &Resting, resting: &Resting) -> bool {
        let same_strategy = OrderId(taker.id).strategy() == OrderId(resting.id).strategy();
        let same = match self.options.owner {
            OrderOwner::Strategy => same_strategy,
            OrderOwner::Account if taker.account == AccountId::OWN => {
                resting.account == AccountId::OWN && same_strategy
            }
            OrderOwner::Account => taker.account == resting.account,
            OrderOwner::Firm => true,
        };
        same && self.options.self_trade != SelfTrade::Allow
    }

    /// Instead of their trade: `Some` ends the incoming order.
    pub(super) fn prevent(&mut self, taker: &mut Resting, mut resting: Resting) -> Option<Reason> {
        match self.options.self_trade {
            SelfTrade::Allow => None,
            SelfTrade::CancelNewest => Some(Reason::WouldTrade),
            SelfTrade::CancelOldest => {
                self.cancel(resting, Reason::SelfTrade);
                None
            }
            SelfTrade::CancelBoth => {
                self.cancel(resting, Reason::SelfTrade);
                Some(Reason::SelfTrade)
            }
            SelfTrade::Decrement => {
                let less = taker.open.min(resting.open);
                if less == resting.open {
                    self.cancel(resting, Reason::SelfTrade);
                } else {
                    (resting.open, resting.quantity) = (resting.open - less, resting.quantity - less);
                    self.store(resting);
                    self.update(&resting, OrderStatus::Reduced, Reason::SelfTrade);
                }
                if less == taker.open {
                    return Some(Reason::SelfTrade);
                }
                (taker.open, taker.quantity) = (taker.open - less, taker.quantity - less);
                self.update(taker, OrderStatus::Reduced, Reason::SelfTrade);
                None
            }
        }
    }

    /// Whether fill-or-kill would be filled: with trades alone, and none with its owner.
    pub(super) fn would_fill(&self, order: &Resting) -> bool {
        let (mut dry_run, mut trial) = (self.clone(), *order);
        if self.options.self_trade == SelfTrade::Decrement {
            dry_run.options.self_trade = SelfTrade::CancelNewest;
        }
        dry_run.take(&mut trial);
        trial.open == 0
    }
}
