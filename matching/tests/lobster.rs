//! A recorded day of one stock (LOBSTER), with and without strategies beside it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;
use std::path::PathBuf;

use matching::engine::{Engine, EngineOptions, Owner};
use wire::{
    AccountId, BookAction, BookEvent, CancelAll, Cause, Execution, Instrument, InstrumentId, Nanos, NewOrder,
    OrderId, OrderType, Price, Quantity, Side, StrategyId, Symbol, TimeInForce,
};

const STOCK: InstrumentId = InstrumentId(1);

/// The lines of one file of the sample, or `None` where the sample is not.
fn lines(name: &str) -> Option<Vec<String>> {
    let root = std::env::var_os("COLO_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = root.join("lobster-aapl-20120621").join(name);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

/// Columns: seconds, type, order, size, price in 1e-4, direction. Halts (7) do nothing to the book.
fn event(line: &str) -> Option<BookEvent> {
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
}

fn engine() -> Engine {
    let mut engine = Engine::new(EngineOptions::default());
    engine.on_instrument(&Instrument {
        id: STOCK,
        reserved: 0,
        symbol: Symbol::new("AAPL").unwrap(),
        tick: Price(Price::ONE / 100),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    });
    engine
}

/// The market's own best level, as the sample writes it: price in 1e-4, quantity.
fn recorded_best(engine: &Engine, side: Side) -> Option<(i64, i64)> {
    let level = engine.book(STOCK)?.levels(side, usize::MAX).find(|level| level.market > Quantity::ZERO)?;
    Some((level.price.0 / 100_000, level.market.0))
}

fn market_orders(engine: &Engine) -> Vec<(Owner, Price, Quantity)> {
    let book = engine.book(STOCK).unwrap();
    let both = book.orders(Side::Buy).chain(book.orders(Side::Sell));
    let market = both.filter(|order| matches!(order.owner, Owner::Market(_)));
    market.map(|order| (order.owner, order.price, order.open)).collect()
}

/// Rows from before the first message still stand in the sample, and nowhere else: they are the rows that differ.
#[test]
fn the_market_s_own_book_is_the_recorded_one() {
    let (Some(messages), Some(best)) = (lines("message.csv.gz"), lines("orderbook_1.csv.gz")) else { return };
    assert_eq!(messages.len(), best.len());
    let mut engine = engine();
    let (mut rows, mut identical) = (0, 0);
    for (message, row) in messages.iter().zip(&best) {
        if let Some(event) = event(message) {
            engine.on_book_event(&event, &mut Vec::new());
        }
        let row: Vec<i64> = row.split(',').map(|column| column.parse().unwrap()).collect();
        rows += 1;
        let ask = recorded_best(&engine, Side::Sell) == Some((row[0], row[1]));
        let bid = recorded_best(&engine, Side::Buy) == Some((row[2], row[3]));
        identical += u64::from(ask && bid);
    }
    println!("{rows} rows, {identical} identical, {:?}", engine.anomalies());
    assert!(rows > 0 && identical * 1_000 >= rows * 990, "{identical} of {rows} rows");
}

/// A taker and a maker trade all day. What they do must leave the recorded market as it was.
#[test]
fn strategies_trade_beside_the_recorded_market_and_do_not_change_it() {
    let Some(messages) = lines("message.csv.gz") else { return };
    let (mut alone, mut shared) = (engine(), engine());
    let mut answers: Vec<Execution> = Vec::new();
    for (number, event) in messages.iter().filter_map(|message| event(message)).enumerate() {
        alone.on_book_event(&event, &mut Vec::new());
        shared.on_book_event(&event, &mut answers);
        let side = if number % 100 < 50 { Side::Buy } else { Side::Sell };
        let (strategy, price_of, time_in_force) = match number % 50 {
            0 => (1, side.opposite(), TimeInForce::ImmediateOrCancel),
            10 => (2, side, TimeInForce::PostOnly),
            40 => {
                let request = CancelAll::new(OrderId::new(StrategyId(2), 1, number as u32));
                shared.cancel_all(&request, &mut answers);
                continue;
            }
            _ => continue,
        };
        let Some(best) = shared.book(STOCK).and_then(|book| book.best(price_of)) else { continue };
        let order = NewOrder {
            order_id: OrderId::new(StrategyId(strategy), 1, number as u32),
            instrument: STOCK,
            side,
            order_type: OrderType::Limit,
            time_in_force,
            flags: 0,
            price: best.price,
            quantity: Quantity(50),
            cause: Cause::NONE,
            account: AccountId::OWN,
            display_lots: 0,
            trigger: Price::ZERO,
            minimum_lots: 0,
            ends_s: 0,
        };
        shared.new_order(&order, &mut answers);
    }
    assert_eq!(market_orders(&alone), market_orders(&shared));
    assert_eq!(alone.anomalies(), shared.anomalies());
    let filled = |strategy| -> i64 {
        let fills = answers.iter().filter_map(|answer| match answer {
            Execution::Fill(fill) if fill.order_id.strategy() == StrategyId(strategy) => {
                Some(fill.quantity.0)
            }
            _ => None,
        });
        fills.sum()
    };
    println!("taker {}, maker {}, {} market orders rest", filled(1), filled(2), market_orders(&alone).len());
    assert!(filled(1) > 0 && filled(2) > 0);
}
