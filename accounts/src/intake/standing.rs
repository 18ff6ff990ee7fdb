//! Who asks: kill switches, the account's state, rates.

use wire::{Nanos, Reason, StrategyId};

use crate::checks;
use crate::desk::Desk;
use crate::limits::Watch;

impl Desk {
    /// Kill switches, the account's state, rates. With a refusal: whether a switch has to fall, of which scope.
    #[allow(clippy::type_complexity, reason = "used once")]
    pub(super) fn check_standing(
        &mut self,
        place: usize,
        from: StrategyId,
        now: Nanos,
    ) -> Result<(), (Reason, Option<usize>)> {
        let plain = |reason| (reason, None);
        let Some(account) = self.accounts.get_mut(place) else { return Err(plain(Reason::UnknownAccount)) };
        let (is_frozen, is_closed) = (account.is_frozen, account.is_closed);
        let [group, strategy, platform] =
            self.scopes.of(account.group, from).map(|scope| scope.map(|scope| &mut scope.watch));
        let watches: [Option<&mut Watch>; 4] = [Some(&mut account.watch), group, strategy, platform];
        if watches.iter().flatten().any(|watch| watch.killed.is_some()) {
            return Err(plain(Reason::Killed));
        }
        checks::account(is_frozen, is_closed).map_err(plain)?;
        for (scope, watch) in watches.into_iter().enumerate() {
            let Some(watch) = watch else { continue };
            checks::rate(watch.messages.as_mut(), now, Reason::MessageRate).map_err(plain)?;
            checks::rate(watch.orders.as_mut(), now, Reason::OrderRate).map_err(plain)?;
            if watch.runs_away(now) {
                return Err((Reason::OrderRate, Some(scope)));
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
        checks::account(account.is_frozen, account.is_closed)?;
        checks::rate(account.watch.messages.as_mut(), now, Reason::MessageRate)?;
        for scope in scopes.into_iter().flatten() {
            checks::rate(scope.watch.messages.as_mut(), now, Reason::MessageRate)?;
        }
        Ok(())
    }
}
