//! Who asks: kill switches, the account's state, rates.

use wire::{Nanos, Reason, StrategyId};

use crate::checks;
use crate::desk::Desk;
use crate::limits::Watch;

/// A refusal with the level that refused: account, group, strategy, platform are 0 to 3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    pub(super) reason: Reason,
    /// Whose rate was passed, if it was one.
    pub(super) by: Option<usize>,
    /// Its switch has to fall.
    runs_away: bool,
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Refused {
        Refused { reason, by: None, runs_away: false }
    }
}

impl Refused {
    /// Which switch has to fall.
    pub(super) fn runaway(self) -> Option<usize> {
        self.by.filter(|_| self.runs_away)
    }
}

impl Desk {
    /// Kill switches, the account's state, rates.
    pub(super) fn check_standing(
        &mut self,
        place: usize,
        from: StrategyId,
        now: Nanos,
    ) -> Result<(), Refused> {
        let plain = Refused::from;
        let Some(account) = self.accounts.get_mut(place) else { return Err(plain(Reason::UnknownAccount)) };
        let (frozen, is_closed) = (account.frozen, account.is_closed);
        let [group, strategy, platform] =
            self.scopes.of(account.group, from).map(|scope| scope.map(|scope| &mut scope.watch));
        let watches: [Option<&mut Watch>; 4] = [Some(&mut account.watch), group, strategy, platform];
        if watches.iter().flatten().any(|watch| watch.killed.is_some()) {
            return Err(plain(Reason::Killed));
        }
        checks::account(frozen, is_closed).map_err(plain)?;
        for (scope, watch) in watches.into_iter().enumerate() {
            let Some(watch) = watch else { continue };
            let by_it = |reason| Refused { reason, by: Some(scope), runs_away: false };
            checks::rate(watch.messages.as_mut(), now, Reason::MessageRate).map_err(by_it)?;
            checks::rate(watch.orders.as_mut(), now, Reason::OrderRate).map_err(by_it)?;
            if watch.runs_away(now) {
                return Err(Refused { runs_away: true, ..by_it(Reason::OrderRate) });
            }
        }
        Ok(())
    }

    /// The same for a change of an order at work, which counts as a request.
    pub(super) fn check_replace_standing(
        &mut self,
        place: usize,
        from: StrategyId,
        now: Nanos,
    ) -> Result<(), Reason> {
        let account = self.accounts.get_mut(place).ok_or(Reason::UnknownAccount)?;
        let scopes = self.scopes.of(account.group, from);
        let watches = || scopes.iter().flatten().map(|scope| &scope.watch);
        if account.watch.killed.is_some() || watches().any(|watch| watch.killed.is_some()) {
            return Err(Reason::Killed);
        }
        checks::account(account.frozen, account.is_closed)?;
        checks::rate(account.watch.messages.as_mut(), now, Reason::MessageRate)?;
        for scope in scopes.into_iter().flatten() {
            checks::rate(scope.watch.messages.as_mut(), now, Reason::MessageRate)?;
        }
        Ok(())
    }
}
