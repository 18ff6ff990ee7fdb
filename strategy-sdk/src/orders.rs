//! Orders that have not ended.

use std::cmp::Ordering;
use std::collections::VecDeque;

use wire::{
    Fill, InstrumentId, MAX_INSTRUMENTS, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason,
    Side,
};

/// An order from its sending to its end, as of the reports so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingOrder {
    /// Its id.
    pub id: OrderId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Buy or sell.
    pub side: Side,
    /// Limit price: the confirmed one, or as sent; [`Price::NONE`] for a market order.
    pub price: Price,
    /// Total quantity: the confirmed one, or as sent.
    pub quantity: Quantity,
    /// How much of it has traded.
    pub filled: Quantity,
    /// When it was sent, on the strategy's clock; when it was taken over, if a predecessor sent it.
    pub sent: Nanos,
    /// True once the market has it.
    pub accepted: bool,
    /// True while a cancel is on its way.
    pub cancelling: bool,
    /// Replaces on their way.
    pub replacing: u32,
}

impl WorkingOrder {
    /// How much of it may still trade.
    pub fn remaining(&self) -> Quantity {
        Quantity((self.quantity - self.filled).0.max(0))
    }

    /// True while a cancel or a replace is on its way.
    pub fn is_changing(&self) -> bool {
        self.cancelling || self.replacing > 0
    }

    fn adopted(update: &OrderUpdate, now: Nanos) -> WorkingOrder {
        WorkingOrder {
            id: update.order_id,
            instrument: update.instrument,
            side: update.side,
            price: update.price,
            quantity: update.quantity,
            filled: update.filled,
            sent: now,
            accepted: true,
            cancelling: false,
            replacing: 0,
        }
    }
}

/// Room for this many orders before the first allocation.
const RESERVED: usize = 256;

/// By ascending id. Ids grow, so that a new one goes to the end, and old ones leave mostly from the front.
#[derive(Clone, Debug)]
pub(crate) struct WorkingOrders {
    orders: VecDeque<WorkingOrder>,
    sums: Sums,
}

impl WorkingOrders {
    pub(crate) fn new() -> WorkingOrders {
        WorkingOrders { orders: VecDeque::with_capacity(RESERVED), sums: Sums::default() }
    }

