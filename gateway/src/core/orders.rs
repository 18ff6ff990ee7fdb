//! The clients' orders: pure. What goes into the journal and what td says is folded here, in a running gateway and in one that
//! reads both back.

use std::collections::{HashMap, VecDeque};

use wire::{
    AccountId, ClientOrder, Execution, InstrumentId, KeptOrder, Nanos, NewOrder, OrderId, OrderStatus, Price,
    Quantity, Reason, Text, terms,
};

use super::ask::{OrderFilter, OrderName};
use super::kept::Kept;
use super::owed::Scope;
use crate::terms::Terms;
use crate::view::{OrderView, price};

/// Orders that have ended and are remembered.
const REMEMBERED: usize = 100_000;

/// How an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is in the journal; nobody has answered.
    Sent,
    /// As td or the market last said.
    Known(OrderStatus),
    /// Its reports were lost, and it does not work any more.
    Unknown,
}

/// One order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// As it was sent: a retry must ask for the same.
    asked: NewOrder,
    /// As it stands, with the price and quantity of the last replace.
    pub(crate) request: NewOrder,
    pub(crate) account: AccountId,
    client: ClientOrder,
    /// Position of its newest frames in our own journal, or a lower one; 0: they may be overwritten.
    kept: u64,
    state: State,
    reason: Reason,
    pub(crate) filled: Quantity,
    remaining: Quantity,
    sent_ns: u64,
    sequence: u64,
    /// Position of matching's latest frame about it, refusals of changes left out.
    execution: u64,
    /// Reports about it may be lost: the ledger is asked.
    is_doubtful: bool,
}

impl Order {
    pub(crate) fn is_working(&self) -> bool {
        match self.state {
            State::Sent => true,
            State::Known(status) => !status.is_final(),
            State::Unknown => false,
        }
    }

    /// td or the market has said something about it.
    pub(crate) fn is_answered(&self) -> bool {
        self.state != State::Sent
    }

    pub(crate) fn refusal(&self) -> Option<Reason> {
        (self.state == State::Known(OrderStatus::Rejected)).then_some(self.reason)
    }

    /// It works, and a mass cancel of this scope covers it.
    fn is_covered(&self, scope: Scope) -> bool {
        self.is_working()
            && scope.account.is_none_or(|account| self.account == account)
            && scope.instrument.is_none_or(|instrument| self.request.instrument == instrument)
            && scope.side.is_none_or(|side| self.request.side == side)
    }

    /// Would the client have meant the same?
    fn is_same(&self, other: &NewOrder) -> bool {
        let plain = |order: &NewOrder| NewOrder { order_id: OrderId(0), cause: wire::Cause::NONE, ..*order };
        plain(&self.asked) == plain(other)
    }

    /// As clients see it, in an instrument with this lot.
    fn view(&self, lot: Quantity) -> OrderView {
        let shown = self.reason != Reason::None;
        OrderView {
            order_id: self.request.order_id.to_string(),
            client_order_id: Some(self.client.client_id.as_str().to_owned()).filter(|id| !id.is_empty()),
            account: self.account.0,
            instrument: self.request.instrument.0,
            side: self.request.side.as_str(),
            order_type: self.request.order_type.as_str(),
            time_in_force: self.request.time_in_force.as_str(),
            price: price(self.request.price),
            quantity: self.request.quantity.0,
            filled: self.filled.0,
            remaining: self.remaining.0,
            status: match self.state {
                State::Sent => "sent",
                State::Known(status) => status.as_str(),
                State::Unknown => "unknown",
            },
            working: self.is_working(),
            reason: shown.then(|| self.reason.as_str()),
            reason_code: shown.then_some(self.reason as u8),
            token: format!("{:016x}", self.client.token),
            sent_ns: self.sent_ns,
            sequence: self.sequence,
            terms: Terms(
                terms::TERMS.iter().filter_map(|term| Some((term, term.of(&self.request, lot)?))).collect(),
            ),
        }
    }

    /// Takes a report about it, at this position of its journal.
    fn report(&mut self, report: &Execution, sequence: u64) {
        if sequence != 0 && sequence <= self.sequence {
            return;
        }
        self.sequence = sequence.max(self.sequence);
        if report.position().is_some_and(|position| position <= self.execution) {
            // A snapshot of the ledger has brought it already.
            return;
        }
        // A refusal says nothing about the order: it may have ended before.
        let is_refusal = matches!(report, Execution::Update(update) if update.status.is_refusal());
        if !is_refusal {
            self.is_doubtful = false;
            self.execution = report.position().unwrap_or(self.execution);
        }
        self.apply(report);
    }

