//! What must end ends: every reason for which td ends an order, with every answer that a market has to its cancel.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Entry, Follower, Options};
use support::{STOCK, instrument, price, replace, update};
use td::{Allowed, Decision, Gate, Gateway, GatewayOptions, LONGEST_PAUSE, Limits, back_off};
use topology::desk;
use wire::fold::Snapshot;
use wire::*;

const ME: StrategyId = StrategyId(7);
const ACCOUNT: AccountId = AccountId(2);
const MILLISECOND: u64 = 1_000_000;
/// When the market takes cancels again, where it does not at first.
const OPENS: u64 = 3_700 * MILLISECOND;
/// From then on it trades with whatever works: one pause later than it takes cancels.
const TRADES: u64 = OPENS + LONGEST_PAUSE + 2 * MILLISECOND;

const FILE: &str = r#"
[md]
source = "exchange"
instruments = 1
[matching]
fill = "exchange"
[[desk.groups]]
number = 5
[[desk.margins]]
long = "0.1"
short = "0.1"
[[accounts]]
number = 2
kind = "margin"
group = 5
deposit = 1000000
[strategies]
count = 0
"#;

/// Why td ends an order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    Killed(AccountScope, u32),
    /// The strategy has left or died.
    Ended,
    /// It was started again while td did not run: the order is of an older epoch.
    OlderEpoch,
    /// It was stopped with its orders left to work, and then they were to end too.
    EndedAfterPause,
    /// A predecessor of td has cancelled it by itself, and nothing else is known of that.
    ByPredecessor,
    /// The ledger closes the account's positions by force.
    ByForce,
}

const REASONS: [Why; 9] = [
    Why::Killed(AccountScope::Account, 2),
    Why::Killed(AccountScope::Group, 5),
    Why::Killed(AccountScope::Strategy, 7),
    Why::Killed(AccountScope::Platform, 0),
    Why::Ended,
    Why::OlderEpoch,
    Why::EndedAfterPause,
    Why::ByPredecessor,
    Why::ByForce,
];

impl Why {
    /// Why a change of such an order is refused.
    fn reason(self) -> Reason {
        match self {
            Why::Killed(..) => Reason::Killed,
            Why::ByForce => Reason::ForcedLiquidation,
            Why::Ended | Why::OlderEpoch | Why::EndedAfterPause | Why::ByPredecessor => Reason::StrategyGone,
        }
    }
}

/// What the market says to the first cancel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Taken,
    /// No cancels in this phase, for a long time.
    RefusedByPhase,
    /// A replace of the owner is under way, as at a venue that takes one change at a time.
    RefusedDuringReplace,
    /// It has not got the order yet.
    UnknownYet,
    Filled,
    /// It was closed for good: the order has ended, and the cancel is refused.
    Closed,
    /// Matching was started again with empty books: the same.
    BooksLost,
    /// Matching was started again and goes on; it refuses by phase, later.
    Restarted,
    /// td is started again after a refusal by phase.
    TdRestarted,
    /// The owner's own cancel was on its way; that one is refused by phase.
    OwnersRefused,
}

const ANSWERS: [Answer; 10] = [
    Answer::Taken,
    Answer::RefusedByPhase,
    Answer::RefusedDuringReplace,
    Answer::UnknownYet,
    Answer::Filled,
    Answer::Closed,
    Answer::BooksLost,
    Answer::Restarted,
    Answer::TdRestarted,
    Answer::OwnersRefused,
];

fn order(number: u32) -> NewOrder {
    NewOrder { account: ACCOUNT, ..support::order(number, Side::Buy, 100) }
}

fn gate(follower: Follower) -> Gate {
    let mut gate = Gate::new(follower, 4);
    gate.allow(ME, Allowed::Listed(vec![ACCOUNT]));
    gate
}

/// A gateway whose instruments are listed.
fn empty() -> Gateway {
    let mut gateway = Gateway::new(GatewayOptions { price_band: 0.0 }).unwrap();
    gateway.on_instrument(&instrument(1)).unwrap();
    gateway
}

