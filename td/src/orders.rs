//! The life of an order, as the gateway sees it.
//!
//! ```text
//!   NewOrder ──checks──► refused (answered by td, never in the table)
//!                │
//!                ▼             Accepted, Fill
//!           ┌─────────┐ ─────────────────────► ┌─────────┐ ──┐ Fill, PartiallyFilled, Replaced, Reduced,
//!           │  Sent   │                        │ Working │ ◄─┘ Triggered, CancelRejected, ReplaceRejected
//!           └─────────┘                        └─────────┘
//!                │ Rejected, Cancelled, Filled      │ Cancelled, Filled
//!                ▼                                  ▼
//!           ═══════════════ final: out of the table, counted ═══════════════
//! ```
//!
//! Two counts lie over the states: replaces and cancels that are on their way to matching. They change nothing
//! but how much may yet trade: while a replace is on its way the order counts with the largest total quantity
//! that it has or was asked to get (`ceiling`), and falls back to the confirmed total once none is left.
//!
//! An order may have to end ([`WorkingOrder::ends`]): td has decided so, whatever its owner does. From then on no replace of it
//! goes out, and td owes a cancel until it has ended ([`crate::owed`]).
//!
//! An order that matching calls final is final from either state, and the total of a `Replaced` is taken as it
//! is, as is that of a `Reduced`. Apart from that an update which fits neither the state nor the fills before it changes no number; either
//! way it is [`Anomaly::OutOfStep`].

use wire::{InstrumentId, NewOrder, OrderId, OrderMap, OrderStatus, OrderUpdate, Price, Reason, Side};

use crate::Anomaly;

/// Whether matching has answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Sent,
    Working,
}

/// An order between its checks and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkingOrder {
    pub(crate) instrument: InstrumentId,
    pub(crate) side: Side,
    state: State,
    /// Why it must end, if td has decided so.
    pub(crate) ends: Option<Reason>,
    pub(crate) price: Price,
    /// Total quantity that matching has confirmed, or was sent first.
    pub(crate) total: i64,
    /// Largest total quantity that it has or may get by a replace on its way.
    ceiling: i64,
    pub(crate) filled: i64,
    /// Replaces sent and not answered.
    replaces: u32,
    /// Cancels sent and not answered.
    cancels: u32,
}

impl WorkingOrder {
    pub(crate) fn sent(order: &NewOrder) -> WorkingOrder {
        WorkingOrder {
            instrument: order.instrument,
            side: order.side,
            state: State::Sent,
            ends: None,
            price: order.price,
            total: order.quantity.0,
            ceiling: order.quantity.0,
            filled: 0,
            replaces: 0,
            cancels: 0,
        }
    }

    /// An order that works in the market and was sent by a predecessor.
    pub(crate) fn adopted(update: &OrderUpdate) -> WorkingOrder {
        WorkingOrder {
            instrument: update.instrument,
            side: update.side,
            state: State::Working,
            ends: None,
            price: update.price,
            total: update.quantity.0,
            ceiling: update.quantity.0,
            filled: update.filled.0,
            replaces: 0,
            cancels: 0,
        }
    }

    /// True once matching has accepted or filled it.
    pub(crate) fn is_working(&self) -> bool {
        self.state == State::Working
    }

    /// The quantity that still works, as matching has confirmed it.
    pub(crate) fn remaining(&self) -> i64 {
        self.total.saturating_sub(self.filled).max(0)
    }

    /// The quantity that may still trade in the worst case.
    pub(crate) fn open(&self) -> i64 {
        self.ceiling.saturating_sub(self.filled).max(0)
    }

    /// How much more could trade if it got this total quantity. Zero when it would shrink.
    pub(crate) fn added_by_replace(&self, total: i64) -> i64 {
        total.max(self.ceiling).saturating_sub(self.filled).max(0) - self.open()
    }

    /// A replace to this total quantity has been sent.
    pub(crate) fn replace_sent(&mut self, total: i64) {
        self.replaces = self.replaces.saturating_add(1);
        self.ceiling = self.ceiling.max(total);
    }

    /// True while a cancel is on its way.
    pub(crate) fn is_cancelling(&self) -> bool {
        self.cancels > 0
    }

    /// A cancel has been sent.
    pub(crate) fn cancel_sent(&mut self) {
        self.cancels = self.cancels.saturating_add(1);
    }

    /// td has decided that it must end. The first reason stays.
    pub(crate) fn must_end(&mut self, why: Reason) {
        self.ends.get_or_insert(why);
    }

