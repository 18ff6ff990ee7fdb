//! What is refused: remembered, counted, and too much of it kills.

use wire::{AccountScope, Nanos, NewOrder, OrderStatus, Reason, StrategyId};

use crate::desk::Desk;
use crate::intake::counting::{Counting, LEVELS};
use crate::intake::new_order::taken_plain;
use crate::intake::standing::Refused;
use crate::limits::KillCause;
use crate::orders::Stage;

impl Desk {
    /// Keeps a refused order, so that it is answered the same when it comes again.
    pub(super) fn remember_refused(&mut self, order: &NewOrder, account: usize, reason: Reason) {
        let mut kept = taken_plain(order, account);
        (kept.stage, kept.status, kept.reason) = (Stage::Ended, OrderStatus::Rejected, reason);
        let place = self.orders.insert(kept);
        self.orders.ended(place);
    }

    /// Takes a new order that was refused by somebody before this desk, or that a follower hears of: its id is used up, and the
    /// same request is answered the same.
    pub fn reject(&mut self, order: &NewOrder, reason: Reason) {
        let from = order.order_id.strategy();
        if !self.orders.claim(order.order_id) {
            return;
        }
        if let Some(account) = self.place_or_own(order.account, from) {
            self.remember_refused(order, account, reason);
        }
    }

    /// The same by whoever decides, where it counts for the limit of refusals.
    pub fn refuse(&mut self, order: &NewOrder, reason: Reason, now: Nanos) {
        if self.orders.find(order.order_id).is_some() {
            return;
        }
        self.reject(order, reason);
        let from = order.order_id.strategy();
        self.refused(self.place_of(order.account, from), from, now, reason.into());
    }

    /// A request that came before: what became of it, or that another has its id.
    ///
    /// # Errors
    /// [`Reason::DuplicateOrder`].
    pub fn answered(&self, order: &NewOrder) -> Option<Result<wire::OrderUpdate, Reason>> {
        if self.orders.is_newer(order.order_id) {
            return None;
        }
        let known = self.orders.find(order.order_id).and_then(|place| self.orders.get(place))?;
        Some(if known.is_same(order) { Ok(known.update()) } else { Err(Reason::DuplicateOrder) })
    }

    /// Counts a refused order where it counts, and kills who passes the limit of refusals.
    pub(crate) fn refused(&mut self, place: Option<usize>, from: StrategyId, now: Nanos, refused: Refused) {
        let levels = Counting::of(refused.reason).levels(refused.by);
        if levels == [false; LEVELS] {
            return;
        }
        let account = place.and_then(|place| self.accounts.get_mut(place));
        let group = account.as_ref().map_or(crate::account::NO_GROUP, |account| account.group);
        let [of_group, strategy, platform] =
            self.scopes.of(group, from).map(|scope| scope.map(|scope| &mut scope.watch));
        let watches = [account.map(|account| &mut account.watch), of_group, strategy, platform];
        let mut passes = [false; LEVELS];
        for ((watch, counts), passes) in watches.into_iter().zip(levels).zip(&mut passes) {
            *passes = counts && watch.is_some_and(|watch| watch.rejects_pass(now));
        }
        for (scope, _) in passes.into_iter().enumerate().filter(|(_, passes)| *passes) {
            self.kill_one(place, from, scope, KillCause::RejectRate);
        }
    }

    pub(super) fn kill_who_runs_away(&mut self, place: usize, from: StrategyId, scope: usize) {
        self.kill_one(Some(place), from, scope, KillCause::RunawayRate);
    }

    /// Kills the account, the group, the strategy or the platform: 0 to 3.
    fn kill_one(&mut self, place: Option<usize>, from: StrategyId, scope: usize, cause: KillCause) {
        let group = place.and_then(|place| self.accounts.get(place)).map(|account| account.group);
        match (scope, place) {
            (0, Some(place)) => self.kill_account(place, cause),
            (1, _) => {
                let group = group.and_then(|group| self.scopes.groups.get(group as usize));
                if let Some(number) = group.map(|(number, _)| *number) {
                    self.kill(AccountScope::Group, number, cause);
                }
            }
            (2, _) => drop(self.kill(AccountScope::Strategy, from.0.into(), cause)),
            (3, _) => drop(self.kill(AccountScope::Platform, 0, cause)),
            _ => {}
        }
    }
}
