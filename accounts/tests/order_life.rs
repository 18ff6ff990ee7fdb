//! The table of an order's life in `docs/accounts.md`: every state with every event, and what becomes of the reservation.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Anomaly, Desk, Verdict};
use support::*;
use wire::*;

const LOTS: i64 = 10;

fn the_order() -> NewOrder {
    order(1, CASH, STOCK, Side::Buy, LOTS, 10)
}

/// Sent, working, partly filled, with a replace on its way, ended by a cancel.
fn states() -> [(&'static str, Desk); 5] {
    let order = the_order();
    let mut sent = desk();
    assert_eq!(refusal(&mut sent, &order), None);
    let after = |before: &Desk, executions: &[Execution]| {
        let mut desk = before.clone();
        executions.iter().for_each(|execution| assert_eq!(desk.execution(execution), None));
        desk
    };
    let working = after(&sent, &[update(&order, OrderStatus::Accepted, LOTS, 0)]);
    let partial = after(&working, &[fill(&order, 1, 4, order.price, 6)]);
    let mut replacing = working.clone();
    let replace = ReplaceOrder {
        order_id: order.order_id,
        instrument: STOCK,
        source: 0,
        price: order.price,
        quantity: Quantity(15),
    };
    assert_eq!(replacing.replace(STRATEGY, &replace, Nanos(1)), Ok(()));
    let ended = after(&working, &[update(&order, OrderStatus::Cancelled, LOTS, 0)]);
    [("sent", sent), ("working", working), ("partial", partial), ("replacing", replacing), ("ended", ended)]
}

/// What stays reserved in each state, as lots; and the anomaly, if the event does not fit.
#[test]
fn every_cell_of_the_table_is_as_it_is_drawn() {
    use Anomaly::{Doubled, Late, OutOfStep, OverFill};
    let order = the_order();
    let to = |status, total, filled| update(&order, status, total, filled);
    type Cell = (i64, Option<Anomaly>);
    let step: Option<Anomaly> = Some(OutOfStep);
    #[rustfmt::skip]
    let table: [(&str, Execution, [Cell; 5]); 13] = [
        // event                                          sent          working       partly filled  replacing     ended
        ("accepted", to(OrderStatus::Accepted, 10, 0),    [(10, None),  (10, step),   (6, step),     (15, step),   (0, step)]),
        ("fill", fill(&order, 2, 2, price(10), 8),        [(8, None),   (8, None),    (4, step),     (13, None),   (0, Some(Late))]),
        ("same fill", fill(&order, 1, 4, price(10), 6),   [(6, None),   (6, None),    (6, Some(Doubled)), (11, None), (0, Some(Late))]),
        ("too much", fill(&order, 3, 20, price(10), 0),   [(0, Some(OverFill)), (0, Some(OverFill)), (0, Some(OverFill)), (0, Some(OverFill)), (0, Some(Late))]),
        ("partially", to(OrderStatus::PartiallyFilled, 10, 4), [(10, step), (10, step), (6, None),    (15, step),   (0, step)]),
        ("filled", to(OrderStatus::Filled, 10, 10),       [(0, step),   (0, step),    (0, step),     (0, step),    (0, step)]),
        ("cancelled", to(OrderStatus::Cancelled, 10, 0),  [(0, None),   (0, None),    (0, step),     (0, None),    (0, step)]),
        ("rejected", to(OrderStatus::Rejected, 10, 0),    [(0, None),   (0, step),    (0, step),     (0, step),    (0, step)]),
        ("replaced", to(OrderStatus::Replaced, 15, 0),    [(15, step),  (15, step),   (11, step),    (15, None),   (0, step)]),
        ("not replaced", to(OrderStatus::ReplaceRejected, 10, 0), [(10, step), (10, step), (6, step), (10, None),  (0, step)]),
        ("not cancelled", to(OrderStatus::CancelRejected, 10, 0), [(10, step), (10, step), (6, step), (15, step),  (0, step)]),
        ("reduced", to(OrderStatus::Reduced, 7, 0),       [(7, None),   (7, None),    (3, step),     (15, None),   (0, step)]),
        ("triggered", to(OrderStatus::Triggered, 10, 0),  [(10, None),  (10, None),   (6, step),     (15, None),   (0, step)]),
    ];
    let mut cells = 0;
    for (event, execution, wanted) in &table {
        for ((state, mut desk), (lots, anomaly)) in states().into_iter().zip(wanted) {
            assert_eq!(desk.execution(execution), *anomaly, "{event} of an order that is {state}");
            let reserved = desk.reserved(order.order_id);
            assert_eq!(reserved, Some(i128::from(*lots) * 10 * ONE), "{event} of an order that is {state}");
            desk.audit().unwrap();
            cells += 1;
        }
    }
    assert_eq!(cells, 13 * 5);
}

/// Matching answers a request that it reads behind the order's end: one refusal for each, and it changes nothing.
#[test]
fn a_refusal_of_a_request_that_crossed_the_orders_end_is_in_step_once() {
    let order = the_order();
    let replace = ReplaceOrder {
        order_id: order.order_id,
        instrument: STOCK,
        source: 0,
        price: order.price,
        quantity: Quantity(15),
    };
    for (refused, other) in [
        (OrderStatus::CancelRejected, OrderStatus::ReplaceRejected),
        (OrderStatus::ReplaceRejected, OrderStatus::CancelRejected),
    ] {
        let (_, mut desk) = states().into_iter().nth(1).unwrap();
        match refused {
            OrderStatus::CancelRejected => {
                let cancel = CancelOrder::new(order.order_id, STOCK);
                desk.cancel(STRATEGY, &cancel, Nanos(1)).unwrap();
            }
            _ => desk.replace(STRATEGY, &replace, Nanos(1)).unwrap(),
        }
        assert_eq!(desk.execution(&fill(&order, 1, LOTS, order.price, 0)), None);
        assert_eq!(desk.execution(&update(&order, OrderStatus::Filled, LOTS, LOTS)), None);
        let mut restored = Desk::restore(&desk.snapshot()).unwrap();
        for desk in [&mut desk, &mut restored] {
            let purses = desk.purses(STRATEGY, CASH);
            assert_eq!(desk.execution(&update(&order, other, 0, 0)), Some(Anomaly::OutOfStep), "{other}");
            assert_eq!(desk.execution(&update(&order, refused, 0, 0)), None, "{refused}");
            assert_eq!(desk.execution(&update(&order, refused, 0, 0)), Some(Anomaly::OutOfStep), "{refused}");
            assert_eq!(desk.purses(STRATEGY, CASH), purses);
            desk.audit().unwrap();
        }
        assert_eq!(desk.snapshot(), restored.snapshot());
    }
}

#[test]
fn executions_of_nobody_and_of_another_instrument_book_nothing() {
    let order = the_order();
    let (_, mut desk) = states().into_iter().next().unwrap();
    let nobody = NewOrder { order_id: OrderId(7), ..order };
    assert_eq!(desk.execution(&fill(&nobody, 1, 1, price(10), 0)), Some(Anomaly::Unbooked));
    assert_eq!(desk.anomalies().of(Anomaly::Unbooked), 1);
    let of_nobody = update(&nobody, OrderStatus::Accepted, 1, 0);
    assert_eq!(desk.execution(&of_nobody), Some(Anomaly::UnknownOrder));
    let foreign = NewOrder { instrument: INDEX, ..order };
    assert_eq!(desk.execution(&fill(&foreign, 1, 1, price(10), 0)), Some(Anomaly::Garbled));
    let huge = fill(&order, 1, i64::MAX, Price(i64::MAX), 0);
    assert_eq!(desk.execution(&huge), Some(Anomaly::Overflow));
    assert_eq!(desk.anomalies().of(Anomaly::Overflow), 1);
    assert_eq!(desk.purses(STRATEGY, CASH)[0].balance, 1_000_000 * ONE);
    desk.audit().unwrap();
}

#[test]
fn an_order_is_forgotten_after_enough_others_and_its_id_stays_used() {
    let mut desk = Desk::new(accounts::Options { remembered: 2 });
    reference().iter().for_each(|entry| drop(desk.apply(entry).unwrap()));
    let orders: Vec<NewOrder> =
        (1..=4).map(|number| order(number, AccountId(0), STOCK, Side::Buy, 1, 10)).collect();
    orders.iter().for_each(|order| trade(&mut desk, order));
    assert_eq!(desk.order(orders[1].order_id), None);
    assert!(desk.order(orders[2].order_id).is_some());
    assert_eq!(refusal(&mut desk, &orders[0]), Some(Reason::DuplicateOrder));
    assert_eq!(desk.execution(&fill(&orders[0], 9, 1, price(10), 0)), Some(Anomaly::Unbooked));
}

#[test]
fn a_noisy_account_makes_no_other_forget_its_orders() {
    const REMEMBERED: u32 = 64;
    let mut desk = Desk::new(accounts::Options { remembered: REMEMBERED });
    reference().iter().for_each(|entry| drop(desk.apply(entry).unwrap()));
    for account in 1..=9 {
        desk.apply(&open(account, AccountKind::Cash, CostMethod::Average)).unwrap();
        desk.apply(&deposit(account, 1_000_000)).unwrap();
    }
    let mut number = 0;
    let mut end = |desk: &mut Desk, account: u32| {
        number += 1;
        let order = order(number, AccountId(account), STOCK, Side::Buy, 2, 10);
        assert!(matches!(send(desk, &order), Verdict::Send(_)));
        assert_eq!(desk.execution(&update(&order, OrderStatus::Cancelled, 2, 0)), None);
        order
    };
    let quiet: Vec<NewOrder> =
        (1..=8).flat_map(|account| [account; 3]).map(|account| end(&mut desk, account)).collect();
    let noise: Vec<NewOrder> = (0..10 * REMEMBERED).map(|_| end(&mut desk, 9)).collect();
    let mut restored = Desk::restore(&desk.snapshot()).unwrap();
    for desk in [&mut desk, &mut restored] {
        let known = noise.iter().filter(|order| desk.order(order.order_id).is_some()).count();
        assert_eq!(known, REMEMBERED as usize - quiet.len(), "no more in all");
        for (trade, order) in (1..).zip(&quiet) {
            assert_eq!(desk.execution(&fill(order, trade, 1, price(10), 1)), Some(Anomaly::Late));
        }
        assert_eq!(desk.purses(STRATEGY, AccountId(1))[0].balance, (1_000_000 - 3 * 10) * ONE, "booked");
        desk.audit().unwrap();
    }
    assert_eq!(desk.snapshot(), restored.snapshot());
    // Whoever comes last has its share, too.
    let latest = end(&mut desk, 1);
    assert!(desk.order(latest.order_id).is_some() && desk.order(quiet[0].order_id).is_some());
}

#[test]
fn a_rejection_of_a_second_copy_ends_no_order_that_works() {
    let order = the_order();
    let (_, mut desk) = states().into_iter().next().unwrap();
    assert_eq!(desk.execution(&update(&order, OrderStatus::Accepted, LOTS, 0)), None);
    let held = desk.purses(STRATEGY, CASH);
    let Execution::Update(rejected) = update(&order, OrderStatus::Rejected, 0, 0) else { panic!() };
    let of_a_copy = OrderUpdate { reason: Reason::DuplicateOrder, ..rejected };
    assert_eq!(desk.execution(&Execution::Update(of_a_copy)), Some(Anomaly::OutOfStep));
    assert_eq!(desk.order(order.order_id).unwrap().status, OrderStatus::Accepted);
    assert_eq!(desk.purses(STRATEGY, CASH), held, "it holds back what it did");
    assert_eq!(desk.execution(&fill(&order, 1, LOTS, order.price, 0)), None);
    desk.audit().unwrap();
}

#[test]
fn an_account_finds_its_positions_whatever_their_number() {
    let mut desk = desk();
    // Descending and in steps, so that each new one moves others.
    let instruments: Vec<u32> = (0..40).map(|step| 4_000 - 7 * step).collect();
    for (done, instrument) in instruments.iter().enumerate() {
        let terms = terms(*instrument, &format!("F{instrument}"), ContractTerms::SHORTABLE, 1);
        desk.apply(&accounts::Entry::Terms(terms)).unwrap();
        trade(
            &mut desk,
            &order(done as u32 + 1, FUTURES, InstrumentId(*instrument), Side::Buy, done as i64 + 1, 10),
        );
        if done % 11 == 0 {
            desk = Desk::restore(&desk.snapshot()).unwrap();
        }
        for (lots, known) in instruments.iter().enumerate() {
            let row = desk.position(STRATEGY, FUTURES, InstrumentId(*known));
            let held = row.map(|row| row.long_today);
            assert_eq!(held, (lots <= done).then_some(lots as i64 + 1), "{known} of {}", done + 1);
        }
        assert!(desk.position(STRATEGY, FUTURES, InstrumentId(0)).is_none());
    }
}
