//! How each account stands, kept by the ledger where accounts are kept: readable by any process at any time.
//!
//! Slots are in the order in which the accounts were opened, strategies' own ones among them, and an account never leaves
//! its slot. A state is read whole or not at all ([`journal::Latest`]); it may be older than what has just been reported, by
//! as long as the ledger takes.

use journal::{Forked, Latest, LatestError, OpenError};
use wire::{AccountId, AccountState, Message, StrategyId, WireError};

use crate::handle::NodeHandle;
use crate::instance::InstanceDir;

/// The states of all accounts.
#[derive(Debug)]
pub struct Accounts(Latest);

/// Why there is no state of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// This platform keeps no accounts.
    #[error(
        "this platform keeps no accounts: open some with [[accounts]] in its file, or set desk.enabled = true"
    )]
    NotKept,
    /// None has this number, or the ledger has not heard of it yet.
    #[error(
        "account {0} is not open, or not known to the ledger yet; a strategy's own account (0) is made by its first order"
    )]
    Unknown(AccountId),
    /// It changed faster than it could be copied.
    #[error("account {0} changed during every attempt to copy its state: ask again")]
    Busy(AccountId),
    /// This process is a fork of the strategy's.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// What stands there is no state.
    #[error("the state of account {account} cannot be read: {source}")]
    Unreadable {
        /// Which account.
        account: AccountId,
        /// What is wrong.
        source: WireError,
    },
}

/// Bytes of a state.
const BYTES: usize = size_of::<AccountState>();

impl Accounts {
    /// Those of the node's instance, for storing; what a predecessor has stored stays.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn keep(node: &NodeHandle, slots: u32) -> Result<Accounts, OpenError> {
        Latest::open_or_create(&node.instance.accounts(), slots, BYTES).map(Accounts)
    }

    /// Those of an instance, for reading; `None` if it keeps none.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn of(instance: &InstanceDir) -> Result<Option<Accounts>, OpenError> {
        let path = instance.accounts();
        if path.exists() { Latest::open_read_only(&path).map(|read| Some(Accounts(read))) } else { Ok(None) }
    }

    /// Stores the state of the account in a slot. False: there is no such slot.
    pub fn set(&self, slot: u32, state: &AccountState) -> bool {
        self.0.set(slot, state.bytes())
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.0.slots()
    }

    /// The state in a slot; `None` where no account has been opened.
    ///
    /// # Errors
    /// [`AccountError::Busy`] and [`AccountError::Unreadable`], with account 0: which one it is, is not known.
    pub fn get(&self, slot: u32) -> Result<Option<AccountState>, AccountError> {
        let mut bytes = [0; BYTES];
        match self.0.get(slot, &mut bytes) {
            Ok(_) => {}
            Err(LatestError::Empty | LatestError::NoSuchSlot { .. }) => return Ok(None),
            Err(LatestError::Forked(error)) => return Err(AccountError::Forked(error)),
            Err(LatestError::Busy) => return Err(AccountError::Busy(AccountId::OWN)),
        }
        let unreadable = |source| AccountError::Unreadable { account: AccountId::OWN, source };
        AccountState::decode(&bytes).map(Some).map_err(unreadable)
    }

    /// All of them, by slot. Those that cannot be read are left out.
    pub fn all(&self) -> impl Iterator<Item = (u32, AccountState)> {
        let states = (0..self.slots()).map(|slot| (slot, self.get(slot)));
        states
            .take_while(|(_, state)| *state != Ok(None))
            .filter_map(|(slot, state)| Some((slot, state.ok().flatten()?)))
    }
}

/// Where an account is found: looked for once, and again only if it is not there any more.
#[derive(Clone, Copy, Debug)]
pub struct AccountFinder {
    account: AccountId,
    /// Whose own account is meant by [`AccountId::OWN`].
    owner: StrategyId,
    /// Where it was last; before that, how far was looked.
    slot: u32,
}

impl AccountFinder {
    /// Of an account; of a strategy's own with [`AccountId::OWN`].
    pub fn new(account: AccountId, owner: StrategyId) -> AccountFinder {
        AccountFinder { account, owner, slot: 0 }
    }

    /// Which account it finds.
    pub fn account(&self) -> AccountId {
        self.account
    }

    fn is_it(&self, state: &AccountState) -> bool {
        let owner = if self.account == AccountId::OWN { self.owner } else { AccountState::NOBODY };
        (state.account, state.owner) == (self.account, owner)
    }

