//! The executions held against the requests, by code that shares nothing with the driver.

use std::collections::BTreeMap;

use wire::fold::WorkingOrders;
use wire::{Execution, OrderId, OrderStatus, OrderUpdate, Reason, Request, Side};

/// What is known of an order.
#[derive(Clone, Debug, Default)]
struct Held {
    side: Option<Side>,
    quantity: i64,
    filled: i64,
    /// Sum of price × lots.
    value: i128,
    is_accepted: bool,
    end: Option<OrderStatus>,
    is_ended_by_cancel: bool,
    cancels: u64,
    cancels_refused: u64,
    replaces: u64,
    replaces_answered: u64,
}

/// Takes requests and executions in their order, and says what does not hold between them.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    orders: BTreeMap<OrderId, Held>,
    /// By position: new orders, and whether they are answered.
    new: BTreeMap<u64, OrderId>,
    mass: BTreeMap<OrderId, u64>,
    last_request: u64,
    answered_up_to: u64,
    last_trade: u64,
    working: WorkingOrders,
    frames: u64,
}

impl Audit {
    /// A request, with its position in `td.orders`. Orders are asked for once.
    pub fn request(&mut self, position: u64, request: &Request) {
        self.last_request = position;
        match request {
            Request::New(order) => {
                self.new.insert(position, order.order_id);
                self.orders.insert(
                    order.order_id,
                    Held { side: Some(order.side), quantity: order.quantity.0, ..Held::default() },
                );
            }
            Request::Cancel(cancel) => self.orders.entry(cancel.order_id).or_default().cancels += 1,
            Request::Replace(replace) => self.orders.entry(replace.order_id).or_default().replaces += 1,
            Request::CancelAll(cancel) => {
                self.mass.insert(cancel.order_id, 0);
            }
        }
    }

    /// The next execution.
    ///
    /// # Errors
    /// What does not hold.
    pub fn execution(&mut self, execution: &Execution) -> Result<(), String> {
        let answered = execution.answered_up_to();
        if answered < self.answered_up_to || answered > self.last_request {
            return Err(format!(
                "answered_up_to is {answered}, after {}, and the last request is {}",
                self.answered_up_to, self.last_request
            ));
        }
        self.answered_up_to = answered;
        self.frames += 64;
        if self.working.advance(self.frames, execution) {
            if !self.working.fits(execution) {
                return Err(format!("{execution:?} does not fit"));
            }
            if let Some(wrong) = self.working.apply(self.frames, execution) {
                return Err(format!("{execution:?}: {wrong:?}"));
            }
        }
        let order_id = execution.order_id();
        if let Execution::Update(update) = execution
            && update.status == OrderStatus::MassCancelled
        {
            let answers = self.mass.get_mut(&order_id).ok_or("a mass cancel that nobody asked for")?;
            *answers += 1;
            return if *answers == 1 {
                Ok(())
            } else {
                Err(format!("mass cancel {order_id} is answered twice"))
            };
        }
        let last_trade = self.last_trade;
        let held = self.orders.get_mut(&order_id).ok_or_else(|| format!("order {order_id} is nobody's"))?;
        match execution {
            Execution::Fill(fill) => {
                if held.end.is_some() || !held.is_accepted {
                    return Err(format!(
                        "order {order_id} is filled before it is accepted, or after its end"
                    ));
                }
                if fill.trade_id <= last_trade {
                    return Err(format!("trade {} after {last_trade}", fill.trade_id));
                }
                held.filled += fill.quantity.0;
                held.value += i128::from(fill.price.0) * i128::from(fill.quantity.0);
                if fill.quantity.0 <= 0 || held.filled > held.quantity {
                    return Err(format!("order {order_id}: {} of {} filled", held.filled, held.quantity));
                }
                if fill.remaining.0 != held.quantity - held.filled {
                    return Err(format!("order {order_id}: {} remain after a fill", fill.remaining.0));
                }
                self.last_trade = fill.trade_id;
                Ok(())
            }
            Execution::Update(update) => held.update(update),
        }
    }

