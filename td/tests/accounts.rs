//! The gateway with accounts: who may trade for which, what the desk refuses, the kill switch, and what goes to the drop copy.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use accounts::{Follower, Options};
use td::{Allowed, Decision, Gate, Gateway, GatewayOptions, Limits};
use topology::desk;
use wire::*;

const ME: StrategyId = StrategyId(7);
const OTHER: StrategyId = StrategyId(8);
const LEDGER: StrategyId = StrategyId(4);

const FILE: &str = r#"
[md]
source = "exchange"
instruments = 1
[matching]
fill = "exchange"
[desk]
limits = { order_quantity = 500 }
[[desk.margins]]
long = "0.1"
short = "0.1"
[[accounts]]
number = 1
kind = "cash"
deposit = 10000
[[accounts]]
number = 2
kind = "margin"
deposit = 1000
limits = { open_orders = 3 }
[strategies]
count = 0
"#;

fn instrument() -> Instrument {
    Instrument {
        id: InstrumentId(1),
        reserved: 0,
        symbol: Symbol::new("SIM001").unwrap(),
        tick: Price(Price::ONE / 100),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price(100 * Price::ONE),
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

fn gateway() -> Gateway {
    gateway_with(0.0)
}

fn gateway_with(price_band: f64) -> Gateway {
    gateway_listing(price_band, &instrument())
}

fn gateway_listing(price_band: f64, instrument: &Instrument) -> Gateway {
    let config = topology::parse("desk.toml", FILE, &[]).unwrap().config;
    let mut gateway = Gateway::new(GatewayOptions { price_band }).unwrap();
    gateway.on_instrument(instrument).unwrap();
    let mut gate = Gate::new(Follower::new(Options::default()), 4);
    for entry in desk::opening(&config.desk, &config.accounts, |_| None) {
        gate.entry(&accounts::Entry::decode(entry.id(), entry.bytes()).unwrap()).unwrap();
    }
    let terms = desk::terms(&config.desk, &topology::Market::default(), instrument);
    gate.entry(&accounts::Entry::Terms(terms)).unwrap();
    gate.allow(ME, Allowed::Listed(vec![AccountId(1), AccountId(2)]));
    gate.allow(OTHER, Allowed::Listed(vec![AccountId(2)]));
    gate.force_by(LEDGER);
    gateway.keep_accounts(gate);
    for seat in [ME, OTHER, LEDGER] {
        gateway.strategy_started(seat, Limits::NONE).unwrap();
    }
    gateway
}

fn order(from: StrategyId, number: u32, account: u32, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder {
        account: AccountId(account),
        ..NewOrder::plain(
            OrderId::new(from, 1, number),
            InstrumentId(1),
            side,
            OrderType::Limit,
            TimeInForce::Day,
            Price(price * Price::ONE),
            Quantity(quantity),
        )
    }
}

fn take(gateway: &mut Gateway, from: StrategyId, order: &NewOrder) -> Decision {
    gateway.take_at(from, NewOrder::ID, order.bytes(), Nanos(1))
}

fn refusal(decision: Decision) -> Option<Reason> {
    match decision {
        Decision::Answer(update) => Some(update.reason),
        _ => None,
    }
}

fn traded(order: &NewOrder, price: i64) -> Fill {
    Fill {
        order_id: order.order_id,
        trade_id: u64::from(order.order_id.sequence()),
        instrument: order.instrument,
        side: order.side,
        liquidity: Liquidity::Taker,
        reserved: [0; 2],
        price: Price(price * Price::ONE),
        quantity: order.quantity,
        remaining: Quantity(0),
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
    }
}

fn accepted(order: &NewOrder) -> OrderUpdate {
    OrderUpdate {
        side: order.side,
        price: order.price,
        quantity: order.quantity,
        remaining: order.quantity,
        ..OrderUpdate::about(order.order_id, order.instrument, OrderStatus::Accepted, Reason::None)
    }
}

#[test]
fn a_market_order_holds_back_the_worst_price_of_a_simulated_instrument() {
    let market_order = |number: u32, quantity: i64| NewOrder {
        order_type: OrderType::Market,
        time_in_force: TimeInForce::ImmediateOrCancel,
        price: Price::NONE,
        ..order(ME, number, 1, Side::Buy, 1, quantity)
    };
    let mut unbounded = gateway();
    let refused = take(&mut unbounded, ME, &market_order(1, 10));
    assert_eq!(refusal(refused), Some(Reason::NoWorstPrice));
    // As md lists it: a fifth around 100.
    let mut listed = instrument();
    let platform = topology::parse("desk.toml", FILE, &[]).unwrap();
    assert_eq!(platform.topology.market.complete(&mut listed), None);
    let mut gateway = gateway_listing(0.0, &listed);
    assert!(matches!(take(&mut gateway, ME, &market_order(1, 10)), Decision::Send(_)));
    let desk = &gateway.accounts().unwrap().follower().desk;
    assert_eq!(desk.account(AccountId(1)).unwrap().available, (10_000 - 1_200) * 1_000_000_000);
    let too_large = take(&mut gateway, ME, &market_order(2, 100));
    assert_eq!(refusal(too_large), Some(Reason::InsufficientFunds));
}

#[test]
fn an_order_that_names_no_account_is_for_the_first_and_no_other_accounts_are_touched() {
    let mut gateway = gateway();
    let Decision::Send(Request::New(sent)) = take(&mut gateway, ME, &order(ME, 1, 0, Side::Buy, 10, 100))
    else {
        panic!()
    };
    assert_eq!(sent.account, AccountId(1));
    let other = take(&mut gateway, OTHER, &order(OTHER, 1, 1, Side::Buy, 10, 100));
    assert_eq!(refusal(other), Some(Reason::UnknownAccount));
    let second = take(&mut gateway, ME, &order(ME, 2, 2, Side::Buy, 10, 100));
    assert!(matches!(second, Decision::Send(_)));
    let desk = &gateway.accounts().unwrap().follower().desk;
    assert_eq!(desk.account(AccountId(1)).unwrap().available, 9_000 * 1_000_000_000);
    assert_eq!(desk.account(AccountId(2)).unwrap().available, 900 * 1_000_000_000);
}

#[test]
fn money_limits_and_a_forged_force_are_refused_and_reserve_nothing() {
    let mut gateway = gateway();
    for (number, (account, side, price, quantity), reason) in [
        (1, (1, Side::Buy, 101, 100), Reason::InsufficientFunds),
        (2, (1, Side::Sell, 10, 1), Reason::ShortSale),
        (3, (2, Side::Buy, 1, 501), Reason::Quantity),
    ] {
        let order = order(ME, number, account, side, price, quantity);
        assert_eq!(refusal(take(&mut gateway, ME, &order)), Some(reason));
        // The same again hears the same.
        let Decision::Repeat(again) = take(&mut gateway, ME, &order) else { panic!("{reason:?}") };
        assert_eq!((again.status, again.reason), (OrderStatus::Rejected, reason));
    }
    let forged = NewOrder { flags: NewOrder::FORCED, ..order(ME, 4, 1, Side::Buy, 10, 1) };
    assert_eq!(refusal(take(&mut gateway, ME, &forged)), Some(Reason::Malformed));
    assert_eq!(gateway.exposure(ME, InstrumentId(1)), td::Exposure::default());
    assert_eq!(gateway.accounts().unwrap().follower().desk.open_orders(), 0);
}

#[test]
fn a_kill_cancels_what_works_and_holds_until_it_is_revived() {
    let mut gateway = gateway();
    let orders: Vec<NewOrder> = (1..=2).map(|number| order(ME, number, 2, Side::Buy, 10, 10)).collect();
    for (index, order) in (0_u64..).zip(&orders) {
        assert!(matches!(take(&mut gateway, ME, order), Decision::Send(_)));
        let outcome = gateway.on_update(64 * (index + 1), &accepted(order));
        assert!(outcome.is_copied);
    }
    assert!(matches!(take(&mut gateway, OTHER, &order(OTHER, 1, 2, Side::Buy, 10, 10)), Decision::Send(_)));
    let full = take(&mut gateway, ME, &order(ME, 3, 2, Side::Buy, 10, 10));
    assert_eq!(refusal(full), Some(Reason::WorkingOrders));
    let mut change = |action| {
        let entry = accounts::Entry::Change(AccountChange {
            subject: 2,
            scope: AccountScope::Account,
            action,
            reserved: 0,
            amount: WideMoney::default(),
            currency: Currency::EMPTY,
            who: Text::cut("ann"),
            why: Text::cut("test"),
        });
        gateway.accounts_mut().unwrap().entry(&entry).unwrap();
        let kills = gateway.take_kills();
        let cancels: Vec<_> =
            kills.iter().flat_map(|kill| gateway.cancel_scope(kill.scope, kill.subject)).collect();
        cancels.len()
    };
    assert_eq!(change(AccountAction::Kill), 3, "those of both strategies");
    let killed = take(&mut gateway, OTHER, &order(OTHER, 2, 2, Side::Buy, 10, 1));
    assert_eq!(refusal(killed), Some(Reason::Killed));
    // Another account of the same strategy goes on.
    assert!(matches!(take(&mut gateway, ME, &order(ME, 5, 1, Side::Buy, 10, 1)), Decision::Send(_)));
    // Who closes by force is not held back.
    let fill = Fill { quantity: Quantity(1), remaining: Quantity(9), ..traded(&orders[0], 10) };
    assert!(gateway.on_fill(640, &fill).is_copied);
    let forced = NewOrder { flags: NewOrder::FORCED, ..order(LEDGER, 1, 2, Side::Sell, 10, 1) };
    assert!(matches!(take(&mut gateway, LEDGER, &forced), Decision::Send(_)));
}

/// Account 2 is long in ten.
fn long_gateway(price_band: f64) -> Gateway {
    let mut gateway = gateway_with(price_band);
    let bought = order(ME, 1, 2, Side::Buy, 100, 10);
    assert!(matches!(take(&mut gateway, ME, &bought), Decision::Send(_)));
    assert!(gateway.on_fill(64, &traded(&bought, 100)).is_copied);
    gateway
}

fn by_force(number: u32, price: Price, quantity: i64) -> NewOrder {
    NewOrder { flags: NewOrder::FORCED, price, ..order(LEDGER, number, 2, Side::Sell, 1, quantity) }
}

#[test]
fn what_closes_by_force_is_not_held_up_by_the_gateways_band() {
    let mut gateway = long_gateway(0.1);
    let far = order(ME, 2, 2, Side::Sell, 80, 1);
    assert_eq!(refusal(take(&mut gateway, ME, &far)), Some(Reason::PriceBand));
    let forced = by_force(1, Price(80 * Price::ONE), 1);
    assert!(matches!(take(&mut gateway, LEDGER, &forced), Decision::Send(_)));
    // What the desk refuses is remembered, as it is by who follows.
    let too_much = NewOrder { flags: NewOrder::FORCED, ..order(LEDGER, 3, 1, Side::Sell, 80, 1) };
    assert_eq!(refusal(take(&mut gateway, LEDGER, &too_much)), Some(Reason::NotClosable));
    let known = gateway.accounts().unwrap().follower().desk.order(too_much.order_id).unwrap();
    assert_eq!((known.status, known.reason), (OrderStatus::Rejected, Reason::NotClosable));
}

#[test]
fn what_closes_by_force_goes_out_at_the_tick_that_holds_at_its_price() {
    let mut gateway = long_gateway(0.0);
    let cent = Price::ONE / 100;
    // Cents below 50, ten cents from there, units from 90.
    let ticks = vec![
        (Price(0), Price(cent)),
        (Price(50 * Price::ONE), Price(10 * cent)),
        (Price(90 * Price::ONE), Price(100 * cent)),
    ];
    gateway.set_ticks(InstrumentId(1), ticks);
    for (number, (asked, sent)) in
        (1..).zip([(9_055, 9_000), (8_999, 8_990), (5_004, 5_000), (4_999, 4_999), (1, 1)])
    {
        let forced = by_force(number, Price(asked * cent), 1);
        let Decision::Send(Request::New(out)) = take(&mut gateway, LEDGER, &forced) else {
            panic!("{asked}")
        };
        assert_eq!(out.price, Price(sent * cent), "downwards for a sale");
    }
    // A strategy's own price is its own matter.
    let off = NewOrder { price: Price(9_055 * cent), ..order(ME, 2, 2, Side::Sell, 1, 1) };
    assert_eq!(refusal(take(&mut gateway, ME, &off)), Some(Reason::OffTick));
}

#[test]
fn an_order_of_an_account_that_is_closed_by_force_is_cancelled_once_until_that_is_answered() {
    let mut gateway = long_gateway(0.0);
    let rests = order(ME, 2, 2, Side::Sell, 200, 10);
    assert!(matches!(take(&mut gateway, ME, &rests), Decision::Send(_)));
    assert!(gateway.on_update(128, &accepted(&rests)).is_copied);
    let asked = CancelOrder::new(rests.order_id, rests.instrument);
    assert_eq!(gateway.cancel_one(&asked), Some(asked));
    gateway.note_cancels(&[asked]);
    assert_eq!(gateway.cancel_one(&asked), None, "on its way");
    let refused = OrderUpdate { status: OrderStatus::CancelRejected, ..accepted(&rests) };
    let outcome = gateway.on_update(192, &refused);
    assert_eq!((outcome.anomaly, outcome.is_copied), (None, true));
    assert_eq!(gateway.accounts().unwrap().follower().desk.anomalies().of(accounts::Anomaly::OutOfStep), 0);
    assert!(gateway.owes_cancels(), "td sends it again also where the ledger does not ask");
    assert_eq!(gateway.cancel_one(&asked), Some(asked), "again");
    let larger = ReplaceOrder {
        order_id: rests.order_id,
        instrument: rests.instrument,
        source: 0,
        price: rests.price,
        quantity: Quantity(20),
    };
    let refused = gateway.on_replace(ME, &larger).unwrap_err();
    assert_eq!(refused.reason, Reason::ForcedLiquidation);
    let unknown = CancelOrder::new(OrderId::new(ME, 1, 9), rests.instrument);
    assert_eq!(gateway.cancel_one(&unknown), None);
}

#[test]
fn who_follows_remembers_a_refused_order_as_the_desk_does() {
    let mut gateway = gateway();
    let mut follower = Follower::restore(&gateway.accounts().unwrap().follower().snapshot()).unwrap();
    let mut position = 64;
    let mut refuse = |gateway: &mut Gateway, from: StrategyId, order: &NewOrder| {
        let Decision::Answer(update) = take(gateway, from, order) else { panic!("{order:?}") };
        let copy = gateway.refused_copy(order.bytes(), &update).unwrap();
        for (topic, id, bytes) in
            [(DROP_REFUSED, NewOrder::ID, copy.bytes()), (DROP_TAKEN, OrderUpdate::ID, update.bytes())]
        {
            follower.frame((position, topic, Nanos(1)), id, bytes).unwrap();
            position += 64;
        }
        assert_eq!(
            follower.desk.refused_order(order.order_id),
            gateway.accounts().unwrap().follower().desk.refused_order(order.order_id)
        );
        // The same again is answered, with another content it is a duplicate.
        assert!(matches!(take(gateway, from, order), Decision::Repeat(_)));
        let other = NewOrder { price: Price(11 * Price::ONE), ..*order };
        assert_eq!(refusal(take(gateway, from, &other)), Some(Reason::DuplicateOrder));
    };
    // For the first of its accounts, although it names none; by td itself; with a price that td has rounded.
    refuse(&mut gateway, ME, &order(ME, 1, 0, Side::Buy, 100, 500));
    refuse(&mut gateway, ME, &order(ME, 2, 0, Side::Buy, 10, 501));
    refuse(&mut gateway, ME, &NewOrder { price: Price(1), ..order(ME, 3, 2, Side::Buy, 1, 1) });
    refuse(&mut gateway, OTHER, &order(OTHER, 1, 1, Side::Buy, 10, 1));
    assert_eq!(
        gateway.refused_copy(
            &[1, 2, 3],
            &OrderUpdate::rejection(&order(ME, 4, 1, Side::Buy, 1, 1), Reason::Malformed)
        ),
        None
    );
    let forced = by_force(1, Price(10 * Price::ONE + 1), 1);
    let Decision::Answer(update) = take(&mut gateway, LEDGER, &forced) else { panic!() };
    let copy = gateway.refused_copy(forced.bytes(), &update).unwrap();
    assert_eq!((update.reason, copy.price), (Reason::NotClosable, Price(10 * Price::ONE)));
}

#[test]
fn a_rejection_of_a_second_copy_changes_nothing_in_book_and_accounts() {
    let mut gateway = gateway();
    let orders: Vec<NewOrder> = (1..=2).map(|number| order(ME, number, 2, Side::Buy, 10, 10)).collect();
    for (order, position) in orders.iter().zip([64, 128]) {
        assert!(matches!(take(&mut gateway, ME, order), Decision::Send(_)));
        assert!(gateway.on_update(position, &accepted(order)).is_copied);
    }
    let ended =
        OrderUpdate { status: OrderStatus::Cancelled, remaining: Quantity(0), ..accepted(&orders[1]) };
    assert_eq!(gateway.on_update(192, &ended).anomaly, None);
    // One that works, and one that has ended.
    for (order, position) in orders.iter().zip([256, 320]) {
        let outcome = gateway.on_update(position, &OrderUpdate::rejection(order, Reason::DuplicateOrder));
        assert_eq!((outcome.deliver, outcome.anomaly), (None, Some(td::Anomaly::OutOfStep)));
    }
    let desk = &gateway.accounts().unwrap().follower().desk;
    let states = orders.iter().map(|order| desk.order(order.order_id).unwrap().status);
    assert_eq!(states.collect::<Vec<_>>(), [OrderStatus::Accepted, OrderStatus::Cancelled]);
    assert_eq!((desk.open_orders(), gateway.working_orders(ME)), (1, 1), "both say the same");
}

#[test]
fn an_execution_is_booked_once_and_its_copy_names_its_position() {
    let mut gateway = gateway();
    let order = order(ME, 1, 1, Side::Buy, 10, 100);
    assert!(matches!(take(&mut gateway, ME, &order), Decision::Send(_)));
    let outcome = gateway.on_update(640, &accepted(&order));
    let copy = outcome.copy(640, OrderUpdate::ID, accepted(&order).bytes());
    assert_eq!(copy.and_then(|copy| copy.position()), Some(640));
    assert!(!gateway.on_update(640, &accepted(&order)).is_copied);
}

#[test]
fn more_accounts_than_there_is_room_for_are_refused() {
    let mut gateway = gateway();
    let gate = gateway.accounts_mut().unwrap();
    let mut open = |number| {
        gate.entry(&accounts::Entry::Open(AccountOpen {
            account: AccountId(number),
            group: 0,
            parent: AccountId::OWN,
            kind: AccountKind::Cash,
            method: CostMethod::Fifo,
            reserved: 0,
            currency: Currency::cut("CNY"),
            name: Text::EMPTY,
            who: Text::cut("ann"),
            why: Text::cut("new"),
        }))
    };
    assert!(open(3).is_ok() && open(4).is_ok());
    assert_eq!(open(5), Err(accounts::Refusal::Full));
}

/// Days and prices of a settlement that no person can mean are refused, whatever client they come from, unless it is forced.
#[test]
fn a_settlement_that_cannot_be_meant_needs_the_mark_of_force() {
    use accounts::{Entry, Refusal};
    let now = Nanos(20_478 * 86_400_000_000_000 + 1); // 2026-01-25
    let settle = |day: u32, flags: u32| Entry::Settle(Settle { day, flags, who: Text::cut("ann") });
    let mut gateway = gateway();
    let gate = gateway.accounts_mut().unwrap();
    for (day, refusal) in [
        (20_360_131, Refusal::ImplausibleDay(20_260_125)),
        (20_260_209, Refusal::ImplausibleDay(20_260_125)),
        (99_991_231, Refusal::ImplausibleDay(20_260_125)),
        (20_260_230, Refusal::Number),
        (4_000_000_000, Refusal::Number),
    ] {
        let before = gate.follower().snapshot();
        assert_eq!(gate.entry_of_client(&settle(day, 0), now), Err(refusal), "{day}");
        assert!(before == gate.follower().snapshot(), "{day}: nothing has changed");
    }
    // Prices that are no prices, and those far from the mark.
    gate.mark(&Mark { instrument: InstrumentId(1), reserved: 0, price: Price(100 * Price::ONE) });
    let day = 20_260_130;
    let price = |instrument: u32, whole: i64| {
        let price = if whole == i64::MIN { Price::NONE } else { Price(whole * Price::ONE) };
        Entry::Price(SettlementPrice { day, instrument: InstrumentId(instrument), price })
    };
    for whole in [10_300, 49, 0, -100] {
        gate.entry_of_client(&price(0, i64::MIN), now).unwrap();
        gate.entry_of_client(&price(1, whole), now).unwrap();
        let refused = gate.entry_of_client(&settle(day, 0), now);
        assert_eq!(refused, Err(Refusal::ImplausiblePrice(InstrumentId(1))), "{whole}");
    }
    gate.entry_of_client(&price(1, 149), now).unwrap();
    gate.entry_of_client(&settle(day, 0), now).unwrap();
    assert_eq!(gate.entry_of_client(&settle(day, 0), now), Ok(accounts::Applied::Already));
    // The last day that is not asked about, and one that is meant.
    gate.entry_of_client(&settle(20_260_208, 0), now).unwrap();
    gate.entry_of_client(&settle(20_360_131, Settle::FORCED), now).unwrap();
    assert_eq!(gate.follower().desk.settled_day(), 20_360_131);
}
