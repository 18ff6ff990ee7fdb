//! What the market says, and what is answered for it.
//!
//! Each report meets an order in one of four stages; each pair has a row here. `docs/adapters.md` has the table as it is for FIX.

use wire::{Execution, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason, TimeInForce};

use super::order::{Change, End, Kind};
use super::trades::Traded;
use super::{Driver, Effects, is_attempt_of};
use crate::average::Average;
use crate::market::{Lots, Report, Says};

/// Where an order is when a report of it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The name is not known here.
    Unknown,
    /// It was sent, and the market has not decided.
    Sent,
    /// It works.
    Working,
    /// It has ended.
    Ended,
}

impl Driver {
    fn stage(&self, order_id: Option<OrderId>) -> Stage {
        let Some(order_id) = order_id else { return Stage::Unknown };
        match self.orders.get(&order_id) {
            Some(order) if order.is_accepted => Stage::Working,
            Some(_) => Stage::Sent,
            None => Stage::Ended,
        }
    }

    pub(super) fn report(&mut self, report: &Report, effects: &mut Effects) {
        use Stage::{Ended, Sent, Unknown, Working};
        let (found, time) = (self.found(report), report.time);
        self.note(report);
        let stage = self.stage(found);
        // Of an unknown order no row below uses it.
        let order_id = found.unwrap_or(OrderId(0));
        match (&report.says, stage) {
            // Executions count in every stage.
            (Says::Trade { id, price, quantity, filled }, _) => {
                let filled = filled.map(|filled| filled.0);
                let traded = Traded { report, id, price: *price, quantity: quantity.0, filled };
                match stage {
                    Unknown => self.traded_elsewhere(traded, effects),
                    Sent | Working => self.traded(order_id, traded, effects),
                    Ended => self.traded_after_end(order_id, traded, effects),
                }
            }
            (Says::Inexact { id, lots, price, text }, Unknown | Sent | Working | Ended) => {
                self.traded_inexactly(report, (id, text), (*lots, *price), effects);
            }
            (Says::Busted { id, price, quantity, filled, works }, Unknown | Sent | Working | Ended) => {
                self.busted(report, id, (*price, *quantity, *filled), effects);
                if *works && stage == Ended {
                    self.works_on(order_id, effects);
                }
            }
            (Says::Corrected { id, new_id, price, quantity, works }, Unknown | Sent | Working | Ended) => {
                self.corrected(report, (id, new_id), (*price, quantity.0), effects);
                if *works && stage == Ended {
                    self.works_on(order_id, effects);
                }
            }
            // What another program sent for the account, or what is forgotten, is none of ours until it trades.
            (
                Says::Accepted
                | Says::Rejected(_)
                | Says::Ended { .. }
                | Says::Replaced { .. }
                | Says::Restated { .. }
                | Says::DoneForDay { .. }
                | Says::Standing { .. }
                | Says::Refused(_)
                | Says::Triggered
                | Says::Status { .. },
                Unknown,
            ) => self.stray(report, effects),
            (Says::Accepted, Sent | Working) => self.accept(order_id, time, effects),
            (Says::Triggered, Sent | Working) => self.triggered(order_id, time, effects),
            (Says::Replaced { price, quantity }, Sent | Working)
                if !self.names.contains_key(&report.name) =>
            {
                self.replaced_by_market(order_id, &report.name, (*price, *quantity), (time, effects));
            }
            (Says::Replaced { price, quantity }, Sent | Working) => {
                let (name, terms) = (&report.name, (*price, *quantity));
                self.replaced(order_id, name, terms, Some(name), (time, effects));
            }
            (Says::Restated { price, quantity, filled }, Sent | Working) => {
                self.restated(order_id, (*price, *quantity, *filled), time, effects);
            }
            (Says::Standing { filled }, Sent | Working) => {
                self.accept(order_id, time, effects);
                self.compare(order_id, filled.map(|filled| filled.0), effects);
            }
            // It may say so late, and may say so of an order that ended here and works there.
            (
                Says::Accepted
                | Says::Triggered
                | Says::Replaced { .. }
                | Says::Restated { .. }
                | Says::Standing { .. },
                Ended,
            ) => self.doubt(order_id, effects),
            (Says::Rejected(reason), Sent | Working) if self.is_of_change(order_id, &report.name) => {
                self.refused(order_id, &report.name, *reason, time, effects);
            }
            (Says::Rejected(reason), Sent) => {
                self.finish(order_id, (OrderStatus::Rejected, *reason), None, time, effects);
            }
            // It was accepted: it has ended for a reason that the market found later.
            (Says::Rejected(reason), Working) => {
                let has_traded = self.orders.get(&order_id).is_some_and(|order| order.traded > 0);
                self.said_to_end(order_id, *reason, (None, None), None, time, effects);
                if has_traded {
                    // It says that nothing has.
                    self.doubt(order_id, effects);
                }
            }
            (Says::Ended { reason, filled, average }, Sent | Working) => {
                let counted = (filled.map(|filled| filled.0), *average);
                self.said_to_end(order_id, *reason, counted, Some(&report.name), time, effects);
            }
            (Says::DoneForDay { filled, average }, Sent | Working) => {
                let (filled, expired) = (filled.map(|filled| filled.0), Reason::Expired);
                match self.outlives_the_day(order_id) {
                    true => {
                        self.accept(order_id, time, effects);
                        self.compare(order_id, filled, effects);
                    }
                    false => self.said_to_end(order_id, expired, (filled, *average), None, time, effects),
                }
            }
            (Says::Rejected(_), Ended) => self.ended.doubt(order_id, false),
            (Says::Ended { filled, .. } | Says::DoneForDay { filled, .. }, Ended) => {
                self.ended.doubt(order_id, false);
                self.compare(order_id, filled.map(|filled| filled.0), effects);
            }
            (Says::Refused(reason), Sent | Working) => {
                self.refused(order_id, &report.name, *reason, time, effects);
            }
            // It was answered when the order ended.
            (Says::Refused(_), Ended) => {}
            (Says::Status { state, filled, average, terms }, Sent | Working) => {
                let said = (*state, filled.map(|filled| filled.0), *average, *terms);
                self.status(order_id, &report.name, said, time, effects);
            }
            (Says::Status { state, filled, average, .. }, Ended) => {
                let said = (*state, filled.map(|filled| filled.0), *average);
                self.status_after_end(order_id, said, time, effects);
            }
        }
    }