struct World {
    gateway: Gateway,
    frame: u64,
    now: u64,
    /// Cancels that went out, with their times.
    cancels: Vec<(u64, CancelOrder)>,
    /// Without an answer.
    on_their_way: Vec<CancelOrder>,
}

impl World {
    fn new() -> World {
        let config = topology::parse("desk.toml", FILE, &[]).unwrap().config;
        let mut gateway = empty();
        let mut gate = gate(Follower::new(Options::default()));
        for entry in desk::opening(&config.desk, &config.accounts, |_| None) {
            gate.entry(&Entry::decode(entry.id(), entry.bytes()).unwrap()).unwrap();
        }
        let terms = desk::terms(&config.desk, &topology::Market::default(), &instrument(1));
        gate.entry(&Entry::Terms(terms)).unwrap();
        gateway.keep_accounts(gate);
        gateway.strategy_started(ME, Limits::NONE).unwrap();
        World { gateway, frame: 0, now: 0, cancels: Vec::new(), on_their_way: Vec::new() }
    }

    fn ask(&mut self, request: Request) -> Decision {
        self.gateway.take_at(ME, request.message_id(), request.bytes(), Nanos(1))
    }

    fn send(&mut self, order: &NewOrder) {
        assert!(matches!(self.ask(Request::New(*order)), Decision::Send(_)));
    }

    fn say(&mut self, update: OrderUpdate) {
        self.frame += 64;
        let outcome = self.gateway.on_update(self.frame, &update);
        assert_eq!(outcome.anomaly, None, "{update:?}");
    }

    fn refuse(&mut self, order: &NewOrder, status: OrderStatus, reason: Reason) {
        self.say(OrderUpdate { reason, ..update(order, status, 0) });
    }

    fn end(&mut self, order: &NewOrder, reason: Reason) {
        self.say(OrderUpdate { reason, ..update(order, OrderStatus::Cancelled, 0) });
    }

    fn fill(&mut self, order: &NewOrder) {
        self.frame += 64;
        let fill = support::fill(order, order.quantity.0, 0);
        assert_eq!(self.gateway.on_fill(self.frame, &fill).anomaly, None);
        self.say(update(order, OrderStatus::Filled, order.quantity.0));
    }

    fn sent(&mut self, cancels: Vec<CancelOrder>) {
        self.gateway.note_cancels(&cancels);
        self.cancels.extend(cancels.iter().map(|cancel| (self.now, *cancel)));
        self.on_their_way.extend(cancels);
    }

    fn must_end(&mut self, why: Why, order: &NewOrder) {
        let gateway = &mut self.gateway;
        let cancels = match why {
            Why::Killed(scope, subject) => {
                gateway.accounts_mut().unwrap().entry(&kill(scope, subject)).unwrap();
                let kills = gateway.take_kills();
                kills.iter().flat_map(|kill| gateway.cancel_scope(kill.scope, kill.subject)).collect()
            }
            Why::Ended => gateway.strategy_stopped(ME),
            Why::OlderEpoch => gateway.cancel_before(ME, 2),
            Why::EndedAfterPause => {
                gateway.strategy_paused(ME);
                gateway.cancel_all(ME)
            }
            Why::ByPredecessor => gateway.end_order(order.order_id).into_iter().collect(),
            Why::ByForce => {
                gateway.accounts_mut().unwrap().entry(&freeze()).unwrap();
                gateway.cancel_one(&support::cancel(order)).into_iter().collect()
            }
        };
        self.sent(cancels);
    }

