//! Drop copies, given frame by frame.

use accounts::{Follower, Options, Touched};
use wire::fold::{DeskReader, desk_parts};
use wire::*;

use super::guard::{Call, Guard, Listed, Wanted};
use super::publish::Changed;

const SEAT: StrategyId = StrategyId(4);
const TRADER: StrategyId = StrategyId(9);
const ACCOUNT: AccountId = AccountId(7);
const STOCK: InstrumentId = InstrumentId(1);
const OTHER: InstrumentId = InstrumentId(2);
const ONE: i128 = 1_000_000_000;
/// More than any test waits for.
const MANY_SURVEYS: u32 = 2_000;

type Given = (u64, u32, u16, Vec<u8>);

/// A follower with its guard, and all frames that they were given.
struct World {
    follower: Follower,
    guard: Guard,
    listed: Listed,
    frames: Vec<Given>,
    orders: u32,
    executions: u64,
}

fn price(units: i64) -> Price {
    Price(units * Price::ONE)
}

fn money(units: i128) -> WideMoney {
    WideMoney::from_wide(units * ONE)
}

fn follow(follower: &mut Follower, (position, topic, message_id, bytes): &Given) -> Touched {
    let at = (*position, *topic, Nanos(*position));
    follower.frame(at, *message_id, bytes).unwrap().touched
}

impl World {
    /// An account of 1,000 that may trade two instruments at a margin of half.
    fn new() -> World {
        World::of(AccountKind::Margin)
    }

