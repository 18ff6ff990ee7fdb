//! How orders stand: statuses (150=I) that were asked for, and those that take the place of reports that are lost.
//!
//! The core answers with its own state, which may be ahead of the reports that a session has passed on, or behind them. A status
//! waits until the reports that it knows of are passed on, and is brought up to date with those that were passed on since.

use std::collections::HashMap;

use super::codec::{Fields, Message};
use super::link::{End, Link};
use super::words::{self, Wrong, need};
use crate::core::ask::{Ask, OrderFilter, OrderName, Outcome, Reply};
use crate::http::body::client_id;
use crate::push::{About, Event};
use crate::view::OrderView;
use wire::{AccountId, Execution};

/// What a session gets beside td's reports.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) message: Option<(&'static str, Fields)>,
    pub(super) statuses: Option<Statuses>,
    /// A change that came to nothing, of which no report will speak.
    pub(super) dropped: Option<String>,
    /// It waits until this report is passed on.
    pub(super) behind: u64,
}

/// Orders as the core had them.
#[derive(Debug)]
pub(super) struct Statuses {
    orders: Vec<OrderView>,
    /// MassStatusReqID (584), of an answer to a mass request.
    mass: Option<String>,
    /// The core knew of the reports up to this one.
    seen: u64,
}

impl Answer {
    pub(super) fn message(kind: &'static str, fields: Fields) -> Answer {
        Answer { message: Some((kind, fields)), ..Answer::default() }
    }

    pub(super) fn statuses(orders: Vec<OrderView>, mass: Option<String>, seen: u64) -> Answer {
        let behind = orders.iter().map(|order| order.sequence).max().unwrap_or_default();
        Answer { statuses: Some(Statuses { orders, mass, seen }), behind, ..Answer::default() }
    }
}

/// What has traded of an order, by the reports that a session has passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traded {
    /// Sum of price × quantity.
    pub(super) value: i128,
    pub(super) quantity: i64,
}

impl Traded {
    pub(super) fn add(&mut self, execution: &Execution) {
        if let Execution::Fill(fill) = execution {
            self.value += i128::from(fill.price.0) * i128::from(fill.quantity.0);
            self.quantity += fill.quantity.0;
        }
    }
}

/// Brings orders up to date with these reports.
fn renew<'a>(orders: &mut [OrderView], reports: impl Iterator<Item = &'a Event>) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, order) in orders.iter().enumerate() {
        places.insert(order.order_id.clone(), place);
    }
    for report in reports {
        let About::Order(newer) = &report.about else { continue };
        let known = places.get(&newer.order_id).and_then(|place| orders.get_mut(*place));
        if let Some(order) = known.filter(|order| order.sequence < newer.sequence) {
            *order = (**newer).clone();
        }
    }
}

impl Link {
    pub(super) async fn send_statuses(&mut self, statuses: Statuses) -> Result<(), End> {
        let Statuses { mut orders, mass, seen } = statuses;
        let looked = self.looked_at();
        let reports = self.place.reports_after(seen);
        renew(&mut orders, reports.iter().map(AsRef::as_ref).take_while(|event| event.sequence <= looked));
        let total = orders.len();
        for (index, order) in orders.iter().enumerate() {
            let mut fields = self.status(order);
            if let Some(id) = &mass {
                let is_last = index + 1 == total;
                fields = fields.with(584, id).with(911, total).with(912, if is_last { 'Y' } else { 'N' });
            }
            self.send("8", fields).await?;
        }
        Ok(())
    }

    fn status(&self, order: &OrderView) -> Fields {
        let root = order.client_order_id.as_deref().unwrap_or(&order.order_id);
        let names = words::Names {
            id: self.store.current(root),
            before: None,
            symbol: &self.place.market.borrow().name(order.instrument),
            exec_id: &self.exec_id(),
            traded: self.traded(&order.order_id),
            time_ns: self.place.now(),
        };
        words::report(order, 'I', &names, None)
    }
}

/// An OrderStatusRequest.
pub(super) fn one(link: &mut Link, message: &Message) -> Result<(), Wrong> {
    let id = need(message, 11)?.to_owned();
    let missing = {
        let fields = words::refused(message, &link.exec_id(), 5, "there is no such order", link.place.now());
        // A status, and not a refusal of anything.
        Fields(fields.0.replacen("\x01150=8\x01", "\x01150=I\x01", 1))
    };
    let account = link.account(message);
    let name = client_id(link.store.root(&id));
    let (Ok(account), Ok(name)) = (account, name) else {
        link.say("8", missing);
        return Ok(());
    };
    let (order, scope) = (OrderName::Client(AccountId(account), name), Some(vec![account]));
    let (missed, seen) = (missing.clone(), link.place.last().1);
    let is_asked = link.ask(
        move |reply: Reply<Outcome>| Ask::Order { order, scope, reply },
        move |outcome| match outcome {
            Some(Outcome::Order(order)) => Answer::statuses(vec![order], None, seen),
            _ => Answer::message("8", missed),
        },
    );
    if !is_asked {
        link.say("8", missing);
    }
    Ok(())
}

/// An OrderMassStatusRequest: all that works.
pub(super) fn mass(link: &mut Link, message: &Message) -> Result<(), Wrong> {
    let id = need(message, 584)?.to_owned();
    if need(message, 585)? != "7" {
        return Err(Wrong { tag: 585, reason: 5, text: "tag 585 must be 7, all orders".to_owned() });
    }
    list(link, true, 10_000, Some(id), 0);
    Ok(())
}

/// Reports were lost before they were passed on: the session gets statuses of its orders.
pub(super) fn catch_up(link: &mut Link, forgotten: u64) {
    let looked = std::cmp::min(link.looked_at(), forgotten);
    list(link, false, 100_000, None, looked);
}

fn list(link: &Link, working: bool, limit: usize, mass: Option<String>, behind: u64) {
    let token = link.identity.token.id.clone();
    let accounts = link.identity.token.accounts.clone();
    let filter = OrderFilter { accounts, instrument: None, working, limit };
    let seen = link.place.last().1;
    link.ask(
        |reply| Ask::Orders(filter, reply),
        move |orders| {
            let is_mine = |order: &OrderView| {
                order.token == token
                    && order.client_order_id.is_some()
                    && (behind == 0 || order.sequence > behind)
            };
            Answer::statuses(orders.into_iter().flatten().filter(is_mine).collect(), mass, seen)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::Channel;

    fn order(id: &str, sequence: u64, filled: i64) -> OrderView {
        OrderView { order_id: id.to_owned(), sequence, filled, ..OrderView::default() }
    }

    #[test]
    fn an_order_is_brought_up_to_date_with_later_reports_and_never_set_back() {
        let report = |id: &str, sequence, filled| {
            let about = About::Order(Box::new(order(id, sequence, filled)));
            Event::new(Channel::Orders, 9, sequence, 0, 0, &[], about)
        };
        let reports = [report("a", 64, 1), report("b", 128, 1), report("a", 192, 2), report("c", 256, 9)];
        let mut orders = [order("a", 64, 1), order("b", 320, 3), order("d", 64, 4)];
        renew(&mut orders, reports.iter());
        assert_eq!(orders, [order("a", 192, 2), order("b", 320, 3), order("d", 64, 4)]);
        let answer = Answer::statuses(orders.to_vec(), None, 64);
        assert_eq!(answer.behind, 320, "it waits for the last report that the core knew of");
    }
}
