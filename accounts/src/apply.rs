//! Entries: each fits, or is refused and changes nothing.

use wire::{
    AccountAction, AccountChange, AccountId, AccountLimit, AccountOpen, AccountScope, ContractTerms,
    Currency, InstrumentId, LimitChange, LimitKind, Price, StrategyId,
};

use crate::account::{Account, NO_GROUP};
use crate::amount::{MOST, MOST_MULTIPLIER};
use crate::contracts::Contract;
use crate::desk::Desk;
use crate::entry::Entry;
use crate::limits::{KillCause, Watch};
use crate::purse::Purse;
use crate::refusal::Refusal;
use crate::rules::Subject;
use crate::settlement::Settlement;
use crate::table::reach;

/// What an entry has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// What it says.
    Done,
    /// Nothing: it was so already (a day that is settled).
    Already,
    /// A day is settled.
    Settled(Settlement),
}

impl Desk {
    /// Takes an entry.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn apply(&mut self, entry: &Entry) -> Result<Applied, Refusal> {
        match entry {
            Entry::Open(open) => self.open(open)?,
            Entry::Change(change) => self.change(change)?,
            Entry::Limit(limit) => self.limit(limit)?,
            Entry::Fee(rule) => {
                self.named(&rule.who, &rule.why)?;
                self.known(rule.account, rule.instrument)?;
                self.fees.set(rule)?;
                self.resolve_all();
            }
            Entry::Margin(rule) => {
                self.named(&rule.who, &rule.why)?;
                self.known(rule.account, rule.instrument)?;
                self.margins.set(rule)?;
                self.resolve_all();
            }
            Entry::Terms(terms) => self.terms(terms)?,
            Entry::Rate(rate) => self.currencies.set(rate)?,
            Entry::Price(price) => self.settlement_price(price)?,
            Entry::Settle(settle) => return self.settle(settle),
        }
        Ok(Applied::Done)
    }

    fn named<const A: usize, const B: usize>(
        &self,
        who: &wire::Text<A>,
        why: &wire::Text<B>,
    ) -> Result<(), Refusal> {
        if who.is_empty() || why.is_empty() { Err(Refusal::Nameless) } else { Ok(()) }
    }

    /// A rule's account and instrument exist, where they are given.
    fn known(&self, account: AccountId, instrument: InstrumentId) -> Result<(), Refusal> {
        if account != AccountId::OWN && self.find(account).is_none() {
            return Err(Refusal::UnknownSubject);
        }
        if instrument.0 != 0 && self.contracts.get(instrument).is_none() {
            return Err(Refusal::UnknownInstrument(instrument));
        }
        Ok(())
    }

    fn open(&mut self, open: &AccountOpen) -> Result<(), Refusal> {
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
        self.accounts.push(Account {
            id: open.account,
            owner: None,
            kind: open.kind,
            method: open.method,
            is_frozen: false,
            is_closed: false,
            group,
            watch: Watch::default(),
            home: Purse::new(currency),
            keys: Vec::new(),
            slots: Vec::new(),
            others: Vec::new(),
            parent: open.parent,
            name: open.name,
            seen: (u64::MAX, 0),
        });
        *reach(&mut self.places, open.account.0 as usize) = self.accounts.len() as u32;
        Ok(())
    }

    fn change(&mut self, change: &AccountChange) -> Result<(), Refusal> {
        self.named(&change.who, &change.why)?;
        match change.action {
            AccountAction::Kill => {
                let is_new = self.kill(change.scope, change.subject, KillCause::Entry);
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
            AccountAction::Freeze if account.is_frozen => Err(Refusal::Already),
            AccountAction::Unfreeze if !account.is_frozen => Err(Refusal::Already),
            AccountAction::Freeze | AccountAction::Unfreeze => {
                account.is_frozen = change.action == AccountAction::Freeze;
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
        if !is_deposit && account.is_frozen {
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

    /// Limits and kill switch of a scope.
    fn watch(&mut self, scope: AccountScope, subject: u32) -> Option<&mut Watch> {
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

    fn limit(&mut self, limit: &AccountLimit) -> Result<(), Refusal> {
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
        let most = (limit.change == LimitChange::Set).then_some(number);
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

    fn terms(&mut self, terms: &ContractTerms) -> Result<(), Refusal> {
        let currency = self.currencies.find(terms.currency).ok_or(Refusal::UnknownCurrency)?;
        let (low, high) = (terms.price_low, terms.price_high);
        let is_band = !low.is_some() || !high.is_some() || low <= high;
        if !(1..=MOST_MULTIPLIER).contains(&terms.multiplier) || !is_band {
            return Err(Refusal::Number);
        }
        let in_use = self.is_used(terms.instrument);
        let place = self.contracts.place(terms.instrument).ok_or(Refusal::Number)?;
        let known = place.as_ref();
        let is_other = |known: &Contract| (known.currency, known.multiplier) != (currency, terms.multiplier);
        if known.is_some_and(is_other) && in_use {
            return Err(Refusal::InUse);
        }
        let symbol_changes = known.is_some_and(|known| known.symbol != terms.symbol);
        *place = Some(Contract {
            symbol: terms.symbol,
            currency,
            flags: terms.flags,
            multiplier: terms.multiplier,
            low,
            high,
            mark: known.map_or(Price::NONE, |known| known.mark),
        });
        if symbol_changes {
            self.resolve_all();
        }
        Ok(())
    }

    fn is_used(&self, instrument: InstrumentId) -> bool {
        let mut slots = self.accounts.iter().filter_map(|account| account.slot(instrument));
        slots.any(|slot| !slot.is_flat() || slot.first != [crate::positions::NOTHING; 2])
    }

    /// Rules have changed: each slot gets those that hold now, positions and orders take their margin anew. Orders at work
    /// keep their charges.
    fn resolve_all(&mut self) {
        let Desk { accounts, contracts, fees, margins, orders, .. } = self;
        for account in accounts.iter_mut() {
            let (id, parent, kind) = (account.id, account.parent, account.kind);
            for place in 0..account.slots.len() {
                let slot = &mut account.slots[place];
                let Some(contract) = contracts.get(slot.instrument) else { continue };
                let subject =
                    Subject { account: id, parent, instrument: slot.instrument, symbol: contract.symbol };
                (slot.schedule, slot.rates) = (fees.resolve(&subject), margins.resolve(&subject));
                let change = slot.remargin(kind);
                account.purse(contract.currency).margin += change;
            }
        }
        let open: Vec<u32> = orders.open().map(|(place, _)| place).collect();
        open.into_iter().for_each(|place| self.reserve(place));
    }

    /// The name of a currency by its number.
    pub(crate) fn currency(&self, currency: u8) -> Currency {
        self.currencies.name(currency)
    }
}
