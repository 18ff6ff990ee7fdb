//! What happens from outside: entries of people, requests of strategies, processes that the system does not run.

use topology::Topology;
use wire::{
    AccountAction, AccountChange, AccountId, AccountScope, AnyMessage, CancelOrder, Cause, Currency,
    InstrumentId, NewOrder, OrderId, OrderType, Price, Quantity, ReplaceOrder, Request, Settle,
    SettlementPrice, Side, StrategyId, Text, TimeInForce, WideMoney,
};

use crate::platform::seat_of;

/// Prices of the first instrument are multiples of this, about [`HOME`] of them.
const TICK: i64 = 10_000_000;
/// In ticks: where the first instrument begins.
const HOME: i64 = 10_000;
const FIRST: InstrumentId = InstrumentId(1);
/// Orders whose reports nobody reads: two executions each, of which a small ring holds a third.
const UNREAD: u32 = 600;
/// A day of settlement.
const DAY: u32 = 20_260_105;

/// A piece of a script.
#[derive(Clone, Debug)]
pub enum Event {
    /// An entry of a person or a feed, in `desk.entries`.
    Entry(AnyMessage),
    /// An entry that td's process takes, of a version that committed the copy of an entry before its result: it dies between the two.
    Half(AnyMessage),
    /// A strategy sends a request.
    Request(&'static str, Request),
    /// Clients of the gateway ask.
    Client(Vec<Asked>),
    /// The process of this node does nothing from now on.
    Hold(&'static str),
    /// It goes on.
    Release(&'static str),
    /// All others come to rest.
    Rest,
}

/// What a client of the gateway asks. Orders have names of the client's own.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// A connection begins whose orders end with it.
    Connect(u64),
    /// It ends.
    Disconnect(u64),
    /// An order, of a connection or of none.
    Order(Option<u64>, &'static str, NewOrder),
    /// Another price and quantity.
    Replace(AccountId, &'static str, Price, Quantity),
    /// The end of an order.
    Cancel(AccountId, &'static str),
    /// The end of all for an account.
    CancelAll(AccountId),
}

/// A platform, and what happens to it.
#[derive(Clone, Debug)]
pub struct Script {
    topology: Topology,
    events: Vec<Event>,
    /// This node has no turn before it is released.
    late: Option<&'static str>,
    /// Orders of each strategy so far.
    numbers: std::collections::BTreeMap<&'static str, u32>,
}

/// Of the script's strategies: the one makes prices, the other takes them, the third is stopped by its limits.
const MAKER: &str = "maker-1";
const TAKER: &str = "taker-1";
const CLUMSY: &str = "clumsy-1";

/// An exchange of the strategies.
const EXCHANGE: &str = r#"
[md]
source = "exchange"
instruments = 2
[[matching.phases]]
after = "0s"
phase = "continuous"
"#;

/// The same, with clients from outside.
const SERVED: &str = r#"
[md]
source = "exchange"
instruments = 2
[[matching.phases]]
after = "0s"
phase = "continuous"
[gateway]
accounts = [7, 8]
"#;

/// A market elsewhere, and a quote.
const ELSEWHERE: &str = r#"
[md]
source = "sim"
instruments = 2
count = 1
interval = "1ms"
generator = "timed"
[matching]
fill = "external"
program = "/bin/true"
"#;

/// Marks go at once and snapshots are not due by time, so that no clock decides what is written.
const PLATFORM: &str = r#"
[platform]
instance = "INSTANCE"
MARKET
[ledger]
snapshot = "0s"
[journal]
capacity = "256KiB"
td.drops.capacity = "64KiB"
[desk]
mark_every = "1ns"
remembered = 256
limits = { order_rate = "100000", gross_notional = 1000000000 }
[[desk.contracts]]
multiplier = 10
[[desk.margins]]
long = "0.1"
short = "0.1"
[[desk.fees]]
rate = "0.0001"
minimum = "0.5"
[[accounts]]
number = 7
deposit = 10000000
[[accounts]]
number = 8
kind = "futures"
method = "settlement"
deposit = 10000000
limits = { position = 200 }
[[accounts]]
number = 9
deposit = 100000
limits = { order_quantity = 100 }
[[accounts]]
number = 10
deposit = 1200
limits = { margin_call = "0.8", forced_liquidation = "0.9" }
[[accounts]]
number = 11
deposit = 100000
limits = { loss = 50 }
[[accounts]]
number = 12
kind = "futures"
method = "settlement"
deposit = 1200
limits = { margin_call = "0.8", forced_liquidation = "0.9" }
[strategies]
instruments = "all"
[[strategies.group]]
name = "maker"
program = "builtin:noise"
count = 1
accounts = [7, 8]
[[strategies.group]]
name = "taker"
program = "builtin:noise"
count = 1
accounts = [8, 10, 11, 12]
[[strategies.group]]
name = "clumsy"
program = "builtin:noise"
count = 1
accounts = [9]
"#;

impl Script {
    /// An empty script, on a platform under this name.
    fn new(instance: &str, market: &str) -> Script {
        Script::with(instance, market, &[])
    }

    /// The same with other settings.
    fn with(instance: &str, market: &str, settings: &[&str]) -> Script {
        let text = PLATFORM.replace("INSTANCE", instance).replace("MARKET", market);
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let platform = topology::parse("cuts.toml", &text, &settings)
            .unwrap_or_else(|errors| panic!("the platform file is refused: {errors:?}"));
        Script { topology: platform.topology, events: Vec::new(), late: None, numbers: Default::default() }
    }

    /// A day: orders that rest, trade, change, are cancelled and refused; money in and out, refused too; switches that a person
    /// throws; a settlement, and one that is refused.
    pub fn day(instance: &str) -> Script {
        let mut script = Script::new(instance, EXCHANGE);
        script.deposit(7, 3_786).deposit(77, 1).withdraw(7, 786).withdraw(7, 1_000_000_000);
        let bid = script.order(MAKER, 7, Side::Buy, -2, 30);
        let ask = script.order(MAKER, 7, Side::Sell, 2, 30);
        script.replace(MAKER, ask, 3, 40).cancel(MAKER, bid).cancel(MAKER, bid);
        script.order(MAKER, 7, Side::Buy, -1, 50);
        // It trades, in parts.
        let order = script.order(TAKER, 8, Side::Buy, 3, 10);
        script.cancel(TAKER, order);
        script.order(TAKER, 8, Side::Buy, 3, 60);
        script.deposit(8, 5);
        script.order(TAKER, 8, Side::Sell, -1, 20);
        // Refused: the account, the limit, the id, somebody else's order, what is no order any more.
        script.order(TAKER, 7, Side::Buy, 0, 1);
        script.order(TAKER, 8, Side::Buy, 0, 500);
        script.replace(TAKER, order, 1, 5);
        script.cancel(TAKER, OrderId::new(script.seat(MAKER), 1, 1));
        script.again(TAKER, order);
        // Refusals; then a person stops the account, and its resting orders are cancelled. Not by the limit of refusals: a
        // successor counts rates from the beginning.
        let resting: Vec<OrderId> =
            (1..=3).map(|away| script.order(CLUMSY, 9, Side::Buy, -10 - away, 1)).collect();
        for _ in 0..3 {
            script.order(CLUMSY, 9, Side::Buy, 0, 1_000_000);
        }
        script.kill(9);
        script.cancel(CLUMSY, resting[0]);
        script.order(CLUMSY, 9, Side::Buy, -20, 1);
        script.revive(9);
        script.order(CLUMSY, 9, Side::Buy, -20, 1);
        script.kill(8);
        script.order(TAKER, 8, Side::Buy, 3, 1);
        script.withdraw(10, 30);
        script.price(1, HOME).settle().settle();
        script
    }

    /// The price falls: one account loses more than it may and is killed; a margin account and a futures account pass their bound
    /// while orders of their own rest, one of which freezes the lots, so they are frozen, their orders cancelled, positions closed
    /// by force, and both are freed; a settlement.
    pub fn fall(instance: &str) -> Script {
        let mut script = Script::new(instance, EXCHANGE);
        script.order(MAKER, 7, Side::Buy, -2, 30);
        script.order(MAKER, 7, Side::Sell, 1, 25);
        for account in [10, 12] {
            script.order(TAKER, account, Side::Buy, 1, 10);
            // These lots cannot be closed while it rests.
            script.order(TAKER, account, Side::Sell, 50, 6);
        }
        script.order(TAKER, 11, Side::Buy, 1, 5);
        script.order(TAKER, 11, Side::Buy, -150, 2);
        // The bids are taken away, and others come lower.
        script.order(MAKER, 7, Side::Buy, -121, 90);
        script.order(TAKER, 8, Side::Sell, -2, 30);
        script.order(MAKER, 7, Side::Sell, -119, 90);
        // Frozen or killed no longer, or still.
        script.order(TAKER, 10, Side::Sell, 60, 1);
        script.order(TAKER, 11, Side::Sell, 60, 1);
        script.order(TAKER, 12, Side::Sell, 60, 1);
        script.deposit(10, 1_000);
        script.revive(11);
        script.price(1, HOME - 120).settle();
        script
    }

    /// Money in and out, twice the same each; `half`: the second of each comes to a td of an older version, which dies in it.
    pub fn twice(instance: &str, half: bool) -> Script {
        let mut script = Script::new(instance, EXCHANGE);
        for action in [AccountAction::Deposit, AccountAction::Withdraw] {
            let entry = change(7, action, 3_786);
            script.entry(entry);
            script.events.push(if half { Event::Half(entry) } else { Event::Entry(entry) });
            script.events.push(Event::Rest);
            script.entry(entry);
        }
        script
    }

    /// Entries and refusals while the ledger does nothing, until the drop copy has no room, and on from there.
    pub fn full(instance: &str) -> Script {
        let mut script = Script::new(instance, EXCHANGE);
        script.order(MAKER, 7, Side::Buy, -2, 30);
        script.events.push(Event::Hold("ledger"));
        for number in 0..220 {
            script.enter(change(7, AccountAction::Deposit, 1 + number));
        }
        script.events.push(Event::Rest);
        script.events.push(Event::Release("ledger"));
        script.events.push(Event::Rest);
        script.order(MAKER, 7, Side::Buy, -2, 30);
        script
    }

    /// A strategy does not read the reports of the orders that it has sent: its journal of reports is full, td has the others in
    /// its memory, and meanwhile the ring of executions goes round.
    pub fn unread(instance: &str) -> Script {
        let rings = [
            "journal.reports.capacity=64KiB",
            "journal.matching.capacity=64KiB",
            "journal.matching.market.capacity=1MiB",
            "journal.td.drops.capacity=1MiB",
        ];
        let mut script = Script::with(instance, EXCHANGE, &rings);
        script.events.push(Event::Hold("matching"));
        for number in 0..UNREAD {
            let order_id = OrderId::new(script.seat(MAKER), 1, 1 + number);
            let order = NewOrder {
                time_in_force: TimeInForce::ImmediateOrCancel,
                ..new_order(order_id, 7, Side::Buy, -5, 1)
            };
            script.events.push(Event::Request(MAKER, Request::New(order)));
        }
        for event in [
            Event::Rest,
            Event::Hold(MAKER),
            Event::Release("matching"),
            Event::Rest,
            Event::Release(MAKER),
            Event::Rest,
        ] {
            script.events.push(event);
        }
        script.order(TAKER, 8, Side::Buy, -2, 30);
        script
    }

    /// Orders wait for an exchange that has not begun: its first turns bring the list of instruments and requests together.
    pub fn late(instance: &str) -> Script {
        let mut script = Script::new(instance, EXCHANGE);
        script.late = Some("matching");
        // Of one side alone: how many quotes, and so marks, come of requests at once depends on who has a turn between them.
        let bid = script.order(MAKER, 7, Side::Buy, -2, 30);
        let low = script.order(MAKER, 7, Side::Buy, -9, 30);
        script.order(TAKER, 8, Side::Buy, -3, 10);
        script.cancel(MAKER, low);
        script.events.push(Event::Release("matching"));
        script.events.push(Event::Rest);
        script.replace(MAKER, bid, -1, 20);
        script.order(TAKER, 8, Side::Sell, -1, 5);
        script.cancel(MAKER, bid);
        script
    }

    /// Orders at a market elsewhere: they are refused there, trade in part and whole, change, and are cancelled.
    pub fn elsewhere(instance: &str) -> Script {
        let mut script = Script::new(instance, ELSEWHERE);
        let half = script.order(MAKER, 7, Side::Buy, -2, 30);
        script.order(MAKER, 7, Side::Sell, 2, 31);
        script.order(MAKER, 7, Side::Sell, 2, 26);
        script.replace(MAKER, half, -1, 40).replace(MAKER, half, -1, 3).replace(MAKER, half, 1, 50);
        script.deposit(7, 5);
        let other = script.order(TAKER, 8, Side::Buy, 0, 20);
        script.cancel(TAKER, other).cancel(TAKER, other).cancel(MAKER, half);
        script.order(TAKER, 8, Side::Sell, 0, 10);
        script.kill(8);
        script
    }

    /// Orders of clients that have no connection to lose: they rest, trade, change, are cancelled, one by one and all of an account,
    /// and refused; several requests in one turn.
    pub fn clients(instance: &str) -> Script {
        let mut script = Script::new(instance, SERVED);
        script.order(MAKER, 7, Side::Sell, 2, 30);
        script.asks(&[order(None, "a", 7, Side::Buy, -2, 10)]);
        script.asks(&[order(None, "b", 8, Side::Buy, 2, 12), order(None, "c", 8, Side::Buy, -3, 7)]);
        script.asks(&[Asked::Replace(AccountId(7), "a", ticks(-1), Quantity(20))]);
        // Refused: the account's limit. Then the same name again.
        script.asks(&[order(None, "d", 8, Side::Buy, 0, 500)]);
        script.asks(&[order(None, "c", 8, Side::Buy, -3, 7), Asked::Cancel(AccountId(7), "a")]);
        script.asks(&[order(None, "e", 8, Side::Buy, -4, 7)]);
        script.asks(&[Asked::Cancel(AccountId(8), "e")]);
        script.asks(&[order(None, "f", 7, Side::Buy, -5, 3), order(None, "g", 8, Side::Buy, -5, 3)]);
        script.asks(&[Asked::CancelAll(AccountId(8))]);
        script.asks(&[order(None, "h", 8, Side::Buy, -6, 3)]);
        script
    }

    /// Orders of connections that end in the middle, and of none.
    pub fn sessions(instance: &str) -> Script {
        let mut script = Script::new(instance, SERVED);
        script.order(MAKER, 7, Side::Sell, 2, 30);
        script.asks(&[Asked::Connect(1), Asked::Connect(2)]);
        script.asks(&[order(Some(1), "a", 8, Side::Buy, -2, 10), order(None, "n", 8, Side::Buy, -2, 1)]);
        script.asks(&[order(Some(1), "b", 8, Side::Buy, 2, 12), order(Some(2), "c", 8, Side::Buy, -3, 7)]);
        script.asks(&[Asked::Replace(AccountId(8), "a", ticks(-1), Quantity(20))]);
        script.asks(&[Asked::Cancel(AccountId(8), "a"), order(Some(1), "d", 8, Side::Buy, -4, 7)]);
        script.asks(&[order(Some(1), "e", 8, Side::Buy, -5, 7), Asked::Disconnect(1)]);
        script.asks(&[order(Some(2), "f", 8, Side::Buy, -5, 7)]);
        script.asks(&[Asked::Disconnect(2)]);
        script
    }

    /// The platform.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What happens, in its order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The node that has no turn before it is released.
    pub(crate) fn late_node(&self) -> Option<&'static str> {
        self.late
    }

    fn seat(&self, strategy: &str) -> StrategyId {
        seat_of(&self.topology, strategy)
    }

    fn enter(&mut self, entry: AnyMessage) {
        self.events.push(Event::Entry(entry));
    }

    fn entry(&mut self, entry: AnyMessage) -> &mut Script {
        self.enter(entry);
        self.events.push(Event::Rest);
        self
    }

    fn request(&mut self, strategy: &'static str, request: Request) -> &mut Script {
        self.events.push(Event::Request(strategy, request));
        self.events.push(Event::Rest);
        self
    }

    fn asks(&mut self, asked: &[Asked]) {
        self.events.push(Event::Client(asked.to_vec()));
        self.events.push(Event::Rest);
    }

    fn deposit(&mut self, account: u32, amount: i128) -> &mut Script {
        self.entry(change(account, AccountAction::Deposit, amount))
    }

    fn withdraw(&mut self, account: u32, amount: i128) -> &mut Script {
        self.entry(change(account, AccountAction::Withdraw, amount))
    }

    fn kill(&mut self, account: u32) -> &mut Script {
        self.entry(change(account, AccountAction::Kill, 0))
    }

    fn revive(&mut self, account: u32) -> &mut Script {
        self.entry(change(account, AccountAction::Revive, 0))
    }

    fn price(&mut self, instrument: u32, ticks: i64) -> &mut Script {
        let instrument = InstrumentId(instrument);
        let price = SettlementPrice { day: DAY, instrument, price: Price(ticks * TICK) };
        self.entry(AnyMessage::SettlementPrice(price))
    }

    fn settle(&mut self) -> &mut Script {
        self.entry(AnyMessage::Settle(Settle { day: DAY, flags: Settle::FORCED, who: Text::cut("test") }))
    }

    /// A limit order so many ticks from where the market begins.
    fn order(
        &mut self,
        strategy: &'static str,
        account: u32,
        side: Side,
        ticks: i64,
        quantity: i64,
    ) -> OrderId {
        let number = self.numbers.entry(strategy).or_default();
        *number += 1;
        let number = *number;
        let order_id = OrderId::new(self.seat(strategy), 1, number);
        self.request(strategy, Request::New(new_order(order_id, account, side, ticks, quantity)));
        order_id
    }

    /// Another order under an id that is used.
    fn again(&mut self, strategy: &'static str, order_id: OrderId) {
        self.request(strategy, Request::New(new_order(order_id, 8, Side::Sell, 7, 77)));
    }

    fn cancel(&mut self, strategy: &'static str, order_id: OrderId) -> &mut Script {
        self.request(strategy, Request::Cancel(CancelOrder::new(order_id, FIRST)))
    }

    fn replace(
        &mut self,
        strategy: &'static str,
        order_id: OrderId,
        ticks: i64,
        quantity: i64,
    ) -> &mut Script {
        let (price, quantity) = (self::ticks(ticks), Quantity(quantity));
        self.request(
            strategy,
            Request::Replace(ReplaceOrder { order_id, instrument: FIRST, source: 0, price, quantity }),
        )
    }
}

fn ticks(away: i64) -> Price {
    Price((HOME + away) * TICK)
}

fn order(
    session: Option<u64>,
    name: &'static str,
    account: u32,
    side: Side,
    away: i64,
    quantity: i64,
) -> Asked {
    Asked::Order(session, name, new_order(OrderId(0), account, side, away, quantity))
}

fn new_order(order_id: OrderId, account: u32, side: Side, away: i64, quantity: i64) -> NewOrder {
    NewOrder {
        order_id,
        instrument: FIRST,
        side,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::Day,
        flags: 0,
        price: ticks(away),
        quantity: Quantity(quantity),
        cause: Cause::NONE,
        account: AccountId(account),
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    }
}

fn change(account: u32, action: AccountAction, amount: i128) -> AnyMessage {
    let is_money = matches!(action, AccountAction::Deposit | AccountAction::Withdraw);
    AnyMessage::AccountChange(AccountChange {
        subject: account,
        scope: AccountScope::Account,
        action,
        reserved: 0,
        amount: WideMoney::from_wide(amount * 1_000_000_000),
        currency: if is_money { Currency::new("CNY").expect("a currency") } else { Currency::EMPTY },
        who: Text::cut("test"),
        why: Text::cut("cuts"),
    })
}