    /// The market's clock, and how exactly it gives average prices.
    fn note(&mut self, report: &Report) {
        if report.time > Nanos(0) {
            self.time = report.time;
        }
        if let Says::Status { average: Some(average), .. }
        | Says::Ended { average: Some(average), .. }
        | Says::DoneForDay { average: Some(average), .. } = report.says
        {
            self.decimals = self.decimals.max(average.decimals);
        }
    }

    /// Nothing of this report moves a position: it is counted and logged.
    fn stray(&mut self, report: &Report, effects: &mut Effects) {
        self.strays += 1;
        effects.notes.push(format!(
            "the market speaks of order {:?}, which is not known here: {:?}",
            report.name, report.says
        ));
    }

    /// Whether it is the name of a cancel or a replace, and not of the order.
    fn is_of_change(&self, order_id: OrderId, name: &str) -> bool {
        let Some(order) = self.orders.get(&order_id) else { return false };
        order.changes.iter().any(|change| change.name.as_deref() == Some(name))
    }

    pub(super) fn outlives_the_day(&self, order_id: OrderId) -> bool {
        let order = self.orders.get(&order_id).or_else(|| self.ended.get(order_id));
        order.is_some_and(|order| match order.request.time_in_force {
            TimeInForce::GoodTillCancel | TimeInForce::GoodTillDate => true,
            TimeInForce::Day
            | TimeInForce::ImmediateOrCancel
            | TimeInForce::FillOrKill
            | TimeInForce::PostOnly
            | TimeInForce::AtTheOpen
            | TimeInForce::AtTheClose => false,
        })
    }

    /// The market says that an order has ended.
    fn said_to_end(
        &mut self,
        order_id: OrderId,
        reason: Reason,
        (filled, average): (Option<i128>, Option<Average>),
        name: Option<&str>,
        time: Nanos,
        effects: &mut Effects,
    ) {
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        order.end = Some(End { status: OrderStatus::Cancelled, reason, filled, average, at: time });
        self.end(order_id, name, time, effects);
    }

    /// More has traded than was reported: the trades may be under way, so the order is asked for.
    fn compare(&mut self, order_id: OrderId, filled: Option<i128>, effects: &mut Effects) {
        let order = self.orders.get(&order_id).or_else(|| self.ended.get(order_id));
        let (Some(order), Some(filled)) = (order, filled) else { return };
        if order.lacks(filled) != 0 {
            self.ask(order_id, effects);
        }
    }

    fn refused(&mut self, order_id: OrderId, name: &str, reason: Reason, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let is_its = |change: &&mut Change| change.name.as_deref() == Some(name);
        if let Some(change) = order.changes.iter_mut().find(is_its) {
            change.refused = Some((reason, time));
            self.ask(order_id, effects);
        }
    }

