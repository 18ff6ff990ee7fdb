//! How an order stands at the market, as it says when it is asked, and what that answers.

use wire::{Execution, Nanos, OrderId, OrderStatus, Price, Quantity, Reason};

use super::order::{Change, End, Kind, Order};
use super::{Driver, Effects};
use crate::average::Average;
use crate::market::OrderState;

/// The state, how much has traded in lots of 1e-9, at which price on average, and the terms.
type Said = (OrderState, Option<i128>, Option<Average>, Option<(Price, Quantity)>);

/// After so many statuses in a row that count more than was reported, one counts that seems to be from before the last trade; and after so
/// many that count the same less, one counts that bears the same time: the market's clock may have whole seconds only, or stand.
const STALE: u32 = 6;

impl Driver {
    pub(super) fn status(
        &mut self,
        order_id: OrderId,
        called: &str,
        (state, filled, average, terms): Said,
        time: Nanos,
        effects: &mut Effects,
    ) {
        let made = |order: &Order| terms.and_then(|terms| Some((order.made(terms)?, terms)));
        if let Some((name, terms)) = self.orders.get(&order_id).and_then(made) {
            // Its report was lost.
            self.replaced(order_id, &name, terms, Some(called), (time, effects));
        }
        let outlives = self.outlives_the_day(order_id);
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let ended = |reason| Some(End { status: OrderStatus::Cancelled, reason, filled, average, at: time });
        match state {
            OrderState::Pending => return,
            OrderState::None if !order.is_accepted => {
                let end = (OrderStatus::Rejected, Reason::MarketClosed);
                return self.finish(order_id, end, None, time, effects);
            }
            OrderState::None => {
                effects.notes.push(format!(
                    "the market does not know order {order_id} any more, which it had accepted: it counts as expired"
                ));
                order.end = Some(End {
                    status: OrderStatus::Cancelled,
                    reason: Reason::Expired,
                    filled: None,
                    average: None,
                    at: time,
                });
                return self.end(order_id, None, time, effects);
            }
            OrderState::Rejected(reason) if !order.is_accepted => {
                return self.finish(order_id, (OrderStatus::Rejected, reason), None, time, effects);
            }
            OrderState::Rejected(reason) | OrderState::Ended(reason) => order.end = ended(reason),
            OrderState::DoneForDay if !outlives => order.end = ended(Reason::Expired),
            OrderState::Filled => {
                let (status, reason) = (OrderStatus::Filled, Reason::None);
                order.end = Some(End { status, reason, filled, average, at: time });
            }
            OrderState::Working | OrderState::DoneForDay => {}
        }
        self.accept(order_id, time, effects);
        if self.is_ahead(order_id, (filled, average), time, effects) {
            return;
        }
        if let Some(filled) = filled
            && self.orders.get(&order_id).is_some_and(|order| order.lacks(filled) > 0)
        {
            self.missed(order_id, (filled, average), time, effects);
        }
        self.end(order_id, None, time, effects);
        self.answer_refused(order_id, called, terms, (time, effects));
        if state == OrderState::Working && !self.orders.contains_key(&order_id) {
            // What has traded ended it here, and the market counts otherwise.
            self.doubt(order_id, effects);
        }
    }

    /// Whether the market counts another quantity traded than it has reported, and does so for the first time: reports may be under way,
    /// so it is asked once more. Less is looked at here, and is not booked once the market repeats it.
    fn is_ahead(
        &mut self,
        order_id: OrderId,
        (filled, average): (Option<i128>, Option<Average>),
        time: Nanos,
        effects: &mut Effects,
    ) -> bool {
        let order = match self.orders.get_mut(&order_id) {
            Some(order) => order,
            None => match self.ended.get_mut(order_id) {
                Some(order) => order,
                None => return false,
            },
        };
        let lacks = filled.map_or(0, |filled| order.lacks(filled));
        let is_stale = time < order.last_trade && time > Nanos(0);
        if lacks > 0 {
            order.ahead += 1;
            // A status from before the last trade does not count it. Clocks of the market that disagree make all of them look so.
            if order.ahead == 1 || is_stale && order.ahead < STALE {
                self.ask(order_id, effects);
                return true;
            }
            order.ahead = 0;
            return false;
        }
        order.ahead = 0;
        if lacks == 0 || is_stale || time == Nanos(0) {
            order.behind = None;
            if lacks == 0 && !is_stale {
                self.revalue(order_id, (filled, average), time, effects);
            }
            return false;
        }
        let (first, times) = match order.behind {
            Some((before, at, times)) if before == lacks => (at, times + 1),
            _ => (time, 1),
        };
        if first >= time && times < STALE {
            order.behind = Some((lacks, first, times));
            self.ask(order_id, effects);
            return true;
        }
        order.behind = None;
        self.differs(order_id, lacks, (filled.unwrap_or(0), average), time, effects);
        false
    }

