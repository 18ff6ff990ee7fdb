//! Whether an order would trade with another of its account.

use wire::{Reason, Side, StrategyId};

use crate::checks;
use crate::orders::Orders;
use crate::positions::{NOTHING, index};

/// Widens the edge of a side by the prices of an order.
pub(crate) fn widen(edge: &mut [i64; 2], side: usize, low: i64, high: i64) {
    match side {
        0 => edge[0] = edge[0].max(high),
        _ => edge[1] = edge[1].min(low),
    }
}

/// Whether an order would trade with one of another strategy of its account. `first` is the other side's list.
pub(super) fn meets(
    orders: &Orders,
    edge: [i64; 2],
    first: u32,
    side: Side,
    prices: (i64, i64),
    from: StrategyId,
) -> Result<(), Reason> {
    let nearest = edge[1 - index(side)];
    if first == NOTHING || !checks::crosses(side, prices, (nearest, nearest)) {
        return Ok(());
    }
    let mut next = first;
    while let Some(other) = orders.get(next) {
        if other.strategy() != from && checks::crosses(side, prices, (other.low, other.high)) {
            return Err(Reason::SelfTrade);
        }
        next = other.next;
    }
    Ok(())
}
