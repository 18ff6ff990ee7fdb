//! The rules once more, as plainly as they can be written: one list of orders, sorted anew at every step.

use std::collections::BTreeMap;

use wire::*;

use super::fixture::{Input, STOCK};
use crate::engine::{CallAuctions, EngineOptions, FillModel};

mod auction;
mod market;
mod self_trade;

#[derive(Clone, Copy, Debug)]
pub(super) struct Resting {
    pub(super) own: bool,
    pub(super) id: u64,
    pub(super) side: Side,
    pub(super) price: i64,
    pub(super) open: i64,
    quantity: i64,
    pub(super) taken: i64,
    arrival: u64,
    post_only: bool,
    account: AccountId,
}

#[derive(Clone, Debug)]
pub(super) struct Naive {
    options: EngineOptions,
    auction: bool,
    cross: Option<auction::Cross>,
    pub(super) orders: Vec<Resting>,
    quoted: [Vec<(i64, i64)>; 2],
    /// By price: what own orders took of what was quoted.
    taken: [BTreeMap<i64, i64>; 2],
    arrivals: u64,
    trades: u64,
    newest: BTreeMap<u16, u64>,
    /// Orders of the market that a clear swept away, for a snapshot.
    pub(super) swept: BTreeMap<u64, Resting>,
    time: Nanos,
    out: Vec<Execution>,
}

/// Smaller trades first.
fn priority(side: Side, price: i64) -> i64 {
    if side == Side::Buy { -price } else { price }
}

#[derive(Clone, Copy)]
enum Offer {
    Quote,
    Order(u64, bool),
}

impl Naive {
    pub(super) fn new(options: EngineOptions) -> Naive {
        Naive {
            options,
            auction: false,
            cross: None,
            orders: Vec::new(),
            quoted: [Vec::new(), Vec::new()],
            taken: [BTreeMap::new(), BTreeMap::new()],
            arrivals: 0,
            trades: 0,
            newest: BTreeMap::new(),
            swept: BTreeMap::new(),
            time: Nanos(0),
            out: Vec::new(),
        }
    }

    fn cancel_all(&mut self, request: &CancelAll) {
        let mut orders: Vec<Resting> = self.orders.clone();
        orders.retain(|order| {
            order.own
                && OrderId(order.id).strategy() == request.order_id.strategy()
                && (request.flags & CancelAll::OF_SIDE == 0 || order.side == request.side)
        });
        orders.sort_by_key(|order| order.arrival);
        let quantity = Quantity(orders.len() as i64);
        orders.into_iter().for_each(|order| self.cancel(order, Reason::Requested));
        let (status, reason) = (OrderStatus::MassCancelled, Reason::Requested);
        let about = OrderUpdate::about(request.order_id, request.instrument, status, reason);
        self.out.push(Execution::Update(OrderUpdate { side: request.side, quantity, ..about }));
    }

    pub(super) fn feed(&mut self, input: &Input) -> Vec<Execution> {
        match (input, self.options.fill) {
            (Input::New(request), _) => self.new_order(request),
            (Input::Cancel(request), _) => match self.own(request.order_id) {
                Some(order) => self.cancel(order, Reason::Requested),
                None => self.unknown(request.order_id, OrderStatus::CancelRejected),
            },
            (Input::Replace(request), _) => self.replace(request),
            (Input::CancelAll(request), _) => self.cancel_all(request),
            (Input::Event(event), FillModel::Book) => {
                self.time = event.event_time;
                let is_marked = event.flags & BookEvent::CALL_AUCTION != 0;
                let (no_side, hidden) = (BookEvent::NO_SIDE, BookEvent::HIDDEN);
                // A cross comes before continuous trading.
                let is_of_cross = event.flags & (no_side | hidden) == no_side;
                if (is_marked || !self.auction || !is_of_cross) && self.phase(is_marked) {
                    self.reopen();
                }
                self.event(event);
            }
            (Input::Quote(quote), FillModel::Quotes) => {
                self.time = quote.event_time;
                let begins = self.phase(quote.flags & Quote::CALL_AUCTION != 0);
                self.load(quote);
                match (begins, self.auction) {
                    (true, _) => self.reopen(),
                    (false, true) => {}
                    (false, false) => self.meet(),
                }
            }
            (Input::Print(print), FillModel::Quotes) => {
                self.time = print.event_time;
                match print.aggressor {
                    Aggressor::Buy | Aggressor::Sell if self.auction => {}
                    Aggressor::Buy => self.through(Side::Sell, print.price.0, print.quantity.0, false),
                    Aggressor::Sell => self.through(Side::Buy, print.price.0, print.quantity.0, false),
                    Aggressor::None if !self.auction => {
                        for side in [Side::Buy, Side::Sell] {
                            self.through(side, print.price.0, print.quantity.0, false);
                        }
                    }
                    Aggressor::None => self.print_of_cross(print.price.0, print.quantity.0),
                }
            }
            _ => {}
        }
        std::mem::take(&mut self.out)
    }

