//! Who follows the drop copy has the state of who wrote it, wherever it was killed and restored.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{
    Contained, Desk, Entry, FollowError, Follower, KillCause, Options, PositionRow, Refusal, Totals, Touched,
    Verdict,
};
use support::*;
use wire::*;

/// A desk that decides, the drop copy that it writes, and one who follows.
struct Pair {
    random: u64,
    desk: Desk,
    drops: Vec<(u64, u32, u16, Vec<u8>)>,
    follower: Follower,
    /// Frames that the follower has taken.
    taken: usize,
    open: Vec<NewOrder>,
    numbers: u32,
    executions: u64,
    now: u64,
    day: u32,
}

const OPTIONS: Options = Options { remembered: 32 };

impl Pair {
    fn new(seed: u64) -> Pair {
        let mut pair = Pair {
            random: seed * 2 + 1,
            desk: Desk::new(OPTIONS),
            drops: Vec::new(),
            follower: Follower::new(OPTIONS),
            taken: 0,
            open: Vec::new(),
            numbers: 0,
            executions: 0,
            now: 0,
            day: 20_260_101,
        };
        reference().iter().for_each(|entry| pair.enter(entry));
        for instrument in 1..=4 {
            pair.enter(&Entry::Margin(margin(instrument, 100_000_000)));
        }
        pair.enter(&Entry::Fee(fee(1, 300_000, 0, ONE)));
        for (account, kind) in (1..).zip([AccountKind::Cash, AccountKind::Margin, AccountKind::Futures]) {
            pair.enter(&open(account, kind, CostMethod::Average));
            pair.enter(&deposit(account, 30_000));
        }
        pair
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % most
    }

    fn write(&mut self, topic: u32, id: u16, bytes: &[u8]) {
        let position = 64 * (self.drops.len() as u64 + 1);
        self.drops.push((position, topic, id, bytes.to_vec()));
    }

    fn enter(&mut self, entry: &Entry) {
        let (id, bytes) = encode(entry);
        if self.desk.apply(entry).is_ok() {
            self.write(DROP_TAKEN, id, &bytes);
        }
        self.fall();
    }

    /// Kill switches that have fallen by themselves.
    fn fall(&mut self) {
        for kill in self.desk.take_kills() {
            if kill.cause != KillCause::Entry {
                let Entry::Change(entry) = change(kill.scope, kill.subject, AccountAction::Kill, 0) else {
                    panic!()
                };
                self.write(DROP_TAKEN, AccountChange::ID, entry.bytes());
            }
            for (order, instrument) in self.desk.working_in(kill.scope, kill.subject) {
                let cancel =
                    CancelOrder { source: CancelOrder::OF_TD, ..CancelOrder::new(order, instrument) };
                self.desk.note_cancel(order);
                self.write(DROP_TAKEN, CancelOrder::ID, cancel.bytes());
            }
        }
    }

    fn book(&mut self, execution: Execution) {
        self.executions += 64;
        let copy = execution.passed_on(self.executions);
        self.desk.execution(&copy);
        self.write(DROP_TAKEN, copy.message_id(), copy.bytes());
        self.fall();
    }

    fn step(&mut self) {
        self.now += self.below(3_000_000);
        match self.below(20) {
            0..9 => self.send(),
            9..13 => self.trade(),
            13..15 => self.end(),
            15 => self.replace(),
            16 => {
                let mark = Mark {
                    instrument: InstrumentId(1 + self.below(4) as u32),
                    reserved: 0,
                    price: price(1 + self.below(12) as i64),
                };
                self.desk.mark(mark.instrument, mark.price);
                self.write(DROP_TAKEN, Mark::ID, mark.bytes());
            }
            17 => self.switch(),
            18 => {
                let account = 1 + self.below(3) as u32;
                self.enter(&deposit(account, 1_000));
            }
            _ => self.settle(),
        }
    }

    fn send(&mut self) {
        self.numbers += 1;
        let is_old = self.below(15) == 0 && self.numbers > 3;
        let number = if is_old { self.numbers - 2 } else { self.numbers };
        let strategy = StrategyId(1 + self.below(2) as u16);
        let side = if self.below(2) == 0 { Side::Buy } else { Side::Sell };
        let order = NewOrder {
            order_id: OrderId::new(strategy, 1, number),
            account: AccountId(self.below(5) as u32),
            instrument: InstrumentId(1 + self.below(4) as u32),
            side,
            time_in_force: TimeInForce::GoodTillCancel,
            price: price(1 + self.below(12) as i64),
            quantity: Quantity(1 + self.below(200) as i64),
            ..order(0, CASH, STOCK, Side::Buy, 1, 1)
        };
        match self.desk.new_order(strategy, &order, Nanos(self.now)) {
            Verdict::Send(sent) => {
                self.write(DROP_TAKEN, NewOrder::ID, sent.bytes());
                self.open.push(sent);
            }
            Verdict::Refused(reason) => {
                if reason != Reason::DuplicateOrder {
                    self.write(DROP_REFUSED, NewOrder::ID, order.bytes());
                }
                self.write(DROP_TAKEN, OrderUpdate::ID, OrderUpdate::rejection(&order, reason).bytes());
            }
            Verdict::Known(_) => {}
        }
        self.fall();
    }

