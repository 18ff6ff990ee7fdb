//! Orders.

use strategy_sdk::{AccountId, CancelRequest, InstrumentId, OrderId, OrderRequest, WorkingOrder};
use wire::{Nanos, NewOrder, OrderType, Price, Quantity, Side, TimeInForce};
use zerocopy::TryFromBytes;

use crate::colo_code::COLO_E_UNKNOWN_ORDER;
use crate::context::{colo_context, context};
use crate::fault::{Fault, at, guarded, sized};

/// A new order: set `struct_size`, clear the rest, fill in what it needs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_order_request {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// What to trade.
    pub instrument: u32,
    /// Limit price, or `COLO_NO_PRICE`.
    pub price: i64,
    /// How much.
    pub quantity: i64,
    /// `COLO_SIDE_BUY` or `COLO_SIDE_SELL`.
    pub side: u8,
    /// `COLO_ORDER_TYPE_LIMIT` and so on; 0: limit.
    pub order_type: u8,
    /// `COLO_TIME_IN_FORCE_DAY` and so on; 0: day.
    pub time_in_force: u8,
    /// `COLO_NEW_ORDER_FLAGS_` and so on.
    pub flags: u8,
    /// For which account, if `with_account` is 1; otherwise the strategy's default.
    pub account: u32,
    /// 0 or 1.
    pub with_account: u32,
    /// Zero.
    pub reserved: u32,
    /// How much the book shows at a time; 0: all.
    pub display: i64,
    /// How much must trade at once, or nothing; 0: any.
    pub minimum: i64,
    /// The price that a stop waits for; of any other order it is not looked at.
    pub trigger: i64,
    /// When an order good till a date ends, in ns; 0 for any other.
    pub ends: u64,
}

/// Which orders to cancel: those that match all that is given.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_cancel_request {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Only of this instrument; 0: of any.
    pub instrument: u32,
    /// Only for this account, if `with_account` is 1.
    pub account: u32,
    /// 0 or 1.
    pub with_account: u32,
    /// Only of this side; 0: of both.
    pub side: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

/// An order that has not ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_working_order {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Its instrument.
    pub instrument: u32,
    /// Its id.
    pub id: u64,
    /// Limit price, or `COLO_NO_PRICE`.
    pub price: i64,
    /// Its whole quantity.
    pub quantity: i64,
    /// How much has traded.
    pub filled: i64,
    /// When it was sent.
    pub sent: u64,
    /// Replaces on their way.
    pub replacing: u32,
    /// `COLO_SIDE_BUY` or `COLO_SIDE_SELL`.
    pub side: u8,
    /// 1 once the market has it.
    pub accepted: u8,
    /// 1 while a cancel is on its way.
    pub cancelling: u8,
    /// Zero.
    pub reserved: u8,
}

/// For which account, if for one that is named.
fn account(given: u32, account: u32) -> Result<Option<AccountId>, Fault> {
    match given {
        0 => Ok(None),
        1 => Ok(Some(AccountId(account))),
        other => Err(Fault::argument(format!("with_account is 0 or 1, not {other}"))),
    }
}

fn clear(is_clear: bool) -> Result<(), Fault> {
    if is_clear { Ok(()) } else { Err(Fault::argument("reserved is 0: clear the structure first")) }
}

/// Conditions that contradict each other, or that no strategy may set.
fn flags(flags: u8) -> Result<u8, Fault> {
    let has = |bits: u8| flags & bits != 0;
    if has(NewOrder::FORCED) {
        return Err(Fault::argument("the flag `forced` is the ledger's, not a strategy's"));
    }
    if has(NewOrder::DECREMENT) && has(NewOrder::CANCEL_NEWEST | NewOrder::CANCEL_OLDEST) {
        return Err(Fault::argument(
            "the flag `decrement` goes not together with `cancel_newest` or `cancel_oldest`",
        ));
    }
    if has(NewOrder::OFFSET_OPEN) && has(NewOrder::OFFSET_CLOSE) {
        return Err(Fault::argument("an order opens or closes, not both: set the flags of one offset"));
    }
    Ok(flags)
}