    /// The lowest id that this strategy has not used. Its epoch stays the same here.
    pub(super) fn next_id(&self, strategy: StrategyId) -> OrderId {
        self.newest.get(&strategy.0).map_or(OrderId::new(strategy, 1, 0), |newest| OrderId(newest + 1))
    }

    fn get(&self, own: bool, id: u64) -> Option<Resting> {
        self.orders.iter().find(|order| order.own == own && order.id == id).copied()
    }

    fn own(&self, id: OrderId) -> Option<Resting> {
        self.get(true, id.0)
    }

    pub(super) fn market(&self, reference: u64) -> Option<Resting> {
        self.get(false, reference)
    }

    fn remove(&mut self, order: Resting) {
        self.orders.retain(|other| (other.own, other.id) != (order.own, order.id));
    }

    fn store(&mut self, order: Resting) {
        let found = self.orders.iter_mut().find(|other| (other.own, other.id) == (order.own, order.id));
        *found.unwrap() = order;
    }

    fn queue(&mut self, mut order: Resting) {
        self.arrivals += 1;
        order.arrival = self.arrivals;
        self.orders.push(order);
    }

    pub(super) fn sorted(&self, side: Side) -> Vec<Resting> {
        let mut orders = self.orders.clone();
        orders.retain(|order| order.side == side);
        orders.sort_by_key(|order| (priority(side, order.price), order.arrival));
        orders
    }

    fn update(&mut self, order: &Resting, status: OrderStatus, reason: Reason) {
        self.out.push(Execution::Update(OrderUpdate {
            order_id: OrderId(order.id),
            instrument: STOCK,
            side: order.side,
            status,
            reason,
            reserved: 0,
            price: Price(order.price),
            quantity: Quantity(order.quantity),
            filled: Quantity(order.quantity - order.open),
            remaining: Quantity(if status.is_final() { 0 } else { order.open }),
            event_time: self.time,
            execution: 0,
            answered_up_to: 0,
            refused_request: 0,
            reported_up_to: 0,
        }));
    }

