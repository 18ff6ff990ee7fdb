//! The checks, each a pure function.
//!
//! A new order passes them in this order; the first that fails is the reason of its rejection:
//!
//! | # | check | reason |
//! |---|---|---|
//! | 1 | the id carries the seat it came from | `NotYours` |
//! | 2 | the strategy runs | `StrategyGone` |
//! | 3 | the id is newer than every id before | `DuplicateOrder` |
//! | 4 | what is said of it can be put on disk, where it must be | `NotDurable` |
//! | 5 | the account is the strategy's own: there are no others yet | `UnknownAccount` |
//! | 6 | the instrument is listed | `UnknownInstrument` |
//! | 7 | the quantity is positive, whole lots, not over the instrument's or the strategy's limit | `Quantity` |
//! | 8 | a limit order has a price | `Malformed` |
//! | 9 | the price is whole ticks, of the tick that holds at it | `OffTick` |
//! | 10 | the price lies in the band, ends included | `PriceBand` |
//! | 11 | one more order may work | `WorkingOrders` |
//! | 12 | the position stays within its limit if everything that works fills | `PositionLimit` |
//!
//! Checks 8 to 10 are for limit prices, and for the trigger of a stop; a market order has neither. What the ledger closes by force passes no 10. A cancel passes 1, 2, "the order works" (else
//! `UnknownOrder`) and "it is in that instrument" (else `Malformed`). A replace passes those, then 4, 7 to 10 with its
//! new price and total, "the total is more than what has traded" (else `Quantity`), and 12 with the difference.

use wire::{AccountId, NewOrder, Price, Quantity, Reason, Side};

use crate::instruments::{Rules, tighter};
use crate::limits::Limits;
use crate::strategy_book::Exposure;

/// Check 5.
pub(crate) fn account(account: AccountId) -> Result<(), Reason> {
    if account == AccountId::OWN { Ok(()) } else { Err(Reason::UnknownAccount) }
}

/// Check 7.
pub(crate) fn quantity(rules: &Rules, limits: &Limits, quantity: Quantity) -> Result<(), Reason> {
    let most = tighter(rules.max_quantity, limits.max_order_quantity);
    let fits = quantity.0 > 0 && quantity.0 % rules.lot == 0 && (most == 0 || quantity.0 <= most);
    if fits { Ok(()) } else { Err(Reason::Quantity) }
}

/// Checks 8 to 10 of a limit price.
pub(crate) fn price(rules: &Rules, price: Price) -> Result<(), Reason> {
    if !price.is_some() {
        Err(Reason::Malformed)
    } else if !rules.is_on_tick(price) {
        Err(Reason::OffTick)
    } else if price.0 < rules.low || price.0 > rules.high {
        Err(Reason::PriceBand)
    } else {
        Ok(())
    }
}

/// Checks 8 and 9 of an order that closes by force: td's own band does not hold it up.
pub(crate) fn forced_price(rules: &Rules, order: &NewOrder) -> Result<(), Reason> {
    match order.order_type.has_price() {
        true if !order.price.is_some() => Err(Reason::Malformed),
        true if !rules.is_on_tick(order.price) => Err(Reason::OffTick),
        _ => Ok(()),
    }
}

/// Checks 8 to 10 of a new order: of its limit, if it has one, and of a stop's trigger.
pub(crate) fn order_price(rules: &Rules, order: &NewOrder) -> Result<(), Reason> {
    let limit = order.order_type.has_price().then_some(order.price);
    let trigger = order.order_type.has_trigger().then_some(order.trigger);
    limit.into_iter().chain(trigger).try_for_each(|given| price(rules, given))
}

/// Check 11, before the order is counted.
pub(crate) fn working_orders(limits: &Limits, working: usize) -> Result<(), Reason> {
    let fits = limits.max_working_orders == 0 || working < limits.max_working_orders as usize;
    if fits { Ok(()) } else { Err(Reason::WorkingOrders) }
}

/// Check 12: `added` more on this side. Adding nothing always passes, even above the limit.
pub(crate) fn position(limits: &Limits, exposure: &Exposure, side: Side, added: i64) -> Result<(), Reason> {
    let limit = limits.max_position.0;
    let fits = limit == 0 || added <= 0 || exposure.worst_case(side) + i128::from(added) <= i128::from(limit);
    if fits { Ok(()) } else { Err(Reason::PositionLimit) }
}
