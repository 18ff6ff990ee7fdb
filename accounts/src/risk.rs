//! Margin calls, forced liquidation, and limits of losses.

use wire::{AccountId, AccountKind, AccountScope, InstrumentId, Offset, Reason, Side, StrategyId};

use crate::account::Account;
use crate::amount::ONE;
use crate::desk::Desk;
use crate::kill::Kill;
use crate::limits::{KillCause, Most, Watch};
use crate::positions::{LONG, TODAY, YESTERDAY};

/// What an account's margin asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginAction {
    /// Money has to come in.
    Call {
        /// For which account.
        account: AccountId,
        /// Whose own account it is, if it is one.
        owner: Option<StrategyId>,
        /// How much is missing, in the account's currency.
        missing: i128,
    },
    /// Part of a position is to be closed.
    Close(ForcedOrder),
}

/// Who freezes an account while its positions are closed by force, and the reason in the entry. Such a freeze stands beside one by a
/// person: neither lifts the other.
pub const BY_FORCE: [&str; 2] = ["ledger", "margin passed its bound: positions are closed by force"];

/// An order that closes by force. Whoever sends it gives it a number, and a price or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcedOrder {
    /// For which account.
    pub account: AccountId,
    /// Whose own account it is, if it is one.
    pub owner: Option<StrategyId>,
    /// In what.
    pub instrument: InstrumentId,
    /// Sells what is long, buys what is short.
    pub side: Side,
    /// How much.
    pub quantity: i64,
    /// Which lots.
    pub offset: Offset,
    /// Always [`Reason::ForcedLiquidation`].
    pub reason: Reason,
}

/// Margin as a part of equity, in 1e-9, rounded up; the largest number where there is margin and no equity.
pub(crate) fn ratio(margin: i128, equity: i128) -> u64 {
    if margin <= 0 {
        return 0;
    }
    if equity <= 0 {
        return u64::MAX;
    }
    let scaled = margin.checked_mul(ONE).map(|scaled| (scaled + equity - 1) / equity);
    scaled.and_then(|ratio| u64::try_from(ratio).ok()).unwrap_or(u64::MAX)
}

impl Desk {
    /// Looks at all accounts at the latest marks: kills those that have lost more than they may (also groups and the
    /// platform), and returns who has to pay in and what is to be closed by force, by the order in which accounts were opened.
    pub fn survey(&mut self) -> Vec<MarginAction> {
        let (kills, actions) = self.look();
        for Kill { scope, subject, cause } in kills {
            self.kill(scope, subject, cause);
        }
        actions
    }

    /// What [`Desk::survey`] would kill, and what it returns: for who follows, and changes nothing by himself.
    pub fn look(&self) -> (Vec<Kill>, Vec<MarginAction>) {
        let (mut kills, mut actions) = (Vec::new(), Vec::new());
        let mut groups = vec![0_i128; self.scopes.groups.len()];
        let mut platform = 0_i128;
        let has_group_limits = self.scopes.groups.iter().any(|(_, scope)| scope.watch.loss.get().is_some())
            || self.scopes.platform.watch.loss.get().is_some();
        let mut fall = |scope, subject| kills.push(Kill { scope, subject, cause: KillCause::Loss });
        for account in &self.accounts {
            if self.has_lost_too_much(account) {
                match account.owner {
                    Some(strategy) if self.is_strategy_killed(strategy) => {}
                    Some(strategy) => fall(AccountScope::Strategy, strategy.0.into()),
                    None => fall(AccountScope::Account, account.id.0),
                }
            }
            if has_group_limits {
                let result = account.day_result(&self.contracts, &self.currencies);
                let result = self.currencies.to_platform(result, account.home.currency);
                platform += result;
                if let Some(sum) = groups.get_mut(account.group as usize) {
                    *sum += result;
                }
            }
            if account.kind != AccountKind::Cash {
                self.margin_actions(account, &mut actions);
            }
        }
        let passes = |watch: &Watch, sum: i128| {
            watch.killed.is_none() && watch.loss.get().is_some_and(|loss| sum < -loss)
        };
        for ((number, scope), sum) in self.scopes.groups.iter().zip(groups) {
            if passes(&scope.watch, sum) {
                fall(AccountScope::Group, *number);
            }
        }
        if passes(&self.scopes.platform.watch, platform) {
            fall(AccountScope::Platform, 0);
        }
        (kills, actions)
    }

