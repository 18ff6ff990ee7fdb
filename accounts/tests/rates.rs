//! A desk that goes on from the drop copy has the rates of the one before it: its death allows no other burst.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Desk, Entry, Follower, Options, Rates};
use support::*;
use wire::*;

const KINDS: [LimitKind; 3] = [LimitKind::OrderRate, LimitKind::MessageRate, LimitKind::RunawayRate];
const SCOPES: [(AccountScope, u32); 4] = [
    (AccountScope::Account, 2),
    (AccountScope::Group, 1),
    (AccountScope::Strategy, 3),
    (AccountScope::Platform, 0),
];

/// The desk that decides, and the drop copy with times.
struct Life {
    desk: Desk,
    drops: Vec<(u32, Nanos, u16, Vec<u8>)>,
    number: u32,
}

impl Life {
    fn new() -> Life {
        let mut life = Life { desk: Desk::new(Options::default()), drops: Vec::new(), number: 0 };
        reference().iter().for_each(|entry| life.enter(entry, Nanos(0)));
        life.enter(&open(2, AccountKind::Margin, CostMethod::Average), Nanos(0));
        life.enter(&deposit(2, 1_000_000_000), Nanos(0));
        life.enter(&Entry::Margin(margin(1, 100_000_000)), Nanos(0));
        life
    }

    fn enter(&mut self, entry: &Entry, now: Nanos) {
        self.desk.apply(entry).unwrap();
        let (id, bytes) = encode(entry);
        self.drops.push((DROP_TAKEN, now, id, bytes));
    }

    fn order(&mut self, now: Nanos) -> bool {
        self.order_of(1, now)
    }

    fn order_of(&mut self, lots: i64, now: Nanos) -> bool {
        self.number += 1;
        let mut order = order(self.number, AccountId(2), InstrumentId(1), Side::Buy, lots, 10);
        let came = order;
        match self.desk.admit(STRATEGY, &mut order, now) {
            Ok(()) => self.drops.push((DROP_TAKEN, now, NewOrder::ID, order.bytes().to_vec())),
            Err(reason) => {
                self.drops.push((DROP_REFUSED, now, NewOrder::ID, came.bytes().to_vec()));
                let update = OrderUpdate::rejection(&came, reason);
                self.drops.push((DROP_TAKEN, now, OrderUpdate::ID, update.bytes().to_vec()));
                self.fall(now);
                return false;
            }
        }
        true
    }

    /// Kill switches that have fallen by themselves.
    fn fall(&mut self, now: Nanos) {
        for kill in self.desk.take_kills() {
            let (id, bytes) = encode(&change(kill.scope, kill.subject, AccountAction::Kill, 0));
            self.drops.push((DROP_TAKEN, now, id, bytes));
        }
    }

    fn cancel(&mut self, number: u32, source: u32, now: Nanos) {
        let cancel =
            CancelOrder { source, ..CancelOrder::new(OrderId::new(STRATEGY, 1, number), InstrumentId(1)) };
        if source & CancelOrder::OF_TD != 0 {
            self.desk.note_cancel(cancel.order_id);
        } else {
            self.desk.cancel(STRATEGY, &cancel, now).unwrap();
        }
        self.drops.push((DROP_TAKEN, now, CancelOrder::ID, cancel.bytes().to_vec()));
    }

    /// A successor that can read the drop copy from this frame on; its accounts come from a follower of all of it.
    fn succeed(&mut self, from: usize, now: Nanos) {
        let mut follower = Follower::new(Options::default());
        for (place, (topic, time, id, payload)) in (1_u64..).zip(&self.drops) {
            follower.frame((place * 64, *topic, *time), *id, payload).unwrap();
        }
        let mut follower = Follower::restore(&follower.snapshot()).unwrap();
        let unknown_before = (from > 0).then(|| self.drops[from].1);
        let mut rates = Rates::new(&mut follower.desk, unknown_before, now);
        for (topic, time, id, payload) in &self.drops[from..] {
            rates.frame((*topic, *time), *id, payload);
        }
        self.desk = follower.desk;
    }
}

fn slow(scope: AccountScope, subject: u32, kind: LimitKind, number: u64, burst: u32) -> Entry {
    let mut entry = limit(scope, subject, kind, number);
    entry.burst = burst;
    Entry::Limit(entry)
}

fn encode(entry: &Entry) -> (u16, Vec<u8>) {
    let (id, bytes) = match entry {
        Entry::Open(open) => (AccountOpen::ID, open.bytes()),
        Entry::Change(change) => (AccountChange::ID, change.bytes()),
        Entry::Limit(limit) => (AccountLimit::ID, limit.bytes()),
        Entry::Margin(rule) => (MarginRule::ID, rule.bytes()),
        Entry::Terms(terms) => (ContractTerms::ID, terms.bytes()),
        Entry::Rate(rate) => (CurrencyRate::ID, rate.bytes()),
        other => panic!("{other:?}"),
    };
    (id, bytes.to_vec())
}

