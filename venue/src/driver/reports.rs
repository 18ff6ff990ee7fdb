//! What the market says, and what is answered for it.

use wire::{Execution, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason};

use super::order::{Change, End, Kind, Order};
use super::{Driver, Effects, is_attempt_of};
use crate::market::{OrderState, Report, Says};

impl Driver {
    pub(super) fn report(&mut self, report: &Report, effects: &mut Effects) {
        let Some(order_id) = self.names.get(&report.name).copied() else {
            self.strays += 1;
            return;
        };
        let time = report.time;
        match &report.says {
            Says::Accepted => self.accept(order_id, time, effects),
            Says::Rejected(reason) => {
                if self.orders.get(&order_id).is_some_and(|order| !order.is_accepted) {
                    self.finish(order_id, (OrderStatus::Rejected, *reason), None, time, effects);
                }
            }
            Says::Trade { id, price, quantity } => {
                let Some(order) = self.orders.get_mut(&order_id) else { return };
                let quantity = order.is_new(id, quantity.0);
                if quantity > 0 {
                    self.trade(order_id, *price, quantity, time, effects);
                    self.settle(order_id, time, effects);
                }
            }
            Says::Ended { reason, filled } => {
                let Some(order) = self.orders.get_mut(&order_id) else { return };
                let filled = filled.map_or(order.filled, |filled| filled.0).max(order.filled);
                order.end = Some(End { status: OrderStatus::Cancelled, reason: *reason, filled });
                self.end(order_id, Some(&report.name), time, effects);
            }
            Says::Replaced { price, quantity } => {
                let (name, terms) = (&report.name, (*price, *quantity));
                self.replaced(order_id, name, terms, Some(name), (time, effects));
            }
            Says::Refused(reason) => {
                let Some(order) = self.orders.get_mut(&order_id) else { return };
                let name = Some(report.name.as_str());
                if let Some(change) = order.changes.iter_mut().find(|change| change.name.as_deref() == name) {
                    change.refused = Some((*reason, time));
                    self.ask(order_id, effects);
                }
            }
            Says::Triggered => {
                self.accept(order_id, time, effects);
                if let Some(order) = self.orders.get_mut(&order_id).filter(|order| !order.is_triggered) {
                    order.is_triggered = true;
                    let update = order.update(OrderStatus::Triggered, Reason::None, time);
                    effects.executions.push(Execution::Update(update));
                }
            }
            Says::Status { state, filled, average, terms } => {
                let said = (*state, filled.0, *average, *terms);
                self.status(order_id, &report.name, said, time, effects);
            }
        }
    }

    fn accept(&mut self, order_id: OrderId, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get_mut(&order_id).filter(|order| !order.is_accepted) else { return };
        order.is_accepted = true;
        self.unanswered.remove(&order.position);
        let update = order.update(OrderStatus::Accepted, Reason::None, time);
        effects.executions.push(Execution::Update(update));
    }

    /// Part of an order traded; what follows says how the order stands.
    fn trade(&mut self, order_id: OrderId, price: Price, quantity: i64, time: Nanos, effects: &mut Effects) {
        self.accept(order_id, time, effects);
        // More than it has shows that a replace was carried out, of which the report is still to come.
        let grown = self
            .orders
            .get(&order_id)
            .and_then(|order| order.grown_to(order.filled.saturating_add(quantity)));
        if let Some((name, price, quantity)) = grown {
            self.replaced(order_id, &name, (price, quantity), None, (time, effects));
        }
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        self.trade += 1;
        let fill = order.fill(self.trade, price, quantity, time);
        effects.executions.push(Execution::Fill(fill));
        if order.remaining() > 0 {
            let update = order.update(OrderStatus::PartiallyFilled, Reason::None, time);
            effects.executions.push(Execution::Update(update));
        }
    }

    /// After a trade: it may have been the last.
    fn settle(&mut self, order_id: OrderId, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        if order.remaining() > 0 {
            return self.end(order_id, None, time, effects);
        }
        if order.end.is_none() && order.may_grow() {
            // More may be left of it than is known.
            return self.ask(order_id, effects);
        }
        self.finish(order_id, (OrderStatus::Filled, Reason::None), None, time, effects);
    }

    /// Ends an order of which the market has said so, if all of its trades are there.
    fn end(&mut self, order_id: OrderId, name: Option<&str>, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        if let Some(end) = order.end.filter(|end| end.filled <= order.filled) {
            let reason = match end.reason {
                Reason::Requested if self.is_closed => Reason::MarketClosed,
                reason => reason,
            };
            let end = match order.remaining() {
                0 => (OrderStatus::Filled, Reason::None),
                // Nothing is left of it there, although more was asked for.
                _ if end.status == OrderStatus::Filled => (OrderStatus::Cancelled, Reason::Expired),
                _ => (end.status, reason),
            };
            self.finish(order_id, end, name, time, effects);
        }
    }