    fn pick(&mut self) -> Option<(usize, NewOrder, OrderUpdate)> {
        if self.open.is_empty() {
            return None;
        }
        let index = self.below(self.open.len() as u64) as usize;
        let order = self.open[index];
        Some((index, order, self.desk.order(order.order_id).unwrap()))
    }

    fn trade(&mut self) {
        let Some((index, order, state)) = self.pick() else { return };
        let left = state.remaining.0;
        let lots = 1 + self.below(left.max(1).unsigned_abs()) as i64;
        let traded = fill(&order, self.executions + 1, lots.min(left), state.price, left - lots.min(left));
        self.book(traded);
        if lots >= left {
            self.finish(index, OrderStatus::Filled);
        }
    }

    fn end(&mut self) {
        if let Some((index, ..)) = self.pick() {
            self.finish(index, OrderStatus::Cancelled);
        }
    }

    fn finish(&mut self, index: usize, status: OrderStatus) {
        let order = self.open.swap_remove(index);
        let state = self.desk.order(order.order_id).unwrap();
        self.book(update(&order, status, state.quantity.0, state.filled.0));
    }

    fn replace(&mut self) {
        let Some((_, order, state)) = self.pick() else { return };
        let replace = ReplaceOrder {
            order_id: order.order_id,
            instrument: order.instrument,
            source: 7,
            price: price(1 + self.below(12) as i64),
            quantity: Quantity(state.filled.0 + 1 + self.below(100) as i64),
        };
        if self.desk.replace(order.order_id.strategy(), &replace, Nanos(self.now)).is_err() {
            return;
        }
        self.write(DROP_TAKEN, ReplaceOrder::ID, replace.bytes());
        let replaced = NewOrder { price: replace.price, ..order };
        let is_taken = self.below(3) > 0;
        let state = self.desk.order(order.order_id).unwrap();
        self.book(match is_taken {
            true => update(&replaced, OrderStatus::Replaced, replace.quantity.0, state.filled.0),
            false => update(&order, OrderStatus::ReplaceRejected, state.quantity.0, state.filled.0),
        });
    }

    fn switch(&mut self) {
        let scope = [AccountScope::Account, AccountScope::Strategy][self.below(2) as usize];
        let subject = 1 + self.below(3) as u32;
        let action = if self.below(3) == 0 { AccountAction::Kill } else { AccountAction::Revive };
        self.enter(&change(scope, subject, action, 0));
    }

    fn settle(&mut self) {
        if self.below(6) > 0 {
            return;
        }
        self.day += 1;
        for instrument in 1..=4 {
            let (day, price) = (self.day, price(1 + self.below(12) as i64));
            self.enter(&Entry::Price(SettlementPrice { day, instrument: InstrumentId(instrument), price }));
        }
        self.enter(&Entry::Settle(Settle { day: self.day, flags: 0, who: Text::cut("ann") }));
    }

    fn follow(&mut self, most: usize) {
        for (position, topic, id, payload) in self.drops.iter().skip(self.taken).take(most) {
            let followed = self.follower.frame((*position, *topic, Nanos(0)), *id, payload);
            assert!(followed.is_ok(), "{followed:?}, message {id}");
        }
        self.taken = self.taken.saturating_add(most).min(self.drops.len());
    }

    /// All that can be asked, but for rates.
    fn compare(&self) {
        let (desk, follower) = (&self.desk, &self.follower.desk);
        assert_eq!(desk.accounts().collect::<Vec<_>>(), follower.accounts().collect::<Vec<_>>());
        assert_eq!(desk.open_orders(), follower.open_orders());
        assert_eq!(desk.killed(), follower.killed());
        for account in desk.accounts() {
            let strategy = account.owner.unwrap_or(StrategyId(1));
            // Looking at an order makes an empty purse of its currency, too.
            let purses = |desk: &Desk| {
                let mut purses = desk.purses(strategy, account.account);
                purses.retain(|purse| purse.totals != Totals::default() || purse.gross != 0);
                purses
            };
            assert_eq!(purses(desk), purses(follower));
            for instrument in (1..=4).map(InstrumentId) {
                // A refused order leaves an empty place to the desk that has looked at it.
                let empty =
                    |row: &PositionRow| row.to_string().split(',').skip(4).take(11).all(|cell| cell == "0");
                let position = |desk: &Desk| {
                    desk.position(strategy, account.account, instrument).filter(|row| !empty(row))
                };
                assert_eq!(position(desk), position(follower));
            }
        }
        for number in 1..=self.numbers {
            for strategy in [StrategyId(1), StrategyId(2)] {
                let id = OrderId::new(strategy, 1, number);
                assert_eq!(desk.order(id), follower.order(id), "{id}");
                assert_eq!(desk.reserved(id), follower.reserved(id), "{id}");
            }
        }
        follower.audit().unwrap();
    }
}

