//! A recorded day with strategies beside it, by the rules that hold unless others are chosen: its executions stay the same
//! byte for byte. How long the engine takes for it is printed, for comparing two builds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use matching::engine::{Engine, EngineOptions};
use wire::{
    BookAction, BookEvent, CancelOrder, Execution, Instrument, InstrumentId, Nanos, NewOrder, OrderId,
    OrderType, Price, Quantity, Side, StrategyId, Symbol, TimeInForce,
};

const STOCK: InstrumentId = InstrumentId(1);

fn events() -> Option<Vec<BookEvent>> {
    let root = std::env::var_os("COLO_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = root.join("lobster-aapl-20120621/message.csv.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let event = |line: &str| {
        let column: Vec<&str> = line.split(',').collect();
        let action = match column[1] {
            "1" => BookAction::Add,
            "2" => BookAction::Reduce,
            "3" => BookAction::Delete,
            "4" => BookAction::Execute,
            "5" => BookAction::Trade,
            _ => return None,
        };
        Some(BookEvent {
            instrument: STOCK,
            action,
            side: if column[5] == "1" { Side::Buy } else { Side::Sell },
            flags: BookEvent::LAST,
            order_ref: column[2].parse().unwrap(),
            price: Price(column[4].parse::<i64>().unwrap() * 100_000),
            quantity: Quantity(column[3].parse().unwrap()),
            event_time: Nanos((column[0].parse::<f64>().unwrap() * 1e9) as u64),
            sequence: 0,
            reserved: 0,
        })
    };
    Some(text.lines().filter_map(event).collect())
}

/// One pass over the day: an order at the best price after every second event, cancelled ten events later if it rests.
fn pass(events: &[BookEvent], answers: &mut Vec<Execution>, mut see: impl FnMut(&[Execution])) -> u64 {
    let mut engine = Engine::new(EngineOptions::default());
    let symbol = Symbol::new("AAPL").unwrap();
    let none = Price::NONE;
    engine.on_instrument(&Instrument {
        id: STOCK,
        reserved: 0,
        symbol,
        tick: Price(Price::ONE / 100),
        lot: Quantity(1),
        price_low: none,
        price_high: none,
        reference_price: none,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    });
    let mut answered = 0;
    for (number, event) in events.iter().enumerate() {
        engine.on_book_event(event, answers);
        if number % 2 == 0 {
            let strategy = StrategyId(1 + (number / 2 % 3) as u16);
            let side = if number % 4 == 0 { Side::Buy } else { Side::Sell };
            let id = |number: usize| OrderId::new(strategy, 1, number as u32);
            let (kind, life) = (OrderType::Limit, TimeInForce::Day);
            let order = NewOrder::plain(id(number), STOCK, side, kind, life, event.price, Quantity(10));
            engine.new_order(&order, answers);
            if number >= 12 {
                engine.cancel(&CancelOrder::new(id(number - 12), STOCK), answers);
            }
        }
        answered += answers.len() as u64;
        see(answers);
        answers.clear();
    }
    answered
}

/// FNV-1a of the bytes of all executions, as they were before the rules could be chosen.
#[test]
fn the_executions_of_a_recorded_day_are_those_of_before() {
    let Some(events) = events() else { return };
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut fills = 0;
    pass(&events, &mut Vec::new(), |answers| {
        for answer in answers {
            fills += u64::from(matches!(answer, Execution::Fill(_)));
            for &byte in answer.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    });
    println!("{} events, {fills} fills, {hash:#018x}", events.len());
    assert_eq!((fills, hash), (13_469, 0x1d4f_da4c_90c6_7f13));
}

#[test]
#[ignore = "prints times: run it with --ignored --nocapture on a release build"]
fn a_recorded_day_again_and_again() {
    let Some(events) = events() else { return };
    let mut answers = Vec::with_capacity(1 << 16);
    let mut times = Vec::new();
    let mut answered = 0;
    for _ in 0..40 {
        let begin = Instant::now();
        answered = pass(&events, &mut answers, |_| {});
        times.push(begin.elapsed().as_nanos() as u64 / events.len() as u64);
    }
    times.sort_unstable();
    assert!(answered > 0);
    let (count, best, median) = (events.len(), times[0], times[times.len() / 2]);
    println!("{count} events, {answered} answers: best {best}, median {median} ns an event with its order");
}
