//! The rules that may be chosen, on slices of recorded days: the engine answers what the naive model answers.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use wire::*;

use super::fixture::*;
use super::naive::Naive;
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, OrderOwner, SelfTrade};

/// A recorded file, or `None` where it is not; prices are in cents.
fn lines(name: &str) -> Option<Vec<String>> {
    let root = std::env::var_os("COLO_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = root.join(name);
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

/// Columns: seconds, type, order, size, price in 1e-4, direction.
fn lobster() -> Option<Vec<BookEvent>> {
    let event_of = |line: &String| {
        let column: Vec<&str> = line.split(',').collect();
        let action = match column[1] {
            "1" => BookAction::Add,
            "2" => BookAction::Reduce,
            "3" => BookAction::Delete,
            "4" => BookAction::Execute,
            "5" => BookAction::Trade,
            _ => return None,
        };
        let side = if column[5] == "1" { Side::Buy } else { Side::Sell };
        let price = column[4].parse::<i64>().unwrap() / 100;
        let hidden = if action == BookAction::Trade { BookEvent::HIDDEN } else { 0 };
        let event = event(action, column[2].parse().unwrap(), side, price, column[3].parse().unwrap());
        Some(BookEvent { flags: BookEvent::LAST | hidden, ..event })
    };
    Some(lines("lobster-aapl-20120621/message.csv.gz")?.iter().filter_map(event_of).collect())
}

/// The events of a day of Shanghai, each with its time of day: `HH:MM:SS`.
fn shanghai() -> Option<Vec<(String, BookEvent)>> {
    let (orders, trades) =
        (lines("sse-600519-20230201/entrust.csv.gz")?, lines("sse-600519-20230201/trade.csv.gz")?);
    let cents = |text: &str| (text.parse::<f64>().unwrap() * 100.0).round() as i64;
    let mut rows: Vec<(u64, String, BookEvent)> = Vec::new();
    for line in &orders[1..] {
        let column: Vec<&str> = line.split(',').collect();
        let action = if column[5] == "A" { BookAction::Add } else { BookAction::Delete };
        let side = if column[9] == "B" { Side::Buy } else { Side::Sell };
        let price = cents(column[7]);
        let event = event(action, column[6].parse().unwrap(), side, price, column[8].parse().unwrap());
        rows.push((column[10].parse().unwrap(), column[4][..8].to_owned(), event));
    }
    for line in &trades[1..] {
        let column: Vec<&str> = line.split(',').collect();
        for (side, order, aggressor) in [(Side::Buy, column[8], "B"), (Side::Sell, column[9], "S")] {
            if column[10] != aggressor {
                let (price, quantity) = (cents(column[5]), column[6].parse().unwrap());
                let event = event(BookAction::Execute, order.parse().unwrap(), side, price, quantity);
                rows.push((column[11].parse().unwrap(), column[4][..8].to_owned(), event));
            }
        }
    }
    rows.sort_by_key(|row| row.0);
    let marked = |(_, time, event): (u64, String, BookEvent)| {
        let call = time.as_str() < "09:30:00" || time.as_str() >= "14:57:00";
        let flags = event.flags | if call { BookEvent::CALL_AUCTION } else { 0 };
        (time, BookEvent { flags, ..event })
    };
    Some(rows.into_iter().map(marked).collect())
}

/// The part of the day from `from` on: the orders that rest by then, but for those far behind the best, and what follows.
fn shanghai_from(from: &str, to: &str, far: i64) -> Option<Vec<BookEvent>> {
    let mut resting: BTreeMap<u64, (usize, BookEvent)> = BTreeMap::new();
    let mut rest = Vec::new();
    for (number, (time, event)) in shanghai()?.into_iter().enumerate() {
        if time.as_str() >= from {
            if time.as_str() < to {
                rest.push(event);
            }
            continue;
        }
        match event.action {
            BookAction::Add => drop(resting.insert(event.order_ref, (number, event))),
            BookAction::Delete => drop(resting.remove(&event.order_ref)),
            _ => {
                let (_, order) = resting.get_mut(&event.order_ref).unwrap();
                order.quantity -= event.quantity;
                if order.quantity == Quantity::ZERO {
                    resting.remove(&event.order_ref);
                }
            }
        }
    }
    let mut before: Vec<(usize, BookEvent)> = resting.into_values().collect();
    before.sort_by_key(|row| row.0);
    let middle = rest.iter().rev().find(|event| event.action == BookAction::Execute).unwrap().price.0;
    let flags = rest[0].flags;
    let mut all: Vec<BookEvent> =
        before.into_iter().map(|(_, event)| BookEvent { flags, ..event }).chain(rest).collect();
    all.retain(|event| {
        let behind = if event.side == Side::Buy { middle - event.price.0 } else { event.price.0 - middle };
        event.action != BookAction::Add || behind < far
    });
    Some(all)
}

/// What strategies 1 to 3 do between the events: they offer around the last price, now and then at once or through it,
/// change and cancel.
fn with_strategies(events: &[BookEvent], every: usize) -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut price = events[0].price.0;
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for (number, event) in events.iter().enumerate() {
        inputs.push(Input::Event(*event));
        if matches!(event.action, BookAction::Execute | BookAction::Trade) {
            price = event.price.0;
        }
        if number % every != 0 {
            continue;
        }
        let (strategy, sequence) = (1 + next(3) as u16, number as u32);
        let side = if next(2) == 0 { Side::Buy } else { Side::Sell };
        let order = limit(id(strategy, sequence), side, price + next(21) as i64 - 10, 10 + next(90) as i64);
        let life = match next(12) {
            0 => TimeInForce::ImmediateOrCancel,
            1 => TimeInForce::FillOrKill,
            2 => TimeInForce::PostOnly,
            _ => TimeInForce::Day,
        };
        inputs.push(Input::New(NewOrder { account: AccountId(next(3) as u32), ..with(order, life) }));
        let older = id(strategy, (number - number.min(every * next(20) as usize)) as u32);
        match next(4) {
            0 => inputs.push(Input::Cancel(CancelOrder::new(older, STOCK))),
            1 => inputs.push(Input::Replace(replace(older, price + next(9) as i64 - 4, 5 + next(99) as i64))),
            _ => {}
        }
    }
    inputs
}

/// Both answer alike, message by message; gives back the answers.
fn agree(options: EngineOptions, inputs: &[Input]) -> Vec<Execution> {
    let mut engine = Engine::new(options);
    engine.on_instrument(&instrument(STOCK));
    let mut naive = Naive::new(options);
    let mut all = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        let answers = feed(&mut engine, input);
        let expected = naive.feed(input);
        assert_eq!(said(&answers), said(&expected), "message {number}: {input:?}");
        assert_eq!(answers, expected, "message {number}: {input:?}");
        all.extend(answers);
    }
    all
}