    /// Some of it traded. `remaining` is the rest, as matching has it.
    pub(crate) fn on_fill(&mut self, quantity: i64, remaining: i64) -> Option<Anomaly> {
        self.state = State::Working;
        let over = quantity > self.remaining();
        self.filled = self.filled.saturating_add(quantity);
        if over {
            Some(Anomaly::OverFill)
        } else {
            (remaining != self.remaining()).then_some(Anomaly::OutOfStep)
        }
    }

    /// Applies an update by matching; the caller removes the order from the table when the status is final.
    pub(crate) fn on_update(&mut self, update: &OrderUpdate) -> Option<Anomaly> {
        let fits = match update.status {
            OrderStatus::Accepted => {
                let first = self.state == State::Sent;
                self.state = State::Working;
                first && update.quantity.0 == self.total
            }
            OrderStatus::PartiallyFilled => {
                self.state = State::Working;
                update.filled.0 == self.filled && self.remaining() > 0
            }
            OrderStatus::Filled => self.remaining() == 0 && update.filled.0 == self.filled,
            OrderStatus::Cancelled => update.filled.0 == self.filled,
            OrderStatus::Rejected => self.state == State::Sent,
            OrderStatus::Replaced => {
                self.state = State::Working;
                let asked = update.quantity.0 > 0 && update.quantity.0 <= self.ceiling;
                if update.quantity.0 > 0 {
                    // Matching decides what works in the market, also when this td did not ask for it, which is
                    // possible after a restart.
                    self.price = update.price;
                    self.total = update.quantity.0;
                    self.ceiling = self.ceiling.max(self.total);
                }
                self.replace_answered() && asked && update.filled.0 == self.filled
            }
            OrderStatus::Reduced => {
                self.state = State::Working;
                let is_smaller = update.quantity.0 > 0 && update.quantity.0 < self.total;
                if update.quantity.0 > 0 {
                    self.total = update.quantity.0;
                    // A replace on its way sets a total of its own, whatever the order has by then.
                    self.ceiling = if self.replaces == 0 { self.total } else { self.ceiling.max(self.total) };
                }
                is_smaller && update.filled.0 == self.filled
            }
            OrderStatus::Triggered => {
                self.state = State::Working;
                update.quantity.0 == self.total && update.filled.0 == self.filled
            }
            // About a request, and no order.
            OrderStatus::MassCancelled => false,
            OrderStatus::ReplaceRejected => self.replace_answered(),
            OrderStatus::CancelRejected => {
                let expected = self.cancels > 0;
                self.cancels = self.cancels.saturating_sub(1);
                expected
            }
        };
        (!fits).then_some(Anomaly::OutOfStep)
    }

    /// False when no replace was on its way.
    fn replace_answered(&mut self) -> bool {
        let expected = self.replaces > 0;
        self.replaces = self.replaces.saturating_sub(1);
        if self.replaces == 0 {
            self.ceiling = self.total;
        }
        expected
    }
}

/// The orders of one strategy that have not ended, by id.
pub(crate) type OrderTable = OrderMap<WorkingOrder>;

