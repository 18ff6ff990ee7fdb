//! Limits as they stand, and the checks that are made.

use wire::{AccountLimit, InstrumentId, LimitChange, LimitKind};

use super::books::{Books, Scope};

impl Books {
    pub(super) fn limit(&mut self, limit: &AccountLimit) {
        let key = (limit.scope, limit.subject, limit.limit, limit.instrument);
        match limit.change {
            LimitChange::Set => drop(self.limits.insert(key, *limit)),
            LimitChange::Lift => drop(self.limits.remove(&key)),
            LimitChange::Enable => drop(self.disabled.remove(&limit.limit)),
            LimitChange::Disable => drop(self.disabled.insert(limit.limit)),
        }
    }

    /// Whether a check of bands, self-trades, short sales or money is made.
    pub(super) fn makes(&self, check: LimitKind) -> bool {
        !self.disabled.contains(&check)
    }

    /// A limit as it stands. Of positions in one instrument: its own limit, else that of each instrument.
    pub(super) fn limit_of(
        &self,
        scope: Scope,
        kind: LimitKind,
        instrument: InstrumentId,
    ) -> Option<&AccountLimit> {
        let of = |instrument| self.limits.get(&(scope.0, scope.1, kind, instrument));
        of(instrument).or_else(|| of(InstrumentId(0)))
    }

    /// The scopes that have a limit of a kind.
    pub(super) fn limited(&self, kind: LimitKind) -> impl Iterator<Item = (Scope, &AccountLimit)> {
        let its = self
            .limits
            .iter()
            .filter(move |((_, _, known, instrument), _)| *known == kind && instrument.0 == 0);
        its.map(|((scope, subject, ..), limit)| ((*scope, *subject), limit))
    }
}
