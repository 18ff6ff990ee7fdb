//! What is owed for each request, whatever the market does. Pure: the same input gives the same output, and names.
//!
//! ```text
//!   New ─► sent ─┬─ Accepted, Trade, … ─► works ─┬─ Ended, the last Trade ─► ended: all that was asked of it is answered
//!                ├─ Rejected ─► ended            └─ Replaced ─► works
//!                └─ (Down, Up) ─► asked for: what the market says of it counts
//! ```
//!
//! - A request is answered when the market has decided about it. Positions of requests ascend, answers need not: `answered_up_to`
//!   is the last request before the first without an answer.
//! - An end that says that more has traded than has come waits for the trades; if they do not come, the order is asked for twice, and what is
//!   missing then is one trade at the average price. A trade that comes after all is known by its quantity.
//! - What a fill cannot say is kept as [`Unbooked`]: a trade of an order that has ended or is not known, of more than is left or of a part of a
//!   lot; a trade that is cancelled or corrected. So at each moment the market's position is booked + not booked. Until an operator
//!   settles it ([`Input::Settle`]), new orders and replaces are refused, where [`Input::Stop`] says so.
//! - An order that has ended here and works at the market is cancelled there, until the market says that it has ended.
//! - A refused cancel or replace is answered when the order's status is known: the order may have ended, or the change have been
//!   made before.
//! - One replace of an order is under way at a time. Cancels overtake those that wait.

mod ended;
mod order;
mod position;
mod reports;
mod status;
mod trades;

use std::collections::{BTreeMap, BTreeSet};

use wire::{
    CancelAll, Execution, InstrumentId, Nanos, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Quantity,
    Reason, Request, StrategyId,
};

use crate::market::{Command, News, Report};
use crate::unbooked::{List, Settled, Settlement, Unbooked};
use ended::Ended;
use order::{Change, Kind, Order, terms};
use position::Positions;

/// What the driver hears.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A request, with its position in `td.orders`.
    Request(u64, Request),
    /// From the market.
    News(News),
    /// Nothing was heard of this for too long: it is asked for.
    Overdue(Overdue),
    /// Nothing is traded any more: working orders are cancelled, and all but cancels is refused.
    Close,
    /// Whether new orders and replaces are refused while an execution is not booked.
    Stop(bool),
    /// The tick of an instrument: prices that only an average tells are whole ticks.
    Tick(InstrumentId, Price),
    /// An operator settles what is not booked.
    Settle(Settlement),
}

/// What waits for the market.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overdue {
    /// A request, by its position.
    Request(u64),
    /// The trades behind the end of an order, or whether it has ended at the market too.
    End(OrderId),
    /// A report of a position that differs, by its number.
    Position(InstrumentId, u32),
}

/// What it does about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// To be written to `matching.executions`.
    pub executions: Vec<Execution>,
    /// To be sent.
    pub commands: Vec<Command>,
    /// Worth a line in the log.
    pub notes: Vec<String>,
    /// Executions that are not booked, each in a line.
    pub alarms: Vec<String>,
}

/// A request without an answer.
#[derive(Clone, Debug)]
struct Unanswered {
    /// The position of the request before it.
    before: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Of this order: a new one, or a change.
    Of(OrderId),
    /// Of several: those that are left, and how many were cancelled and not.
    Mass { request: CancelAll, left: BTreeSet<OrderId>, cancelled: i64, kept: i64 },
}

/// Requests and news in, executions and commands out.
#[derive(Clone, Debug)]
pub struct Driver {
    prefix: String,
    orders: BTreeMap<OrderId, Order>,
    names: BTreeMap<String, OrderId>,
    unanswered: BTreeMap<u64, Unanswered>,
    /// The last request that was taken.
    taken: u64,
    /// The last trade's number.
    trade: u64,
    /// By strategy: its newest order.
    newest: BTreeMap<StrategyId, OrderId>,
    /// Orders of a closed market that are cancelled without being asked for have names by number.
    closing: u64,
    is_up: bool,
    is_closed: bool,
    strays: u64,
    ended: Ended,
    unbooked: List,
    positions: Positions,
    /// Trades under names that are not known: name and trade.
    foreign: BTreeSet<(String, String)>,
    /// New orders and replaces are refused while something is not booked.
    stops: bool,
    /// Of the last report, by the market's clock.
    time: Nanos,
    /// The most decimals of an average price so far.
    decimals: u32,
    ticks: BTreeMap<InstrumentId, Price>,
}

