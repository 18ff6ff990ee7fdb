//! What trades, and what of it is booked.

use wire::{Execution, Fill, InstrumentId, Nanos, OrderId, OrderStatus, Price, Quantity, Reason, Side};

use super::order::{Added, Corrected, Order, Revalued, value};
use super::{Driver, Effects};
use crate::average::Average;
use crate::market::{Lots, Report};
use crate::unbooked::{How, LOT, Settlement, Unbooked, Why};

/// A trade as it is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traded<'a> {
    pub(super) report: &'a Report,
    pub(super) id: &'a str,
    pub(super) price: Price,
    pub(super) quantity: i64,
    /// So much of the order has traded with it, in lots of 1e-9, where the report gives it.
    pub(super) filled: Option<i128>,
}

impl Driver {
    /// A trade of an order that has not ended.
    pub(super) fn traded(&mut self, order_id: OrderId, traded: Traded<'_>, effects: &mut Effects) {
        if self.contradicts(order_id, traded, effects) {
            return;
        }
        let (alarms, time) = (effects.alarms.len(), traded.report.time);
        let (added, is_doubtful) = self.add_trade(order_id, traded, effects);
        if added.lots > 0 {
            self.trade(order_id, traded.id, (traded.price, added.lots), time, effects);
            self.settle(order_id, time, effects);
        }
        if is_doubtful || effects.alarms.len() > alarms {
            self.look_again(order_id, effects);
        }
    }

    /// Counts a trade. What of it is new, and whether the market counts another quantity than its reports say so far.
    fn add_trade(&mut self, order_id: OrderId, traded: Traded<'_>, effects: &mut Effects) -> (Added, bool) {
        let Some(order) = self.known_mut(order_id) else { return (Added::default(), false) };
        let is_new = !order.is_traded(traded.id);
        let terms = (traded.price, traded.quantity);
        let added = order.add_trade(traded.id, terms, traded.filled, traded.report.time);
        order.last_trade = order.last_trade.max(traded.report.time);
        let is_doubtful = match traded.filled.map(|filled| order.lacks(filled)) {
            // A report that comes again is of a time when less had traded. One that counts more is of another trade.
            Some(lacks) => lacks > 0 || is_new && lacks < 0,
            // A status had counted that much: whether it was this trade is seen when the order is asked for.
            None => is_new && added.lots < traded.quantity,
        };
        if added.value != 0 {
            let why = if order.is_busted(traded.id) { Why::Busted } else { Why::Corrected };
            let what = amount(order, why, 0, traded.price);
            let what = Unbooked {
                trade: traded.id.to_owned(),
                value: added.value * i128::from(order.request.side.sign()),
                time: traded.report.time,
                text: "counted before without its price".to_owned(),
                ..what
            };
            self.unbook(what, effects);
        }
        (added, is_doubtful)
    }

    /// Whether the report of a trade does not fit the order that it names. Then the trade is not booked.
    fn contradicts(&mut self, order_id: OrderId, traded: Traded<'_>, effects: &mut Effects) -> bool {
        let Some(order) = self.known_mut(order_id).filter(|order| !order.is_traded(traded.id)) else {
            return false;
        };
        let ours = (order.request.instrument, order.request.side);
        let (why, text) = if traded.report.of.is_some_and(|of| of != ours) {
            (Why::Contradicts, format!("the order is to {} instrument {}", ours.1, ours.0.0))
        } else if order.is_beyond_limit(traded.price) {
            (Why::BeyondLimit, format!("the order's limit is {}", order.price))
        } else {
            return false;
        };
        self.accept(order_id, traded.report.time, effects);
        let (added, _) = self.add_trade(order_id, traded, effects);
        if let Some(order) = self.known_mut(order_id).filter(|_| added.lots > 0) {
            let what = amount(order, why, added.lots, traded.price);
            let (trade, time) = (traded.id.to_owned(), traded.report.time);
            self.unbook(as_reported(Unbooked { trade, time, text, ..what }, traded.report.of), effects);
        }
        self.look_again(order_id, effects);
        true
    }

    /// Part of an order traded; what follows says how the order stands. More than is left of it is not booked.
    pub(super) fn trade(
        &mut self,
        order_id: OrderId,
        id: &str,
        (price, quantity): (Price, i64),
        time: Nanos,
        effects: &mut Effects,
    ) {
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
        let booked = quantity.min(order.remaining());
        if booked > 0 {
            self.trade += 1;
            self.positions.book(order.request.instrument, order.request.side.sign() * booked);
            let fill = order.fill(self.trade, price, booked, time);
            effects.executions.push(Execution::Fill(fill));
            if order.remaining() > 0 {
                let update = order.update(OrderStatus::PartiallyFilled, Reason::None, time);
                effects.executions.push(Execution::Update(update));
            }
        }
        let what =
            Unbooked { trade: id.to_owned(), ..amount(order, Why::OverFill, quantity - booked, price) };
        if quantity > booked {
            self.unbook(Unbooked { time, ..what }, effects);
        }
    }

