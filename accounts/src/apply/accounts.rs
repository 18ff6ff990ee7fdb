//! Accounts are opened and changed.

use wire::{AccountAction, AccountChange, AccountId, AccountOpen, AccountScope};

use crate::account::{Account, Frozen, NO_GROUP};
use crate::amount::MOST;
use crate::desk::Desk;
use crate::limits::KillCause;
use crate::purse::Purse;
use crate::refusal::Refusal;
use crate::risk::BY_FORCE;
use crate::table::reach;

impl Desk {
    pub(super) fn open(&mut self, open: &AccountOpen) -> Result<(), Refusal> {
        self.named(&open.who, &open.why)?;
        if open.account == AccountId::OWN || open.account.0 > Desk::MOST_ACCOUNTS {
            return Err(Refusal::Number);
        }
        if self.find(open.account).is_some() {
            return Err(Refusal::Exists);
        }
        if open.parent != AccountId::OWN && self.find(open.parent).is_none() {
            return Err(Refusal::UnknownSubject);
        }
        let currency = self.currencies.find(open.currency).ok_or(Refusal::UnknownCurrency)?;
        let group = if open.group == 0 { NO_GROUP } else { self.scopes.group_or_new(open.group) };
        let mut account = Account::new(open.account, open.kind, open.method, currency);
        (account.group, account.parent, account.name) = (group, open.parent, open.name);
        self.accounts.push(account);
        *reach(&mut self.places, open.account.0 as usize) = self.accounts.len() as u32;
        Ok(())
    }

    pub(super) fn change(&mut self, change: &AccountChange) -> Result<(), Refusal> {
        self.named(&change.who, &change.why)?;
        match change.action {
            AccountAction::Kill => {
                let is_new = self.kill(
                    change.scope,
                    change.subject,
                    KillCause::of(change.who.as_str(), change.why.as_str()),
                );
                return if is_new.ok_or(Refusal::UnknownSubject)? { Ok(()) } else { Err(Refusal::Already) };
            }
            AccountAction::Revive => {
                let watch = self.watch(change.scope, change.subject).ok_or(Refusal::UnknownSubject)?;
                return watch.killed.take().map(drop).ok_or(Refusal::Already);
            }
            _ if change.scope != AccountScope::Account => return Err(Refusal::Scope),
            _ => {}
        }
        let place = self.find(AccountId(change.subject)).ok_or(Refusal::UnknownSubject)?;
        let account = self.accounts.get_mut(place).ok_or(Refusal::UnknownSubject)?;
        if account.is_closed {
            return Err(Refusal::Closed);
        }
        match change.action {
            AccountAction::Freeze | AccountAction::Unfreeze => {
                let by_force = BY_FORCE == [change.who.as_str(), change.why.as_str()];
                let is_frozen = change.action == AccountAction::Freeze;
                account.frozen = account.frozen.with(by_force, is_frozen).ok_or(Refusal::Already)?;
                Ok(())
            }
            AccountAction::Close => {
                let is_empty = account.watch.open == 0
                    && account.slots.iter().all(|slot| slot.is_flat())
                    && account.purses().all(|purse| purse.balance == 0);
                account.is_closed = is_empty;
                if is_empty { Ok(()) } else { Err(Refusal::NotEmpty) }
            }
            _ => self.transfer(place, change),
        }
    }

    /// Money comes in or goes out.
    fn transfer(&mut self, place: usize, change: &AccountChange) -> Result<(), Refusal> {
        let amount = change.amount.wide();
        if !(1..=MOST).contains(&amount) {
            return Err(Refusal::Number);
        }
        let currency = self.currencies.find(change.currency).ok_or(Refusal::UnknownCurrency)?;
        let account = self.accounts.get_mut(place).ok_or(Refusal::UnknownSubject)?;
        let is_deposit = change.action == AccountAction::Deposit;
        if !is_deposit && account.frozen != Frozen::No {
            return Err(Refusal::Frozen);
        }
        let needed = -self.currencies.convert(-amount, currency, account.home.currency);
        let held = account.purses().find(|purse| purse.currency == currency).map_or(0, |purse| purse.balance);
        if !is_deposit && (held < amount || account.available(&self.contracts, &self.currencies) < needed) {
            return Err(Refusal::Insufficient);
        }
        let room = account.purses().find(|purse| purse.currency == currency).is_none_or(Purse::has_room);
        if !room {
            return Err(Refusal::Overflow);
        }
        let purse = account.purse(currency);
        if is_deposit {
            purse.balance += amount;
            purse.totals.deposits += amount;
        } else {
            purse.balance -= amount;
            purse.totals.withdrawals += amount;
        }
        Ok(())
    }
}
