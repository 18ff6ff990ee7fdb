//! Which of several rules is the most specific.

use wire::{AccountId, InstrumentId, Symbol};

/// Whose rule is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) account: AccountId,
    pub(crate) parent: AccountId,
    pub(crate) instrument: InstrumentId,
    pub(crate) symbol: Symbol,
}

impl Subject {
    /// How specific a rule is to this subject; `None` where it is of another. First counts the account, then the instrument.
    pub(crate) fn rank(&self, account: AccountId, instrument: InstrumentId, prefix: &Symbol) -> Option<u32> {
        let by_account = match account {
            AccountId::OWN => 0,
            account if account == self.account => 2,
            account if account == self.parent => 1,
            _ => return None,
        };
        let text = prefix.as_str();
        let by_instrument = match instrument {
            InstrumentId(0) if self.symbol.as_str().starts_with(text) => text.len() as u32,
            instrument if instrument == self.instrument => Symbol::CAPACITY as u32 + 1,
            _ => return None,
        };
        Some(by_account * 100 + by_instrument)
    }
}