    /// A new td with the state that the journals give it: the accounts, the working orders, and why they must end.
    fn restart(&mut self, why: Why, order: &NewOrder) {
        let snapshot = self.gateway.accounts().unwrap().follower().snapshot();
        let mut gateway = empty();
        gateway.keep_accounts(gate(Follower::restore(&snapshot).unwrap()));
        let begin = SnapshotBegin {
            snapshot: 1,
            execution: self.frame + 1,
            strategy: SnapshotBegin::EVERYBODY,
            reserved: [0; 3],
            generation: 0,
            trade: 0,
        };
        let orders = vec![OrderUpdate { execution: 64, ..update(order, OrderStatus::Accepted, 0) }];
        gateway.restore(&Snapshot { begin, positions: Vec::new(), orders, quotes: Vec::new() }).unwrap();
        gateway.strategy_started(ME, Limits::NONE).unwrap();
        self.gateway = gateway;
        self.on_their_way.clear();
        match why {
            Why::Killed(..) => {
                let cancels = self.gateway.cancel_killed();
                self.sent(cancels);
            }
            // Nothing but the accounts says so: the ring of td's requests has gone round.
            Why::ByPredecessor | Why::ByForce => {
                let recalled: Vec<OrderId> =
                    self.gateway.accounts().unwrap().follower().desk.recalled().collect();
                assert_eq!(recalled, [order.order_id], "{why:?}");
                let cancels = recalled.into_iter().filter_map(|id| self.gateway.end_order(id)).collect();
                self.sent(cancels);
            }
            Why::Ended | Why::OlderEpoch | Why::EndedAfterPause => self.must_end(why, order),
        }
        let replaced = self.ask(Request::Replace(replace(order, 300)));
        let Decision::Answer(refused) = replaced else { panic!("{why:?}: {replaced:?}") };
        assert_eq!(refused.reason, why.reason(), "{why:?}");
    }

    /// Time passes, and what is owed is sent again.
    fn tick(&mut self) {
        self.now += MILLISECOND;
        if self.gateway.owes_cancels() {
            let cancels = self.gateway.owed_cancels(self.now, back_off);
            self.sent(cancels);
        }
    }

    fn is_working(&self) -> bool {
        self.gateway.working_orders(ME) > 0
    }

    /// The market answers what is on its way, by its phase.
    fn answer(&mut self, order: &NewOrder) {
        for _ in std::mem::take(&mut self.on_their_way) {
            if !self.is_working() {
                self.refuse(order, OrderStatus::CancelRejected, Reason::UnknownOrder);
            } else if self.now < OPENS {
                self.refuse(order, OrderStatus::CancelRejected, Reason::MarketClosed);
            } else {
                self.end(order, Reason::Requested);
            }
        }
    }
}

fn freeze() -> Entry {
    let Entry::Change(change) = kill(AccountScope::Account, ACCOUNT.0) else { panic!() };
    let [who, why] = accounts::BY_FORCE;
    let (who, why) = (Text::cut(who), Text::cut(why));
    Entry::Change(AccountChange { action: AccountAction::Freeze, who, why, ..change })
}

fn kill(scope: AccountScope, subject: u32) -> Entry {
    Entry::Change(AccountChange {
        subject,
        scope,
        action: AccountAction::Kill,
        reserved: 0,
        amount: WideMoney::default(),
        currency: Currency::EMPTY,
        who: Text::cut("ann"),
        why: Text::cut("test"),
    })
}

