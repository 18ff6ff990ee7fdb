//! What it costs: printed, not asserted. Run it optimised:
//!
//!     cargo test --release -p accounts --test costs -- --ignored --nocapture
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod support;

use std::hint::black_box;
use std::time::Instant;

use accounts::{Applied, Desk, Entry, Options, Verdict};
use support::*;
use wire::*;

const INSTRUMENTS: u32 = 8;

fn filled_desk(accounts: u32) -> Desk {
    let mut desk = Desk::new(Options::default());
    let mut apply = |entry: &Entry| assert_eq!(desk.apply(entry), Ok(Applied::Done));
    reference()[..2].iter().for_each(&mut apply);
    for instrument in 1..=INSTRUMENTS {
        apply(&Entry::Terms(terms(instrument, &format!("F{instrument}"), ContractTerms::SHORTABLE, 10)));
    }
    apply(&Entry::Margin(margin(0, 100_000_000)));
    apply(&Entry::Fee(fee(1, 25_000, 0, 0)));
    for account in 1..=accounts {
        apply(&open(account, AccountKind::Futures, CostMethod::Average));
        apply(&deposit(account, 1_000_000_000));
        for (kind, number) in ACCOUNT_LIMITS {
            apply(&Entry::Limit(limit(AccountScope::Account, account, kind, number)));
        }
    }
    for (scope, subject) in
        [(AccountScope::Group, 1), (AccountScope::Strategy, 3), (AccountScope::Platform, 0)]
    {
        for (kind, number) in &ACCOUNT_LIMITS[..8] {
            apply(&Entry::Limit(limit(scope, subject, *kind, *number)));
        }
    }
    let mut number = 0;
    for account in 1..=accounts {
        for instrument in 1..=INSTRUMENTS {
            number += 1;
            let order = order(number, AccountId(account), InstrumentId(instrument), Side::Buy, 10, 100);
            assert!(matches!(desk.new_order(STRATEGY, &order, Nanos(1)), Verdict::Send(_)));
            assert_eq!(desk.execution(&fill(&order, number.into(), 10, order.price, 0)), None);
            assert_eq!(desk.execution(&update(&order, OrderStatus::Filled, 10, 10)), None);
        }
    }
    desk
}

const ACCOUNT_LIMITS: [(LimitKind, u64); 9] = [
    (LimitKind::Position, 1_000_000_000),
    (LimitKind::GrossNotional, 1_000_000_000_000),
    (LimitKind::OrderQuantity, 1_000_000),
    (LimitKind::OrderNotional, 1_000_000_000),
    (LimitKind::OrderRate, 1_000_000_000),
    (LimitKind::MessageRate, 1_000_000_000),
    (LimitKind::OpenOrders, 1_000_000),
    (LimitKind::RunawayRate, 1_000_000_000),
    (LimitKind::Loss, 1_000_000_000),
];

/// What is timed.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// The checks alone.
    Checks,
    /// The checks where a mark moves before each.
    ChecksWithMarks,
    /// The checks, the order taken in and its reservation.
    Order,
}

/// Nanoseconds of one order, the least of many rounds; orders are ended outside of the time that counts.
fn order_ns(desk: &mut Desk, accounts: u32, number: &mut u32, work: Work) -> u64 {
    const BATCH: u32 = 500;
    let mut best = u64::MAX;
    let mut random = 88_172_645_463_325_252_u64;
    for round in 0..40 {
        let orders: Vec<NewOrder> = (0..BATCH)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                *number += 1;
                let account = AccountId(1 + (random >> 20) as u32 % accounts);
                order(
                    *number,
                    account,
                    InstrumentId(1 + (random >> 50) as u32 % INSTRUMENTS),
                    Side::Buy,
                    1,
                    90,
                )
            })
            .collect();
        let now = Nanos(u64::from(*number) * 1_000);
        let start = Instant::now();
        for (index, order) in orders.iter().enumerate() {
            if work == Work::ChecksWithMarks {
                desk.mark(InstrumentId(1), Price(Price::ONE * 100 + index as i64 + round));
            }
            let passes = match work {
                Work::Order => matches!(desk.new_order(STRATEGY, black_box(order), now), Verdict::Send(_)),
                _ => desk.probe(STRATEGY, black_box(order), now).is_ok(),
            };
            assert!(black_box(passes));
        }
        best = best.min(start.elapsed().as_nanos() as u64 / u64::from(BATCH));
        for order in orders.iter().filter(|_| work == Work::Order) {
            assert_eq!(desk.execution(&update(order, OrderStatus::Cancelled, 1, 0)), None);
        }
    }
    best
}