    fn of(kind: AccountKind) -> World {
        let mut world = World {
            follower: Follower::new(Options { remembered: 64 }),
            guard: Guard::new(SEAT, 3),
            listed: Listed::default(),
            frames: Vec::new(),
            orders: 0,
            executions: 0,
        };
        let (who, why) = (Text::cut("ann"), Text::cut("test"));
        let currency = Currency::cut("CNY");
        world.take(&CurrencyRate { currency, rate: ONE as u64 });
        for instrument in [STOCK, OTHER] {
            world.take(&ContractTerms {
                instrument,
                flags: ContractTerms::TRADABLE | ContractTerms::SHORTABLE,
                symbol: Symbol::new(if instrument == STOCK { "A" } else { "B" }).unwrap(),
                currency,
                multiplier: 1,
                price_low: price(1),
                price_high: price(1_000),
            });
            world.list(instrument, 1, price(1_000), 0);
        }
        world.take(&MarginRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            long_rate: 500_000_000,
            short_rate: 500_000_000,
            long_per_lot: WideMoney::default(),
            short_per_lot: WideMoney::default(),
            who,
            why,
        });
        world.take(&AccountOpen {
            account: ACCOUNT,
            group: 0,
            parent: AccountId(0),
            kind,
            method: CostMethod::Average,
            reserved: 0,
            currency,
            name: Text::EMPTY,
            who,
            why,
        });
        world.change(AccountAction::Deposit, 1_000);
        world
    }

    fn list(&mut self, id: InstrumentId, lot: i64, price_high: Price, max_quantity: i64) {
        self.listed.set(&Instrument {
            id,
            reserved: 0,
            symbol: Symbol::default(),
            tick: price(1),
            lot: Quantity(lot),
            price_low: price(1),
            price_high,
            reference_price: Price::NONE,
            max_quantity: Quantity(max_quantity),
            multiplier: 0,
            currency: wire::Currency::EMPTY,
        });
    }

    fn give<M: Message>(&mut self, topic: u32, message: &M) -> Touched {
        let frame = (4_096 + 512 * self.frames.len() as u64, topic, M::ID, message.bytes().to_vec());
        let touched = follow(&mut self.follower, &frame);
        self.guard.seen(M::ID, message.bytes());
        self.frames.push(frame);
        touched
    }

    fn take<M: Message>(&mut self, message: &M) -> Touched {
        self.give(DROP_TAKEN, message)
    }

    fn change(&mut self, action: AccountAction, amount: i128) {
        let currency = if amount == 0 { Currency::EMPTY } else { Currency::cut("CNY") };
        self.take(&AccountChange {
            subject: ACCOUNT.0,
            scope: AccountScope::Account,
            action,
            reserved: 0,
            amount: money(amount),
            currency,
            who: Text::cut("ann"),
            why: Text::cut("test"),
        });
    }

    fn limit(&mut self, limit: LimitKind, number: u64, amount: i128) {
        self.take(&AccountLimit {
            subject: ACCOUNT.0,
            scope: AccountScope::Account,
            limit,
            change: LimitChange::Set,
            reserved: 0,
            instrument: InstrumentId(0),
            burst: 0,
            number,
            amount: money(amount),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        });
    }

    /// A call from 0.8 on, forced orders from 0.9 on.
    fn margin_limits(&mut self) {
        self.limit(LimitKind::MarginCall, 800_000_000, 0);
        self.limit(LimitKind::ForcedLiquidation, 900_000_000, 0);
    }

    fn mark(&mut self, instrument: InstrumentId, units: i64) -> Touched {
        self.take(&Mark { instrument, reserved: 0, price: price(units) })
    }

    fn order(&mut self, side: Side, instrument: InstrumentId, quantity: i64, units: i64) -> NewOrder {
        self.orders += 1;
        let id = OrderId::new(TRADER, 1, self.orders);
        let (kind, lives) = (OrderType::Limit, TimeInForce::Day);
        let plain = NewOrder::plain(id, instrument, side, kind, lives, price(units), Quantity(quantity));
        NewOrder { account: ACCOUNT, ..plain }
    }

    fn update(&mut self, order: &NewOrder, status: OrderStatus, filled: i64) {
        self.executions += 64;
        let remaining = if status.is_final() { 0 } else { order.quantity.0 - filled };
        self.take(&OrderUpdate {
            side: order.side,
            price: order.price,
            quantity: order.quantity,
            filled: Quantity(filled),
            remaining: Quantity(remaining),
            execution: self.executions,
            ..OrderUpdate::about(order.order_id, order.instrument, status, Reason::None)
        });
    }

    fn fill(&mut self, order: &NewOrder, units: i64, quantity: i64, remaining: i64) {
        self.executions += 64;
        self.take(&Fill {
            order_id: order.order_id,
            trade_id: self.executions,
            instrument: order.instrument,
            side: order.side,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price: price(units),
            quantity: Quantity(quantity),
            remaining: Quantity(remaining),
            event_time: Nanos(0),
            execution: self.executions,
            answered_up_to: 0,
        });
    }

    /// All of it trades.
    fn trade(&mut self, order: &NewOrder, units: i64) {
        self.take(order);
        self.update(order, OrderStatus::Accepted, 0);
        self.fill(order, units, order.quantity.0, 0);
        self.update(order, OrderStatus::Filled, order.quantity.0);
    }

    fn buy(&mut self, quantity: i64, units: i64) {
        let order = self.order(Side::Buy, STOCK, quantity, units);
        self.trade(&order, units);
    }

    /// What td is asked for after another look.
    fn survey(&mut self) -> (Vec<Call>, Vec<Wanted>) {
        let calls = self.guard.survey(&self.follower.desk, &self.listed);
        (calls, self.guard.take())
    }

    /// The only forced order that another look leads to, once the account is frozen, or freed.
    fn forced(&mut self) -> Option<NewOrder> {
        for _ in 0..MANY_SURVEYS {
            let (_, wanted) = self.survey();
            match wanted[..] {
                [] => return None,
                [Wanted::Close(order)] => return Some(order),
                [Wanted::Freeze(change)] => self.take(&change),
                _ => panic!("{wanted:?}"),
            };
        }
        panic!("it is frozen and freed without an end");
    }

    fn lots(&self) -> (i64, i64) {
        let row = self.follower.desk.position(TRADER, ACCOUNT, STOCK).unwrap();
        (row.long_today + row.long_yesterday, row.short_today + row.short_yesterday)
    }

    fn is_closed_by_force(&self) -> bool {
        self.follower.desk.closed_by_force().any(|account| account == ACCOUNT)
    }
}