/// One cell of the table: how the order ended.
fn lives(why: Why, answer: Answer) -> (World, OrderStatus) {
    let (mut world, order) = (World::new(), order(1));
    world.send(&order);
    if answer != Answer::UnknownYet {
        world.say(update(&order, OrderStatus::Accepted, 0));
    }
    let change = replace(&order, 200);
    if answer == Answer::RefusedDuringReplace {
        assert!(matches!(world.ask(Request::Replace(change)), Decision::Send(_)));
    }
    if answer == Answer::OwnersRefused {
        assert!(matches!(world.ask(Request::Cancel(support::cancel(&order))), Decision::Send(_)));
    }
    world.must_end(why, &order);
    let expected = usize::from(answer != Answer::OwnersRefused);
    assert_eq!(world.cancels.len(), expected, "{why:?}, {answer:?}: a cancel where none is on its way");
    // From now on nothing that makes it larger, or work longer, goes out.
    let running = Limits::NONE;
    world.gateway.strategy_started(ME, running).unwrap();
    let Decision::Answer(refused) = world.ask(Request::Replace(replace(&order, 300))) else {
        panic!("{why:?}: a replace of an order that must end goes out")
    };
    assert_eq!((refused.status, refused.reason), (OrderStatus::ReplaceRejected, why.reason()), "{why:?}");

    let mut first = true;
    let phase = |world: &mut World| {
        world.on_their_way.clear();
        world.refuse(&order, OrderStatus::CancelRejected, Reason::MarketClosed);
    };
    while world.now < TRADES + LONGEST_PAUSE && (world.is_working() || !world.on_their_way.is_empty()) {
        if std::mem::take(&mut first) {
            match answer {
                Answer::Taken => {
                    world.on_their_way.clear();
                    world.end(&order, Reason::Requested);
                }
                Answer::RefusedByPhase | Answer::OwnersRefused => phase(&mut world),
                Answer::RefusedDuringReplace => {
                    world.on_their_way.clear();
                    world.refuse(&order, OrderStatus::CancelRejected, Reason::UnknownOrder);
                    world.say(OrderUpdate {
                        quantity: Quantity(200),
                        remaining: Quantity(200),
                        ..update(&order, OrderStatus::Replaced, 0)
                    });
                    world.now = OPENS;
                }
                Answer::UnknownYet => {
                    world.on_their_way.clear();
                    world.refuse(&order, OrderStatus::CancelRejected, Reason::UnknownOrder);
                    world.say(update(&order, OrderStatus::Accepted, 0));
                    world.now = OPENS;
                }
                Answer::Filled => world.fill(&order),
                Answer::Closed | Answer::BooksLost => world.end(&order, Reason::MarketClosed),
                Answer::Restarted => world.now += 200 * MILLISECOND,
                Answer::TdRestarted => {
                    phase(&mut world);
                    world.restart(why, &order);
                    assert_eq!(world.on_their_way.len(), 1, "{why:?}: td cancels again what must end");
                }
            }
        }
        world.answer(&order);
        if world.now >= TRADES && world.is_working() {
            world.fill(&order);
            return (world, OrderStatus::Filled);
        }
        world.tick();
    }
    let counters = world.gateway.counters(ME).unwrap();
    let status = if counters.filled > 0 { OrderStatus::Filled } else { OrderStatus::Cancelled };
    (world, status)
}

#[test]
fn for_every_reason_and_every_answer_the_order_ends_and_nothing_fills_once_the_market_takes_cancels() {
    let mut cells = 0;
    for why in REASONS {
        for answer in ANSWERS {
            let (world, status) = lives(why, answer);
            let wanted = if answer == Answer::Filled { OrderStatus::Filled } else { OrderStatus::Cancelled };
            assert_eq!(status, wanted, "{why:?}, {answer:?}: {:?}", world.cancels);
            assert!(!world.is_working(), "{why:?}, {answer:?}: it works");
            assert_eq!(world.gateway.must_end().count(), 0, "{why:?}, {answer:?}");
            assert!(
                !world.gateway.owes_cancels() && world.gateway.next_owed().is_none(),
                "{why:?}, {answer:?}"
            );
            let killed = world.gateway.accounts().unwrap().follower().desk.must_end().count();
            assert_eq!(killed, 0, "{why:?}, {answer:?}: the accounts say so too");
            let recalled = world.gateway.accounts().unwrap().follower().desk.recalled().count();
            assert_eq!(recalled, 0, "{why:?}, {answer:?}: the accounts forget what has ended");
            // 1, 2, 4 … 512 ms, then one a second, from each start of td.
            assert!(world.cancels.len() <= 30, "{why:?}, {answer:?}: {} cancels", world.cancels.len());
            cells += 1;
        }
    }
    assert_eq!(cells, 90);
}

#[test]
fn pauses_double_up_to_the_longest_and_never_end() {
    let pauses: Vec<u64> = (0..12).map(|refusals| back_off(refusals) / MILLISECOND).collect();
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000]);
    assert_eq!(back_off(u32::MAX), LONGEST_PAUSE);
}

