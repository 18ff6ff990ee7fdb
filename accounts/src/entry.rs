//! The stream of entries.

use wire::{
    AccountChange, AccountLimit, AccountOpen, ContractTerms, CurrencyRate, FeeRule, MarginRule, Message,
    Settle, SettlementPrice,
};

use crate::refusal::Refusal;

/// One entry of the accounts' journal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack for the length of one call")]
pub enum Entry {
    /// An account begins.
    Open(AccountOpen),
    /// Something happens to accounts.
    Change(AccountChange),
    /// A limit, or a switch of a check.
    Limit(AccountLimit),
    /// A charge on fills.
    Fee(FeeRule),
    /// Margin.
    Margin(MarginRule),
    /// An instrument.
    Terms(ContractTerms),
    /// A currency.
    Rate(CurrencyRate),
    /// First step of a settlement.
    Price(SettlementPrice),
    /// Second step of a settlement.
    Settle(Settle),
}

impl Entry {
    /// Reads a frame's payload by the message id in its header.
    ///
    /// # Errors
    /// [`Refusal::Malformed`].
    pub fn decode(message_id: u16, payload: &[u8]) -> Result<Entry, Refusal> {
        let entry = match message_id {
            AccountOpen::ID => AccountOpen::decode(payload).map(Entry::Open),
            AccountChange::ID => AccountChange::decode(payload).map(Entry::Change),
            AccountLimit::ID => AccountLimit::decode(payload).map(Entry::Limit),
            FeeRule::ID => FeeRule::decode(payload).map(Entry::Fee),
            MarginRule::ID => MarginRule::decode(payload).map(Entry::Margin),
            ContractTerms::ID => ContractTerms::decode(payload).map(Entry::Terms),
            CurrencyRate::ID => CurrencyRate::decode(payload).map(Entry::Rate),
            SettlementPrice::ID => SettlementPrice::decode(payload).map(Entry::Price),
            Settle::ID => Settle::decode(payload).map(Entry::Settle),
            _ => return Err(Refusal::Malformed),
        };
        entry.map_err(|_| Refusal::Malformed)
    }
}
