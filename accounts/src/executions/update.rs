//! Updates: what the market says about an order as a whole.

use wire::{OrderStatus, OrderUpdate, Reason};

use crate::anomaly::Anomaly;
use crate::desk::Desk;
use crate::intake::widen;
use crate::orders::{Order, Reservation, Stage};
use crate::positions::index;

impl Desk {
    pub(super) fn update(&mut self, update: &OrderUpdate) -> Option<Anomaly> {
        let Some(place) = self.orders.find(update.order_id) else {
            // A refusal may come when the order has ended and is forgotten, and some are of requests that name no order.
            let is_of_request = update.status.is_refusal() || update.status == OrderStatus::MassCancelled;
            return (!is_of_request).then_some(Anomaly::UnknownOrder);
        };
        let order = self.orders.get_mut(place)?;
        if order.instrument() != update.instrument {
            return Some(Anomaly::Garbled);
        }
        if order.stage == Stage::Ended {
            return (!has_crossed(order, update.status)).then_some(Anomaly::OutOfStep);
        }
        let is_of_a_copy = update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder;
        if is_of_a_copy && order.stage == Stage::Working {
            // A td that was killed wrote it twice. The first works on.
            return Some(Anomaly::OutOfStep);
        }
        let before = (order.open(), order.low, order.high);
        let fits = apply(order, update);
        if update.status.is_final() {
            (order.status, order.reason) = (update.status, update.reason);
            order.stage = Stage::Ended;
            let (account, strategy) = (order.account as usize, order.strategy());
            self.hold(place, Reservation::default());
            self.unlink(place);
            self.orders.ended(place);
            if !self.must_end.is_empty() {
                self.must_end.remove(&update.order_id);
            }
            if !self.recalled.is_empty() {
                self.recalled.remove(&update.order_id);
            }
            if update.status == OrderStatus::Rejected {
                self.refused(Some(account), strategy, update.event_time, update.reason.into());
            }
        } else if before != (order.open(), order.low, order.high) {
            let (low, high, side) = (order.low, order.high, index(order.side()));
            order.closing = order.closing.min(order.open());
            let account = self.accounts.get_mut(order.account as usize);
            if let Some(slot) = account.and_then(|account| account.slot_mut(update.instrument)) {
                widen(&mut slot.edge, side, low, high);
            }
            if let Some(contract) = self.contracts.get_mut(update.instrument) {
                contract.widen(side, low, high);
            }
            self.reserve(place);
        }
        (!fits).then_some(Anomaly::OutOfStep)
    }
}

/// Whether a refusal answers a request that was on its way when its order ended.
fn has_crossed(order: &mut Order, refusal: OrderStatus) -> bool {
    let on_their_way = match refusal {
        OrderStatus::CancelRejected => &mut order.cancels,
        OrderStatus::ReplaceRejected => &mut order.replaces,
        _ => return false,
    };
    let is_expected = *on_their_way > 0;
    *on_their_way = on_their_way.saturating_sub(1);
    is_expected
}

/// Applies an update to an order at work; false where it does not fit.
fn apply(order: &mut Order, update: &OrderUpdate) -> bool {
    let was_sent = order.stage == Stage::Sent;
    let is_in_step = update.filled.0 == order.filled;
    if !update.status.is_final() && !update.status.is_refusal() {
        order.stage = Stage::Working;
    }
    match update.status {
        OrderStatus::Accepted => was_sent && update.quantity.0 == order.total,
        OrderStatus::PartiallyFilled => is_in_step && order.remaining() > 0,
        OrderStatus::Filled => is_in_step && order.remaining() == 0,
        OrderStatus::Cancelled => is_in_step,
        OrderStatus::Rejected => was_sent,
        OrderStatus::Replaced => {
            let was_asked = update.quantity.0 > 0 && update.quantity.0 <= order.ceiling;
            if update.quantity.0 > 0 {
                // The market decides what works, also where nobody here asked for it.
                order.confirm_price(update.price);
                order.total = update.quantity.0;
                order.ceiling = order.ceiling.max(order.total);
            }
            order.replace_answered() && was_asked && is_in_step
        }
        OrderStatus::ReplaceRejected => order.replace_answered(),
        OrderStatus::Reduced => {
            let is_smaller = update.quantity.0 > 0 && update.quantity.0 < order.total;
            if update.quantity.0 > 0 {
                order.total = update.quantity.0;
                // A replace on its way sets a total of its own, whatever the order has by then.
                order.ceiling =
                    if order.replaces == 0 { order.total } else { order.ceiling.max(order.total) };
            }
            is_smaller && is_in_step
        }
        OrderStatus::Triggered => update.quantity.0 == order.total && is_in_step,
        OrderStatus::CancelRejected => {
            let is_expected = order.cancels > 0;
            order.cancels = order.cancels.saturating_sub(1);
            is_expected
        }
        // About a request, and no order.
        OrderStatus::MassCancelled => false,
    }
}
