//! Days through strategies: made up, and recorded ones where they are at hand.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "a skip says why")]

#[path = "../../examples/market_maker.rs"]
mod market_maker;
#[path = "../../examples/taker.rs"]
mod taker;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use market_maker::MarketMaker;
use serde::Deserialize;
use serde::de::value::{Error, MapDeserializer};
use strategy_sdk::*;
use strategy_testing::{Day, FillModel, Replay, ReplayError, replay};
use taker::Taker;

/// LOBSTER: seconds, type (1 new, 3 delete, 4 executed), order, size, price × 10,000, side of the resting order.
const MADE_UP: &str = "\
34200.0,1,1,100,1000000,1
34200.1,1,2,100,1000200,-1
34201.0,1,3,100,1000100,-1
34202.0,4,3,50,1000100,-1
34203.0,3,1,100,1000000,1
34204.0,1,4,100,999900,1
34205.0,4,4,100,999900,1
34206.0,1,5,100,999800,1
";

fn made_up() -> (tempfile::TempDir, Day) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("message.csv"), MADE_UP).unwrap();
    let day = Day::lobster(folder.path()).symbols(["AAPL"]);
    (folder, day)
}

/// A recorded day, or a line that says why it was not looked at.
fn recorded(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("COLO_DATA").map(|data| PathBuf::from(data).join(name));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: COLO_DATA names no folder with {name}");
    }
    found
}

