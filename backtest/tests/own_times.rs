//! A request reaches the market at the time of the call that sends it, or a delay later: before the next event of the market, and behind the
//! last one of its own instant. The right prices follow from the few rows of each day.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::cell::RefCell;
use std::sync::Mutex;
use std::time::Duration;

use backtest::{Plugins, Unwatched};
use node::{Exit, Node, Service, Steps};
use plugin::Export;
use serde::Deserialize;
use strategy_sdk::{
    Bar, BarRequest, Best, BookEvent, Context, Fill, Instrument, InstrumentId, OrderRequest, ParameterError,
    Price, Quantity, Quote, Side, Strategy, Timer, TradePrint,
};
use topology::{NodeKind, NodeSpec, Program};

thread_local! {
    /// Fills of this thread's strategies: time behind midnight in microseconds, price, whether it was the maker.
    static FILLS: RefCell<Vec<(u64, String, bool)>> = const { RefCell::new(Vec::new()) };
}

/// When it buys.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
enum At {
    /// 10 ms behind the first event.
    Timer,
    /// With the first bar.
    Bar,
    /// When it hears of the first trade.
    Trade,
}

#[derive(Debug, Deserialize)]
struct Parameters {
    at: At,
    /// Of a limit order; without one it is a market order.
    #[serde(default)]
    limit: Option<String>,
}

struct Buyer {
    parameters: Parameters,
    has_bought: bool,
}

impl Buyer {
    fn buy(&mut self, context: &mut Context, at: At) {
        if self.parameters.at != at || std::mem::replace(&mut self.has_bought, true) {
            return;
        }
        let (stock, all) = (InstrumentId(1), Quantity(50));
        let request = match &self.parameters.limit {
            Some(price) => OrderRequest::limit(Side::Buy, stock, price.parse::<Price>().unwrap(), all),
            None => OrderRequest::market(Side::Buy, stock, all),
        };
        context.order(request).unwrap();
    }
}

impl Strategy for Buyer {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Buyer, ParameterError> {
        Ok(Buyer { parameters, has_bought: false })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        context.bars(BarRequest::time(instrument.id, Duration::from_secs(1))).unwrap();
        context.set_timer(Duration::from_millis(10), 0);
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        self.buy(context, At::Timer);
    }

    fn bar(&mut self, context: &mut Context, _bar: &Bar) {
        self.buy(context, At::Bar);
    }

    fn trade(&mut self, context: &mut Context, _trade: &TradePrint) {
        self.buy(context, At::Trade);
    }

    fn flow_traded(&mut self, context: &mut Context, _event: &BookEvent) {
        self.buy(context, At::Trade);
    }

    fn quote(&mut self, _context: &mut Context, _quote: &Quote) {}

    fn best(&mut self, _context: &mut Context, _instrument: InstrumentId, _best: &Best) {}

    fn fill(&mut self, _context: &mut Context, fill: &Fill) {
        let of_day = fill.event_time.0 % 86_400_000_000_000 / 1_000;
        let is_maker = fill.liquidity == wire::Liquidity::Maker;
        FILLS.with_borrow_mut(|fills| fills.push((of_day, fill.price.to_string(), is_maker)));
    }
}

const SERVICES: &[Service] = &[md::SERVICE, td::SERVICE, matching::SERVICE, ledger::SERVICE];

fn program(spec: &NodeSpec, node: Node) -> Result<Box<dyn Steps>, (String, Exit)> {
    let failed = |error: node::RunError| (error.to_string(), error.exit());
    if spec.kind == NodeKind::Strategy {
        return <strategy_sdk::Exported<Buyer> as Export>::steps(node).map_err(failed);
    }
    let service = SERVICES.iter().find(|service| service.kind == spec.kind).unwrap();
    service.steps.unwrap()(node).map_err(failed)
}