/// Bytes in use by this process: resident pages.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|text| text.parse::<u64>().ok());
    pages.unwrap_or(0) * 4_096
}

#[test]
#[ignore = "prints times: run it optimised, and alone"]
fn what_checks_memory_and_settlement_cost() {
    let before = resident();
    let mut desk = filled_desk(10_000);
    println!(
        "10,000 accounts × 8 instruments: {} bytes resident, {} in a snapshot",
        resident() - before,
        desk.snapshot().len()
    );
    let mut number = 10_000_000;
    for accounts in [1, 100, 10_000] {
        let [checks, moving, whole] = [Work::Checks, Work::ChecksWithMarks, Work::Order]
            .map(|work| order_ns(&mut desk, accounts, &mut number, work));
        println!(
            "{accounts} accounts: {checks} ns for all checks of an order, {moving} ns where a mark moves before each, \
             {whole} ns with the order taken in and its reservation"
        );
    }
    let all = order_ns(&mut desk, 100, &mut number, Work::Checks);
    for check in [LimitKind::Money, LimitKind::PriceBand, LimitKind::SelfTrade, LimitKind::ShortSale] {
        desk.apply(&disable(check)).unwrap();
        println!("without {check}: {} ns of {all}", order_ns(&mut desk, 100, &mut number, Work::Checks));
        let enable =
            AccountLimit { change: LimitChange::Enable, ..limit(AccountScope::Platform, 0, check, 0) };
        desk.apply(&Entry::Limit(enable)).unwrap();
    }
    let mut scopes: Vec<(AccountScope, u32)> =
        vec![(AccountScope::Group, 1), (AccountScope::Strategy, 3), (AccountScope::Platform, 0)];
    scopes.extend((1..=100).map(|account| (AccountScope::Account, account)));
    for (kind, number_of) in &ACCOUNT_LIMITS[..8] {
        let mut change = |change: LimitChange| {
            for (scope, subject) in &scopes {
                let entry = AccountLimit { change, ..limit(*scope, *subject, *kind, *number_of) };
                desk.apply(&Entry::Limit(entry)).unwrap();
            }
        };
        change(LimitChange::Lift);
        let without = order_ns(&mut desk, 100, &mut number, Work::Checks);
        let mut again = |entry: Entry| drop(desk.apply(&entry).unwrap());
        for (scope, subject) in &scopes {
            again(Entry::Limit(limit(*scope, *subject, *kind, *number_of)));
        }
        println!("without {kind}: {without} ns of {all}");
    }
    drop(desk);
    let mut desk = filled_desk(15_000);
    let prices: Vec<_> = (1..=INSTRUMENTS).map(|instrument| (InstrumentId(instrument), 101)).collect();
    let start = Instant::now();
    let applied = settle(&mut desk, 20_260_105, &prices).unwrap();
    let took = start.elapsed();
    let Applied::Settled(settlement) = applied else { panic!("not settled") };
    println!(
        "settlement of 15,000 accounts × 8 instruments: {} ms, {} statements, {} positions",
        took.as_millis(),
        settlement.statements.len(),
        settlement.positions.len()
    );
    desk.audit().unwrap();
}