    fn triggered(&mut self, order_id: OrderId, time: Nanos, effects: &mut Effects) {
        self.accept(order_id, time, effects);
        if let Some(order) = self.orders.get_mut(&order_id).filter(|order| !order.is_triggered) {
            order.is_triggered = true;
            let update = order.update(OrderStatus::Triggered, Reason::None, time);
            effects.executions.push(Execution::Update(update));
        }
    }

    /// The market replaced an order by itself, and calls it so from now on.
    fn replaced_by_market(
        &mut self,
        order_id: OrderId,
        name: &str,
        (price, quantity): (Price, Quantity),
        (time, effects): (Nanos, &mut Effects),
    ) {
        if let Some(order) = self.orders.get_mut(&order_id) {
            name.clone_into(&mut order.name);
            order.names.push(name.to_owned());
            self.names.insert(name.to_owned(), order_id);
        }
        self.restated(order_id, (Some(price), Some(quantity), None), time, effects);
    }

    /// The market changed an order by itself. A smaller quantity is one that was reduced. What would make the order larger, or its price
    /// another, is not ours: the order stays here what it was, and what trades beyond it is not booked.
    fn restated(
        &mut self,
        order_id: OrderId,
        (price, quantity, filled): (Option<Price>, Option<Quantity>, Option<Lots>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        self.accept(order_id, time, effects);
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let (was, is) = ((order.price, order.quantity), (price, quantity.map(|quantity| quantity.0)));
        if is.1.is_some_and(|quantity| quantity < order.quantity) && !order.is_being_replaced() {
            order.quantity = is.1.unwrap_or(order.quantity).max(order.filled);
            let update = order.update(OrderStatus::Reduced, Reason::None, time);
            effects.executions.push(Execution::Update(update));
            if order.remaining() == 0 {
                self.settle(order_id, time, effects);
                // With less than has traded it may work on there.
                self.look_again(order_id, effects);
            }
        }
        if is.0.is_some_and(|price| price != was.0) || is.1.is_some_and(|quantity| quantity != was.1) {
            effects.notes.push(format!(
                "the market restates order {order_id}, {} at {}: {:?} at {:?}",
                was.1, was.0, is.1, is.0
            ));
        }
        self.compare(order_id, filled.map(|filled| filled.0), effects);
    }

    pub(super) fn accept(&mut self, order_id: OrderId, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get_mut(&order_id).filter(|order| !order.is_accepted) else { return };
        order.is_accepted = true;
        self.unanswered.remove(&order.position);
        let update = order.update(OrderStatus::Accepted, Reason::None, time);
        effects.executions.push(Execution::Update(update));
    }

    /// After a trade: it may have been the last.
    pub(super) fn settle(&mut self, order_id: OrderId, time: Nanos, effects: &mut Effects) {
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
    pub(super) fn end(&mut self, order_id: OrderId, name: Option<&str>, time: Nanos, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        let is_there = |end: &End| end.filled.is_none_or(|filled| order.lacks(filled) <= 0);
        if let Some(end) = order.end.filter(is_there) {
            let (less, is_later) =
                (end.filled.map_or(0, |filled| order.lacks(filled)), end.at >= order.last_trade);
            let counted = (end.filled.unwrap_or(0), end.average);
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
            if less < 0 && is_later {
                self.differs(order_id, less, counted, time, effects);
            } else if less < 0 {
                // A trade came behind the end: it counts, unless the market says otherwise.
                self.doubt(order_id, effects);
            }
        }
    }

    pub(super) fn finish(
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
        self.unanswered.remove(&order.position);
        let is_ours = order.changes.iter().any(|change| !matches!(change.kind, Kind::Replace(..)));
        let reason = match reason {
            // The market cancelled it by itself and gives no reason.
            Reason::Requested if !is_ours => Reason::None,
            reason => reason,
        };
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
        for name in self.ended.add(order, time) {
            self.names.remove(&name);
        }
    }

    /// A replace was carried out; `called` is what the market calls the order now, where it has said so.
    pub(super) fn replaced(
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
        // More may have traded than it was to have.
        (order.price, order.quantity) = (price, quantity.0.max(order.filled));
        if let Some(called) = called {
            order.name = called.to_owned();
        }
        let update = order.update(OrderStatus::Replaced, Reason::Requested, time);
        effects.executions.push(Execution::Update(update));
        self.send_crossed(order_id, effects);
        self.send_next(order_id, effects);
        let Some(order) = self.orders.get(&order_id) else { return };
        if order.remaining() == 0 && order.filled > 0 {
            self.settle(order_id, time, effects);
        }
    }
}
