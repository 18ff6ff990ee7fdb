//! Orders.

use strategy_sdk::{AccountId, CancelRequest, InstrumentId, OrderId, OrderRequest, WorkingOrder};
use wire::{Nanos, OrderType, Price, Quantity, Side, TimeInForce};
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
    /// The price that a stop waits for; `COLO_NO_PRICE`, or 0 where it is no stop.
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

/// A member of an enumeration by its byte.
fn member<T: TryFromBytes + Copy>(byte: u8, what: &str) -> Result<T, Fault> {
    T::try_read_from_bytes(&[byte]).map_err(|_| Fault::argument(format!("{byte} is no {what}")))
}

impl colo_order_request {
    fn request(&self) -> Result<OrderRequest, Fault> {
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
            account: (self.with_account == 1).then_some(AccountId(self.account)),
            display: Quantity(self.display),
            minimum: Quantity(self.minimum),
            trigger: if order_type.has_trigger() { Price(self.trigger) } else { Price::NONE },
            ends: Nanos(self.ends),
            flags: self.flags,
            ..base
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
        let given = sized!(request);
        let request = CancelRequest {
            instrument: (given.instrument != 0).then_some(InstrumentId(given.instrument)),
            side: if given.side == 0 { None } else { Some(member(given.side, "side")?) },
            account: (given.with_account == 1).then_some(AccountId(given.account)),
        };
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