fn book() -> EngineOptions {
    options(FillModel::Book, SelfTrade::CancelNewest)
}

fn fills(answers: &[Execution]) -> Vec<Fill> {
    let fill = |answer: &Execution| if let Execution::Fill(fill) = answer { Some(*fill) } else { None };
    answers.iter().filter_map(fill).collect()
}

fn shares(answers: &[Execution]) -> i64 {
    fills(answers).iter().map(|fill| fill.quantity.0).sum()
}

#[test]
fn displayed_orders_trade_before_hidden_ones() {
    let Some(events) = lobster() else { return };
    let inputs = with_strategies(&events[..6_000], 5);
    let plain = agree(book(), &inputs);
    let first = agree(EngineOptions { displayed_first: true, ..book() }, &inputs);
    let hidden = events[..6_000].iter().filter(|event| event.action == BookAction::Trade).count();
    let (plain_shares, first_shares) = (shares(&plain), shares(&first));
    println!("{} messages, {hidden} hidden trades: {plain_shares} shares, then {first_shares}", inputs.len());
    assert!(hidden > 0 && plain != first, "the rule made no difference");
}

#[test]
fn self_trades_are_prevented_as_the_model_does() {
    let Some(events) = lobster() else { return };
    let inputs = with_strategies(&events[..1_500], 2);
    let between = |answers: &[Execution]| {
        let fills = fills(answers);
        fills.windows(2).filter(|pair| pair[0].trade_id == pair[1].trade_id).count()
    };
    for self_trade in [
        SelfTrade::CancelNewest,
        SelfTrade::CancelOldest,
        SelfTrade::CancelBoth,
        SelfTrade::Decrement,
        SelfTrade::Allow,
    ] {
        for owner in [OrderOwner::Strategy, OrderOwner::Account, OrderOwner::Firm] {
            let answers = agree(EngineOptions { self_trade, owner, ..book() }, &inputs);
            let (trades, own) = (fills(&answers).len() - between(&answers), between(&answers));
            println!("{self_trade:?} by {owner:?}: {trades} trades, {own} between strategies");
            let prevented = owner == OrderOwner::Firm && self_trade != SelfTrade::Allow;
            assert_eq!(own == 0, prevented, "{self_trade:?} {owner:?}");
        }
    }
}