fn encode(entry: &Entry) -> (u16, Vec<u8>) {
    fn of<M: Message>(message: &M) -> (u16, Vec<u8>) {
        (M::ID, message.bytes().to_vec())
    }
    match entry {
        Entry::Open(entry) => of(entry),
        Entry::Change(entry) => of(entry),
        Entry::Limit(entry) => of(entry),
        Entry::Fee(entry) => of(entry),
        Entry::Margin(entry) => of(entry),
        Entry::Terms(entry) => of(entry),
        Entry::Rate(entry) => of(entry),
        Entry::Price(entry) => of(entry),
        Entry::Settle(entry) => of(entry),
    }
}

#[test]
fn who_follows_the_drop_copy_has_the_state_of_who_wrote_it() {
    for seed in 0..60 {
        let mut pair = Pair::new(seed);
        for step in 0..400 {
            pair.step();
            if step % 7 == 0 {
                pair.follow(usize::MAX);
                pair.compare();
            }
        }
    }
}

#[test]
fn a_follower_that_is_restored_anywhere_goes_on_to_the_same_bytes() {
    for seed in 0..20 {
        let mut pair = Pair::new(seed);
        (0..300).for_each(|_| pair.step());
        let stop = pair.below(pair.drops.len() as u64) as usize;
        pair.follow(stop);
        let mut second = Follower::restore(&pair.follower.snapshot()).unwrap();
        pair.follow(usize::MAX);
        pair.compare();
        // From the begin: what is contained changes nothing.
        for (position, topic, id, payload) in &pair.drops {
            second.frame((*position, *topic, Nanos(0)), *id, payload).unwrap();
        }
        assert!(second.snapshot() == pair.follower.snapshot(), "seed {seed}, restored after {stop}");
    }
}

#[test]
fn a_sequence_that_cannot_be_is_named() {
    let mut pair = Pair::new(1);
    pair.follow(usize::MAX);
    let at = |position: u64| (position, DROP_TAKEN, Nanos(0));
    let order = order(1, CASH, STOCK, Side::Buy, 1, 1);
    let position = 1 << 20;
    let unknown = NewOrder { account: AccountId(9), ..order };
    assert_eq!(
        pair.follower.frame(at(position), NewOrder::ID, unknown.bytes()),
        Err(FollowError::Request { position, reason: Reason::UnknownAccount })
    );
    let Entry::Open(again) = open(1, AccountKind::Cash, CostMethod::Fifo) else { panic!() };
    assert_eq!(
        pair.follower.frame(at(position + 64), AccountOpen::ID, again.bytes()),
        Err(FollowError::Entry { position: position + 64, refusal: Refusal::Exists })
    );
    assert_eq!(
        pair.follower.frame(at(position + 128), 999, &[]),
        Err(FollowError::Unreadable { position: position + 128, message_id: 999 })
    );
}

#[test]
fn a_frame_says_which_accounts_others_have_to_read_again() {
    let mut pair = Pair::new(1);
    pair.follow(usize::MAX);
    let mut shown = Vec::new();
    pair.follower
        .states(Touched::All, |slot, state| shown.push((slot, state.account.0, state.balance.wide())));
    assert_eq!(shown, [(0, 1, 30_000 * ONE), (1, 2, 30_000 * ONE), (2, 3, 30_000 * ONE)]);
    let Entry::Change(more) = deposit(2, 5) else { panic!() };
    let followed =
        pair.follower.frame((1 << 20, DROP_TAKEN, Nanos(0)), AccountChange::ID, more.bytes()).unwrap();
    assert_eq!(followed.touched, Touched::Account(1));
    let result = EntryResult { entry: 640, refusal: 0, about: 0 };
    pair.follower.frame((1 << 21, DROP_TAKEN, Nanos(0)), EntryResult::ID, result.bytes()).unwrap();
    assert_eq!(pair.follower.contained.entry, 640);
    assert_ne!(pair.follower.contained, Contained::default());
}