/// A member of an enumeration by its byte.
fn member<T: TryFromBytes + Copy>(byte: u8, what: &str) -> Result<T, Fault> {
    T::try_read_from_bytes(&[byte]).map_err(|_| Fault::argument(format!("{byte} is no {what}")))
}

impl colo_order_request {
    fn request(&self) -> Result<OrderRequest, Fault> {
        clear(self.reserved == 0)?;
        let side: Side = member(self.side, "side")?;
        let order_type = match self.order_type {
            0 => OrderType::Limit,
            byte => member(byte, "order type")?,
        };
        let time_in_force = match self.time_in_force {
            0 => TimeInForce::Day,
            byte => member(byte, "time in force")?,
        };
        let base = OrderRequest::limit(
            side,
            InstrumentId(self.instrument),
            Price(self.price),
            Quantity(self.quantity),
        );
        Ok(OrderRequest {
            order_type,
            time_in_force,
            price: if order_type.has_price() { Price(self.price) } else { Price::NONE },
            account: account(self.with_account, self.account)?,
            display: Quantity(self.display),
            minimum: Quantity(self.minimum),
            trigger: if order_type.has_trigger() { Price(self.trigger) } else { Price::NONE },
            ends: Nanos(self.ends),
            flags: flags(self.flags)?,
            ..base
        })
    }
}

impl colo_cancel_request {
    fn request(&self) -> Result<CancelRequest, Fault> {
        clear(self.reserved == [0; 7])?;
        Ok(CancelRequest {
            instrument: (self.instrument != 0).then_some(InstrumentId(self.instrument)),
            side: if self.side == 0 { None } else { Some(member(self.side, "side")?) },
            account: account(self.with_account, self.account)?,
        })
    }
}

/// Sends an order; `id`, which may be null, gets its number at once. What becomes of it comes through `order` and `fill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_order_send(
    context: *mut colo_context,
    request: *const colo_order_request,
    id: *mut u64,
) -> i32 {
    guarded(|| {
        let request = sized!(request).request()?;
        let sent = context!(context).order(request).map_err(|error| error.refusal)?;
        if !id.is_null() {
            *at!(id) = sent.0;
        }
        Ok(0)
    })
}

/// Asks for the rest of an order to be taken out of the book.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_order_cancel(context: *mut colo_context, id: u64) -> i32 {
    guarded(|| {
        context!(context).cancel(OrderId(id)).map_err(|error| error.refusal)?;
        Ok(0)
    })
}

/// Asks for a new price and a new whole quantity, what has traded included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_order_replace(
    context: *mut colo_context,
    id: u64,
    price: i64,
    quantity: i64,
) -> i32 {
    guarded(|| {
        let done = context!(context).replace(OrderId(id), Price(price), Quantity(quantity));
        done.map_err(|error| error.refusal)?;
        Ok(0)
    })
}

/// Asks for all orders that match to be cancelled, with one message. `id`, which may be null, gets the number under which it is answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_order_cancel_all(
    context: *mut colo_context,
    request: *const colo_cancel_request,
    id: *mut u64,
) -> i32 {
    guarded(|| {
        let request = sized!(request).request()?;
        let sent = context!(context).cancel_all(request).map_err(|error| error.refusal)?;
        if !id.is_null() {
            *at!(id) = sent.0;
        }
        Ok(0)
    })
}

impl From<&WorkingOrder> for colo_working_order {
    fn from(order: &WorkingOrder) -> colo_working_order {
        colo_working_order {
            struct_size: size_of::<colo_working_order>() as u32,
            instrument: order.instrument.0,
            id: order.id.0,
            price: order.price.0,
            quantity: order.quantity.0,
            filled: order.filled.0,
            sent: order.sent.0,
            replacing: order.replacing,
            side: order.side as u8,
            accepted: order.accepted.into(),
            cancelling: order.cancelling.into(),
            reserved: 0,
        }
    }
}