    /// Of an account whose switch has not fallen.
    pub(crate) fn has_lost_too_much(&self, account: &Account) -> bool {
        let loss = account.watch.loss.get().filter(|_| account.watch.killed.is_none());
        loss.is_some_and(|loss| account.day_result(&self.contracts, &self.currencies) < -loss)
    }

    pub(crate) fn is_strategy_killed(&self, strategy: StrategyId) -> bool {
        let scope = self.scopes.strategies.get(usize::from(strategy.0)).and_then(Option::as_deref);
        scope.is_some_and(|scope| scope.watch.killed.is_some())
    }

    fn margin_actions(&self, account: &Account, actions: &mut Vec<MarginAction>) {
        let bound = |most: Most<i64>| most.get().map(i64::unsigned_abs);
        let (call, forced) = (bound(account.watch.call), bound(account.watch.forced));
        if call.is_none() && forced.is_none() {
            return;
        }
        let margin = account.margin(&self.currencies);
        let equity = account.equity(&self.contracts, &self.currencies);
        let now = ratio(margin, equity);
        // What the margin would have to be for the ratio to be at a bound, rounded down.
        let allowed = |bound: u64| {
            let bound = i128::from(bound);
            if equity <= 0 { 0 } else { (equity / ONE) * bound + (equity % ONE) * bound / ONE }
        };
        if let Some(bound) = call.filter(|bound| now > *bound) {
            // `missing` more of equity brings the ratio to the bound: margin = bound × (equity + missing).
            let bound = i128::from(bound.max(1));
            let wanted = (margin / bound) * ONE + ((margin % bound) * ONE + bound - 1) / bound;
            let missing = wanted - equity;
            actions.push(MarginAction::Call { account: account.id, owner: account.owner, missing });
        }
        if let Some(bound) = forced.filter(|bound| now > *bound) {
            let target = call.map_or(bound, |call| call.min(bound));
            self.close_by_force(account, margin - allowed(target), actions);
        }
    }

    /// Closes until so much margin is free: the sides with most margin first, of those alike the smaller instrument, then
    /// long before short.
    fn close_by_force(&self, account: &Account, mut excess: i128, actions: &mut Vec<MarginAction>) {
        let home = account.home.currency;
        let mut sides: Vec<(i128, InstrumentId, usize)> = Vec::new();
        for slot in &account.slots {
            let currency = self.contracts.get(slot.instrument).map_or(home, |contract| contract.currency);
            for (side, holding) in slot.holdings.iter().enumerate().filter(|(_, holding)| holding.margin > 0)
            {
                sides.push((self.currencies.convert(holding.margin, currency, home), slot.instrument, side));
            }
        }
        sides.sort_unstable_by_key(|&(margin, instrument, side)| (-margin, instrument, side));
        for (margin, instrument, side) in sides {
            let Some(slot) = account.slot(instrument) else { continue };
            if excess <= 0 || margin <= 0 {
                return;
            }
            let holding = &slot.holdings[side];
            let lots = i128::from(holding.total());
            let part = (excess.min(margin).saturating_mul(lots) + margin - 1) / margin;
            let mut left = i64::try_from(part).unwrap_or(i64::MAX).min(holding.total());
            excess -= margin * i128::from(left) / lots;
            let is_apart = account.kind == AccountKind::Futures
                && self.contracts.get(instrument).is_some_and(crate::contracts::Contract::is_apart);
            let mut push = |quantity: i64, offset: Offset| {
                if quantity > 0 {
                    actions.push(MarginAction::Close(ForcedOrder {
                        account: account.id,
                        owner: account.owner,
                        instrument,
                        side: if side == LONG { Side::Sell } else { Side::Buy },
                        quantity,
                        offset,
                        reason: Reason::ForcedLiquidation,
                    }));
                }
            };
            if is_apart {
                let old = left.min(holding.lots[YESTERDAY]);
                push(old, Offset::CloseYesterday);
                left -= old;
                push(left.min(holding.lots[TODAY]), Offset::CloseToday);
            } else if account.kind == AccountKind::Futures {
                push(left, Offset::Close);
            } else {
                push(left, Offset::Auto);
            }
        }
    }
}