    fn finish(
        &mut self,
        order_id: OrderId,
        (status, reason): (OrderStatus, Reason),
        name: Option<&str>,
        time: Nanos,
        effects: &mut Effects,
    ) {
        if status != OrderStatus::Rejected {
            self.accept(order_id, time, effects);
        }
        let Some(order) = self.orders.remove(&order_id) else { return };
        for name in &order.names {
            self.names.remove(name);
        }
        self.unanswered.remove(&order.position);
        effects.executions.push(Execution::Update(order.update(status, reason, time)));
        let is_cancelled = status == OrderStatus::Cancelled;
        // One cancel is what ended it: the one that the market names, or else the first that was sent.
        let cancels = || order.changes.iter().filter(|change| change.kind == Kind::Cancel);
        let named = cancels().find(|change| name.is_some() && change.name.as_deref() == name);
        let sent = || cancels().find(|change| change.name.is_some());
        let cause = match is_cancelled && matches!(reason, Reason::Requested | Reason::MarketClosed) {
            true => named.or_else(sent).map(|change| change.position),
            false => None,
        };
        for change in &order.changes {
            if change.kind == Kind::Mass {
                self.out_of_mass(change.position, order_id, is_cancelled, effects);
                continue;
            }
            self.unanswered.remove(&change.position);
            if cause != Some(change.position) {
                let status = match change.kind {
                    Kind::Replace(..) => OrderStatus::ReplaceRejected,
                    _ => OrderStatus::CancelRejected,
                };
                let update = order.update(status, Reason::UnknownOrder, time);
                let update = OrderUpdate { remaining: Quantity::ZERO, ..update };
                effects.executions.push(Execution::Update(update));
            }
        }
    }

    /// A replace was carried out; `called` is what the market calls the order now, where it has said so.
    fn replaced(
        &mut self,
        order_id: OrderId,
        name: &str,
        (price, quantity): (Price, Quantity),
        called: Option<&str>,
        (time, effects): (Nanos, &mut Effects),
    ) {
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let is_its = |change: &Change| {
            matches!(change.kind, Kind::Replace(..))
                && change.name.as_ref().is_some_and(|last| is_attempt_of(name, last))
        };
        let Some(place) = order.changes.iter().position(is_its) else {
            // What is told of again is no change; its name may be news.
            if let Some(called) = called.filter(|_| (order.price, order.quantity) == (price, quantity.0)) {
                order.name = called.to_owned();
            }
            return;
        };
        self.accept(order_id, time, effects);
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        if let Some(change) = order.changes.remove(place) {
            self.unanswered.remove(&change.position);
        }
        (order.price, order.quantity) = (price, quantity.0);
        if let Some(called) = called {
            order.name = called.to_owned();
        }
        let update = order.update(OrderStatus::Replaced, Reason::Requested, time);
        effects.executions.push(Execution::Update(update));
        self.send_next(order_id, effects);
        let Some(order) = self.orders.get(&order_id) else { return };
        if order.remaining() == 0 && order.filled > 0 {
            self.settle(order_id, time, effects);
        }
    }

    fn status(
        &mut self,
        order_id: OrderId,
        called: &str,
        (state, filled, average, terms): (OrderState, i64, Option<Price>, Option<(Price, Quantity)>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        let made = |order: &Order| terms.and_then(|terms| Some((order.made(terms)?, terms)));
        if let Some((name, terms)) = self.orders.get(&order_id).and_then(made) {
            // Its report was lost.
            self.replaced(order_id, &name, terms, Some(called), (time, effects));
        }
        let Some(order) = self.orders.get_mut(&order_id) else { return };
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
                let filled = order.filled;
                order.end = Some(End { status: OrderStatus::Cancelled, reason: Reason::Expired, filled });
                return self.end(order_id, None, time, effects);
            }
            OrderState::Rejected(reason) => {
                if !order.is_accepted {
                    self.finish(order_id, (OrderStatus::Rejected, reason), None, time, effects);
                }
                return;
            }
            OrderState::Ended(reason) => {
                let filled = filled.max(order.filled);
                order.end = Some(End { status: OrderStatus::Cancelled, reason, filled });
            }
            OrderState::Filled => {
                let filled = filled.max(order.filled);
                order.end = Some(End { status: OrderStatus::Filled, reason: Reason::None, filled });
            }
            OrderState::Working => {}
        }
        self.accept(order_id, time, effects);
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        if filled > order.filled {
            order.ahead += 1;
            if order.ahead == 1 {
                // They may be under way.
                return self.ask(order_id, effects);
            }
            order.ahead = 0;
            let (price, quantity) = order.missing(filled, average);
            effects.notes.push(format!(
                "order {order_id}: {quantity} have traded of which no report came; written as one trade at {price}"
            ));
            self.trade(order_id, price, quantity, time, effects);
            self.settle(order_id, time, effects);
        } else {
            order.ahead = 0;
        }
        self.end(order_id, None, time, effects);
        self.answer_refused(order_id, called, terms, (time, effects));
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
            // What was said before the refusal says nothing about it.
            let is_due = |change: &&Change| change.refused.is_some_and(|(_, at)| at <= time);
            order.changes.iter().find(is_due).map(|change| change.position)
        };
        while let Some(position) = self.orders.get(&order_id).and_then(refused) {
            let Some(order) = self.orders.get_mut(&order_id) else { return };
            let Some(place) = order.changes.iter().position(|change| change.position == position) else {
                return;
            };
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
                    (order.price, order.quantity, order.name) = (price, quantity.0, called.to_owned());
                    OrderStatus::Replaced
                }
                Kind::Replace(..) => OrderStatus::ReplaceRejected,
            };
            let reason = if status == OrderStatus::Replaced { Reason::Requested } else { reason };
            self.unanswered.remove(&position);
            let update = order.update(status, reason, time);
            effects.executions.push(Execution::Update(update));
            if matches!(change.kind, Kind::Replace(..)) {
                self.send_next(order_id, effects);
            }
        }
        let Some(order) = self.orders.get(&order_id) else { return };
        if order.remaining() == 0 && !order.may_grow() {
            self.settle(order_id, time, effects);
        }
    }
}