/// However many orders wait in an instrument, one cancel asks for them; when it is taken, all follow at once.
#[test]
fn one_cancel_asks_for_all_orders_of_an_instrument() {
    let mut world = World::new();
    let orders: Vec<NewOrder> = (1..=50).map(order).collect();
    for order in &orders {
        world.send(order);
        world.say(update(order, OrderStatus::Accepted, 0));
    }
    world.must_end(Why::Killed(AccountScope::Account, 2), &orders[0]);
    assert_eq!(world.cancels.len(), 50);
    let of = |cancel: &CancelOrder| *orders.iter().find(|order| order.order_id == cancel.order_id).unwrap();
    let mut asked = std::collections::BTreeSet::new();
    while world.now < 3_000 * MILLISECOND {
        for cancel in std::mem::take(&mut world.on_their_way) {
            world.refuse(&of(&cancel), OrderStatus::CancelRejected, Reason::MarketClosed);
        }
        world.tick();
        assert!(world.on_their_way.len() <= 1, "one at a time");
        asked.extend(world.on_their_way.iter().map(|cancel| cancel.order_id));
    }
    let probes = world.cancels.len() - 50;
    assert!((10..=13).contains(&probes), "{probes} cancels in three seconds");
    assert_eq!(
        asked.len(),
        probes,
        "each time another one: none that can be cancelled hides behind one that cannot"
    );
    // A person kills once more: all at once, without a pause.
    for cancel in std::mem::take(&mut world.on_their_way) {
        world.refuse(&of(&cancel), OrderStatus::CancelRejected, Reason::MarketClosed);
    }
    let again = world.gateway.cancel_scope(AccountScope::Account, 2);
    assert_eq!(again.len(), 50);
    for cancel in &again {
        world.refuse(&of(cancel), OrderStatus::CancelRejected, Reason::MarketClosed);
    }
    // The market's phase changes: the next look asks, and once that is taken the others follow.
    world.tick();
    world.gateway.market_changed(STOCK);
    world.tick();
    let [asking] = world.on_their_way[..] else { panic!("{:?}", world.on_their_way) };
    world.on_their_way.clear();
    world.end(&of(&asking), Reason::Requested);
    world.tick();
    assert_eq!(world.on_their_way.len(), 49);
    for cancel in std::mem::take(&mut world.on_their_way) {
        world.end(&of(&cancel), Reason::Requested);
    }
    assert!(!world.is_working() && !world.gateway.owes_cancels());
}

/// Time is the number of market events there: at one event nothing is sent twice, however often td looks.
#[test]
fn in_lock_step_a_refused_cancel_waits_for_a_later_event() {
    let (mut world, order) = (World::new(), order(1));
    world.send(&order);
    world.say(update(&order, OrderStatus::Accepted, 0));
    world.must_end(Why::Ended, &order);
    for event in [640_u64, 704, 4_096] {
        world.refuse(&order, OrderStatus::CancelRejected, Reason::MarketClosed);
        for _ in 0..10 {
            assert_eq!(world.gateway.owed_cancels(event, |_| 1), []);
        }
        assert_eq!(world.gateway.owed_cancels(event + 64, |_| 1), [support::cancel(&order)]);
        assert_eq!(world.gateway.owed_cancels(event + 128, |_| 1), [], "it is on its way");
    }
}

#[test]
fn an_owners_refused_cancel_is_the_owners_affair() {
    let (mut world, order) = (World::new(), order(1));
    world.send(&order);
    world.say(update(&order, OrderStatus::Accepted, 0));
    assert!(matches!(world.ask(Request::Cancel(support::cancel(&order))), Decision::Send(_)));
    world.refuse(&order, OrderStatus::CancelRejected, Reason::MarketClosed);
    for _ in 0..100 {
        world.tick();
    }
    assert_eq!((world.cancels.len(), world.gateway.owes_cancels()), (0, false));
    let Decision::Send(_) = world.ask(Request::Replace(replace(&order, 200))) else { panic!("it works on") };
}