    /// A trade of an order that has ended.
    pub(super) fn traded_after_end(&mut self, order_id: OrderId, traded: Traded<'_>, effects: &mut Effects) {
        if self.contradicts(order_id, traded, effects) {
            return;
        }
        let (added, is_doubtful) = self.add_trade(order_id, traded, effects);
        if is_doubtful || added != Added::default() {
            self.doubt(order_id, effects);
        }
        if let Some(order) = self.ended.get(order_id).filter(|_| added.lots > 0) {
            let what = amount(order, Why::AfterEnd, added.lots, traded.price);
            let (trade, time) = (traded.id.to_owned(), traded.report.time);
            self.unbook(Unbooked { trade, time, ..what }, effects);
        }
    }

    /// A trade of an order that is not known here.
    pub(super) fn traded_elsewhere(&mut self, traded: Traded<'_>, effects: &mut Effects) {
        let lots = i128::from(traded.quantity) * LOT;
        self.foreign(traded.report, traded.id, (lots, Some(traded.price)), Why::UnknownOrder, "", effects);
    }

    /// Something is executed of an order that is not known: by what the report itself says of it.
    fn foreign(
        &mut self,
        report: &Report,
        id: &str,
        (lots, price): (i128, Option<Price>),
        why: Why,
        text: &str,
        effects: &mut Effects,
    ) {
        if !self.foreign.insert((report.name.clone(), format!("{why} {id}"))) {
            return;
        }
        let lots = lots * report.of.map_or(1, |(_, side)| i128::from(side.sign()));
        let what = Unbooked {
            number: 0,
            why,
            order: None,
            name: report.name.clone(),
            trade: id.to_owned(),
            instrument: report.of.and_then(|(instrument, _)| listed(instrument)),
            side: report.of.map(|(_, side)| side),
            lots,
            price,
            value: value(lots, price),
            time: report.time,
            text: text.to_owned(),
        };
        self.unbook(what, effects);
    }

    /// A trade that no fill can carry.
    pub(super) fn traded_inexactly(
        &mut self,
        report: &Report,
        (id, text): (&str, &str),
        (lots, price): (i128, Option<Price>),
        effects: &mut Effects,
    ) {
        let order_id = self.found(report);
        let Some(order_id) = order_id else {
            return self.foreign(report, id, (lots, price), Why::Inexact, text, effects);
        };
        self.accept(order_id, report.time, effects);
        let Some(order) = self.known_mut(order_id).filter(|order| !order.is_traded(id)) else { return };
        order.note_inexact(id, lots, price);
        let lots = lots * i128::from(order.request.side.sign());
        let what = Unbooked {
            trade: id.to_owned(),
            lots,
            price,
            value: value(lots, price),
            time: report.time,
            text: text.to_owned(),
            ..amount(order, Why::Inexact, 0, Price(0))
        };
        self.unbook(as_reported(what, report.of), effects);
        self.look_again(order_id, effects);
    }

    /// A trade is cancelled.
    pub(super) fn busted(
        &mut self,
        report: &Report,
        id: &str,
        (price, quantity, filled): (Option<Price>, Option<Quantity>, Option<Lots>),
        effects: &mut Effects,
    ) {
        let Some(order_id) = self.found(report) else {
            let lots = -i128::from(quantity.map_or(0, |quantity| quantity.0)) * LOT;
            return self.foreign(report, id, (lots, price), Why::Busted, "", effects);
        };
        self.accept(order_id, report.time, effects);
        let Some(order) = self.known_mut(order_id) else { return };
        order.last_trade = order.last_trade.max(report.time);
        let (quantity, filled) = (quantity.map(|quantity| quantity.0), filled.map(|filled| filled.0));
        let Some((price, added)) = order.bust(id, price, quantity, (filled, report.time)) else {
            // What a status took back may have been another trade.
            if filled.is_some_and(|filled| order.lacks(filled) != 0) {
                self.look_again(order_id, effects);
            }
            return;
        };
        let what = amount(order, Why::Busted, added.lots, price.unwrap_or(Price(0)));
        let text = if added == Added::default() { "the market does not say how much" } else { "" };
        let what = Unbooked {
            trade: id.to_owned(),
            price,
            value: what.value + added.value * i128::from(order.request.side.sign()),
            time: report.time,
            text: text.to_owned(),
            ..what
        };
        self.unbook(as_reported(what, report.of), effects);
        self.look_again(order_id, effects);
    }