/// Trades of two instruments, refusals, a change of money, a kill by loss.
fn day() -> World {
    let mut world = World::new();
    world.margin_limits();
    world.limit(LimitKind::Loss, 0, 600);
    world.buy(10, 100);
    world.mark(STOCK, 101);
    let refused = world.order(Side::Buy, STOCK, 10_000, 100);
    world.give(DROP_REFUSED, &refused);
    world.take(&OrderUpdate::rejection(&refused, Reason::InsufficientFunds));
    let works = world.order(Side::Buy, OTHER, 2, 40);
    world.take(&works);
    world.update(&works, OrderStatus::Accepted, 0);
    world.take(&EntryResult { entry: 64, refusal: 0, about: 0 });
    let replace = ReplaceOrder {
        order_id: works.order_id,
        instrument: OTHER,
        source: 0,
        price: price(41),
        quantity: Quantity(3),
    };
    world.take(&replace);
    world.update(&NewOrder { price: price(41), quantity: Quantity(3), ..works }, OrderStatus::Replaced, 0);
    world.take(&CancelOrder::new(works.order_id, OTHER));
    world.update(&NewOrder { price: price(41), quantity: Quantity(3), ..works }, OrderStatus::Cancelled, 0);
    world.change(AccountAction::Withdraw, 100);
    let sells = world.order(Side::Sell, STOCK, 4, 30);
    world.mark(STOCK, 30);
    world.trade(&sells, 30);
    world.change(AccountAction::Kill, 0);
    world.change(AccountAction::Revive, 0);
    world
}

#[test]
fn who_is_killed_at_any_frame_and_reads_the_rest_has_the_same_bytes() {
    let world = day();
    let whole = world.follower.snapshot();
    for cut in 0..=world.frames.len() {
        let mut first = Follower::new(Options { remembered: 64 });
        world.frames[..cut].iter().for_each(|frame| {
            follow(&mut first, frame);
        });
        let mut parts = DeskReader::new();
        let bytes = desk_parts(first.contained.drops, &first.snapshot()).find_map(|part| parts.take(&part));
        let mut next = Follower::restore(&bytes.unwrap()).unwrap();
        assert_eq!(next.snapshot(), first.snapshot(), "frame {cut}");
        // The journal begins where a frame does: what is contained is read again.
        world.frames[cut.saturating_sub(2)..].iter().for_each(|frame| {
            follow(&mut next, frame);
        });
        assert_eq!(next.snapshot(), whole, "frame {cut}");
    }
    assert_eq!(world.follower.desk.audit(), Ok(()));
}

#[test]
fn surveys_change_nothing_that_is_followed() {
    let mut world = World::new();
    world.margin_limits();
    world.limit(LimitKind::Loss, 0, 100);
    world.buy(10, 100);
    world.mark(STOCK, 50);
    let before = world.follower.snapshot();
    let (calls, wanted) = world.survey();
    assert_eq!((calls.len(), wanted.len()), (1, 2));
    assert_eq!(world.follower.snapshot(), before, "a kill falls when td has let it fall");
}

#[test]
fn a_kill_is_asked_for_once_until_it_falls() {
    let mut world = World::new();
    world.limit(LimitKind::Loss, 0, 100);
    world.buy(10, 100);
    world.mark(STOCK, 91);
    assert_eq!(world.survey().1, [], "90 is not too much");
    world.mark(STOCK, 80);
    let (_, wanted) = world.survey();
    let [Wanted::Kill(kill)] = wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((kill.scope, kill.subject, kill.action), (AccountScope::Account, 7, AccountAction::Kill));
    assert!(!kill.who.is_empty() && !kill.why.is_empty());
    assert_eq!(world.survey().1, [], "on its way");
    world.take(&kill);
    assert_eq!(world.survey().1, [], "fallen");
    world.change(AccountAction::Revive, 0);
    assert_eq!(world.survey().1.len(), 1, "revived, and it has still lost too much");
}

#[test]
fn a_margin_call_is_made_once_until_it_is_cured() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    assert_eq!(world.survey(), (vec![], vec![]));
    world.mark(STOCK, 60);
    // A margin of 500 wants an equity of 625, and there are 600.
    let call = Call { account: ACCOUNT, owner: None, missing: 25 * ONE };
    assert_eq!(world.survey(), (vec![call], vec![]));
    world.mark(STOCK, 59);
    assert_eq!(world.survey(), (vec![], vec![]), "it was made");
    world.change(AccountAction::Deposit, 100);
    assert_eq!(world.survey(), (vec![], vec![]), "cured");
    world.mark(STOCK, 50);
    assert_eq!(world.survey().0.len(), 1, "the next");
}