impl Driver {
    /// Without orders. All names begin with `prefix`, which no other book uses at that market.
    pub fn new(prefix: &str) -> Driver {
        Driver {
            prefix: prefix.to_owned(),
            orders: BTreeMap::new(),
            names: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            taken: 0,
            trade: 0,
            newest: BTreeMap::new(),
            closing: 0,
            is_up: false,
            is_closed: false,
            strays: 0,
            ended: Ended::default(),
            unbooked: List::default(),
            positions: Positions::default(),
            foreign: BTreeSet::new(),
            stops: true,
            time: Nanos(0),
            decimals: 0,
            ticks: BTreeMap::new(),
        }
    }

    /// The last request that was taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether the line is there.
    pub fn is_up(&self) -> bool {
        self.is_up
    }

    /// Orders without an end.
    pub fn orders(&self) -> usize {
        self.orders.len()
    }

    /// Requests without an answer.
    pub fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Reports about orders that are not known here, in which nothing traded.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// What the market has executed and is not booked, by number.
    pub fn unbooked(&self) -> impl ExactSizeIterator<Item = &Unbooked> {
        self.unbooked.open()
    }

    /// How many executions were not booked so far, settled ones among them.
    pub fn unbooked_so_far(&self) -> u64 {
        self.unbooked.count()
    }

    /// How many fills were written, or are about to be.
    pub fn trades(&self) -> u64 {
        self.trade
    }

    /// What operators have settled, in their order.
    pub fn settled(&self) -> &[Settled] {
        self.unbooked.settled()
    }

    /// Whether new orders and replaces are refused while something is not booked.
    pub fn stops(&self) -> bool {
        self.stops
    }

    /// The tick of an instrument, where it is known.
    pub fn tick(&self, instrument: InstrumentId) -> Option<Price> {
        self.ticks.get(&instrument).copied()
    }

    /// Whether new orders and replaces are refused because something is not booked.
    pub fn is_stopped(&self) -> bool {
        self.stops && self.unbooked.open().len() > 0
    }

    /// What waits for the market.
    pub fn waiting(&self) -> Vec<Overdue> {
        let requests = self.unanswered.keys().copied().map(Overdue::Request);
        let ended = self.orders.iter().filter(|(_, order)| order.end.is_some() || order.is_counted_again());
        let ended = ended.map(|(id, _)| *id).chain(self.ended.doubtful());
        let positions =
            self.positions.differing().map(|(instrument, report)| Overdue::Position(instrument, report));
        requests.chain(ended.map(Overdue::End)).chain(positions).collect()
    }

    /// Takes the next input.
    pub fn take(&mut self, input: &Input, effects: &mut Effects) {
        let from = effects.executions.len();
        match input {
            Input::Request(position, request) if *position > self.taken => {
                self.request(*position, request, effects);
            }
            Input::Request(..) => {}
            Input::News(News::Up) => self.up(effects),
            Input::News(News::Down) => self.is_up = false,
            Input::News(News::Gap) => self.ask_all(effects),
            Input::News(News::Report(report)) => self.report(report, effects),
            Input::News(News::Position { instrument, lots }) => self.position(*instrument, *lots, effects),
            Input::Overdue(overdue) => self.overdue(*overdue, effects),
            Input::Close => {
                self.is_closed = true;
                self.cancel_all(effects);
            }
            Input::Stop(stops) => self.stops = *stops,
            Input::Tick(instrument, tick) => drop(self.ticks.insert(*instrument, *tick)),
            Input::Settle(settlement) => self.settle_unbooked(settlement, effects),
        }
        let answered = self.unanswered.first_key_value().map_or(self.taken, |(_, first)| first.before);
        effects.executions[from..].iter_mut().for_each(|execution| execution.set_answered_up_to(answered));
    }