    /// A trade is corrected.
    pub(super) fn corrected(
        &mut self,
        report: &Report,
        (id, new_id): (&str, &str),
        (price, quantity): (Price, i64),
        effects: &mut Effects,
    ) {
        let traded = Traded { report, id: new_id, price, quantity, filled: None };
        let Some(order_id) = self.found(report) else {
            // What it was is not known: it is listed as it is now.
            let lots = i128::from(quantity) * LOT;
            let text = format!("corrects {id}");
            return self.foreign(report, new_id, (lots, Some(price)), Why::Corrected, &text, effects);
        };
        self.accept(order_id, report.time, effects);
        let works = self.orders.contains_key(&order_id);
        let Some(order) = self.known_mut(order_id) else { return };
        order.last_trade = order.last_trade.max(report.time);
        match order.correct((id, new_id), (price, quantity), report.time) {
            Corrected::Again => {}
            Corrected::First => {
                match works {
                    true => self.traded(order_id, traded, effects),
                    false => self.traded_after_end(order_id, traded, effects),
                }
                // What it was may have been counted by a status.
                self.look_again(order_id, effects);
            }
            Corrected::From(was, before) => {
                let now = amount(order, Why::Corrected, quantity, price);
                let was = amount(order, Why::Corrected, before, was);
                let what = Unbooked {
                    trade: new_id.to_owned(),
                    lots: now.lots - was.lots,
                    value: now.value - was.value,
                    time: report.time,
                    text: format!(
                        "trade {id} was {before} at {} and is {quantity} at {price}",
                        was.price.unwrap_or(Price(0))
                    ),
                    ..now
                };
                self.unbook(what, effects);
                self.look_again(order_id, effects);
            }
        }
    }

