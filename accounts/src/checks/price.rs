//! Prices: the band, the worst, and whether two orders would meet.

use wire::{NewOrder, OrderType, Price, Reason, Side};

use crate::contracts::Contract;

/// A price lies in the band, ends included.
pub(crate) fn price(contract: &Contract, price: Price) -> Result<(), Reason> {
    let is_low = contract.low.is_some() && price < contract.low;
    let is_high = contract.high.is_some() && price > contract.high;
    if is_low || is_high { Err(Reason::PriceBand) } else { Ok(()) }
}

/// Lowest and highest price at which an order may trade, as far as its reservation goes: its limit, or the band's ends.
pub(crate) fn worst_prices(contract: &Contract, order: &NewOrder) -> Result<(i64, i64), Reason> {
    match order.order_type {
        OrderType::Limit | OrderType::StopLimit if !order.price.is_some() => Err(Reason::Malformed),
        OrderType::Limit | OrderType::StopLimit => Ok((order.price.0, order.price.0)),
        OrderType::Market | OrderType::Stop if contract.low.is_some() && contract.high.is_some() => {
            Ok((contract.low.0, contract.high.0))
        }
        OrderType::Market | OrderType::Stop => Err(Reason::NoWorstPrice),
    }
}

/// An order of this side and these prices would trade with one of the other side that may have `low` to `high`.
pub(crate) fn crosses(side: Side, (mine_low, mine_high): (i64, i64), (low, high): (i64, i64)) -> bool {
    match side {
        Side::Buy => mine_high >= low,
        Side::Sell => mine_low <= high,
    }
}
