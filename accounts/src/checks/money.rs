//! Money, margin, and what all of it is worth.

use wire::Reason;

/// Enough money for what an order holds back more. What only closes always passes: it takes risk away.
pub(crate) fn money(needed: i128, is_closing: bool, available: impl FnOnce() -> i128) -> Result<(), Reason> {
    if needed <= 0 || is_closing || available() >= needed { Ok(()) } else { Err(Reason::InsufficientFunds) }
}

/// What positions and working orders are worth, `added` included. Adding nothing always passes.
pub(crate) fn gross(limit: Option<i128>, added: i128, now: impl FnOnce() -> i128) -> Result<(), Reason> {
    match limit {
        Some(limit) if added > 0 && now().saturating_add(added) > limit => Err(Reason::NotionalLimit),
        _ => Ok(()),
    }
}