    /// The executions of one input are written: what is said to be answered is.
    ///
    /// # Errors
    /// A new order that is not.
    pub fn batch(&mut self) -> Result<(), String> {
        let open = self.new.split_off(&(self.answered_up_to + 1));
        let said = std::mem::replace(&mut self.new, open);
        let is_answered = |order: &OrderId| {
            self.orders.get(order).is_some_and(|held| held.is_accepted || held.end.is_some())
        };
        match said.iter().find(|(_, order)| !is_answered(order)) {
            Some((position, order)) => Err(format!(
                "order {order} at {position} is not answered, and {} is said",
                self.answered_up_to
            )),
            None => Ok(()),
        }
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// What lacks an answer or an end.
    pub fn end(&self) -> Result<(), String> {
        for (order, held) in &self.orders {
            let Some(end) = held.end else { return Err(format!("order {order} has no end: {held:?}")) };
            let by_cancel = held.cancels - held.cancels_refused;
            if by_cancel > u64::from(held.is_ended_by_cancel) {
                return Err(format!("order {order}: a cancel lacks its answer: {held:?}"));
            }
            if held.replaces != held.replaces_answered {
                return Err(format!("order {order}: a replace lacks its answer: {held:?}"));
            }
            if (end == OrderStatus::Filled) != (held.filled == held.quantity) {
                return Err(format!("order {order} is {end:?}: {held:?}"));
            }
        }
        match self.mass.iter().find(|(_, answers)| **answers != 1) {
            Some((order, _)) => Err(format!("mass cancel {order} lacks its answer")),
            None if self.working.iter().next().is_some() => Err("the fold has orders left".to_owned()),
            None => Ok(()),
        }
    }

    /// Orders without an end.
    pub fn working(&self) -> Vec<OrderId> {
        self.orders.iter().filter(|(_, held)| held.end.is_none()).map(|(order, _)| *order).collect()
    }

    /// The side of each order, how much of it is filled, and the sum of price × lots of that.
    pub fn filled(&self) -> Vec<(OrderId, Side, i64, i128)> {
        let side = |held: &Held| held.side.unwrap_or(Side::Buy);
        self.orders.iter().map(|(order, held)| (*order, side(held), held.filled, held.value)).collect()
    }
}

impl Held {
    fn update(&mut self, update: &OrderUpdate) -> Result<(), String> {
        let order = update.order_id;
        if self.end.is_none() && self.side.is_some_and(|side| side != update.side) {
            return Err(format!("order {order}: {:?} says {:?}", update.status, update.side));
        }
        let too_many = |what: &str| Err(format!("order {order}: one more {what} than was asked for"));
        match update.status {
            OrderStatus::CancelRejected => {
                self.cancels_refused += 1;
                let by_cancel = u64::from(self.is_ended_by_cancel && self.cancels == self.cancels_refused);
                // Another one's cancel, of all orders, may have ended it.
                return if self.cancels_refused > self.cancels + by_cancel {
                    too_many("answer to a cancel")
                } else {
                    Ok(())
                };
            }
            OrderStatus::ReplaceRejected => {
                self.replaces_answered += 1;
                return if self.replaces_answered > self.replaces {
                    too_many("answer to a replace")
                } else {
                    Ok(())
                };
            }
            _ => {}
        }
        if let Some(end) = self.end {
            return Err(format!("order {order} is {end:?}, and then {:?}", update.status));
        }
        let must_be_accepted = !matches!(update.status, OrderStatus::Accepted | OrderStatus::Rejected);
        if must_be_accepted != self.is_accepted {
            return Err(format!(
                "order {order} is {:?}, accepted before: {}",
                update.status, self.is_accepted
            ));
        }
        match update.status {
            OrderStatus::Accepted => self.is_accepted = true,
            OrderStatus::Reduced => {
                if update.quantity.0 >= self.quantity {
                    return Err(format!("order {order} is reduced to {} lots", update.quantity.0));
                }
                self.quantity = update.quantity.0;
            }
            OrderStatus::Replaced => {
                self.replaces_answered += 1;
                if self.replaces_answered > self.replaces {
                    return too_many("answer to a replace");
                }
                self.quantity = update.quantity.0;
            }
            _ => {}
        }
        if update.filled.0 != self.filled || update.quantity.0 != self.quantity {
            return Err(format!(
                "order {order}: {:?} says {} of {}, and it is {} of {}",
                update.status, update.filled.0, update.quantity.0, self.filled, self.quantity
            ));
        }
        if update.status.is_final() {
            self.end = Some(update.status);
            self.is_ended_by_cancel =
                update.status == OrderStatus::Cancelled && update.reason == Reason::Requested;
        } else if update.remaining.0 != self.quantity - self.filled {
            return Err(format!("order {order}: {} remain", update.remaining.0));
        }
        Ok(())
    }
}