    fn request(&mut self, position: u64, request: &Request, effects: &mut Effects) {
        let what = match request {
            Request::CancelAll(cancel) => {
                What::Mass { request: *cancel, left: BTreeSet::new(), cancelled: 0, kept: 0 }
            }
            _ => What::Of(request.order_id()),
        };
        self.unanswered.insert(position, Unanswered { before: self.taken, what });
        self.taken = position;
        match request {
            Request::New(order) => self.new_order(position, order, effects),
            Request::Cancel(cancel) => self.change(position, request, cancel.order_id, Kind::Cancel, effects),
            Request::Replace(replace) => {
                self.change(position, request, replace.order_id, terms(replace), effects);
            }
            Request::CancelAll(cancel) => self.mass(position, cancel, effects),
        }
    }

    /// Answers a request at once.
    fn refuse(&mut self, position: u64, request: &Request, reason: Reason, effects: &mut Effects) {
        self.unanswered.remove(&position);
        let refusal = OrderUpdate { reason, ..matching::seat::refuse(request) };
        // A refused change says how the order stands, where it is known.
        let refusal = match self.orders.get(&request.order_id()) {
            Some(order) if refusal.status.is_refusal() => order.update(refusal.status, reason, Nanos(0)),
            _ => refusal,
        };
        effects.executions.push(Execution::Update(refusal));
    }

    fn new_order(&mut self, position: u64, order: &NewOrder, effects: &mut Effects) {
        let request = Request::New(*order);
        let newest = self.newest.get(&order.order_id.strategy());
        // td writes an order again when it was killed before its cursor could move.
        if newest.is_some_and(|newest| !order.order_id.is_newer_than(*newest)) {
            return self.refuse(position, &request, Reason::DuplicateOrder, effects);
        }
        self.newest.insert(order.order_id.strategy(), order.order_id);
        if self.is_closed || !self.is_up || self.is_stopped() {
            return self.refuse(position, &request, Reason::MarketClosed, effects);
        }
        let name = self.name(position, 1);
        self.names.insert(name.clone(), order.order_id);
        self.orders.insert(order.order_id, Order::new(*order, position, name.clone()));
        effects.commands.push(Command::New { name, order: *order });
    }

    /// Made from where the request stands: nobody else gives it.
    fn name(&self, position: u64, attempt: u32) -> String {
        let request = base36(position / 64);
        match attempt {
            1 => format!("{}-{request}", self.prefix),
            more => format!("{}-{request}.{more}", self.prefix),
        }
    }

    fn change(
        &mut self,
        position: u64,
        request: &Request,
        order_id: OrderId,
        kind: Kind,
        effects: &mut Effects,
    ) {
        let is_replace = matches!(kind, Kind::Replace(..));
        let may_replace = self.is_up && !self.is_closed && !self.is_stopped();
        let reason = match (self.orders.get(&order_id), kind) {
            (None, _) => Some(Reason::UnknownOrder),
            (Some(order), _) if order.request.instrument != request.instrument() => Some(Reason::Malformed),
            (Some(_), Kind::Replace(..)) if !may_replace => Some(Reason::MarketClosed),
            (Some(order), Kind::Replace(_, quantity)) if quantity.0 <= order.filled => Some(Reason::Quantity),
            _ => None,
        };
        if let Some(reason) = reason {
            return self.refuse(position, request, reason, effects);
        }
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let waits = is_replace && order.changes.iter().any(|other| matches!(other.kind, Kind::Replace(..)));
        order.changes.push_back(Change::new(position, kind));
        if self.is_up && !waits {
            self.send(order_id, position, effects);
        }
    }

    fn mass(&mut self, position: u64, request: &CancelAll, effects: &mut Effects) {
        let is_meant = |order: &Order| {
            order.request.order_id.strategy() == request.order_id.strategy()
                && request.of_instrument().is_none_or(|instrument| instrument == order.request.instrument)
                && request.of_account().is_none_or(|account| account == order.request.account)
                && request.of_side().is_none_or(|side| side == order.request.side)
        };
        let meant: BTreeSet<OrderId> = self
            .orders
            .values()
            .filter(|order| is_meant(order))
            .map(|order| order.request.order_id)
            .collect();
        for order_id in &meant {
            let Some(order) = self.orders.get_mut(order_id) else { continue };
            let change = Change::new(position, Kind::Mass);
            order.changes.push_back(change);
            if self.is_up {
                self.send(*order_id, position, effects);
            }
        }
        if let Some(Unanswered { what: What::Mass { left, .. }, .. }) = self.unanswered.get_mut(&position) {
            *left = meant;
        }
        self.settle_mass(position, effects);
    }

