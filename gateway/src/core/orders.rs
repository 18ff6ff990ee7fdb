//! The clients' orders: pure. What goes into the journal and what td says is folded here, in a running gateway and in one that
//! reads both back.

use std::collections::{HashMap, VecDeque};

use wire::{
    AccountId, ClientOrder, Execution, InstrumentId, NewOrder, Offset, OrderId, OrderStatus, Price, Quantity,
    Reason, Side, Text,
};

use super::ask::{OrderFilter, OrderName};
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
    pub(crate) token: u64,
    client_id: Text<48>,
    state: State,
    reason: Reason,
    pub(crate) filled: Quantity,
    remaining: Quantity,
    sent_ns: u64,
    sequence: u64,
    /// Position of matching's latest frame about it.
    execution: u64,
    /// Reports about it may be lost: the ledger is asked.
    is_doubtful: bool,
}

impl Order {
    pub(crate) fn is_working(&self) -> bool {
        match self.state {
            State::Sent => true,
            State::Known(status) => {
                !matches!(status, OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected)
            }
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

    /// Would the client have meant the same?
    fn is_same(&self, other: &NewOrder) -> bool {
        let plain = |order: &NewOrder| NewOrder { order_id: OrderId(0), cause: wire::Cause::NONE, ..*order };
        plain(&self.asked) == plain(other)
    }

    pub(crate) fn view(&self) -> OrderView {
        let shown = self.reason != Reason::None;
        OrderView {
            order_id: self.request.order_id.to_string(),
            client_order_id: Some(self.client_id.as_str().to_owned()).filter(|id| !id.is_empty()),
            account: self.account.0,
            instrument: self.request.instrument.0,
            side: self.request.side.as_str(),
            order_type: self.request.order_type.as_str(),
            time_in_force: self.request.time_in_force.as_str(),
            offset: match self.request.offset() {
                None | Some(Offset::Auto) => "auto",
                Some(Offset::Open) => "open",
                Some(Offset::Close) => "close",
                Some(Offset::CloseToday) => "close-today",
                Some(Offset::CloseYesterday) => "close-yesterday",
            },
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
            token: format!("{:016x}", self.token),
            sent_ns: self.sent_ns,
            sequence: self.sequence,
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    orders: HashMap<OrderId, Order>,
    /// By account and the client's own name.
    names: HashMap<(AccountId, Text<48>), OrderId>,
    /// By age; the oldest that has ended is forgotten first.
    ages: VecDeque<OrderId>,
    /// The order that the next new one belongs to.
    announced: Option<ClientOrder>,
    /// Something was forgotten, or was overwritten before it could be read back.
    pub(crate) has_forgotten: bool,
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

    /// A frame of our own journal: an order.
    pub(crate) fn sent(&mut self, order: &NewOrder, sent_ns: u64) {
        let client = self.announced.take().filter(|client| client.order_id == order.order_id);
        let (token, client_id) = client.map_or((0, Text::EMPTY), |client| (client.token, client.client_id));
        let (id, account) = (order.order_id, order.account);
        if !client_id.as_str().is_empty() {
            self.names.insert((account, client_id), id);
        }
        let made = Order {
            asked: *order,
            request: *order,
            account,
            token,
            client_id,
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
        self.ages.push_back(id);
        self.forget();
    }

    fn forget(&mut self) {
        // Those that work are looked at once a round and stay.
        let mut looked_at = 0;
        while self.ages.len() > REMEMBERED && looked_at < 64 {
            let Some(oldest) = self.ages.pop_front() else { return };
            match self.orders.get(&oldest) {
                Some(order) if order.is_working() => self.ages.push_back(oldest),
                Some(order) => {
                    let name = (order.account, order.client_id);
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
        let order = self.orders.get_mut(&report.order_id())?;
        if sequence != 0 && sequence <= order.sequence {
            return Some(order);
        }
        order.is_doubtful = false;
        order.execution = report.position().unwrap_or(order.execution);
        if sequence != 0 {
            order.sequence = sequence;
        }
        match report {
            // What follows says how the order stands.
            Execution::Fill(fill) => {
                order.filled = Quantity(order.filled.0.saturating_add(fill.quantity.0));
                order.remaining = fill.remaining;
                if order.is_working() {
                    order.state = State::Known(OrderStatus::PartiallyFilled);
                }
            }
            Execution::Update(update) => match update.status {
                OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => {
                    order.reason = update.reason;
                }
                OrderStatus::MassCancelled => {}
                status => {
                    order.state = State::Known(status);
                    order.reason = update.reason;
                    if status != OrderStatus::Rejected {
                        (order.filled, order.remaining) = (update.filled, update.remaining);
                        if update.price.is_some() {
                            order.request.price = update.price;
                        }
                        order.request.quantity = update.quantity;
                    } else {
                        order.remaining = Quantity::ZERO;
                    }
                }
            },
        }
        Some(order)
    }

    /// Reports were lost: what works may have ended.
    pub(crate) fn doubt(&mut self) -> bool {
        let working = self.orders.values_mut().filter(|order| order.is_working());
        working.fold(false, |_, order| {
            order.is_doubtful = true;
            true
        })
    }

    /// The ledger says what worked when it had read the executions before `contained`: of the rest of those in doubt, nobody
    /// knows how they ended. If one was only on its way to td, its report will say so.
    pub(crate) fn resolve(&mut self, working: &[wire::OrderUpdate], contained: u64) -> Vec<OrderId> {
        for update in working {
            self.report(&Execution::Update(*update), 0);
        }
        let mut lost = Vec::new();
        for (id, order) in self.orders.iter_mut().filter(|(_, order)| order.is_doubtful) {
            if order.is_working() && order.execution < contained {
                order.state = State::Unknown;
                order.is_doubtful = false;
                lost.push(*id);
            }
        }
        lost
    }

    pub(crate) fn list(&self, filter: &OrderFilter) -> Vec<OrderView> {
        let is_meant = |order: &&Order| {
            (!filter.working || order.is_working())
                && filter.instrument.is_none_or(|instrument| order.request.instrument == instrument)
                && filter.accounts.as_ref().is_none_or(|accounts| accounts.contains(&order.account.0))
        };
        let newest_first = self.ages.iter().rev().filter_map(|id| self.orders.get(id));
        newest_first.filter(is_meant).take(filter.limit).map(Order::view).collect()
    }

    /// How many work that a mass cancel would meet.
    pub(crate) fn count_working(
        &self,
        account: Option<AccountId>,
        instrument: Option<InstrumentId>,
        side: Option<Side>,
    ) -> u64 {
        let is_met = |order: &&Order| {
            order.is_working()
                && account.is_none_or(|account| order.account == account)
                && instrument.is_none_or(|instrument| order.request.instrument == instrument)
                && side.is_none_or(|side| order.request.side == side)
        };
        self.orders.values().filter(is_met).count() as u64
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
    use wire::{OrderType, OrderUpdate, StrategyId, TimeInForce};

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
            reserved: 0,
        }
    }

    fn sent(orders: &mut Orders, number: u32, name: &str) -> NewOrder {
        let order = order(number, 7);
        orders.announce(&client(&order, name));
        orders.sent(&order, 1);
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
        let other = NewOrder { side: Side::Sell, ..first };
        assert!(matches!(orders.used(AccountId::OWN, &name, &other), Some(Used::Differently(_))));
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

    #[test]
    fn after_a_loss_what_the_ledger_does_not_have_is_unknown_and_never_failed() {
        let mut orders = Orders::default();
        let made: Vec<NewOrder> =
            (1..=3).map(|number| sent(&mut orders, number, &number.to_string())).collect();
        for (order, position) in made.iter().take(2).zip([64, 128]) {
            orders.report(&update(order, OrderStatus::Accepted), position);
        }
        assert!(orders.doubt());
        let Execution::Update(works) = update(&made[0], OrderStatus::Accepted) else { unreachable!() };
        let mut lost = orders.resolve(&[works], 4_096);
        lost.sort_unstable();
        assert_eq!(lost, [made[1].order_id, made[2].order_id]);
        // The third was on its way to td.
        orders.report(&update(&made[2], OrderStatus::Accepted), 192);
        let status = |order: &NewOrder| orders.get(order.order_id).unwrap().view().status;
        assert_eq!(made.iter().map(status).collect::<Vec<_>>(), ["accepted", "unknown", "accepted"]);
    }
}