#[test]
fn no_forced_order_is_sent_for_lots_that_another_closes() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    world.mark(STOCK, 50);
    // Equity 500, margin 500; 400 are allowed: a fifth is sold.
    let order = world.forced().unwrap();
    assert_eq!((order.side, order.quantity, order.account), (Side::Sell, Quantity(2), ACCOUNT));
    assert_eq!((order.order_type, order.time_in_force), (OrderType::Market, TimeInForce::ImmediateOrCancel));
    assert_eq!((order.flags, order.order_id), (NewOrder::FORCED, OrderId::new(SEAT, 3, 1)));
    for _ in 0..200 {
        assert_eq!(world.forced(), None, "on its way");
    }
    world.take(&order);
    world.update(&order, OrderStatus::Accepted, 0);
    for _ in 0..200 {
        assert_eq!(world.forced(), None, "at work");
    }
    world.fill(&order, 50, 1, 1);
    assert_eq!(world.forced(), None, "one lot is sold, one is at work");
    // It falls further: what is at work is not enough.
    world.mark(STOCK, 45);
    let more = world.forced().unwrap();
    assert!(more.quantity > Quantity::ZERO && more.order_id.sequence() == 2, "{more:?}");
    world.take(&more);
    world.update(&more, OrderStatus::Accepted, 0);
    world.fill(&order, 45, 1, 0);
    world.update(&order, OrderStatus::Filled, 2);
    world.fill(&more, 45, more.quantity.0, 0);
    world.update(&more, OrderStatus::Filled, more.quantity.0);
    assert_eq!(world.forced(), None, "the margin is as it should be");
    assert_eq!(world.follower.desk.audit(), Ok(()));
}

/// An account with a resting order that closes all it has, and a mark at which it is closed by force.
fn with_resting_sale(kind: AccountKind) -> (World, NewOrder) {
    let mut world = World::of(kind);
    world.margin_limits();
    world.buy(10, 100);
    let sells = world.order(Side::Sell, STOCK, 10, 200);
    let sells = match kind {
        AccountKind::Futures => NewOrder { flags: Offset::Close.flags(), ..sells },
        _ => sells,
    };
    world.take(&sells);
    world.update(&sells, OrderStatus::Accepted, 0);
    world.mark(STOCK, 40);
    (world, sells)
}

#[test]
fn the_accounts_own_orders_end_before_its_positions_are_closed() {
    for kind in [AccountKind::Margin, AccountKind::Futures] {
        let (mut world, sells) = with_resting_sale(kind);
        let (_, wanted) = world.survey();
        let [Wanted::Freeze(freeze), Wanted::Cancel(cancel)] = wanted[..] else { panic!("{wanted:?}") };
        assert_eq!((freeze.subject, freeze.action), (ACCOUNT.0, AccountAction::Freeze));
        assert_eq!(cancel, CancelOrder::new(sells.order_id, STOCK));
        world.take(&freeze);
        world.take(&cancel);
        assert_eq!(world.survey().1, [], "they are on their way");
        // It trades in part before it ends.
        world.fill(&sells, 40, 1, 9);
        world.update(&sells, OrderStatus::Cancelled, 1);
        let order = world.forced().unwrap();
        assert_eq!((order.side, order.flags & NewOrder::FORCED), (Side::Sell, NewOrder::FORCED));
        world.trade(&order, 40);
        assert_eq!(world.lots(), (9 - order.quantity.0, 0), "{kind}: never short");
        assert_eq!(world.forced(), None);
        assert!(!world.is_closed_by_force() && !world.guard.is_busy(), "{kind}: freed");
        assert_eq!(world.follower.desk.audit(), Ok(()));
    }
}

#[test]
fn an_order_that_cannot_be_cancelled_is_asked_to_end_again_and_again() {
    let (mut world, sells) = with_resting_sale(AccountKind::Margin);
    let (_, wanted) = world.survey();
    let [Wanted::Freeze(freeze), Wanted::Cancel(cancel)] = wanted[..] else { panic!("{wanted:?}") };
    world.take(&freeze);
    let (mut looks, mut asked) = (0, Vec::new());
    for _ in 0..MANY_SURVEYS {
        if asked.len() == 9 {
            break;
        }
        world.take(&cancel);
        world.update(&sells, OrderStatus::CancelRejected, 0);
        assert!(world.guard.is_busy(), "without any news");
        looks += 1;
        match world.survey().1[..] {
            [] => {}
            [Wanted::Cancel(again)] if again == cancel => asked.push(std::mem::take(&mut looks)),
            ref other => panic!("{other:?}"),
        }
    }
    assert_eq!(asked, [2, 3, 5, 9, 17, 33, 65, 65, 65]);
    // Whatever happens to it then, the account is not left alone.
    world.update(&sells, OrderStatus::Cancelled, 0);
    assert!(world.forced().is_some());
}