    /// One order of a mass cancel is done with.
    fn out_of_mass(&mut self, position: u64, order_id: OrderId, is_cancelled: bool, effects: &mut Effects) {
        if let Some(Unanswered { what: What::Mass { left, cancelled, kept, .. }, .. }) =
            self.unanswered.get_mut(&position)
            && left.remove(&order_id)
        {
            *cancelled += i64::from(is_cancelled);
            *kept += i64::from(!is_cancelled && self.orders.contains_key(&order_id));
        }
        self.settle_mass(position, effects);
    }

    fn settle_mass(&mut self, position: u64, effects: &mut Effects) {
        let Some(Unanswered { what: What::Mass { request, left, cancelled, kept }, .. }) =
            self.unanswered.get(&position)
        else {
            return;
        };
        if left.is_empty() {
            effects.executions.push(Execution::Update(OrderUpdate {
                side: request.side,
                quantity: Quantity(*cancelled),
                remaining: Quantity(*kept),
                ..OrderUpdate::about(
                    request.order_id,
                    request.instrument,
                    OrderStatus::MassCancelled,
                    Reason::Requested,
                )
            }));
            self.unanswered.remove(&position);
        }
    }

    /// Sends a change, under a name that was not used before.
    fn send(&mut self, order_id: OrderId, position: u64, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        let Some(place) = order.changes.iter().position(|change| change.position == position) else { return };
        let attempt = order.changes[place].attempts + 1;
        let mut name = self.name(position, attempt);
        if order.changes[place].kind == Kind::Mass {
            // Of one request there are many.
            name = format!("{name}.{}", base36(order.position / 64));
        }
        let Some(order) = self.orders.get_mut(&order_id) else { return };
        let of = order.target();
        let is_replaced = order.is_being_replaced();
        if let Kind::Replace(price, _) = order.changes[place].kind {
            order.widen_limit(price);
        }
        let change = &mut order.changes[place];
        change.is_crossed = is_replaced && !matches!(change.kind, Kind::Replace(..));
        (change.attempts, change.refused, change.name) = (attempt, None, Some(name.clone()));
        effects.commands.push(match change.kind {
            Kind::Cancel | Kind::Mass => Command::Cancel { name: name.clone(), of },
            Kind::Replace(price, quantity) => Command::Replace { name: name.clone(), of, price, quantity },
        });
        order.names.push(name.clone());
        self.names.insert(name, order_id);
    }

    /// The first replace that waits.
    fn send_next(&mut self, order_id: OrderId, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        let next = order.changes.iter().find(|change| matches!(change.kind, Kind::Replace(..)));
        if let Some(position) = next.filter(|next| next.name.is_none()).map(|next| next.position)
            && self.is_up
        {
            self.send(order_id, position, effects);
        }
    }

    fn ask(&self, order_id: OrderId, effects: &mut Effects) {
        let order = self.orders.get(&order_id).or_else(|| self.ended.get(order_id));
        if let Some(order) = order.filter(|_| self.is_up) {
            effects.commands.push(Command::Ask { of: order.target(), can_wait: false });
        }
    }

    /// Reports may be lost. Asks for every order that may work at the market, for all that the market has, and for the ended orders of
    /// the day: a trade of those too may have come, or have been cancelled or corrected.
    fn ask_all(&mut self, effects: &mut Effects) {
        if !self.is_up {
            return;
        }
        let doubtful = self.ended.doubtful();
        let ended: Vec<OrderId> =
            self.ended.of_the_day(self.time).into_iter().filter(|id| !doubtful.contains(id)).collect();
        let all: Vec<OrderId> = self.orders.keys().copied().chain(doubtful).collect();
        for order_id in all {
            self.may_be_corrected(order_id);
            self.ask(order_id, effects);
        }
        for order_id in ended {
            self.may_be_corrected(order_id);
            if let Some(order) = self.ended.get(order_id) {
                effects.commands.push(Command::Ask { of: order.target(), can_wait: true });
            }
        }
        self.reconcile(effects);
    }