/// The fills of one buyer on a LOBSTER day.
fn fills(day: &str, data: &str, latency: &str, parameters: &str) -> Vec<(u64, String, bool)> {
    static NEXT: Mutex<u32> = Mutex::new(0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("message.csv");
    std::fs::write(&file, day).unwrap();
    let number = {
        let mut next = NEXT.lock().unwrap();
        *next += 1;
        *next
    };
    let text = format!(
        "[platform]\ninstance = \"own-times-{}-{number}\"\ndeterministic = true\n[md]\nsource = \"lobster\"\nfiles = \"{}\"\n\
         readers = \"gated\"\nprior = \"none\"\nsymbols = [\"AAA\"]\n[matching]\nfill = \"book\"\n{latency}\n[journal]\n\
         capacity = \"512KiB\"\n[strategies]\ninstruments = \"all\"\n[[strategies.group]]\nname = \"buyer\"\n\
         program = \"buyer.so\"\ncount = 1\ndata = \"{data}\"\nparams = {{ {parameters} }}\n",
        std::process::id(),
        file.display(),
    );
    let platform = topology::parse("own-times.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut topology = platform.topology;
    for node in &mut topology.nodes {
        if matches!(node.program, Program::Path(_)) {
            node.program = Program::Builtin("buyer".to_owned());
        }
    }
    FILLS.take();
    let outcome = backtest::run(topology, &Plugins::default(), &program, &mut Unwatched, |_| true).unwrap();
    let totals = &outcome.report.totals;
    // The times that md announces between them are none of the market's. (A best that has not changed is not written.)
    if data == "depth" {
        assert_eq!(outcome.messages, totals.quotes + totals.trades + totals.book_events);
    }
    FILLS.take()
}

/// 09:30:00, in microseconds behind midnight.
const OPEN: u64 = 34_200_000_000;

fn check(day: &str, parameters: &str, without: (u64, &str, bool), with: (u64, &str, bool)) {
    for (latency, (after, price, is_maker)) in [("", without), ("order_latency = \"1ms\"", with)] {
        for data in ["depth", "best", "flow"] {
            let expected = vec![(OPEN + after, price.to_owned(), is_maker)];
            assert_eq!(fills(day, data, latency, parameters), expected, "{data}, `{latency}`");
        }
    }
}

/// LOBSTER: seconds, type (1 new, 3 delete, 4 executed), order, size, price × 10,000, side of the resting order.
const BOOK: &str = "\
34200.0,1,1,100,999000,1
34200.0,1,2,100,1001000,-1
34200.005,1,9,10,1000900,-1
34200.006,4,9,10,1000900,-1
";

#[test]
fn an_order_of_a_timer_rests_before_the_next_event_of_the_market() {
    let day = format!("{BOOK}34250.0,1,3,100,999500,-1\n");
    // It is the best bid when the offer at 99.95 comes, fifty seconds later: the one that rests has the price.
    let maker = (50_000_000, "100.05", true);
    check(&day, "at = \"Timer\", limit = \"100.05\"", maker, maker);
}

#[test]
fn an_order_of_a_timer_takes_what_is_there_before_the_next_event() {
    let day = format!("{BOOK}34250.0,3,2,100,1001000,-1\n34250.0,1,3,100,1005000,-1\n");
    check(&day, "at = \"Timer\"", (10_000, "100.1", false), (11_000, "100.1", false));
}

#[test]
fn an_order_of_a_bar_arrives_when_the_bar_ends() {
    let day = format!("{BOOK}34250.0,3,2,100,1001000,-1\n34250.0,1,3,100,1005000,-1\n");
    check(&day, "at = \"Bar\"", (1_000_000, "100.1", false), (1_001_000, "100.1", false));
}

#[test]
fn an_order_acts_behind_the_last_event_of_its_instant() {
    let sweep = "\
34200.0,1,1,100,999000,1
34200.0,1,2,100,1001000,-1
34200.0,1,3,100,1002000,-1
34200.0,1,4,100,1003000,-1
34200.0,1,5,100,1004000,-1
34201.0,4,2,100,1001000,-1
34201.0,4,3,100,1002000,-1
34201.0,4,4,100,1003000,-1
34202.0,1,6,100,998000,1
";
    // The sweep takes three offers in one instant: what it leaves is at 100.40.
    check(sweep, "at = \"Trade\"", (1_000_000, "100.4", false), (1_001_000, "100.4", false));
}

#[test]
fn the_last_instant_of_the_data_is_over_too() {
    let day = "34200.0,1,1,100,1001000,-1\n34200.5,1,2,100,999000,1\n34201.0,4,1,30,1001000,-1\n";
    let filled = fills(day, "depth", "", "at = \"Trade\"");
    assert_eq!(filled, [(OPEN + 1_000_000, "100.1".to_owned(), false)]);
}
