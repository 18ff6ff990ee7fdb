//! The floor: what no engine can be much faster than.
//!
//! ```text
//! ticks    │ 0 │ 1 │ 2 │ ... one entry of 8 bytes for every price there is: first and last order of its queue
//! bitmap   which ticks have orders; bids and asks in one, as they do not overlap
//! orders   at the places that the flow gives: 16 bytes each, linked
//! ```
//!
//! Where the sides differ it computes both and chooses: half of all orders are buys, at random, and a branch on that would
//! be mispredicted half of the time.

use super::bitmap::Bitmap;
use super::{Book, Tally};
use crate::flow::{Add, Cancel, Flow, Side, Take};

/// No order.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Order {
    previous: u32,
    next: u32,
    tick: u32,
    /// Zero: it does not rest.
    quantity: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

/// A bare ladder: an array of ticks, a bitmap, dense places.
#[derive(Clone, Debug)]
pub struct Ladder {
    queues: Vec<Queue>,
    occupied: Bitmap,
    orders: Vec<Order>,
    /// The tick above the best bid; zero: there is none.
    bid_end: u32,
    /// The tick of the best ask; [`NONE`]: there is none.
    ask: u32,
}

impl Ladder {
    /// An empty one, with room for all that the flow can bring.
    pub fn new(flow: &Flow) -> Ladder {
        let order = Order { previous: NONE, next: NONE, tick: 0, quantity: 0 };
        Ladder {
            queues: vec![Queue { first: NONE, last: NONE }; flow.ticks as usize],
            occupied: Bitmap::new(flow.ticks),
            orders: vec![order; flow.places as usize],
            bid_end: 0,
            ask: NONE,
        }
    }

    #[inline(always)]
    fn rest(&mut self, add: &Add, quantity: u32) {
        let (place, tick) = (add.place, add.tick);
        let queue = &mut self.queues[tick as usize];
        let previous = std::mem::replace(&mut queue.last, place);
        self.orders[place as usize] = Order { previous, next: NONE, tick, quantity };
        if previous != NONE {
            self.orders[previous as usize].next = place;
            return;
        }
        queue.first = place;
        self.occupied.insert(tick);
        let is_buy = add.side == Side::Buy;
        self.bid_end = if is_buy { self.bid_end.max(tick + 1) } else { self.bid_end };
        self.ask = if is_buy { self.ask } else { self.ask.min(tick) };
    }

    /// What is left after trading with the other side up to `limit`.
    #[inline(always)]
    fn match_up_to(&mut self, side: Side, limit: u32, mut quantity: u32, tally: &mut Tally) -> u32 {
        let is_buy = side == Side::Buy;
        while quantity > 0 {
            let (ask, bid_end) = (self.ask, self.bid_end);
            let crosses = (is_buy & (ask <= limit) & (ask != NONE)) | (!is_buy & (bid_end > limit));
            if !crosses {
                break;
            }
            quantity = self.trade(if is_buy { ask } else { bid_end - 1 }, quantity, tally);
        }
        quantity
    }

    /// Trades with the first order at `tick`; returns what is left.
    #[inline(always)]
    fn trade(&mut self, tick: u32, quantity: u32, tally: &mut Tally) -> u32 {
        let first = self.queues[tick as usize].first;
        let order = &mut self.orders[first as usize];
        let traded = quantity.min(order.quantity);
        order.quantity -= traded;
        tally.trade(tick, traded);
        if order.quantity == 0 {
            let next = order.next;
            self.queues[tick as usize].first = next;
            if next == NONE {
                self.empty(tick);
            } else {
                self.orders[next as usize].previous = NONE;
            }
        }
        quantity - traded
    }

    /// The last order at `tick` has ended.
    #[inline(always)]
    fn empty(&mut self, tick: u32) {
        self.queues[tick as usize].last = NONE;
        self.occupied.remove(tick);
        if self.bid_end == tick + 1 {
            self.bid_end = self.occupied.below(tick).map_or(0, |below| below + 1);
        } else if self.ask == tick {
            self.ask = self.occupied.above(tick).unwrap_or(NONE);
        }
    }
}

impl Book for Ladder {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let quantity = self.match_up_to(add.side, add.tick, add.quantity, tally);
        if quantity > 0 {
            self.rest(add, quantity);
        }
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let order = &mut self.orders[cancel.place as usize];
        if order.quantity == 0 {
            return;
        }
        order.quantity = 0;
        let Order { previous, next, tick, .. } = *order;
        tally.cancelled += 1;
        if next == NONE {
            self.queues[tick as usize].last = previous;
        } else {
            self.orders[next as usize].previous = previous;
        }
        if previous == NONE {
            self.queues[tick as usize].first = next;
            if next == NONE {
                self.empty(tick);
            }
        } else {
            self.orders[previous as usize].next = next;
        }
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let any = if take.side == Side::Buy { NONE } else { 0 };
        self.match_up_to(take.side, any, take.quantity, tally);
    }
}
