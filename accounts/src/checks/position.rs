//! Positions in the worst case.

use wire::{Reason, Side};

/// The net position if everything that works on this side fills, and `added` more. Adding nothing always passes.
pub(crate) fn position(
    limit: Option<i64>,
    net: i64,
    working: [i64; 2],
    side: Side,
    added: i64,
) -> Result<(), Reason> {
    let Some(limit) = limit else { return Ok(()) };
    let worst = match side {
        Side::Buy => i128::from(net) + i128::from(working[0]),
        Side::Sell => i128::from(working[1]) - i128::from(net),
    };
    if added <= 0 || worst + i128::from(added) <= i128::from(limit) {
        Ok(())
    } else {
        Err(Reason::PositionLimit)
    }
}

/// A sale that opens needs the right to sell short.
pub(crate) fn short_sale(side: Side, opening: i64, may_short: bool) -> Result<(), Reason> {
    if side == Side::Buy || opening <= 0 || may_short { Ok(()) } else { Err(Reason::ShortSale) }
}