#[test]
fn whichever_rate_holds_a_successor_decides_as_the_desk_before_it() {
    for kind in KINDS {
        for (scope, subject) in SCOPES {
            let most = 60;
            let decide = |deaths: &[usize]| {
                let mut life = Life::new();
                life.enter(&slow(scope, subject, kind, 10, 8), Nanos(1));
                let mut passed = Vec::new();
                for step in 0..most {
                    let now = Nanos(1_000_000_000 + step as u64 * 30_000_000);
                    if deaths.contains(&step) {
                        life.succeed(0, now);
                    }
                    passed.push(life.order(now));
                }
                passed
            };
            let undisturbed = decide(&[]);
            assert!(undisturbed.iter().any(|passed| !passed), "{scope} {kind}: the rate is passed");
            for deaths in [vec![4], vec![9, 10, 11], (1..most).collect()] {
                assert_eq!(decide(&deaths), undisturbed, "{scope} {kind}, successors at {deaths:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_known_allows_no_burst() {
    let mut life = Life::new();
    life.enter(&slow(AccountScope::Account, 2, LimitKind::OrderRate, 1, 5), Nanos(1));
    let start = 1_000_000_000;
    assert_eq!((0..9).filter(|_| life.order(Nanos(start))).count(), 5);
    let end = life.drops.len() - 2;
    life.succeed(end, Nanos(start));
    assert!(!life.order(Nanos(start + 999_999_999)), "less than a token since the oldest frame");
    assert!(life.order(Nanos(start + 1_000_000_000)));
    // Set behind the oldest frame: full.
    let begin = life.drops.len();
    life.enter(&slow(AccountScope::Account, 2, LimitKind::OrderRate, 1, 3), Nanos(start + 1_000_000_000));
    life.succeed(begin, Nanos(start + 1_000_000_000));
    assert_eq!((0..9).filter(|_| life.order(Nanos(start + 1_000_000_000))).count(), 3);
}

#[test]
fn cancels_of_td_count_for_no_rate_and_those_of_clients_do() {
    for is_killed in [false, true] {
        for (source, left) in [(CancelOrder::OF_TD | 1, 4), (0, 2)] {
            let mut life = Life::new();
            life.enter(&slow(AccountScope::Account, 2, LimitKind::MessageRate, 0, 6), Nanos(1));
            assert!(life.order(Nanos(2)) && life.order(Nanos(2)));
            life.cancel(1, source, Nanos(3));
            life.cancel(2, source, Nanos(3));
            if is_killed {
                life.succeed(0, Nanos(4));
            }
            assert_eq!((0..9).filter(|_| life.order(Nanos(4))).count(), left, "source {source}, {is_killed}");
        }
    }
}

/// How the orders of a life end that count for a limit of refusals.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusing {
    /// The desk refuses them for what they ask for.
    Desk,
    /// The rate of the same level refuses them, which counts for that level alone.
    Rate,
    /// The market rejects them.
    Market,
    /// The market rejects a second copy of an order that works, which counts for none.
    Copy,
}

impl Life {
    /// An order that counts as refused, or what the switch makes of it.
    fn refused(&mut self, how: Refusing, now: Nanos) -> Option<Reason> {
        let lots = if how == Refusing::Desk { 2 } else { 1 };
        if !self.order_of(lots, now) {
            let (.., payload) = self.drops.iter().rfind(|(_, _, id, _)| *id == OrderUpdate::ID).unwrap();
            return Some(OrderUpdate::decode(payload).unwrap().reason);
        }
        let order = order(self.number, AccountId(2), InstrumentId(1), Side::Buy, 1, 10);
        match how {
            Refusing::Desk | Refusing::Rate => {}
            Refusing::Market => self.says(&OrderUpdate::rejection(&order, Reason::NoLiquidity), now),
            Refusing::Copy => {
                let Execution::Update(accepted) = update(&order, OrderStatus::Accepted, 1, 0) else {
                    panic!()
                };
                self.says(&accepted, now);
                self.says(&OrderUpdate::rejection(&order, Reason::DuplicateOrder), now);
            }
        }
        None
    }

    /// What the market says of an order.
    fn says(&mut self, update: &OrderUpdate, now: Nanos) {
        let execution = 64 * (1 + self.drops.len() as u64);
        let update = OrderUpdate { execution, event_time: now, ..*update };
        self.desk.execution(&Execution::Update(update));
        self.drops.push((DROP_TAKEN, now, OrderUpdate::ID, update.bytes().to_vec()));
        self.fall(now);
    }
}

/// A limit of refusals is passed by the same order, whoever died before.
#[test]
fn a_successor_lets_the_switch_of_refused_orders_fall_when_the_desk_before_it_would_have() {
    let most = 40;
    for how in [Refusing::Desk, Refusing::Rate, Refusing::Market, Refusing::Copy] {
        for (scope, subject) in SCOPES {
            let decide = |deaths: &[u64]| {
                let mut life = Life::new();
                life.enter(&Entry::Limit(limit(scope, subject, LimitKind::OrderQuantity, 1)), Nanos(1));
                life.enter(&slow(scope, subject, LimitKind::RejectRate, 10, 8), Nanos(1));
                if how == Refusing::Rate {
                    life.enter(&slow(scope, subject, LimitKind::OrderRate, 1, 1), Nanos(1));
                }
                let decided = (0..most).map(|step| {
                    let now = Nanos(1_000_000_000 + step * 30_000_000);
                    if deaths.contains(&step) {
                        life.succeed(0, now);
                    }
                    life.refused(how, now)
                });
                decided.collect::<Vec<_>>()
            };
            let undisturbed = decide(&[]);
            let fell = undisturbed.iter().position(|reason| *reason == Some(Reason::Killed));
            let is_counted = how != Refusing::Copy;
            assert_eq!(fell.is_some_and(|step| step > 8), is_counted, "{scope} {how:?}: {undisturbed:?}");
            for deaths in [vec![4], vec![7, 8, 9], (1..most).collect()] {
                assert_eq!(decide(&deaths), undisturbed, "{scope} {how:?}, successors at {deaths:?}");
            }
        }
    }
}
