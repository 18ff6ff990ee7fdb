//! How orders stand: statuses (150=I) that were asked for, and those that take the place of reports that are lost.
//!
//! The core answers with its own state, which may be ahead of the reports that a session has passed on, or behind them. A status
//! waits until the reports that it knows of are passed on, and is brought up to date with those that were passed on since.

use std::collections::{HashMap, HashSet};

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
    /// An order of which a request was, and of which it is not known how it ended.
    pub(super) unknown: Option<Box<Unknown>>,
    /// It waits until this report is passed on.
    pub(super) behind: u64,
}

/// An order that works no more, and whose end is not known: its last reports are overwritten.
#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) order: OrderView,
    /// The request: its type, its number, its ClOrdID.
    pub(super) asked: Asked,
}

/// A request of the client's: its type, its number and its ClOrdID.
pub(super) type Asked = (&'static str, u64, String);

/// Orders as the core had them.
#[derive(Debug)]
pub(super) struct Statuses {
    orders: Vec<OrderView>,
    /// MassStatusReqID (584), of an answer to a mass request.
    mass: Option<String>,
    /// The request, where it was one about one order.
    asked: Option<Asked>,
    /// The core knew of the reports up to this one.
    seen: u64,
}

impl Answer {
    pub(super) fn message(kind: &'static str, fields: Fields) -> Answer {
        Answer { message: Some((kind, fields)), ..Answer::default() }
    }

    pub(super) fn statuses(orders: Vec<OrderView>, mass: Option<String>, seen: u64) -> Answer {
        let behind = orders.iter().map(|order| order.sequence).max().unwrap_or_default();
        Answer { statuses: Some(Statuses { orders, mass, asked: None, seen }), behind, ..Answer::default() }
    }

    /// It answers this request.
    pub(super) fn to(mut self, asked: Asked) -> Answer {
        if let Some(statuses) = &mut self.statuses {
            statuses.asked = Some(asked);
        }
        self
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

/// As the core calls an order whose end is not known.
pub(super) const UNKNOWN: &str = "unknown";

/// An ExecutionReport that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told(String);

impl Told {
    fn get(&self, tag: u32) -> &str {
        field(&self.0, tag)
    }

    /// The order ended with it.
    fn is_end(&self) -> bool {
        matches!(self.get(39), "2" | "4" | "8")
    }

    /// The same as a status.
    fn again(&self, name: &str, exec_id: &str, now: u64) -> Fields {
        let mut fields =
            Fields::default().with(37, self.get(37)).with(11, name).with(17, exec_id).with(150, 'I');
        for tag in [39, 1, 55, 54, 38, 40, 44, 59, 151, 14, 6] {
            fields = fields.may(tag, Some(self.get(tag)).filter(|value| !value.is_empty()));
        }
        let text = "as it was told before: the reports are overwritten";
        fields.with(60, crate::time::utc(now)).with(58, text)
    }
}

/// A field's value; empty: it is not there.
fn field(body: &str, tag: u32) -> &str {
    let value = |field: &'_ str| -> Option<usize> {
        let (known, value) = field.split_once('=')?;
        (known.parse() == Ok(tag)).then_some(value.len())
    };
    let found = body.split('\x01').find_map(|field| Some(&field[field.len() - value(field)?..]));
    found.unwrap_or_default()
}

/// The last of these reports about each of these orders. Statuses that an earlier version sent about orders whose end was not known,
/// New without a quantity, are left out.
fn last_told<'a>(reports: impl Iterator<Item = &'a str>, orders: &HashSet<&str>) -> HashMap<String, Told> {
    let mut told = HashMap::new();
    for body in reports {
        let id = field(body, 37);
        let is_nothing = (field(body, 39), field(body, 151)) == ("0", "0");
        if orders.contains(id) && !is_nothing {
            told.insert(id.to_owned(), Told(body.to_owned()));
        }
    }
    told
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
        let Statuses { mut orders, mass, asked, seen } = statuses;
        let looked = self.looked_at();
        let reports = self.place.reports_after(seen);
        renew(&mut orders, reports.iter().map(AsRef::as_ref).take_while(|event| event.sequence <= looked));
        let told = self.told(&orders);
        let total = orders.len();
        for (index, order) in orders.iter().enumerate() {
            if order.status == UNKNOWN {
                let asked = asked.clone().unwrap_or(("D", 0, self.name(order).to_owned()));
                self.send_unknown(order, told.get(&order.order_id), &asked).await?;
                continue;
            }
            let mut fields = self.status(order);
            if let Some(id) = &mass {
                let is_last = index + 1 == total;
                fields = fields.with(584, id).with(911, total).with(912, if is_last { 'Y' } else { 'N' });
            }
            self.send("8", fields).await?;
        }
        Ok(())
    }

    /// What an order is called now.
    fn name<'a>(&'a self, order: &'a OrderView) -> &'a str {
        self.store.current(order.client_order_id.as_deref().unwrap_or(&order.order_id))
    }

    /// The last reports that were sent about those of these orders whose end is not known.
    fn told(&self, orders: &[OrderView]) -> HashMap<String, Told> {
        let unknown: HashSet<&str> = orders
            .iter()
            .filter(|order| order.status == UNKNOWN)
            .map(|order| order.order_id.as_str())
            .collect();
        match unknown.is_empty() {
            true => HashMap::new(),
            false => last_told(self.store.reports(), &unknown),
        }
    }

    /// The end that the session was told of; else that it is not known.
    async fn send_unknown(
        &mut self,
        order: &OrderView,
        told: Option<&Told>,
        (kind, sequence, id): &Asked,
    ) -> Result<(), End> {
        if let Some(told) = told.filter(|told| told.is_end()) {
            let fields = told.again(self.name(order), &self.exec_id(), self.place.now());
            return self.send("8", fields).await;
        }
        let last = told.map_or_else(
            || "nothing was told about it".to_owned(),
            |told| format!("it was told last with OrdStatus {} and CumQty {}", told.get(39), told.get(14)),
        );
        let fields = Fields::default()
            .may(45, (*sequence > 0).then_some(sequence))
            .with(372, kind)
            .with(379, id)
            .with(380, 0)
            .with(
                58,
                format!("order {} works no more, and how it ended is not known: {last}", order.order_id),
            );
        self.send("j", fields).await
    }

    /// A request about an order whose end is not known: the cancel, or the replace, is refused with the end that was told.
    pub(super) async fn refuse_unknown(&mut self, unknown: &Unknown) -> Result<(), End> {
        let Unknown { order, asked } = unknown;
        let told = self.told(std::slice::from_ref(order));
        match told.get(&order.order_id).filter(|told| told.is_end()) {
            None => self.send_unknown(order, None, asked).await,
            Some(told) => {
                let (kind, _, id) = asked;
                let fields = Fields::default()
                    .with(37, &order.order_id)
                    .with(11, id)
                    .with(41, self.name(order))
                    .with(39, told.get(39))
                    .with(434, if *kind == "G" { '2' } else { '1' })
                    .with(102, 0)
                    .with(58, "the order has ended")
                    .with(60, crate::time::utc(self.place.now()));
                self.send("9", fields).await
            }
        }
    }

    fn status(&self, order: &OrderView) -> Fields {
        let names = words::Names {
            id: self.name(order),
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
    let asked = ("H", message.sequence(), id);
    let is_asked = link.ask(
        move |reply: Reply<Outcome>| Ask::Order { order, scope, reply },
        move |outcome| match outcome {
            Some(Outcome::Order(order)) => Answer::statuses(vec![order], None, seen).to(asked),
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
    fn the_last_report_about_an_order_is_what_was_told_of_it() {
        let body = |id: &str, exec_type: char, status: char, leaves: u32, filled: u32| {
            Fields::default()
                .with(37, id)
                .with(11, "a")
                .with(150, exec_type)
                .with(39, status)
                .with(55, "SIM001")
                .with(151, leaves)
                .with(14, filled)
                .0
        };
        let sent = [
            body("7-1-1", '0', '0', 3, 0),
            body("7-1-1", 'F', '1', 2, 1),
            body("7-1-2", '0', '0', 3, 0),
            body("7-1-3", '0', '0', 3, 0),
            body("7-1-3", 'F', '2', 0, 3),
            // As an earlier version had it.
            body("7-1-3", 'I', '0', 0, 0),
            body("7-1-33", '4', '4', 0, 1),
        ];
        let orders = HashSet::from(["7-1-1", "7-1-3", "7-1-4"]);
        let told = last_told(sent.iter().map(String::as_str), &orders);
        assert_eq!(told.len(), 2, "{told:?}");
        let values = |id: &str| (told[id].get(39), told[id].get(14), told[id].is_end());
        assert_eq!(values("7-1-1"), ("1", "1", false));
        assert_eq!(values("7-1-3"), ("2", "3", true));
        let again = told["7-1-3"].again("b", "e", 0).0;
        for (tag, value) in
            [(37, "7-1-3"), (11, "b"), (150, "I"), (39, "2"), (151, "0"), (14, "3"), (55, "SIM001")]
        {
            assert_eq!(field(&again, tag), value, "{tag}");
        }
        assert_eq!((field(&again, 44), field(&again, 5)), ("", ""));
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
