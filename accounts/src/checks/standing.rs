//! Who and what may trade now.

use wire::{ContractTerms, Nanos, Reason};

use crate::account::Frozen;
use crate::buckets::Bucket;
use crate::contracts::Contract;

/// The account takes orders.
pub(crate) fn account(frozen: Frozen, is_closed: bool) -> Result<(), Reason> {
    match (is_closed, frozen) {
        (true, _) => Err(Reason::AccountClosed),
        (_, Frozen::ByPerson | Frozen::Both) => Err(Reason::AccountFrozen),
        (_, Frozen::ByForce) => Err(Reason::ForcedLiquidation),
        (_, Frozen::No) => Ok(()),
    }
}

/// The instrument takes orders.
pub(crate) fn tradable(contract: &Contract) -> Result<(), Reason> {
    if contract.is(ContractTerms::TRADABLE) { Ok(()) } else { Err(Reason::NotTradable) }
}

/// One more may come now.
pub(crate) fn rate(bucket: Option<&mut Bucket>, now: Nanos, reason: Reason) -> Result<(), Reason> {
    if bucket.is_none_or(|bucket| bucket.take(now)) { Ok(()) } else { Err(reason) }
}
