//! A recorded day of Shanghai and the matching engine: no order of ours trades before the opening auction does.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::path::PathBuf;

use matching::engine::{Engine, EngineOptions};
use md::source::{Files, Options, SourceEvent, SourceKind, open};
use wire::{
    AccountId, BookEvent, Cause, Execution, InstrumentId, NewOrder, OrderId, OrderStatus, OrderType, Price,
    Quantity, Side, StrategyId, TimeInForce,
};

const SECOND: u64 = 1_000_000_000;
/// When the opening auction trades, and when continuous trading begins.
const AUCTION: u64 = (9 * 3_600 + 25 * 60) * SECOND;
const OPEN: u64 = AUCTION + 300 * SECOND;

fn order(sequence: u32, side: Side, price: Price) -> NewOrder {
    NewOrder {
        order_id: OrderId::new(StrategyId(3), 1, sequence),
        instrument: InstrumentId(1),
        side,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::Day,
        flags: 0,
        price,
        quantity: Quantity(100),
        cause: Cause::NONE,
        account: AccountId::OWN,
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    }
}

/// Price of the day's opening auction, 1,854.98.
const AUCTION_PRICE: Price = Price(1_854_980_000_000);

#[test]
fn no_fill_comes_before_the_opening_auction() {
    let folder = std::env::var_os("COLO_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from)
        .join("sse-600519-20230201");
    if !folder.exists() {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", folder.display());
        return;
    }
    let mut source = open(SourceKind::Sse, &Files::Path(folder), &Options::default()).expect("a sound day");
    let mut engine = Engine::new(EngineOptions::default());
    let instrument = source.instruments()[0];
    engine.on_instrument(&instrument);
    let mut said: Vec<Execution> = Vec::new();
    // Before the first event of the day: at any price the exchange allows, and so surely part of the auction.
    let above = Price(AUCTION_PRICE.0 + AUCTION_PRICE.0 / 20);
    engine.new_order(&order(1, Side::Buy, above), &mut said);
    let (mut sent, mut rejected, mut before, mut in_auction, mut later) = (1_u32, 0, 0, 0, 0);
    let mut event = SourceEvent::default();
    while source.next(&mut event).expect("a sound day") {
        let clock = event.event_time.0 % (86_400 * SECOND);
        if clock > OPEN + 60 * SECOND {
            break;
        }
        for part in &event.book_events {
            engine.on_book_event(part, &mut said);
        }
        // One order behind each hundredth event, through the whole book.
        if event.row.is_multiple_of(100)
            && event.book_events.iter().any(|part| part.flags & BookEvent::LAST != 0)
        {
            sent += 1;
            engine.new_order(&order(sent, Side::Buy, above), &mut said);
        }
        for execution in said.drain(..) {
            match execution {
                Execution::Fill(fill) => {
                    let at = fill.event_time.0 % (86_400 * SECOND);
                    before += u32::from(at < AUCTION);
                    in_auction += u32::from((AUCTION..OPEN).contains(&at));
                    later += u32::from(at >= OPEN);
                }
                Execution::Update(update) => rejected += u32::from(update.status == OrderStatus::Rejected),
            }
        }
    }
    println!(
        "{sent} orders, {rejected} rejected; fills: {before} before 09:25, {in_auction} in the auction, {later} later"
    );
    assert_eq!(before, 0);
    assert!(
        rejected > 5 && in_auction > 0 && later > 0,
        "{rejected} rejected, {in_auction} and {later} fills"
    );
}