#[test]
fn the_opening_auction_takes_strategies_in_at_its_price() {
    let Some(events) = shanghai_from("09:15:00", "09:30:20", 4_000) else { return };
    let inputs = with_strategies(&events, 9);
    let answers = agree(EngineOptions { call_auctions: CallAuctions::Uncross, ..book() }, &inputs);
    let at_price = fills(&answers).iter().filter(|fill| fill.price == Price(185_498)).count();
    println!("{} messages, {} fills, {at_price} at 1854.98", inputs.len(), fills(&answers).len());
    assert!(at_price > 10);
    let plain = agree(book(), &inputs);
    assert!(said(&plain).iter().any(|line| line.ends_with("rejected call-auction")));
}

#[test]
fn the_closing_auction_takes_strategies_in_at_its_price() {
    let Some(events) = shanghai_from("14:56:50", "15:01:00", 600) else { return };
    let inputs = with_strategies(&events, 6);
    let answers = agree(EngineOptions { call_auctions: CallAuctions::Uncross, ..book() }, &inputs);
    let auction: Vec<Fill> =
        fills(&answers).into_iter().filter(|fill| fill.price == Price(184_497)).collect();
    println!("{} messages, {} fills at 1844.97", inputs.len(), auction.len());
    assert!(auction.len() > 5);
}

/// Of three orders in the closing auction at 1844.97, the two that would have traded at it do so, at that price.
#[test]
fn an_order_gets_the_closing_auction_s_price_or_nothing() {
    let Some(events) = shanghai_from("14:56:50", "15:01:00", 600) else { return };
    let first = events.iter().position(|event| event.flags & BookEvent::CALL_AUCTION != 0).unwrap();
    let mut inputs: Vec<Input> = events.iter().map(|event| Input::Event(*event)).collect();
    let orders = [
        limit(id(1, 1), Side::Buy, 184_303, 100),
        limit(id(2, 1), Side::Buy, 184_600, 100),
        limit(id(3, 1), Side::Sell, 184_303, 100),
    ];
    inputs.splice(first + 5..first + 5, orders.map(Input::New));
    let answers = agree(EngineOptions { call_auctions: CallAuctions::Uncross, ..book() }, &inputs);
    let traded: BTreeMap<OrderId, (Price, i64)> =
        fills(&answers).iter().map(|fill| (fill.order_id, (fill.price, fill.remaining.0))).collect();
    let expected = [(id(2, 1), (Price(184_497), 0)), (id(3, 1), (Price(184_497), 0))];
    assert_eq!(traded, BTreeMap::from(expected));
}
