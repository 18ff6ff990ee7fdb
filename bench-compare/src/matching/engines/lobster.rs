//! lobster: an order book of one thread.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Flow, Side, Take};
use lobster::{OrderBook, OrderEvent, OrderType};

use super::Facts;

pub(super) const FACTS: Facts = Facts {
    name: "lobster",
    version: "0.7",
    setup: "room for all orders of the flow at once, queues of 10 (its default), no statistics. It does not say whether a \
            cancel found its order, so each counts as one that did",
};

pub(super) struct Lobster(OrderBook);

impl Lobster {
    pub(super) fn new(flow: &Flow) -> Lobster {
        Lobster(OrderBook::new(flow.places as usize, 10, false))
    }

    #[inline(always)]
    fn execute(&mut self, order: OrderType, tally: &mut Tally) {
        match self.0.execute(order) {
            OrderEvent::Filled { fills, .. } | OrderEvent::PartiallyFilled { fills, .. } => {
                fills.iter().for_each(|fill| tally.trade(fill.price as u32, fill.qty as u32));
            }
            OrderEvent::Canceled { .. } => tally.cancelled += 1,
            OrderEvent::Unfilled { .. } | OrderEvent::Placed { .. } => {}
        }
    }
}

#[inline(always)]
fn of(side: Side) -> lobster::Side {
    match side {
        Side::Buy => lobster::Side::Bid,
        Side::Sell => lobster::Side::Ask,
    }
}

impl Book for Lobster {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let (price, qty) = (u64::from(add.tick), u64::from(add.quantity));
        self.execute(OrderType::Limit { id: add.id.into(), side: of(add.side), qty, price }, tally);
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        self.execute(OrderType::Cancel { id: cancel.id.into() }, tally);
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let qty = u64::from(take.quantity);
        self.execute(OrderType::Market { id: take.id.into(), side: of(take.side), qty }, tally);
    }
}