    /// Its state.
    ///
    /// # Errors
    /// [`AccountError`].
    #[inline]
    pub fn find(&mut self, accounts: &Accounts) -> Result<AccountState, AccountError> {
        match accounts.get(self.slot) {
            Ok(Some(state)) if self.is_it(&state) => Ok(state),
            Ok(None) => Err(AccountError::Unknown(self.account)),
            Ok(Some(_)) => self.search(accounts),
            Err(error) => Err(self.named(error)),
        }
    }

    #[cold]
    fn search(&mut self, accounts: &Accounts) -> Result<AccountState, AccountError> {
        // A slot behind it may have become its own since, or a ledger begins anew: from the start, once.
        for from in [self.slot, 0] {
            self.slot = from;
            loop {
                match accounts.get(self.slot).map_err(|error| self.named(error))? {
                    Some(state) if self.is_it(&state) => return Ok(state),
                    Some(_) => self.slot += 1,
                    None => break,
                }
            }
        }
        Err(AccountError::Unknown(self.account))
    }

    fn named(&self, error: AccountError) -> AccountError {
        match error {
            AccountError::Busy(_) => AccountError::Busy(self.account),
            AccountError::Unreadable { source, .. } => {
                AccountError::Unreadable { account: self.account, source }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{AccountKind, Currency, WideMoney};

    const ME: StrategyId = StrategyId(7);

    fn state(account: u32, owner: StrategyId, balance: i128) -> AccountState {
        AccountState {
            account: AccountId(account),
            open_orders: 0,
            owner,
            kind: AccountKind::Margin,
            flags: 0,
            reserved: 0,
            currency: Currency::EMPTY,
            drops: 64,
            risk_ratio: 0,
            balance: WideMoney::from_wide(balance),
            equity: WideMoney::default(),
            available: WideMoney::default(),
            frozen: WideMoney::default(),
            margin: WideMoney::default(),
            day_result: WideMoney::default(),
        }
    }

    fn accounts(folder: &tempfile::TempDir) -> Accounts {
        Accounts(Latest::open_or_create(&folder.path().join("a"), 4, BYTES).unwrap())
    }

    #[test]
    fn an_account_is_found_once_it_is_opened_and_read_whole_as_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = accounts(&folder);
        let mut finder = AccountFinder::new(AccountId(9), ME);
        assert_eq!(finder.find(&accounts), Err(AccountError::Unknown(AccountId(9))));
        assert!(accounts.set(0, &state(8, AccountState::NOBODY, 1)));
        assert_eq!(finder.find(&accounts), Err(AccountError::Unknown(AccountId(9))));
        assert!(accounts.set(1, &state(9, AccountState::NOBODY, 2)));
        assert_eq!(finder.find(&accounts), Ok(state(9, AccountState::NOBODY, 2)));
        assert!(accounts.set(1, &state(9, AccountState::NOBODY, 3)));
        assert_eq!(finder.find(&accounts), Ok(state(9, AccountState::NOBODY, 3)));
        assert!(!accounts.set(4, &state(5, AccountState::NOBODY, 1)), "no such slot");
        let numbers: Vec<u32> = accounts.all().map(|(_, state)| state.account.0).collect();
        assert_eq!(numbers, [8, 9]);
    }

    #[test]
    fn own_accounts_are_told_apart_by_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = accounts(&folder);
        assert!(accounts.set(0, &state(0, StrategyId(6), 1)) && accounts.set(1, &state(0, ME, 2)));
        assert_eq!(AccountFinder::new(AccountId::OWN, ME).find(&accounts), Ok(state(0, ME, 2)));
        let nobodys = AccountFinder::new(AccountId::OWN, StrategyId(5)).find(&accounts);
        assert_eq!(nobodys, Err(AccountError::Unknown(AccountId::OWN)));
    }

    #[test]
    fn an_account_that_has_moved_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = accounts(&folder);
        let mut finder = AccountFinder::new(AccountId(9), ME);
        assert!(accounts.set(0, &state(8, AccountState::NOBODY, 1)));
        assert!(accounts.set(1, &state(9, AccountState::NOBODY, 2)));
        assert!(finder.find(&accounts).is_ok());
        assert!(accounts.set(0, &state(9, AccountState::NOBODY, 4)));
        assert!(accounts.set(1, &state(8, AccountState::NOBODY, 1)));
        assert_eq!(finder.find(&accounts), Ok(state(9, AccountState::NOBODY, 4)));
    }
}