    /// As it is written again in our own journal.
    pub(crate) fn to_keep(&self, must_end: bool) -> KeptOrder {
        let mut kept = KeptOrder::new(&self.client, &self.asked, Nanos(self.sent_ns));
        if must_end {
            kept.flags |= KeptOrder::MUST_END;
        }
        kept
    }

    /// Takes what a report says of it.
    fn apply(&mut self, report: &Execution) {
        match report {
            // What follows says how the order stands.
            Execution::Fill(fill) => {
                self.filled = Quantity(self.filled.0.saturating_add(fill.quantity.0));
                self.remaining = fill.remaining;
                if self.is_working() {
                    self.state = State::Known(OrderStatus::PartiallyFilled);
                }
            }
            Execution::Update(update) => match update.status {
                OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => {
                    self.reason = update.reason;
                }
                OrderStatus::MassCancelled => {}
                status => {
                    self.state = State::Known(status);
                    self.reason = update.reason;
                    if status != OrderStatus::Rejected {
                        (self.filled, self.remaining) = (update.filled, update.remaining);
                        if update.price.is_some() {
                            self.request.price = update.price;
                        }
                        self.request.quantity = update.quantity;
                    } else {
                        self.remaining = Quantity::ZERO;
                    }
                }
            },
        }
    }

    /// Takes what a snapshot of the ledger, which contains the executions before `contained`, says of this order: `works` is how it
    /// stands there, `None` if it does not work.
    ///
    /// | order | works, with news | works, without news | absent, and the snapshot is newer | absent, and the snapshot is older |
    /// |---|---|---|---|---|
    /// | sent | taken | taken | unknown, if in doubt | unknown, if in doubt |
    /// | works | taken | stays | unknown, if in doubt | stays |
    /// | has ended | stays | stays | stays | stays |
    /// | unknown | taken | stays | stays | stays |
    fn resolve(&mut self, works: Option<&wire::OrderUpdate>, contained: u64) -> Answered {
        let was_doubtful = std::mem::replace(&mut self.is_doubtful, false);
        // An order that is sent has no execution yet: all that the ledger has is news.
        let execution = self.execution;
        let is_newer = |position: u64| position > execution;
        match (self.state, works) {
            (State::Known(status), _) if status.is_final() => Answered::Stays,
            (State::Sent | State::Known(_) | State::Unknown, Some(update)) if is_newer(update.execution) => {
                self.execution = update.execution;
                self.apply(&Execution::Update(*update));
                Answered::Renewed
            }
            (State::Sent | State::Known(_) | State::Unknown, Some(_)) | (State::Unknown, None) => {
                Answered::Stays
            }
            // If it is on its way to td, its report says so.
            (State::Sent, None) if was_doubtful => self.lose(),
            (State::Known(_), None) if was_doubtful && execution < contained => self.lose(),
            (State::Sent | State::Known(_), None) => Answered::Stays,
        }
    }

    fn lose(&mut self) -> Answered {
        self.state = State::Unknown;
        Answered::Lost
    }
}

/// What a snapshot has changed of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    Stays,
    Renewed,
    Lost,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    orders: HashMap<OrderId, Order>,
    /// By account and the client's own name.
    names: HashMap<(AccountId, Text<48>), OrderId>,
    /// Of each instrument.
    lots: HashMap<InstrumentId, Quantity>,
    /// By age; the oldest that has ended is forgotten first.
    ages: VecDeque<OrderId>,
    /// The order that the next new one belongs to.
    announced: Option<ClientOrder>,
    /// How many work.
    working: usize,
    /// Where these are in our own journal.
    kept: Kept,
    /// Something was forgotten, or was overwritten before it could be read back.
    pub(crate) has_forgotten: bool,
    /// The newest mass cancel of each scope that a predecessor sent.
    mass_cancels: HashMap<Scope, MassCancel>,
    /// Orders of predecessors' sessions, which have ended with these.
    bereft: Vec<OrderId>,
}

/// A predecessor's mass cancel.
#[derive(Clone, Copy, Debug)]
struct MassCancel {
    request: OrderId,
    /// Its answer is read, or may be among the reports that are lost.
    is_answered: bool,
}