/// One order, if it has not ended; `COLO_E_UNKNOWN_ORDER` otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_order_by_id(
    context: *const colo_context,
    id: u64,
    order: *mut colo_working_order,
) -> i32 {
    guarded(|| {
        let place = sized!(order.cast_const());
        let found = context!(context.cast_mut()).working_order(OrderId(id)).ok_or(COLO_E_UNKNOWN_ORDER)?;
        *place = (&found).into();
        Ok(0)
    })
}

/// The orders that have not ended, by ascending id: as many as there are is returned, and up to `room` are stored. Only the first
/// element's `struct_size` is looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_orders(
    context: *const colo_context,
    orders: *mut colo_working_order,
    room: usize,
) -> i32 {
    guarded(|| {
        if room > 0 {
            sized!(orders.cast_const());
        }
        let mut count = 0;
        for order in context!(context.cast_mut()).working_orders() {
            if count < room {
                *at!(orders.wrapping_add(count)) = order.into();
            }
            count += 1;
        }
        Ok(i32::try_from(count).unwrap_or(i32::MAX))
    })
}

/// How much of the orders on this side may still trade.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_working_quantity(
    context: *const colo_context,
    instrument: u32,
    side: u8,
    quantity: *mut i64,
) -> i32 {
    guarded(|| {
        let side = member(side, "side")?;
        *at!(quantity) = context!(context.cast_mut()).working_quantity(InstrumentId(instrument), side).0;
        Ok(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colo_code::COLO_E_ARGUMENT;

    fn order() -> colo_order_request {
        colo_order_request {
            struct_size: size_of::<colo_order_request>() as u32,
            instrument: 1,
            price: 10,
            quantity: 1,
            side: Side::Buy as u8,
            order_type: 0,
            time_in_force: 0,
            flags: 0,
            account: 7,
            with_account: 0,
            reserved: 0,
            display: 0,
            minimum: 0,
            trigger: 0,
            ends: 0,
        }
    }

    #[track_caller]
    fn refused<T: std::fmt::Debug>(request: Result<T, Fault>) {
        assert_eq!(request.unwrap_err().code(), COLO_E_ARGUMENT);
    }

    #[test]
    fn an_order_with_what_the_header_does_not_know_is_refused() {
        assert_eq!(order().request().unwrap().account, None);
        let named = colo_order_request { with_account: 1, ..order() };
        assert_eq!(named.request().unwrap().account, Some(AccountId(7)));
        refused(colo_order_request { with_account: 7, ..order() }.request());
        refused(colo_order_request { reserved: 77, ..order() }.request());
        for flags in [255, NewOrder::FORCED, NewOrder::DECREMENT | NewOrder::CANCEL_OLDEST] {
            refused(colo_order_request { flags, ..order() }.request());
        }
        refused(
            colo_order_request { flags: NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE, ..order() }.request(),
        );
        let flags = NewOrder::CANCEL_NEWEST | NewOrder::CANCEL_OLDEST | NewOrder::OFFSET_CLOSE;
        assert_eq!(colo_order_request { flags, ..order() }.request().unwrap().flags, flags);
    }

    #[test]
    fn a_cancel_with_what_the_header_does_not_know_is_refused() {
        let cancel = colo_cancel_request {
            struct_size: size_of::<colo_cancel_request>() as u32,
            instrument: 0,
            account: 7,
            with_account: 1,
            side: 0,
            reserved: [0; 7],
        };
        assert_eq!(cancel.request().unwrap().account, Some(AccountId(7)));
        refused(colo_cancel_request { with_account: 2, ..cancel }.request());
        refused(colo_cancel_request { side: 9, ..cancel }.request());
        refused(colo_cancel_request { reserved: [0, 0, 0, 0, 0, 0, 1], ..cancel }.request());
    }
}