/// A switch that is lifted does not save what had to end; what was sent since is not touched.
#[test]
fn what_had_to_end_when_a_switch_fell_ends_also_when_it_is_lifted() {
    let (mut world, order) = (World::new(), order(1));
    world.send(&order);
    world.say(update(&order, OrderStatus::Accepted, 0));
    let killed = Why::Killed(AccountScope::Account, 2);
    world.must_end(killed, &order);
    world.on_their_way.clear();
    world.refuse(&order, OrderStatus::CancelRejected, Reason::MarketClosed);
    let Entry::Change(change) = kill(AccountScope::Account, 2) else { panic!() };
    let revive = Entry::Change(AccountChange { action: AccountAction::Revive, ..change });
    world.gateway.accounts_mut().unwrap().entry(&revive).unwrap();
    let later = self::order(2);
    world.send(&later);
    world.restart(killed, &order);
    assert_eq!(world.on_their_way, [support::cancel(&order)], "also after td was started again");
    assert_eq!(world.gateway.must_end().collect::<Vec<_>>(), [order.order_id]);
}

#[test]
fn an_order_that_closes_by_force_is_ended_by_no_switch() {
    const LEDGER: StrategyId = StrategyId(4);
    let mut world = World::new();
    world.gateway.strategy_started(LEDGER, Limits::NONE).unwrap();
    world.gateway.accounts_mut().unwrap().force_by(LEDGER);
    let held = order(1);
    world.send(&held);
    world.say(update(&held, OrderStatus::Accepted, 0));
    world.fill(&held);
    let forced = NewOrder {
        order_id: OrderId::new(LEDGER, 1, 1),
        side: Side::Sell,
        flags: NewOrder::FORCED,
        price: price("10"),
        ..order(1)
    };
    let sent = world.gateway.take_at(LEDGER, NewOrder::ID, forced.bytes(), Nanos(1));
    assert!(matches!(sent, Decision::Send(_)), "{sent:?}");
    world.must_end(Why::Killed(AccountScope::Account, 2), &forced);
    assert_eq!((world.cancels.len(), world.gateway.must_end().count()), (0, 0));
    assert_eq!(world.gateway.cancel_killed(), []);
}

/// The gateway's last request cancels everything, and then it leaves: nothing is cancelled twice, and what the market has kept, or was sent
/// behind that request, is cancelled again.
#[test]
fn what_a_mass_cancel_of_a_sender_that_has_left_does_not_end_is_cancelled_again() {
    let (mut world, orders) = (World::new(), [order(1), order(2), order(4)]);
    for order in &orders[..2] {
        world.send(order);
        world.say(update(order, OrderStatus::Accepted, 0));
    }
    let mass = OrderId::new(ME, 1, 3);
    let everything = CancelAll::new(mass);
    assert!(matches!(world.ask(Request::CancelAll(everything)), Decision::Send(_)));
    world.send(&orders[2]);
    let cancels = world.gateway.sender_left(ME);
    assert_eq!((cancels, world.gateway.still_to_end()), (Vec::new(), 3), "the mass cancel is on its way");
    world.end(&orders[0], Reason::Requested);
    world.say(OrderUpdate::about(mass, InstrumentId(0), OrderStatus::MassCancelled, Reason::Requested));
    for (number, order) in orders[1..].iter().enumerate() {
        while world.cancels.len() <= number {
            world.tick();
            assert!(world.now < OPENS, "not cancelled again: {:?}", world.cancels);
        }
        assert_eq!(world.cancels[number].1.order_id, order.order_id);
        world.end(order, Reason::Requested);
    }
    assert_eq!(world.gateway.still_to_end(), 0);

    // Without a mass cancel on its way all are cancelled one by one.
    let (mut world, order) = (World::new(), order(1));
    world.send(&order);
    assert_eq!(world.gateway.sender_left(ME).len(), 1);
}
