//! Limits and switches.

use wire::{AccountId, AccountLimit, AccountScope, LimitChange, LimitKind, StrategyId};

use crate::desk::Desk;
use crate::limits::{Most, Watch};
use crate::refusal::Refusal;

impl Desk {
    /// Limits and kill switch of a scope.
    pub(crate) fn watch(&mut self, scope: AccountScope, subject: u32) -> Option<&mut Watch> {
        match scope {
            AccountScope::Account => {
                let place = self.find(AccountId(subject))?;
                self.accounts.get_mut(place).map(|account| &mut account.watch)
            }
            AccountScope::Group => {
                let place = self.scopes.group(subject)?;
                self.scopes.groups.get_mut(place as usize).map(|(_, scope)| &mut scope.watch)
            }
            AccountScope::Strategy => {
                Some(&mut self.scopes.strategy(StrategyId(u16::try_from(subject).ok()?)).watch)
            }
            AccountScope::Platform => Some(&mut self.scopes.platform.watch),
        }
    }

    pub(super) fn limit(&mut self, limit: &AccountLimit) -> Result<(), Refusal> {
        self.named(&limit.who, &limit.why)?;
        match limit.change {
            LimitChange::Enable | LimitChange::Disable if limit.scope != AccountScope::Platform => {
                return Err(Refusal::Scope);
            }
            LimitChange::Enable => {
                self.disabled &= !(1 << limit.limit as u32);
                return Ok(());
            }
            LimitChange::Disable => {
                self.disabled |= 1 << limit.limit as u32;
                return Ok(());
            }
            LimitChange::Set | LimitChange::Lift => {}
        }
        if limit.limit == LimitKind::Position && limit.instrument.0 != 0 {
            return self.position_limit(limit);
        }
        self.watch(limit.scope, limit.subject).ok_or(Refusal::UnknownSubject)?.set(limit)
    }

    /// Of positions in one instrument.
    fn position_limit(&mut self, limit: &AccountLimit) -> Result<(), Refusal> {
        let number = i64::try_from(limit.number).map_err(|_| Refusal::Number)?;
        let most = Most::new((limit.change == LimitChange::Set).then_some(number));
        self.known(AccountId::OWN, limit.instrument)?;
        let scope = match limit.scope {
            AccountScope::Account => {
                let place = self.find(AccountId(limit.subject)).ok_or(Refusal::UnknownSubject)?;
                self.make_slot(place, limit.instrument).ok_or(Refusal::UnknownSubject)?;
                let slot =
                    self.accounts.get_mut(place).and_then(|account| account.slot_mut(limit.instrument));
                slot.ok_or(Refusal::UnknownSubject)?.most = most;
                return Ok(());
            }
            AccountScope::Group => {
                let place = self.scopes.group(limit.subject).ok_or(Refusal::UnknownSubject)?;
                self.scopes.groups.get_mut(place as usize).map(|(_, scope)| scope)
            }
            AccountScope::Strategy => {
                let strategy = u16::try_from(limit.subject).map_err(|_| Refusal::UnknownSubject)?;
                Some(self.scopes.strategy(StrategyId(strategy)))
            }
            AccountScope::Platform => Some(&mut self.scopes.platform),
        };
        scope.ok_or(Refusal::UnknownSubject)?.exposure(limit.instrument).most = most;
        Ok(())
    }
}