/// All ids, ascending. Not for the hot path: it sorts.
pub(crate) fn ids(orders: &OrderTable) -> Vec<OrderId> {
    let mut ids: Vec<OrderId> = orders.iter().map(|(id, _)| id).collect();
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{AccountId, Cause, Nanos, OrderType, Quantity, TimeInForce};

    fn order(quantity: i64) -> WorkingOrder {
        WorkingOrder::sent(&NewOrder {
            order_id: OrderId(1),
            instrument: InstrumentId(1),
            side: Side::Buy,
            order_type: OrderType::Limit,
            time_in_force: TimeInForce::Day,
            flags: 0,
            price: Price(100),
            quantity: Quantity(quantity),
            cause: Cause::NONE,
            account: AccountId::OWN,
            display_lots: 0,
            trigger: Price::ZERO,
            minimum_lots: 0,
            ends_s: 0,
        })
    }

    fn update(status: OrderStatus, quantity: i64, filled: i64) -> OrderUpdate {
        OrderUpdate {
            order_id: OrderId(1),
            instrument: InstrumentId(1),
            side: Side::Buy,
            status,
            reason: Reason::None,
            reserved: 0,
            price: Price(100),
            quantity: Quantity(quantity),
            filled: Quantity(filled),
            remaining: Quantity(quantity - filled),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
            refused_request: 0,
            reported_up_to: 0,
        }
    }

    #[test]
    fn the_drawn_transitions_are_in_step() {
        let mut order = order(10);
        assert_eq!(order.on_update(&update(OrderStatus::Accepted, 10, 0)), None);
        assert_eq!(order.on_fill(4, 6), None);
        assert_eq!(order.on_update(&update(OrderStatus::PartiallyFilled, 10, 4)), None);
        assert_eq!((order.remaining(), order.open()), (6, 6));
        assert_eq!(order.on_fill(6, 0), None);
        assert_eq!(order.on_update(&update(OrderStatus::Filled, 10, 10)), None);
    }

    #[test]
    fn contradicting_updates_are_out_of_step_and_change_no_number() {
        let mut order = order(10);
        assert_eq!(order.on_update(&update(OrderStatus::Accepted, 11, 0)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_update(&update(OrderStatus::Accepted, 10, 0)), Some(Anomaly::OutOfStep), "twice");
        assert_eq!(order.on_update(&update(OrderStatus::PartiallyFilled, 10, 3)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_update(&update(OrderStatus::Filled, 10, 10)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_update(&update(OrderStatus::Rejected, 10, 0)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_update(&update(OrderStatus::ReplaceRejected, 10, 0)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_update(&update(OrderStatus::CancelRejected, 10, 0)), Some(Anomaly::OutOfStep));
        assert_eq!(order.on_fill(3, 9), Some(Anomaly::OutOfStep), "7 are left, not 9");
        assert_eq!((order.remaining(), order.open()), (7, 7));
        assert_eq!(order.on_update(&update(OrderStatus::Replaced, 0, 3)), Some(Anomaly::OutOfStep));
        assert_eq!((order.remaining(), order.open()), (7, 7));
        assert_eq!(
            order.on_update(&update(OrderStatus::Replaced, 20, 3)),
            Some(Anomaly::OutOfStep),
            "unasked"
        );
        assert_eq!((order.remaining(), order.open()), (17, 17), "but so it works now");
    }

    #[test]
    fn what_self_trade_prevention_takes_away_counts_no_more_but_a_replace_on_its_way_does() {
        let mut order = order(10);
        order.on_update(&update(OrderStatus::Accepted, 10, 0));
        assert_eq!(order.on_update(&update(OrderStatus::Triggered, 10, 0)), None);
        assert_eq!(order.on_fill(2, 8), None);
        assert_eq!(order.on_update(&update(OrderStatus::Reduced, 7, 2)), None);
        assert_eq!((order.remaining(), order.open()), (5, 5));
        order.replace_sent(12);
        assert_eq!(order.on_update(&update(OrderStatus::Reduced, 6, 2)), None);
        assert_eq!((order.remaining(), order.open()), (4, 10), "the replace is still unanswered");
        assert_eq!(order.on_update(&update(OrderStatus::ReplaceRejected, 6, 2)), None);
        assert_eq!(order.open(), 4);
        assert_eq!(order.on_update(&update(OrderStatus::Reduced, 9, 2)), Some(Anomaly::OutOfStep), "larger");
    }

    #[test]
    fn a_fill_of_more_than_is_left_is_booked_and_named() {
        let mut order = order(10);
        assert_eq!(order.on_fill(11, 0), Some(Anomaly::OverFill));
        assert_eq!((order.filled, order.remaining(), order.open()), (11, 0, 0));
        let mut order = self::order(i64::MAX);
        assert_eq!(order.on_fill(i64::MAX, 0), None);
        assert_eq!(order.on_fill(i64::MAX, 0), Some(Anomaly::OverFill));
        assert_eq!(order.filled, i64::MAX);
    }

    #[test]
    fn replaces_on_their_way_count_at_the_largest() {
        let mut order = order(10);
        order.on_update(&update(OrderStatus::Accepted, 10, 0));
        assert_eq!(order.on_fill(2, 8), None);
        assert_eq!(order.added_by_replace(15), 5);
        order.replace_sent(15);
        assert_eq!((order.open(), order.remaining()), (13, 8));
        assert_eq!(order.added_by_replace(4), 0);
        order.replace_sent(4);
        assert_eq!(order.on_update(&update(OrderStatus::Replaced, 15, 2)), None);
        assert_eq!((order.open(), order.remaining()), (13, 13));
        assert_eq!(order.on_update(&update(OrderStatus::Replaced, 4, 2)), None);
        assert_eq!((order.open(), order.remaining()), (2, 2));
        order.replace_sent(9);
        assert_eq!(order.on_update(&update(OrderStatus::ReplaceRejected, 4, 2)), None);
        assert_eq!(order.open(), 2);
    }
}