#[test]
fn an_account_that_is_closed_by_force_takes_no_orders_of_its_own_and_cancels() {
    let (mut world, sells) = with_resting_sale(AccountKind::Futures);
    let Some(&Wanted::Freeze(freeze)) = world.survey().1.first() else { panic!() };
    world.take(&freeze);
    let mut desk = world.follower.desk.clone();
    let more = world.order(Side::Sell, STOCK, 1, 190);
    let verdict = desk.new_order(TRADER, &more, Nanos(1));
    assert_eq!(verdict, accounts::Verdict::Refused(Reason::ForcedLiquidation));
    let replace = ReplaceOrder {
        order_id: sells.order_id,
        instrument: STOCK,
        source: 0,
        price: price(199),
        quantity: Quantity(9),
    };
    assert_eq!(desk.replace(TRADER, &replace, Nanos(1)), Err(Reason::ForcedLiquidation));
    assert_eq!(desk.cancel(TRADER, &CancelOrder::new(sells.order_id, STOCK), Nanos(1)), Ok(()));
    // Money that comes in cures it.
    world.change(AccountAction::Deposit, 100_000);
    let (_, wanted) = world.survey();
    let [Wanted::Freeze(free)] = wanted[..] else { panic!("{wanted:?}") };
    assert_eq!(free.action, AccountAction::Unfreeze);
    world.take(&free);
    assert!(!world.is_closed_by_force());
    assert_eq!(world.survey().1, []);
}

#[test]
fn a_person_and_the_ledger_freeze_beside_each_other() {
    let (mut world, _) = with_resting_sale(AccountKind::Margin);
    world.change(AccountAction::Freeze, 0);
    let Some(&Wanted::Freeze(freeze)) = world.survey().1.first() else { panic!() };
    world.take(&freeze);
    world.change(AccountAction::Unfreeze, 0);
    assert!(world.is_closed_by_force(), "not lifted by a person");
    world.change(AccountAction::Freeze, 0);
    world.change(AccountAction::Deposit, 100_000);
    let Some(&Wanted::Freeze(free)) = world.survey().1.first() else { panic!() };
    world.take(&free);
    let order = world.order(Side::Buy, STOCK, 1, 50);
    let verdict = world.follower.desk.clone().new_order(TRADER, &order, Nanos(1));
    assert_eq!(verdict, accounts::Verdict::Refused(Reason::AccountFrozen), "not lifted by the ledger");
}

#[test]
fn attempts_that_trade_nothing_become_rarer() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    world.mark(STOCK, 50);
    let mut pauses = Vec::new();
    let mut looks = 0;
    for _ in 0..MANY_SURVEYS {
        if pauses.len() == 9 {
            break;
        }
        looks += 1;
        if let Some(order) = world.forced() {
            pauses.push(std::mem::take(&mut looks));
            // With a copy of the order, or without.
            if pauses.len().is_multiple_of(2) {
                world.give(DROP_REFUSED, &order);
            }
            world.take(&OrderUpdate::rejection(&order, Reason::NotClosable));
        }
    }
    assert_eq!(pauses, [1, 2, 3, 5, 9, 17, 33, 65, 65]);
}

#[test]
fn a_successor_sends_no_order_again_that_is_on_its_way_or_at_work() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    world.mark(STOCK, 50);
    let order = world.forced().unwrap();
    let successor = |world: &World| {
        let mut guard = Guard::new(SEAT, 4);
        guard.restore([(64, Wanted::Close(order))], 640, &world.follower.desk);
        guard
    };
    // td has not taken it yet.
    world.guard = successor(&world);
    assert_eq!(world.forced(), None);
    world.take(&order);
    world.guard = successor(&world);
    assert_eq!(world.forced(), None, "at work");
    // It ends without a trade: its successor's order has another id.
    world.update(&order, OrderStatus::Accepted, 0);
    world.update(&order, OrderStatus::Cancelled, 0);
    world.guard = successor(&world);
    let next = world.forced().unwrap();
    assert_eq!((next.quantity, next.order_id), (Quantity(2), OrderId::new(SEAT, 4, 1)));
}