    /// The market counts other lots than it has reported, and no trade says which: what differs is not booked. `counted` is how
    /// much has traded, and at which average price, where the market gives it.
    pub(super) fn differs(
        &mut self,
        order_id: OrderId,
        lacks: i128,
        counted: (i128, Option<Average>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        let Some(order) = self.known_mut(order_id) else { return };
        let sign = i128::from(order.request.side.sign());
        let (lots, value) = (lacks * sign, order.offset(lacks, counted) * sign);
        let why = if lacks < 0 { Why::LessTraded } else { Why::Inexact };
        let what = Unbooked { price: None, time, lots, value, ..amount(order, why, 0, Price(0)) };
        self.unbook(what, effects);
    }

    /// The average price of an order tells what a trade of it was that was cancelled or corrected.
    pub(super) fn revalue(
        &mut self,
        order_id: OrderId,
        (filled, average): (Option<i128>, Option<Average>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        let decimals = self.decimals;
        let (Some(order), Some(filled)) = (self.known_mut(order_id), filled) else { return };
        let Some(revalued) = order.revalue(filled, average, decimals) else { return };
        let (why, trade, value, text) = match revalued {
            Revalued::Busted(trade, value) => {
                (Why::Busted, trade, value, "by the average price of what is left")
            }
            Revalued::Corrected(trade, value) => {
                let text = "by the order's average price: what it was before was not reported";
                (Why::Corrected, trade, value, text)
            }
        };
        let what = amount(order, why, 0, Price(0));
        let value = value * i128::from(order.request.side.sign());
        self.unbook(Unbooked { trade, price: None, value, time, text: text.to_owned(), ..what }, effects);
    }

    /// More has traded than was reported: a trade at the average price, booked where the order has not ended.
    pub(super) fn missed(
        &mut self,
        order_id: OrderId,
        (filled, average): (i128, Option<Average>),
        time: Nanos,
        effects: &mut Effects,
    ) {
        let has_ended = !self.orders.contains_key(&order_id);
        let decimals = self.decimals;
        let Some(order) = self.known_mut(order_id) else { return };
        let (lacks, instrument) = (order.lacks(filled), order.request.instrument);
        let Some(quantity) = i64::try_from(lacks / LOT).ok().filter(|_| lacks % LOT == 0) else {
            return self.differs(order_id, lacks, (filled, average), time, effects);
        };
        let tick = self.tick(instrument).unwrap_or(Price(1));
        let Some(order) = self.known_mut(order_id) else { return };
        let price = order.missing(filled, quantity, average, (decimals, tick));
        order.last_trade = order.last_trade.max(time);
        let whence = if average.is_some() { "" } else { ", its limit: the market gives no average price" };
        effects.notes.push(format!(
            "order {order_id}: {quantity} have traded of which no report came; taken as one trade at {price}{whence}"
        ));
        if has_ended {
            let what = Unbooked { time, ..amount(order, Why::AfterEnd, quantity, price) };
            return self.unbook(what, effects);
        }
        self.trade(order_id, "", (price, quantity), time, effects);
        self.settle(order_id, time, effects);
    }

    /// Keeps what is not booked.
    pub(super) fn unbook(&mut self, what: Unbooked, effects: &mut Effects) {
        if let Some(instrument) = what.instrument {
            self.positions.leave_open(instrument, what.lots);
        }
        let what = self.unbooked.add(what);
        effects.alarms.push(what.to_string());
    }

    /// An operator has decided.
    pub(super) fn settle_unbooked(&mut self, settlement: &Settlement, effects: &mut Effects) {
        let Some(what) = self.unbooked.get(settlement.number).cloned() else { return };
        if settlement.how == How::Book && !self.book_late(&what, effects) {
            return effects.notes.push(format!("no fill can say number {}: it stays open", what.number));
        }
        self.unbooked.settle(settlement);
        if let Some(instrument) = what.instrument {
            self.positions.settle(instrument, what.lots, settlement.how);
        }
        effects.notes.push(format!("settled by {}: {what}", settlement.by));
    }

    /// Whether [`How::Book`] can settle it: a trade of an order that has ended, and is remembered.
    pub fn can_book(&self, what: &Unbooked) -> bool {
        let is_known = what.order.is_some_and(|order_id| self.ended.get(order_id).is_some());
        is_known && what.as_late_fill().is_some()
    }

    /// Writes the fill of an order that has ended: its owner, td, the ledger and the accounts book it as one that is late.
    fn book_late(&mut self, what: &Unbooked, effects: &mut Effects) -> bool {
        let Some((quantity, price)) = what.as_late_fill() else { return false };
        let Some(order) = what.order.and_then(|order_id| self.ended.get_mut(order_id)) else { return false };
        self.trade += 1;
        self.positions.book(order.request.instrument, order.request.side.sign() * quantity);
        let fill = order.fill(self.trade, price, quantity, what.time);
        // Nothing of it works.
        effects.executions.push(Execution::Fill(Fill { remaining: Quantity::ZERO, ..fill }));
        true
    }

    pub(super) fn known_mut(&mut self, order_id: OrderId) -> Option<&mut Order> {
        match self.orders.get_mut(&order_id) {
            Some(order) => Some(order),
            None => self.ended.get_mut(order_id),
        }
    }

    /// What was executed changes how much of an order is left at the market: it is asked for.
    pub(super) fn look_again(&mut self, order_id: OrderId, effects: &mut Effects) {
        match self.orders.contains_key(&order_id) {
            true => self.ask(order_id, effects),
            false => self.doubt(order_id, effects),
        }
    }

    /// An order has ended here, and may work at the market.
    pub(super) fn doubt(&mut self, order_id: OrderId, effects: &mut Effects) {
        self.ended.doubt(order_id, true);
        self.ask(order_id, effects);
    }
}

/// What so many lots of an order at a price are.
fn amount(order: &Order, why: Why, quantity: i64, price: Price) -> Unbooked {
    let lots = i128::from(quantity) * i128::from(order.request.side.sign()) * LOT;
    Unbooked {
        number: 0,
        why,
        order: Some(order.request.order_id),
        name: order.names.first().cloned().unwrap_or_default(),
        trade: String::new(),
        instrument: Some(order.request.instrument),
        side: Some(order.request.side),
        lots,
        price: Some(price),
        value: value(lots, Some(price)),
        time: Nanos(0),
        text: String::new(),
    }
}

/// With the instrument and the side of the report, where it gives them.
fn as_reported(what: Unbooked, of: Option<(InstrumentId, Side)>) -> Unbooked {
    let Some((instrument, side)) = of else { return what };
    let sign = if what.side == Some(side) { 1 } else { -1 };
    Unbooked {
        instrument: listed(instrument),
        side: Some(side),
        lots: what.lots * sign,
        value: what.value * sign,
        ..what
    }
}

/// None for an instrument that is not listed here.
fn listed(instrument: InstrumentId) -> Option<InstrumentId> {
    Some(instrument).filter(|instrument| instrument.0 > 0)
}