    /// How an order stands at the market that has ended here.
    pub(super) fn status_after_end(
        &mut self,
        order_id: OrderId,
        (state, filled, average): (OrderState, Option<i128>, Option<Average>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        match state {
            OrderState::Pending => return,
            // It says nothing of what has traded.
            OrderState::None => return self.ended.doubt(order_id, false),
            OrderState::Working | OrderState::DoneForDay => {
                let works = state == OrderState::Working || self.outlives_the_day(order_id);
                self.ended.doubt(order_id, works);
                if works {
                    self.works_on(order_id, effects);
                }
            }
            OrderState::Ended(_) | OrderState::Rejected(_) | OrderState::Filled => {
                self.ended.doubt(order_id, false);
            }
        }
        if self.is_ahead(order_id, (filled, average), time, effects) {
            // The answer may be lost.
            return self.ended.doubt(order_id, true);
        }
        if let Some(filled) = filled
            && self.ended.get(order_id).is_some_and(|order| order.lacks(filled) > 0)
        {
            self.missed(order_id, (filled, average), time, effects);
        }
    }

    /// An order that has ended here works at the market.
    pub(super) fn works_on(&mut self, order_id: OrderId, effects: &mut Effects) {
        effects
            .notes
            .push(format!("order {order_id} has ended here and works at the market: it is cancelled there"));
        self.ended.doubt(order_id, true);
        self.withdraw(order_id, effects);
    }

    /// The order works: what was refused of it is answered.
    fn answer_refused(
        &mut self,
        order_id: OrderId,
        called: &str,
        terms: Option<(Price, Quantity)>,
        (time, effects): (Nanos, &mut Effects),
    ) {
        let refused = |order: &Order| {
            // A status from before the refusal does not answer it, and a cancel that crossed a replace waits for its answer.
            let is_replaced = order.is_being_replaced();
            let is_due = |change: &&Change| {
                change.refused.is_some_and(|(_, at)| at <= time) && !(change.is_crossed && is_replaced)
            };
            order.changes.iter().find(is_due).map(|change| change.position)
        };
        while let Some(position) = self.orders.get(&order_id).and_then(refused) {
            let Some(order) = self.orders.get_mut(&order_id) else { return };
            let Some(place) = order.changes.iter().position(|change| change.position == position) else {
                return;
            };
            if order.changes[place].is_crossed {
                self.send(order_id, position, effects);
                continue;
            }
            let Some(change) = order.changes.remove(place) else { return };
            let reason = change.refused.map_or(Reason::None, |(reason, _)| reason);
            let status = match change.kind {
                Kind::Mass => {
                    self.out_of_mass(position, order_id, false, effects);
                    continue;
                }
                Kind::Cancel => OrderStatus::CancelRejected,
                // It was carried out when it was sent first, and its report was lost.
                Kind::Replace(price, quantity) if change.attempts > 1 && terms == Some((price, quantity)) => {
                    (order.price, order.quantity, order.name) =
                        (price, quantity.0.max(order.filled), called.to_owned());
                    OrderStatus::Replaced
                }
                Kind::Replace(..) => OrderStatus::ReplaceRejected,
            };
            let reason = if status == OrderStatus::Replaced { Reason::Requested } else { reason };
            self.unanswered.remove(&position);
            let update = order.update(status, reason, time);
            effects.executions.push(Execution::Update(update));
            if matches!(change.kind, Kind::Replace(..)) {
                self.send_crossed(order_id, effects);
                self.send_next(order_id, effects);
            }
        }
        let Some(order) = self.orders.get(&order_id) else { return };
        if order.remaining() == 0 && !order.may_grow() {
            self.settle(order_id, time, effects);
        }
    }

    /// The cancels that were refused because a replace was under way, which is answered.
    pub(super) fn send_crossed(&mut self, order_id: OrderId, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id).filter(|order| !order.is_being_replaced()) else {
            return;
        };
        let is_due = |change: &&Change| change.is_crossed && change.refused.is_some();
        let due: Vec<u64> = order.changes.iter().filter(is_due).map(|change| change.position).collect();
        if self.is_up {
            due.into_iter().for_each(|position| self.send(order_id, position, effects));
        }
    }
}