/// td may be slow, and a person may lift the switch between a kill and the same kill once more.
#[test]
fn a_kill_is_asked_for_once_whoever_dies_and_again_only_if_td_has_passed_it_over() {
    let mut world = World::new();
    world.limit(LimitKind::Loss, 0, 50);
    world.buy(10, 100);
    world.mark(STOCK, 90);
    let (_, wanted) = world.survey();
    let [Wanted::Kill(kill)] = wanted[..] else { panic!("{wanted:?}") };
    let at = 640;
    let successor = |world: &World, read: u64| {
        let mut guard = Guard::new(SEAT, 4);
        guard.restore([(at, Wanted::Kill(kill))], read, &world.follower.desk);
        guard
    };
    // It stands in the journal, and td has not read it.
    world.guard = successor(&world, at);
    assert!(world.guard.awaits_kills());
    world.guard.read(at);
    assert_eq!(world.survey().1, []);
    world.take(&kill);
    assert!(!world.guard.awaits_kills(), "the drop copy has it");
    world.change(AccountAction::Revive, 0);
    assert_eq!(world.survey().1.len(), 1, "the loss is there still");

    // td has read it before the predecessor's end: what came of that is in the drop copy.
    world.guard = successor(&world, at + 64);
    assert!(!world.guard.awaits_kills());
    assert_eq!(world.survey().1.len(), 1);
    // td has read it since, and nothing has come of it: a person had killed the account, and has revived it.
    world.guard = successor(&world, at);
    assert_eq!(world.survey().1, []);
    world.guard.read(at + 64);
    assert_eq!(world.survey().1.len(), 1);
}

#[test]
fn forced_orders_keep_to_lots_and_to_the_largest_order() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    world.mark(STOCK, 50);
    world.list(STOCK, 4, price(1_000), 0);
    assert_eq!(world.forced().unwrap().quantity, Quantity(4), "a whole lot");
    world.guard = Guard::new(SEAT, 5);
    world.list(STOCK, 100, price(1_000), 0);
    assert_eq!(world.forced().unwrap().quantity, Quantity(10), "not more than there is");
    world.guard = Guard::new(SEAT, 6);
    world.list(STOCK, 1, price(1_000), 1);
    assert_eq!(world.forced().unwrap().quantity, Quantity(1), "not more than the market takes");
}

#[test]
fn without_a_band_a_forced_order_has_a_price_that_trades() {
    let mut world = World::new();
    world.margin_limits();
    world.buy(10, 100);
    world.mark(STOCK, 57);
    world.mark(STOCK, 52);
    world.list(STOCK, 1, Price::NONE, 0);
    let order = world.forced().unwrap();
    // A tenth worse than 52, to a whole tick.
    assert_eq!((order.order_type, order.price), (OrderType::Limit, price(46)));
}

#[test]
fn what_has_changed_is_shown_once_with_all_that_hold_the_instrument() {
    let mut world = World::new();
    let mut changed = Changed::default();
    let shown = |changed: &mut Changed, world: &World| {
        let mut slots = Vec::new();
        changed.show(&world.follower, |slot, state| slots.push((slot, state.account.0)));
        slots
    };
    assert!(changed.is_empty());
    changed.add(world.mark(STOCK, 100));
    assert_eq!(shown(&mut changed, &world), [], "nobody holds it");
    let order = world.order(Side::Buy, STOCK, 10, 100);
    changed.add(world.take(&order));
    assert_eq!(shown(&mut changed, &world), [(0, 7)]);
    assert!(changed.is_empty() && shown(&mut changed, &world).is_empty(), "once");
    world.update(&order, OrderStatus::Accepted, 0);
    world.fill(&order, 100, 10, 0);
    changed.add(world.mark(STOCK, 99));
    assert_eq!(shown(&mut changed, &world), [(0, 7)]);
    changed = Changed::all();
    assert_eq!(shown(&mut changed, &world), [(0, 7)]);
}