/// An order that works, and must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MustEnd {
    /// It needs a cancel of its own.
    Alone(OrderId),
    /// This mass cancel, the second, is on its way.
    InMass(OrderId, OrderId),
}

/// What a snapshot of the ledger has changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Orders that work and of which the snapshot has news.
    pub(crate) renewed: Vec<OrderId>,
    /// Orders that do not work any more; how they ended is unknown.
    pub(crate) lost: Vec<OrderId>,
}

/// What a client id is already used for.
#[derive(Debug)]
pub(crate) enum Used<'a> {
    Same(&'a Order),
    Differently(&'a Order),
}

impl Orders {
    pub(crate) fn get(&self, id: OrderId) -> Option<&Order> {
        self.orders.get(&id)
    }

    pub(crate) fn find(&self, name: &OrderName) -> Option<&Order> {
        let id = match name {
            OrderName::Id(id) => id,
            OrderName::Client(account, client_id) => self.names.get(&(*account, *client_id))?,
        };
        self.orders.get(id)
    }

    /// Is this client's name for an order for this account taken?
    pub(crate) fn used(
        &self,
        account: AccountId,
        client_id: &Text<48>,
        order: &NewOrder,
    ) -> Option<Used<'_>> {
        if client_id.as_str().is_empty() {
            return None;
        }
        let order_there = self.orders.get(self.names.get(&(account, *client_id))?)?;
        Some(match order_there.is_same(order) {
            true => Used::Same(order_there),
            false => Used::Differently(order_there),
        })
    }

    /// A frame of our own journal: who is behind the order that follows.
    pub(crate) fn announce(&mut self, client: &ClientOrder) {
        self.announced = Some(*client);
    }

    /// Orders whose journal has a ring of so many bytes.
    pub(crate) fn of_ring(ring: u64) -> Orders {
        Orders { kept: Kept::of_ring(ring), ..Orders::default() }
    }

    /// A frame of our own journal, at this position or behind it: an order.
    pub(crate) fn sent(&mut self, order: &NewOrder, sent_ns: u64, at: u64) {
        let announced = self.announced.take().filter(|client| client.order_id == order.order_id);
        // Its own word was overwritten.
        let client = announced.unwrap_or(ClientOrder {
            order_id: order.order_id,
            token: 0,
            client_id: Text::EMPTY,
            address: Text::EMPTY,
            account: order.account,
            flags: 0,
        });
        self.insert(order, client, (sent_ns, at));
    }

    fn insert(&mut self, order: &NewOrder, client: ClientOrder, (sent_ns, at): (u64, u64)) {
        let id = order.order_id;
        self.name(&client);
        let made = Order {
            asked: *order,
            request: *order,
            account: order.account,
            client,
            kept: at,
            state: State::Sent,
            reason: Reason::None,
            filled: Quantity::ZERO,
            remaining: order.quantity,
            sent_ns,
            sequence: 0,
            execution: 0,
            is_doubtful: false,
        };
        self.orders.insert(id, made);
        self.working += 1;
        self.kept.add(at, id);
        self.ages.push_back(id);
        self.forget();
    }

    fn name(&mut self, client: &ClientOrder) {
        if !client.client_id.as_str().is_empty() {
            self.names.insert((client.account, client.client_id), client.order_id);
        }
    }

    /// A frame of our own journal, at this position: an order of a predecessor that worked then.
    pub(crate) fn read_kept(&mut self, kept: &KeptOrder, at: u64) {
        let client = kept.client();
        match self.orders.get_mut(&kept.order_id) {
            Some(order) => {
                // Of the frames that brought it, the ring may have the second alone.
                (order.client, order.kept, order.sent_ns) = (client, at, kept.sent.0);
                self.kept.add(at, kept.order_id);
                self.name(&client);
            }
            None => self.insert(&kept.order(), client, (kept.sent.0, at)),
        }
        if kept.flags & (KeptOrder::ENDS_WITH_SESSION | KeptOrder::MUST_END) != 0 {
            self.session_ended(kept.order_id);
        }
    }

    /// Our own journal is read: orders that were read from later frames than others are no younger.
    pub(crate) fn sort(&mut self) {
        let sent = |id: &OrderId| self.orders.get(id).map_or(0, |order| order.sent_ns);
        self.ages.make_contiguous().sort_by_key(sent);
    }

    /// May so many orders, and one more, be sent? `Err`: so many orders may work at a time.
    pub(crate) fn has_place(&self, more: usize) -> Result<(), usize> {
        let most = self.kept.most();
        if self.working + more < most { Ok(()) } else { Err(most) }
    }

    /// Requests of so many bytes are committed before more of them are gathered.
    pub(crate) fn longest_turn(&self) -> u64 {
        self.kept.longest_turn()
    }

    /// The orders that are to be written again before our own journal ends at this position, with the positions where they are.
    pub(crate) fn take_old(&mut self, end: u64) -> Vec<(u64, OrderId)> {
        let Orders { orders, kept, .. } = self;
        let is_needed = |at, id| orders.get(&id).is_some_and(|order| order.is_working() && order.kept == at);
        kept.take_old(end, is_needed)
    }

    /// These could not be written again.
    pub(crate) fn put_back(&mut self, old: &[(u64, OrderId)]) {
        self.kept.put_back(old);
    }

    /// This order was written again, at this position or behind it.
    pub(crate) fn written_again(&mut self, id: OrderId, at: u64) {
        if let Some(order) = self.orders.get_mut(&id) {
            order.kept = at;
            self.kept.add(at, id);
        }
    }

    /// It works, or works no more.
    fn changed(&mut self, id: OrderId, worked: bool, works: bool) {
        match (worked, works) {
            (true, false) => self.working = self.working.saturating_sub(1),
            (false, true) => {
                self.working += 1;
                // It was not written again while it counted as ended.
                if let Some(order) = self.orders.get_mut(&id) {
                    order.kept = 0;
                    self.kept.add_oldest(id);
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    fn forget(&mut self) {
        // Those that work are looked at once a round and stay.
        let mut looked_at = 0;
        while self.ages.len() > REMEMBERED && looked_at < 64 {
            let Some(oldest) = self.ages.pop_front() else { return };
            match self.orders.get(&oldest) {
                Some(order) if order.is_working() => self.ages.push_back(oldest),
                Some(order) => {
                    let name = (order.account, order.client.client_id);
                    if self.names.get(&name) == Some(&oldest) {
                        self.names.remove(&name);
                    }
                    self.orders.remove(&oldest);
                    self.has_forgotten = true;
                }
                None => {}
            }
            looked_at += 1;
        }
    }

    /// A report, at this position of its journal. The order after it, if it is one of ours.
    pub(crate) fn report(&mut self, report: &Execution, sequence: u64) -> Option<&Order> {
        let id = report.order_id();
        let order = self.orders.get_mut(&id)?;
        let worked = order.is_working();
        order.report(report, sequence);
        let works = order.is_working();
        self.changed(id, worked, works);
        self.get(id)
    }

    /// Reports were lost: what works may have ended.
    pub(crate) fn doubt(&mut self) -> bool {
        self.mass_cancels.values_mut().for_each(|mass| mass.is_answered = true);
        let working = self.orders.values_mut().filter(|order| order.is_working());
        working.fold(false, |_, order| {
            order.is_doubtful = true;
            true
        })
    }

    /// Takes the ledger's snapshot: the orders that work after the executions before `contained`.
    pub(crate) fn resolve(&mut self, working: &[wire::OrderUpdate], contained: u64) -> Resolved {
        let working: HashMap<OrderId, &wire::OrderUpdate> =
            working.iter().map(|update| (update.order_id, update)).collect();
        let mut resolved = Resolved::default();
        let mut changed = Vec::new();
        for (id, order) in &mut self.orders {
            let worked = order.is_working();
            match order.resolve(working.get(id).copied(), contained) {
                Answered::Stays => continue,
                Answered::Renewed => resolved.renewed.push(*id),
                Answered::Lost => resolved.lost.push(*id),
            }
            changed.push((*id, worked, order.is_working()));
        }
        changed.into_iter().for_each(|(id, worked, works)| self.changed(id, worked, works));
        resolved.renewed.sort_unstable();
        resolved.lost.sort_unstable();
        resolved
    }

    pub(crate) fn list(&self, filter: &OrderFilter) -> Vec<OrderView> {
        let is_meant = |order: &&Order| {
            (!filter.working || order.is_working())
                && filter.instrument.is_none_or(|instrument| order.request.instrument == instrument)
                && filter.accounts.as_ref().is_none_or(|accounts| accounts.contains(&order.account.0))
        };
        let newest_first = self.ages.iter().rev().filter_map(|id| self.orders.get(id));
        newest_first.filter(is_meant).take(filter.limit).map(|order| self.view(order)).collect()
    }

    /// An order as clients see it.
    pub(crate) fn view(&self, order: &Order) -> OrderView {
        order.view(self.lot(order.request.instrument))
    }

    /// Quantities of this instrument are multiples of this.
    pub(crate) fn set_lot(&mut self, instrument: InstrumentId, lot: Quantity) {
        self.lots.insert(instrument, lot);
    }

    pub(crate) fn lot(&self, instrument: InstrumentId) -> Quantity {
        self.lots.get(&instrument).copied().unwrap_or(Quantity(1))
    }

    /// The orders that work and that a mass cancel covers.
    pub(crate) fn working(&self, scope: Scope) -> Vec<OrderId> {
        self.orders.iter().filter(|(_, order)| order.is_covered(scope)).map(|(id, _)| *id).collect()
    }

    /// A frame of our own journal: a predecessor's mass cancel.
    pub(crate) fn mass_cancelled(&mut self, request: &wire::CancelAll) {
        let mass = MassCancel { request: request.order_id, is_answered: false };
        self.mass_cancels.insert(Scope::of(request), mass);
    }

    /// A request that is no order's was answered.
    pub(crate) fn mass_answered(&mut self, request: OrderId) {
        let answered = self.mass_cancels.values_mut().filter(|mass| mass.request == request);
        answered.for_each(|mass| mass.is_answered = true);
    }

    /// A frame of our own journal: an order of a predecessor's session.
    pub(crate) fn session_ended(&mut self, id: OrderId) {
        self.bereft.push(id);
    }

    /// The orders that work although a predecessor's mass cancel covers them, or its session has ended with it. Once.
    pub(crate) fn take_owed(&mut self) -> Vec<MustEnd> {
        let mass_cancels = std::mem::take(&mut self.mass_cancels);
        let owed = |(id, order): (&OrderId, &Order)| {
            let covers = |(scope, mass): &(&Scope, &MassCancel)| {
                order.is_covered(**scope) && mass.request.is_newer_than(*id)
            };
            let covering = mass_cancels.iter().filter(covers).map(|(_, mass)| mass);
            // One that is on its way is waited for.
            let mass = covering.min_by_key(|mass| (mass.is_answered, mass.request))?;
            Some(if mass.is_answered { MustEnd::Alone(*id) } else { MustEnd::InMass(*id, mass.request) })
        };
        let mut all: HashMap<OrderId, MustEnd> = HashMap::new();
        let works = |id: &OrderId| self.orders.get(id).is_some_and(Order::is_working);
        let bereft = std::mem::take(&mut self.bereft).into_iter().filter(works);
        all.extend(bereft.map(|id| (id, MustEnd::Alone(id))));
        all.extend(self.orders.iter().filter_map(owed).map(|owed| (owed.order(), owed)));
        let mut all: Vec<MustEnd> = all.into_values().collect();
        all.sort_unstable_by_key(|owed| owed.order());
        all
    }
}

impl MustEnd {
    fn order(self) -> OrderId {
        match self {
            MustEnd::Alone(order) | MustEnd::InMass(order, _) => order,
        }
    }
}

/// Is the price of an order one that can be changed?
pub(crate) fn changed(
    order: &Order,
    new_price: Option<Price>,
    quantity: Option<Quantity>,
) -> (Price, Quantity) {
    (new_price.unwrap_or(order.request.price), quantity.unwrap_or(order.request.quantity))
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, OrderType, OrderUpdate, Side, StrategyId, TimeInForce};

    use super::*;

    fn order(sequence: u32, quantity: i64) -> NewOrder {
        NewOrder::plain(
            OrderId::new(StrategyId(9), 1, sequence),
            InstrumentId(1),
            Side::Buy,
            OrderType::Limit,
            TimeInForce::Day,
            Price(10),
            Quantity(quantity),
        )
    }

    fn client(order: &NewOrder, name: &str) -> ClientOrder {
        ClientOrder {
            order_id: order.order_id,
            token: 5,
            client_id: Text::new(name).unwrap(),
            address: Text::EMPTY,
            account: order.account,
            flags: 0,
        }
    }

    fn sent(orders: &mut Orders, number: u32, name: &str) -> NewOrder {
        let order = order(number, 7);
        orders.announce(&client(&order, name));
        orders.sent(&order, 1, 64);
        order
    }

    fn update(order: &NewOrder, status: OrderStatus) -> Execution {
        Execution::Update(OrderUpdate {
            quantity: order.quantity,
            remaining: order.quantity,
            price: order.price,
            ..OrderUpdate::about(order.order_id, order.instrument, status, Reason::None)
        })
    }

    #[test]
    fn a_client_id_is_good_for_one_order() {
        let mut orders = Orders::default();
        let first = sent(&mut orders, 1, "a");
        let name = Text::new("a").unwrap();
        assert!(matches!(orders.used(AccountId::OWN, &name, &first), Some(Used::Same(_))));
        let sells = NewOrder { side: Side::Sell, ..first };
        // For futures the offset alone makes another order.
        let closes = NewOrder { flags: wire::Offset::Close.flags(), ..first };
        for other in [sells, closes] {
            assert!(matches!(orders.used(AccountId::OWN, &name, &other), Some(Used::Differently(_))));
        }
        assert!(orders.used(AccountId(7), &name, &first).is_none(), "another account's names are its own");
        assert!(
            orders.used(AccountId::OWN, &Text::EMPTY, &first).is_none(),
            "without a name there is no retry"
        );
    }

    #[test]
    fn a_report_that_is_read_again_counts_once() {
        let mut orders = Orders::default();
        let first = sent(&mut orders, 1, "a");
        let fill = Execution::Fill(wire::Fill {
            order_id: first.order_id,
            trade_id: 1,
            instrument: first.instrument,
            side: first.side,
            liquidity: wire::Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(3),
            remaining: Quantity(4),
            event_time: wire::Nanos(0),
            execution: 64,
            answered_up_to: 0,
        });
        orders.report(&fill, 64);
        orders.report(&fill, 64);
        let order = orders.get(first.order_id).unwrap();
        assert_eq!((order.filled, order.remaining, order.is_working()), (Quantity(3), Quantity(4), true));
    }

    /// The report of an update, from this frame of matching's.
    fn from_frame(update: Execution, position: u64) -> Execution {
        update.passed_on(position)
    }

    fn standing(order: &NewOrder, position: u64, filled: i64) -> OrderUpdate {
        OrderUpdate {
            quantity: order.quantity,
            filled: Quantity(filled),
            remaining: Quantity(order.quantity.0 - filled),
            price: order.price,
            execution: position,
            ..OrderUpdate::about(order.order_id, order.instrument, OrderStatus::PartiallyFilled, Reason::None)
        }
    }

    /// Every state of an order × every answer of the ledger.
    #[test]
    fn a_snapshot_changes_an_order_only_as_the_table_says() {
        // Position of matching's last frame about it that was reported, 0 if there is none.
        const SEEN: u64 = 640;
        let states: [(&str, Option<OrderStatus>, bool); 7] = [
            ("sent", None, true),
            ("sent after the loss", None, false),
            ("accepted", Some(OrderStatus::Accepted), true),
            ("accepted after the loss", Some(OrderStatus::Accepted), false),
            ("filled", Some(OrderStatus::Filled), true),
            ("cancelled", Some(OrderStatus::Cancelled), true),
            ("rejected", Some(OrderStatus::Rejected), true),
        ];
        // Position of the ledger's last frame about it, if it works there, and what the snapshot contains.
        let answers: [(&str, Option<u64>, u64); 4] = [
            ("works, news", Some(704), 768),
            ("works, no news", Some(SEEN), 768),
            ("absent, newer", None, 768),
            ("absent, older", None, SEEN),
        ];
        let expected = [
            ("sent", ["partially-filled", "partially-filled", "unknown", "unknown"]),
            ("sent after the loss", ["partially-filled", "partially-filled", "sent", "sent"]),
            ("accepted", ["partially-filled", "accepted", "unknown", "accepted"]),
            ("accepted after the loss", ["partially-filled", "accepted", "accepted", "accepted"]),
            ("filled", ["filled"; 4]),
            ("cancelled", ["cancelled"; 4]),
            ("rejected", ["rejected"; 4]),
        ];
        for ((state, status, is_doubtful), (_, outcomes)) in states.into_iter().zip(expected) {
            for ((answer, works, contained), outcome) in answers.into_iter().zip(outcomes) {
                let mut orders = Orders::default();
                let order = sent(&mut orders, 1, "a");
                let reported = |orders: &mut Orders| {
                    if let Some(status) = status {
                        orders.report(&from_frame(update(&order, status), SEEN), 64);
                    }
                };
                match is_doubtful {
                    true => {
                        reported(&mut orders);
                        orders.doubt();
                    }
                    false => {
                        orders.doubt();
                        orders.orders.get_mut(&order.order_id).unwrap().is_doubtful = false;
                        reported(&mut orders);
                    }
                }
                let works: Vec<OrderUpdate> = works.map(|at| standing(&order, at, 3)).into_iter().collect();
                let resolved = orders.resolve(&works, contained);
                let view = orders.view(orders.get(order.order_id).unwrap());
                assert_eq!(view.status, outcome, "{state}; {answer}");
                assert_eq!(!resolved.lost.is_empty(), outcome == "unknown", "{state}; {answer}");
                let is_renewed = outcome == "partially-filled";
                assert_eq!((!resolved.renewed.is_empty(), view.filled == 3), (is_renewed, is_renewed));
                // The same answer again changes nothing.
                assert_eq!(orders.resolve(&works, contained), Resolved::default(), "{state}; {answer}");
            }
        }
    }

    #[test]
    fn what_a_snapshot_brought_is_not_counted_again_and_an_order_called_unknown_may_still_answer() {
        let mut orders = Orders::default();
        let made: Vec<NewOrder> =
            (1..=2).map(|number| sent(&mut orders, number, &number.to_string())).collect();
        orders.doubt();
        let resolved = orders.resolve(&[standing(&made[0], 704, 3)], 768);
        assert_eq!((resolved.renewed, resolved.lost), (vec![made[0].order_id], vec![made[1].order_id]));
        let fill = Execution::Fill(wire::Fill {
            order_id: made[0].order_id,
            trade_id: 1,
            instrument: made[0].instrument,
            side: made[0].side,
            liquidity: wire::Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(3),
            remaining: Quantity(4),
            event_time: wire::Nanos(0),
            execution: 704,
            answered_up_to: 0,
        });
        orders.report(&fill, 64);
        assert_eq!(orders.get(made[0].order_id).unwrap().filled, Quantity(3));
        // It was on its way to td.
        orders.report(&from_frame(update(&made[1], OrderStatus::Accepted), 832), 128);
        assert!(orders.get(made[1].order_id).unwrap().is_working());
    }

    #[test]
    fn a_refused_cancel_does_not_end_the_doubt_about_its_order() {
        let mut orders = Orders::default();
        let order = sent(&mut orders, 1, "a");
        orders.report(&from_frame(update(&order, OrderStatus::Accepted), 640), 64);
        orders.doubt();
        // The end is lost; the market does not know the order any more.
        orders.report(&from_frame(update(&order, OrderStatus::CancelRejected), 832), 192);
        assert_eq!(orders.resolve(&[], 768).lost, [order.order_id]);
    }

    /// What a successor finds of an order of which the ring has only what was written again, or only the order itself.
    #[test]
    fn an_order_that_was_written_again_is_the_order_that_was_sent() {
        let asked = NewOrder { trigger: Price(4), ends_s: 9, flags: NewOrder::POST_ONLY, ..order(1, 7) };
        let said = ClientOrder { flags: ClientOrder::ENDS_WITH_SESSION, ..client(&asked, "a") };
        let mut whole = Orders::of_ring(1 << 16);
        whole.announce(&said);
        whole.sent(&asked, 5, 64);
        let kept = whole.get(asked.order_id).unwrap().to_keep(false);
        let name = Text::new("a").unwrap();
        for has_order in [false, true] {
            let mut orders = Orders::of_ring(1 << 16);
            if has_order {
                orders.sent(&asked, 5, 64);
            }
            orders.read_kept(&kept, 640);
            let found = orders.get(asked.order_id).unwrap();
            assert_eq!(orders.view(found), whole.view(whole.get(asked.order_id).unwrap()));
            let named = orders.find(&OrderName::Client(asked.account, name)).unwrap();
            assert_eq!(orders.view(named), orders.view(found));
            assert!(matches!(orders.used(asked.account, &name, &asked), Some(Used::Same(_))));
            let other = NewOrder { ends_s: 8, ..asked };
            assert!(matches!(orders.used(asked.account, &name, &other), Some(Used::Differently(_))));
            assert_eq!(orders.take_owed(), [MustEnd::Alone(asked.order_id)], "its session has ended");
            assert_eq!(orders.working, 1);
            // It is where it was written last.
            assert_eq!(orders.take_old(640 + (1 << 15) - 64), []);
            assert_eq!(orders.take_old(640 + (1 << 15)), [(640, asked.order_id)]);
        }
    }

    #[test]
    fn an_order_that_is_owed_a_cancel_is_owed_it_by_a_successor_that_finds_no_mass_cancel() {
        let mut orders = Orders::of_ring(1 << 16);
        let made = sent(&mut orders, 1, "");
        let kept = |must_end| orders.get(made.order_id).unwrap().to_keep(must_end);
        for must_end in [false, true] {
            let mut successor = Orders::of_ring(1 << 16);
            successor.read_kept(&kept(must_end), 640);
            assert_eq!(successor.take_owed().is_empty(), !must_end);
        }
    }

    /// In every sequence of reports, working orders are counted, and working orders alone are written again.
    #[test]
    fn what_works_is_counted_and_written_again_however_it_came_to_work() {
        let mut orders = Orders::of_ring(1 << 16);
        let made: Vec<NewOrder> = (1..=4).map(|number| sent(&mut orders, number, "")).collect();
        let counted = |orders: &Orders| {
            let works = orders.orders.values().filter(|order| order.is_working()).count();
            assert_eq!(orders.working, works);
            works
        };
        orders.report(&from_frame(update(&made[0], OrderStatus::Accepted), 640), 64);
        orders.report(&from_frame(update(&made[1], OrderStatus::Cancelled), 704), 128);
        assert_eq!(counted(&orders), 3);
        orders.doubt();
        orders.resolve(&[standing(&made[0], 768, 3)], 832);
        assert_eq!(counted(&orders), 1, "two are unknown");
        assert_eq!(orders.take_old(1 << 20), [(64, made[0].order_id)]);
        orders.put_back(&[(64, made[0].order_id)]);
        // One of the unknown ones answers, the other one is in a later snapshot.
        orders.report(&from_frame(update(&made[2], OrderStatus::Accepted), 896), 192);
        orders.resolve(&[standing(&made[3], 960, 3)], 1_024);
        assert_eq!(counted(&orders), 3);
        let mut old: Vec<OrderId> = orders.take_old(1 << 20).into_iter().map(|(_, id)| id).collect();
        old.sort_unstable();
        assert_eq!(old, [made[0].order_id, made[2].order_id, made[3].order_id]);
        assert_eq!(orders.has_place(0), Ok(()));
        assert_eq!(orders.has_place(61), Err(64), "a quarter of the ring");
    }

    #[test]
    fn orders_of_a_predecessors_session_must_end_and_others_work_on() {
        let mut orders = Orders::default();
        let made: Vec<NewOrder> = (1..=3).map(|number| sent(&mut orders, number, "")).collect();
        [1, 2].into_iter().for_each(|index| orders.session_ended(made[index].order_id));
        orders.report(&update(&made[1], OrderStatus::Filled), 64);
        assert_eq!(orders.take_owed(), [MustEnd::Alone(made[2].order_id)]);
        assert!(orders.take_owed().is_empty());
    }

    #[test]
    fn a_predecessors_mass_cancel_is_owed_to_what_it_covers_and_not_to_later_orders() {
        let mut orders = Orders::default();
        let made: Vec<NewOrder> = (1..=2).map(|number| sent(&mut orders, number, "")).collect();
        let request = OrderId::new(StrategyId(9), 1, 3);
        let other = Scope { side: Some(Side::Sell), ..Scope::default() };
        orders.mass_cancelled(&other.request(OrderId::new(StrategyId(9), 1, 9)));
        orders.mass_cancelled(&Scope { side: Some(Side::Buy), ..other }.request(request));
        sent(&mut orders, 4, "");
        orders.report(&update(&made[1], OrderStatus::Cancelled), 64);
        let answered = (orders.orders.clone(), orders.mass_cancels.clone());
        assert_eq!(orders.take_owed(), [MustEnd::InMass(made[0].order_id, request)], "it is on its way");
        assert!(orders.take_owed().is_empty());
        // Its answer came, or may have come.
        for is_lost in [false, true] {
            (orders.orders, orders.mass_cancels) = answered.clone();
            if is_lost {
                orders.doubt();
            } else {
                orders.mass_answered(request);
            }
            assert_eq!(orders.take_owed(), [MustEnd::Alone(made[0].order_id)]);
        }
    }
}