    fn may_be_corrected(&mut self, order_id: OrderId) {
        if let Some(order) = self.known_mut(order_id) {
            order.may_be_corrected();
        }
    }

    /// Asks for all that the market has.
    fn reconcile(&mut self, effects: &mut Effects) {
        self.positions.ask();
        effects.commands.push(Command::Reconcile);
    }

    /// The order that a report is about.
    fn found(&self, report: &Report) -> Option<OrderId> {
        let original = || self.names.get(report.original.as_ref()?);
        self.names.get(&report.name).or_else(original).copied()
    }

    /// Cancels an order of which no request is left.
    fn withdraw(&mut self, order_id: OrderId, effects: &mut Effects) {
        self.closing += 1;
        // No request is called so: behind its dash stands a digit.
        let name = format!("{}--{}", self.prefix, base36(self.closing));
        let order = self.orders.get_mut(&order_id);
        let Some(order) = order.or_else(|| self.ended.get_mut(order_id)).filter(|_| self.is_up) else {
            return;
        };
        effects.commands.push(Command::Cancel { name: name.clone(), of: order.target() });
        order.names.push(name.clone());
        self.names.insert(name, order_id);
    }

    /// What was under way on the line before may be lost, in both directions.
    fn up(&mut self, effects: &mut Effects) {
        self.is_up = true;
        self.positions.forget_questions();
        self.ask_all(effects);
        let all: Vec<OrderId> = self.orders.keys().copied().collect();
        all.into_iter().for_each(|order_id| self.send_changes(order_id, effects));
        if self.is_closed {
            self.cancel_all(effects);
        }
    }

    /// Again what is not answered, and may be sent now: twice carried out it does what it does once.
    fn send_changes(&mut self, order_id: OrderId, effects: &mut Effects) {
        let Some(order) = self.orders.get(&order_id) else { return };
        let mut has_replace = false;
        let due: Vec<u64> = order
            .changes
            .iter()
            .filter(|change| match change.kind {
                Kind::Cancel | Kind::Mass => true,
                Kind::Replace(..) => !std::mem::replace(&mut has_replace, true),
            })
            .filter(|change| change.refused.is_none())
            .map(|change| change.position)
            .collect();
        due.into_iter().for_each(|position| self.send(order_id, position, effects));
    }

    /// Of a market that is closed: nobody asks for it.
    fn cancel_all(&mut self, effects: &mut Effects) {
        if !self.is_up {
            return;
        }
        let all: Vec<OrderId> = self.orders.keys().copied().collect();
        all.into_iter().for_each(|order_id| self.withdraw(order_id, effects));
    }

    fn overdue(&mut self, overdue: Overdue, effects: &mut Effects) {
        if !self.is_up {
            return;
        }
        match overdue {
            Overdue::End(order_id) => self.ask(order_id, effects),
            Overdue::Position(instrument, report) => {
                if self.positions.overdue(instrument, report) {
                    self.reconcile(effects);
                }
            }
            Overdue::Request(position) => {
                let Some(unanswered) = self.unanswered.get(&position) else { return };
                let orders: Vec<OrderId> = match &unanswered.what {
                    What::Of(order_id) => vec![*order_id],
                    What::Mass { left, .. } => left.iter().copied().collect(),
                };
                for order_id in orders {
                    let Some(order) = self.orders.get(&order_id) else { continue };
                    let change = order.changes.iter().find(|change| change.position == position);
                    match change {
                        // Of the order itself, or how it stands says the rest.
                        None => self.ask(order_id, effects),
                        Some(change) if change.refused.is_some() => self.ask(order_id, effects),
                        Some(change) if change.name.is_some() => self.send(order_id, position, effects),
                        // It waits for another one.
                        Some(_) => {}
                    }
                }
            }
        }
    }
}

/// Whether two names are of the same request: "p-1a" and "p-1a.2" are.
fn is_attempt_of(one: &str, other: &str) -> bool {
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    first(one) == first(other)
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(number % 36) as usize]);
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}

/// A prefix that no other book has: when it was begun, in microseconds.
pub(crate) fn prefix(now: Nanos) -> String {
    base36(now.0 / 1_000)
}