    /// Makes room ahead of the first order in an instrument.
    pub(crate) fn reach(&mut self, instrument: InstrumentId) {
        self.sums.reach(instrument);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &WorkingOrder> {
        self.orders.iter()
    }

    pub(crate) fn get(&self, id: OrderId) -> Option<&WorkingOrder> {
        self.find(id).ok().map(|index| &self.orders[index])
    }

    /// How much of the orders on this side may still trade.
    pub(crate) fn quantity(&self, instrument: InstrumentId, side: Side) -> Quantity {
        if instrument.0 < MAX_INSTRUMENTS {
            return self.sums.get(instrument, side);
        }
        // No market lists it. A report that named it all the same was taken, and is counted here alone.
        let same = self.orders.iter().filter(|order| order.instrument == instrument && order.side == side);
        same.fold(Quantity::ZERO, |sum, order| sum + order.remaining())
    }

    /// Where the order is, or where it would go.
    fn find(&self, id: OrderId) -> Result<usize, usize> {
        let (Some(first), Some(last)) = (self.orders.front(), self.orders.back()) else { return Err(0) };
        if last.id < id {
            return Err(self.orders.len());
        }
        // Ids are distinct and ascend: none lies further back than it is greater than the first. While no order between
        // them has ended, it lies exactly there.
        let distance = usize::try_from(id.0.saturating_sub(first.id.0)).unwrap_or(usize::MAX);
        let (mut low, mut high) = (0, distance.min(self.orders.len() - 1));
        let mut middle = high;
        loop {
            match self.orders[middle].id.cmp(&id) {
                Ordering::Equal => return Ok(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
            if low >= high {
                return Err(low);
            }
            middle = low + (high - low) / 2;
        }
    }

    pub(crate) fn insert(&mut self, order: WorkingOrder) {
        self.sums.add(&order);
        match self.find(order.id) {
            Ok(index) => {
                let before = std::mem::replace(&mut self.orders[index], order);
                self.sums.remove(&before);
            }
            Err(index) => self.orders.insert(index, order),
        }
    }

    /// Changes an order if it works. The only way to change one: the sums follow.
    pub(crate) fn change(&mut self, id: OrderId, change: impl FnOnce(&mut WorkingOrder)) -> bool {
        let Ok(index) = self.find(id) else { return false };
        let order = &mut self.orders[index];
        self.sums.remove(order);
        change(order);
        self.sums.add(order);
        true
    }

    fn remove(&mut self, id: OrderId) {
        if let Ok(index) = self.find(id)
            && let Some(order) = self.orders.remove(index)
        {
            self.sums.remove(&order);
        }
    }

    pub(crate) fn on_fill(&mut self, fill: &Fill) {
        self.change(fill.order_id, |order| {
            order.accepted = true;
            order.filled += fill.quantity;
        });
    }

    /// `now` is taken as the sending time of an order that is not known yet: a predecessor's.
    pub(crate) fn on_update(&mut self, update: &OrderUpdate, now: Nanos) {
        match update.status {
            OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected => {
                self.remove(update.order_id);
            }
            OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => self.on_refusal(update),
            // About a request, and no order.
            OrderStatus::MassCancelled => {}
            OrderStatus::Accepted
            | OrderStatus::PartiallyFilled
            | OrderStatus::Replaced
            | OrderStatus::Reduced
            | OrderStatus::Triggered => {
                let replaced = u32::from(update.status == OrderStatus::Replaced);
                let is_known = self.change(update.order_id, |order| {
                    order.accepted = true;
                    order.price = update.price;
                    order.quantity = update.quantity;
                    order.filled = update.filled;
                    order.replacing = order.replacing.saturating_sub(replaced);
                });
                if !is_known {
                    self.insert(WorkingOrder::adopted(update, now));
                }
            }
        }
    }

    fn on_refusal(&mut self, update: &OrderUpdate) {
        if update.reason == Reason::UnknownOrder {
            // The order ended before this refusal, or is unknown in the market: no end will follow.
            return self.remove(update.order_id);
        }
        self.change(update.order_id, |order| match update.status {
            OrderStatus::CancelRejected => order.cancelling = false,
            _ => order.replacing = order.replacing.saturating_sub(1),
        });
    }
}

/// What may still trade, by instrument and side: what a strategy asks before each order, however many work.
#[derive(Clone, Debug, Default)]
struct Sums(Vec<[i128; 2]>);

impl Sums {
    fn reach(&mut self, instrument: InstrumentId) {
        let length = instrument.0 as usize + 1;
        if instrument.0 < MAX_INSTRUMENTS && self.0.len() < length {
            self.0.resize(length, [0; 2]);
        }
    }

    fn get(&self, instrument: InstrumentId, side: Side) -> Quantity {
        let sum = self.0.get(instrument.0 as usize).map_or(0, |sides| sides[place(side)]);
        Quantity(i64::try_from(sum).unwrap_or(i64::MAX))
    }

    fn add(&mut self, order: &WorkingOrder) {
        self.reach(order.instrument);
        if let Some(sides) = self.0.get_mut(order.instrument.0 as usize) {
            sides[place(order.side)] += i128::from(order.remaining().0);
        }
    }

    fn remove(&mut self, order: &WorkingOrder) {
        if let Some(sides) = self.0.get_mut(order.instrument.0 as usize) {
            sides[place(order.side)] -= i128::from(order.remaining().0);
        }
    }
}

fn place(side: Side) -> usize {
    match side {
        Side::Buy => 0,
        Side::Sell => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wire::{Liquidity, StrategyId};

    use super::*;

    const STATUSES: [OrderStatus; 11] = [
        OrderStatus::Accepted,
        OrderStatus::PartiallyFilled,
        OrderStatus::Filled,
        OrderStatus::Cancelled,
        OrderStatus::Rejected,
        OrderStatus::Replaced,
        OrderStatus::CancelRejected,
        OrderStatus::ReplaceRejected,
        OrderStatus::Reduced,
        OrderStatus::Triggered,
        OrderStatus::MassCancelled,
    ];

    /// Instruments that are asked for; the last is no market's.
    const ASKED: [u32; 4] = [1, 2, MAX_INSTRUMENTS - 1, MAX_INSTRUMENTS + 7];

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Send(i64),
        Fill(i64),
        Update(usize, bool, i64, i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let quantity = || prop_oneof![4 => -5_i64..1_000, 1 => Just(i64::MAX)];
        prop_oneof![
            quantity().prop_map(Step::Send),
            quantity().prop_map(Step::Fill),
            (0..STATUSES.len(), any::<bool>(), quantity(), quantity())
                .prop_map(|(status, unknown, total, filled)| Step::Update(status, unknown, total, filled)),
        ]
    }

    fn fill(order_id: OrderId, instrument: InstrumentId, side: Side, quantity: i64) -> Fill {
        Fill {
            order_id,
            trade_id: 1,
            instrument,
            side,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price: Price(7),
            quantity: Quantity(quantity),
            remaining: Quantity::ZERO,
            event_time: Nanos(0),
            execution: 1,
            answered_up_to: 0,
        }
    }

    fn sent(id: OrderId, instrument: InstrumentId, side: Side, quantity: i64) -> WorkingOrder {
        WorkingOrder {
            id,
            instrument,
            side,
            price: Price(7),
            quantity: Quantity(quantity),
            filled: Quantity::ZERO,
            sent: Nanos(0),
            accepted: false,
            cancelling: false,
            replacing: 0,
        }
    }

    proptest! {
        /// Orders are sent, filled too often, ended, refused and adopted from a predecessor, in any order.
        #[test]
        fn what_may_still_trade_is_what_all_orders_add_up_to(
            steps in prop::collection::vec((step(), 0_u32..40, 0_usize..4, any::<bool>(), 0_u16..2), 0..200),
        ) {
            let mut orders = WorkingOrders::new();
            for (step, sequence, instrument, buys, epoch) in steps {
                let id = OrderId::new(StrategyId(9), epoch, sequence);
                let (instrument, side) = (InstrumentId(ASKED[instrument]), if buys { Side::Buy } else { Side::Sell });
                match step {
                    Step::Send(quantity) => orders.insert(sent(id, instrument, side, quantity)),
                    Step::Fill(quantity) => orders.on_fill(&fill(id, instrument, side, quantity)),
                    Step::Update(status, unknown, total, filled) => {
                        let reason = if unknown { Reason::UnknownOrder } else { Reason::None };
                        let update = OrderUpdate {
                            side,
                            quantity: Quantity(total),
                            filled: Quantity(filled),
                            ..OrderUpdate::about(id, instrument, STATUSES[status], reason)
                        };
                        orders.on_update(&update, Nanos(1));
                    }
                }
                let ids: Vec<OrderId> = orders.iter().map(|order| order.id).collect();
                prop_assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
                for (index, id) in ids.iter().enumerate() {
                    prop_assert_eq!(orders.find(*id), Ok(index));
                    prop_assert_eq!(orders.find(OrderId(id.0 + 1)).unwrap_or_else(|at| at), index + 1);
                }
                for instrument in ASKED.map(InstrumentId) {
                    for side in [Side::Buy, Side::Sell] {
                        let same = orders.iter().filter(|order| (order.instrument, order.side) == (instrument, side));
                        let sum = same.fold(Quantity::ZERO, |sum, order| sum + order.remaining());
                        prop_assert_eq!(orders.quantity(instrument, side), sum);
                    }
                }
            }
        }
    }
}