    fn traded(&mut self, order: &mut Resting, price: i64, quantity: i64, liquidity: Liquidity) {
        order.open -= quantity;
        self.out.push(Execution::Fill(Fill {
            order_id: OrderId(order.id),
            trade_id: self.trades,
            instrument: STOCK,
            side: order.side,
            liquidity,
            reserved: [0; 2],
            price: Price(price),
            quantity: Quantity(quantity),
            remaining: Quantity(order.open),
            event_time: self.time,
            execution: 0,
            answered_up_to: 0,
        }));
        let status = if order.open == 0 { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        self.update(order, status, Reason::None);
        if liquidity == Liquidity::Maker {
            if order.open == 0 { self.remove(*order) } else { self.store(*order) }
        }
    }

    fn unknown(&mut self, order_id: OrderId, status: OrderStatus) {
        let update = OrderUpdate::about(order_id, STOCK, status, Reason::UnknownOrder);
        self.out.push(Execution::Update(update));
    }

    fn reject(&mut self, request: &NewOrder, reason: Reason) {
        let update = OrderUpdate::rejection(request, reason);
        self.out.push(Execution::Update(update));
    }

    fn cancel(&mut self, order: Resting, reason: Reason) {
        self.remove(order);
        self.update(&order, OrderStatus::Cancelled, reason);
    }

    fn new_order(&mut self, request: &NewOrder) {
        if request.order_id.0 < self.next_id(request.order_id.strategy()).0 {
            return self.reject(request, Reason::DuplicateOrder);
        }
        self.newest.insert(request.order_id.strategy().0, request.order_id.0);
        let market = request.order_type == OrderType::Market;
        let tif = request.time_in_force;
        if self.auction && !self.collects() {
            return self.reject(request, Reason::CallAuction);
        }
        if request.quantity.0 <= 0 {
            return self.reject(request, Reason::Quantity);
        }
        if market && tif == TimeInForce::PostOnly {
            return self.reject(request, Reason::Malformed);
        }
        let mut order = Resting {
            own: true,
            id: request.order_id.0,
            side: request.side,
            price: if market { i64::MIN } else { request.price.0 },
            open: request.quantity.0,
            quantity: request.quantity.0,
            taken: 0,
            arrival: 0,
            post_only: tif == TimeInForce::PostOnly,
            account: request.account,
        };
        if self.auction {
            if market || tif != TimeInForce::Day {
                return self.reject(request, Reason::CallAuction);
            }
            self.update(&order, OrderStatus::Accepted, Reason::None);
            return self.queue(order);
        }
        if order.post_only && self.next_offer(&order).is_some() {
            return self.reject(request, Reason::WouldTrade);
        }
        self.update(&order, OrderStatus::Accepted, Reason::None);
        if tif == TimeInForce::FillOrKill && !self.would_fill(&order) {
            return self.update(&order, OrderStatus::Cancelled, Reason::NotFillable);
        }
        let stopped = self.take(&mut order);
        self.settle(order, stopped, !market && matches!(tif, TimeInForce::Day | TimeInForce::PostOnly));
    }

    fn settle(&mut self, order: Resting, stopped: Option<Reason>, rests: bool) {
        match (order.open > 0, stopped, rests) {
            (false, ..) => {}
            (true, Some(reason), _) => self.update(&order, OrderStatus::Cancelled, reason),
            (true, None, true) => self.queue(order),
            (true, None, false) => self.update(&order, OrderStatus::Cancelled, Reason::NoLiquidity),
        }
    }

    fn replace(&mut self, request: &ReplaceOrder) {
        let Some(before) = self.own(request.order_id) else {
            return self.unknown(request.order_id, OrderStatus::ReplaceRejected);
        };
        let filled = before.quantity - before.open;
        if self.auction && !self.collects() {
            return self.update(&before, OrderStatus::ReplaceRejected, Reason::CallAuction);
        }
        if request.quantity.0 <= 0 {
            return self.update(&before, OrderStatus::ReplaceRejected, Reason::Quantity);
        }
        if request.quantity.0 <= filled {
            return self.cancel(before, Reason::Requested);
        }
        let mut order = before;
        order.price = request.price.0;
        order.quantity = request.quantity.0;
        order.open = order.quantity - filled;
        if order.price == before.price && order.quantity <= before.quantity {
            self.store(order);
            return self.update(&order, OrderStatus::Replaced, Reason::None);
        }
        if order.post_only && self.auction {
            return self.update(&before, OrderStatus::ReplaceRejected, Reason::CallAuction);
        }
        if order.post_only && self.next_offer(&order).is_some() {
            return self.update(&before, OrderStatus::ReplaceRejected, Reason::WouldTrade);
        }
        self.remove(before);
        self.update(&order, OrderStatus::Replaced, Reason::None);
        let stopped = if self.auction { None } else { self.take(&mut order) };
        self.settle(order, stopped, true);
    }

    /// What `taker` would trade with next: price, quantity, and whose it is.
    fn next_offer(&self, taker: &Resting) -> Option<(i64, i64, Offer)> {
        let side = taker.side.opposite();
        let quoted = self.quoted[usize::from(side == Side::Sell)]
            .iter()
            .map(|&(price, left)| (priority(side, price), 0, price, left, Offer::Quote));
        let resting = self.orders.iter().filter(|order| order.side == side).map(|order| {
            let offer = Offer::Order(order.id, order.own);
            (priority(side, order.price), order.arrival, order.price, order.open - order.taken, offer)
        });
        quoted
            .chain(resting)
            .filter(|&(_, _, price, left, _)| {
                let in_reach = taker.price == i64::MIN
                    || if taker.side == Side::Buy { price <= taker.price } else { price >= taker.price };
                left > 0 && in_reach
            })
            .min_by_key(|&(priority, arrival, ..)| (priority, arrival))
            .map(|(_, _, price, left, offer)| (price, left, offer))
    }

    /// Why what is left of it must not go on.
    fn take(&mut self, taker: &mut Resting) -> Option<Reason> {
        while taker.open > 0 {
            let Some((price, left, offer)) = self.next_offer(taker) else { break };
            let quantity = left.min(taker.open);
            match offer {
                Offer::Quote => {
                    let side = usize::from(taker.side == Side::Buy);
                    self.trades += 1;
                    self.take_quoted(side, price, quantity);
                }
                Offer::Order(id, true) => {
                    let resting = self.get(true, id).unwrap();
                    if self.is_prevented(taker, &resting) {
                        match self.prevent(taker, resting) {
                            Some(reason) => return Some(reason),
                            None => continue,
                        }
                    }
                    self.trades += 1;
                    let mut maker = self.get(true, id).unwrap();
                    self.traded(&mut maker, price, quantity, Liquidity::Maker);
                }
                Offer::Order(reference, false) => {
                    self.trades += 1;
                    let mut maker = self.market(reference).unwrap();
                    maker.taken += quantity;
                    self.store(maker);
                }
            }
            self.traded(taker, price, quantity, Liquidity::Taker);
        }
        None
    }
}