fn parameters<P: for<'a> Deserialize<'a>>(values: &[(&'static str, u64)]) -> P {
    let map: MapDeserializer<'_, _, Error> = MapDeserializer::new(values.iter().copied());
    P::deserialize(map).unwrap()
}

/// Joins the bid with the first quote, and asks for what the test wants of it.
#[derive(Debug)]
struct Joins {
    heard: Vec<&'static str>,
    off_tick: bool,
    order: Option<OrderId>,
}

impl Strategy for Joins {
    type Parameters = bool;

    fn create(off_tick: bool) -> Result<Joins, ParameterError> {
        Ok(Joins { heard: Vec::new(), off_tick, order: None })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        self.heard.push("instrument");
        context.bars(BarRequest::time(instrument.id, Duration::from_secs(1))).unwrap();
    }

    fn start(&mut self, _context: &mut Context) {
        self.heard.push("start");
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.heard.push("quote");
        let Some(bid) = quote.best_bid().filter(|_| self.order.is_none()) else { return };
        let off = Price(i64::from(self.off_tick));
        self.order = context.buy(quote.instrument, bid.price + off, Quantity(10)).ok();
    }

    fn trade(&mut self, _context: &mut Context, _trade: &TradePrint) {
        self.heard.push("trade");
    }

    fn bar(&mut self, _context: &mut Context, _bar: &Bar) {
        self.heard.push("bar");
    }

    fn fill(&mut self, _context: &mut Context, _fill: &Fill) {
        self.heard.push("fill");
    }
}

#[test]
fn an_order_that_joins_the_bid_waits_behind_it_and_trades_when_it_is_reached() {
    let (_folder, day) = made_up();
    let run = replay::<Joins>(false, &day).unwrap();
    let fills: Vec<_> = run.fills().map(|fill| (fill.price.to_string(), fill.quantity.0)).collect();
    // The order that it joined was deleted, and a lower one executed: so a better one would have traded first.
    assert_eq!(fills, [("100".to_owned(), 10)]);
    assert_eq!(run.position("AAPL").quantity, Quantity(10));
    assert_eq!(run.rejects().count(), 0);
    let heard = &run.strategy().heard;
    let at = |call: &str| heard.iter().position(|heard| *heard == call).unwrap();
    assert!(at("start") < at("quote") && at("trade") < at("bar") && at("bar") < at("fill"), "{heard:?}");
    assert!(run.events() > 8 && run.position("NONE").quantity == Quantity::ZERO);
}

#[test]
fn an_order_off_the_tick_is_rejected_as_td_does() {
    let (_folder, day) = made_up();
    let run = replay::<Joins>(true, &day).unwrap();
    let reasons: Vec<Reason> = run.rejects().map(|update| update.reason).collect();
    assert_eq!(reasons, [Reason::OffTick]);
    assert_eq!(run.fills().count(), 0);
}

#[test]
fn a_warm_up_is_taken_from_the_day_and_what_lies_before_the_window_only_builds_books() {
    let (_folder, day) = made_up();
    let warm = Replay::<Joins>::new().warm_up(Duration::from_secs(3)).run(false, &day).unwrap();
    let heard = &warm.strategy().heard;
    let at = |call: &str| heard.iter().position(|heard| *heard == call).unwrap();
    assert!(at("instrument") < at("quote") && at("quote") < at("start"), "{heard:?}");
    assert_eq!(warm.orders().count(), 1, "the one that it could send");
    let late = day.from(Duration::from_secs(34_203)).to(Duration::from_secs(34_206));
    let run = replay::<Joins>(false, &late).unwrap();
    assert_eq!(run.strategy().heard.iter().filter(|heard| **heard == "trade").count(), 1);
}

#[test]
fn what_cannot_be_read_or_made_is_an_error_with_its_name() {
    let error = replay::<Taker>(parameters(&[("every", 0)]), &Day::lobster("nowhere")).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    let (_folder, day) = made_up();
    let error = replay::<Taker>(parameters(&[("every", 0)]), &day).unwrap_err();
    assert!(matches!(error, ReplayError::Parameters(_)) && error.to_string().contains("every"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = replay::<Taker>(parameters(&[]), &Day::recording(empty.path())).unwrap_err();
    assert!(matches!(error, ReplayError::Recording { .. }), "{error}");
}

#[test]
fn a_recorded_day_gives_the_same_twice_and_its_fills_add_up() {
    let Some(folder) = recorded("lobster-aapl-20120621") else { return };
    let day = Day::lobster(folder.join("message.csv.gz")).symbols(["AAPL"]);
    let once = || replay::<MarketMaker>(parameters(&[("half_spread_ticks", 2)]), &day).unwrap();
    let (one, two) = (once(), once());
    assert!(one.events() > 45_000 && one.orders().count() > 100 && one.fills().count() > 10);
    assert_eq!(one.requests(), two.requests());
    assert_eq!(one.executions(), two.executions());
    let held: i64 = one.fills().map(|fill| fill.quantity.0 * fill.side.sign()).sum();
    assert_eq!(one.position("AAPL").quantity.0, held);
    println!(
        "{} events, {} orders, {} fills, profit {}",
        one.events(),
        one.orders().count(),
        one.fills().count(),
        one.profit("AAPL")
    );
}

#[test]
fn the_order_flow_can_be_heard_and_quotes_can_fill() {
    let Some(folder) = recorded("lobster-aapl-20120621") else { return };
    let day = Day::lobster(folder.join("message_first.csv.gz")).symbols(["AAPL"]);
    let quotes = || Replay::<Taker>::new().fills(FillModel::Quotes);
    let count = |replay: Replay<Taker>| replay.run(parameters(&[]), &day).unwrap().fills().count();
    assert!(count(quotes()) > 0 && count(quotes().data(MarketData::Best)) > 0);
}

#[test]
fn orders_that_answer_the_flow_do_not_trade_with_quotes_as_in_a_platform_file() {
    let (_folder, day) = made_up();
    let replay = Replay::<Joins>::new().fills(FillModel::Quotes).data(MarketData::Flow);
    let error = replay.run(false, &day).unwrap_err();
    assert!(matches!(error, ReplayError::Unfit(_)), "{error}");
    for words in ["quotes older than what it answers", "FillModel::Book"] {
        assert!(error.to_string().contains(words), "{error}");
    }
}
