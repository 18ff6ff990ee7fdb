//! Halts, auctions and ends of sessions of a recorded day, through all nodes: what becomes of a strategy's orders in them. The right answers follow
//! from the few rows of each day.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use backtest::{Plugins, Unwatched};
use node::{Exit, Node, Service, Steps};
use plugin::Export;
use serde::Deserialize;
use strategy_sdk::{
    Context, Fill, Instrument, InstrumentId, MarketPhase, OrderId, OrderRequest, OrderUpdate, ParameterError,
    Price, Quantity, Side, Strategy, Timer,
};
use topology::{NodeKind, NodeSpec, Program};

thread_local! {
    /// What this thread's strategy heard of its orders and of the market.
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What is sent so many milliseconds behind the first event of the day: `a buy 100.02 10 ioc`, `cancel a`, `all`.
#[derive(Debug, Deserialize)]
struct Parameters {
    steps: Vec<(u64, String)>,
}

struct Script {
    steps: Vec<(u64, String)>,
    named: BTreeMap<String, OrderId>,
    is_set: bool,
}

impl Script {
    fn log(&self, line: String) {
        LOG.with_borrow_mut(|log| log.push(line));
    }

    fn name(&self, order: OrderId) -> &str {
        self.named.iter().find(|(_, id)| **id == order).map_or("?", |(name, _)| name)
    }
}

impl Strategy for Script {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Script, ParameterError> {
        Ok(Script { steps: parameters.steps, named: BTreeMap::new(), is_set: false })
    }

    fn instrument(&mut self, context: &mut Context, _instrument: &Instrument) {
        if !std::mem::replace(&mut self.is_set, true) {
            for (number, (ms, _)) in (0..).zip(&self.steps) {
                context.set_timer(Duration::from_millis(*ms), number);
            }
        }
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        let step = self.steps[timer.key as usize].1.clone();
        let words: Vec<&str> = step.split(' ').collect();
        let stock = InstrumentId(1);
        match words[..] {
            ["cancel", name] => context.cancel(self.named[name]).unwrap(),
            ["replace", name, price, quantity] => {
                let (price, quantity) = (price.parse().unwrap(), Quantity(quantity.parse().unwrap()));
                context.replace(self.named[name], price, quantity).unwrap();
            }
            [name, side, price, quantity, ref kinds @ ..] => {
                let side = if side == "buy" { Side::Buy } else { Side::Sell };
                let (price, quantity): (Price, i64) = (price.parse().unwrap(), quantity.parse().unwrap());
                let mut order = OrderRequest::limit(side, stock, price, Quantity(quantity));
                for kind in kinds {
                    order = match *kind {
                        "ioc" => order.ioc(),
                        "gtc" => order.good_till_cancel(),
                        other => panic!("{other}"),
                    };
                }
                let id = context.order(order).unwrap();
                self.named.insert(name.to_owned(), id);
            }
            _ => panic!("{step}"),
        }
    }

    fn phase(&mut self, _context: &mut Context, phase: &MarketPhase) {
        self.log(format!("phase {}", phase.phase));
    }

    fn order(&mut self, _context: &mut Context, update: &OrderUpdate) {
        self.log(format!("{} {} {}", self.name(update.order_id), update.status, update.reason));
    }

    fn fill(&mut self, _context: &mut Context, fill: &Fill) {
        self.log(format!("{} fills {} at {}", self.name(fill.order_id), fill.quantity, fill.price));
    }
}

const SERVICES: &[Service] = &[md::SERVICE, td::SERVICE, matching::SERVICE, ledger::SERVICE];

fn program(spec: &NodeSpec, node: Node) -> Result<Box<dyn Steps>, (String, Exit)> {
    let failed = |error: node::RunError| (error.to_string(), error.exit());
    if spec.kind == NodeKind::Strategy {
        return <strategy_sdk::Exported<Script> as Export>::steps(node).map_err(failed);
    }
    let service = SERVICES.iter().find(|service| service.kind == spec.kind).unwrap();
    service.steps.unwrap()(node).map_err(failed)
}

/// A way to run a day.
#[derive(Clone, Copy, Debug)]
struct Way {
    fill: &'static str,
    data: &'static str,
    call_auctions: &'static str,
    latency: &'static str,
}

/// Every way of such auctions.
fn ways(call_auctions: &'static str) -> Vec<Way> {
    let mut ways = Vec::new();
    for latency in ["0s", "1ms"] {
        for (fill, data) in
            [("book", "flow"), ("book", "depth"), ("book", "best"), ("quotes", "depth"), ("quotes", "best")]
        {
            ways.push(Way { fill, data, call_auctions, latency });
        }
    }
    ways
}

/// What a strategy with these steps hears on a day of these files.
fn run(source: &str, more: &str, files: &[(&str, &str)], way: Way, steps: &[(u64, &str)]) -> Vec<String> {
    static NEXT: Mutex<u32> = Mutex::new(0);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = if files.len() == 1 { folder.path().join(files[0].0) } else { folder.path().to_owned() };
    let number = {
        let mut next = NEXT.lock().unwrap();
        *next += 1;
        *next
    };
    let steps: Vec<String> = steps.iter().map(|(ms, what)| format!("[{ms}, \"{what}\"]")).collect();
    let Way { fill, data, call_auctions, latency } = way;
    let text = format!(
        "[platform]\ninstance = \"halts-{}-{number}\"\ndeterministic = true\n[md]\nsource = \"{source}\"\nfiles = \"{}\"\n\
         readers = \"gated\"\n{more}\n[matching]\nfill = \"{fill}\"\ncall_auctions = \"{call_auctions}\"\n\
         order_latency = \"{latency}\"\n[journal]\ncapacity = \"512KiB\"\n[strategies]\ninstruments = \"all\"\n\
         [[strategies.group]]\nname = \"script\"\nprogram = \"script.so\"\ncount = 1\ndata = \"{data}\"\n\
         params = {{ steps = [{}] }}\n",
        std::process::id(),
        path.display(),
        steps.join(", "),
    );
    let platform = topology::parse("halts.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut topology = platform.topology;
    for node in &mut topology.nodes {
        if matches!(node.program, Program::Path(_)) {
            node.program = Program::Builtin("script".to_owned());
        }
    }
    LOG.take();
    backtest::run(topology, &Plugins::default(), &program, &mut Unwatched, |_| true).unwrap();
    LOG.take()
}

/// Of orders alone.
fn of_orders(log: &[String]) -> Vec<&str> {
    log.iter().map(String::as_str).filter(|line| !line.starts_with("phase")).collect()
}

/// 500 at 10.00 and 10.02. From 10 s to 100 s a halt, in which an ask of 9.98 comes and goes; trading without a cross.
const HALTED: &str = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34212.000000000,1,3,100,99800,-1
34213.000000000,3,3,100,99800,-1
34290.000000000,7,0,0,0,-1
34300.000000000,7,0,0,1,-1
34301.000000000,1,5,50,100700,-1
34310.000000000,1,6,50,100800,-1
";
const LOBSTER: &str = "prior = \"none\"\nsymbols = [\"AAA\"]";

#[test]
fn in_a_halt_nothing_of_a_strategy_trades_as_taker_or_as_maker() {
    let steps = [
        // It rests before the halt; the ask of 9.98 would trade with it.
        (5_000, "rests buy 9.99 10"),
        (11_000, "takes buy 10.02 100 ioc"),
        (11_000, "waits buy 10.02 100"),
        (20_000, "cancel rests"),
        (101_000, "later buy 10.02 40 ioc"),
    ];
    let phases = ["phase halt", "phase volatility-auction", "phase continuous"];
    for way in ways("refuse") {
        let log = run("lobster", LOBSTER, &[("message.csv", HALTED)], way, &steps);
        let expected = [
            "rests accepted none",
            "takes rejected not-tradable",
            "waits rejected not-tradable",
            "rests cancelled requested",
            "later accepted none",
            "later fills 40 at 10.02",
            "later filled none",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
        let heard: Vec<&String> = log.iter().filter(|line| line.starts_with("phase")).collect();
        assert_eq!(heard, phases, "{way:?}");
    }
    for way in ways("uncross") {
        let log = run("lobster", LOBSTER, &[("message.csv", HALTED)], way, &steps);
        let expected = [
            "rests accepted none",
            "takes rejected not-tradable",
            "waits accepted none",
            "rests cancelled requested",
            // The halt has ended: the order that was collected meets what is there.
            "waits fills 100 at 10.02",
            "waits filled none",
            "later accepted none",
            "later fills 40 at 10.02",
            "later filled none",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

#[test]
fn at_a_cross_an_order_that_was_collected_gets_its_price() {
    // 10.03 × 100 and 9.97 × 100 cross at 10.01.
    let crossed = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34220.000000000,7,0,0,0,-1
34221.000000000,1,3,100,100300,1
34222.000000000,1,4,200,99700,-1
34230.000000000,4,3,100,100100,1
34230.000000000,4,4,100,100100,-1
34230.000000000,6,-1,100,100100,-1
34230.000000000,3,4,100,99700,-1
34230.000000000,7,0,0,1,-1
34231.000000000,1,5,50,100700,-1
";
    let more = format!("{LOBSTER}\ntolerate = 1.0");
    for way in ways("uncross") {
        let log = run("lobster", &more, &[("message.csv", crossed)], way, &[(15_000, "waits buy 10.04 60")]);
        let expected = ["waits accepted none", "waits fills 60 at 10.01", "waits filled none"];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

#[test]
fn day_orders_end_with_their_session_and_others_go_on() {
    let sessions = "\
34200000A000000000001B000500XYZ   0000100000Y
34200100A000000000002S000500XYZ   0000101000Y
57599000A000000000004S000010XYZ   0000103000Y
34200000A000000000001B000100XYZ   0000098000Y
34200100A000000000002S000500XYZ   0000100000Y
34210000A000000000005S000050XYZ   0000099000Y
34212000A000000000007S000010XYZ   0000102000Y
";
    let steps = [(1_000, "day buy 9.90 50"), (1_000, "kept buy 9.90 20 gtc")];
    for call_auctions in ["refuse", "uncross"] {
        for way in ways(call_auctions) {
            let log = run("pitch", "", &[("pitch.txt", sessions)], way, &steps);
            let expected = [
                "day accepted none",
                "kept accepted none",
                "day cancelled expired",
                "kept fills 20 at 9.9",
                "kept filled none",
            ];
            assert_eq!(of_orders(&log), expected, "{way:?}");
        }
    }
}

#[test]
fn shanghai_takes_no_cancels_from_09_20_to_09_25_nor_in_the_closing_auction() {
    let head = "DataStatus,OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex,LocalTime,SeqNo\n";
    let trades = "DataStatus,TradeIndex,TradeChan,SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex,LocalTime,SeqNo\n";
    let rows: String = [
        (1, "09:15:00.000", 'B', "10.00"),
        (2, "09:16:00.000", 'S', "10.10"),
        (3, "09:24:00.000", 'S', "10.20"),
        (4, "09:31:00.000", 'S', "10.20"),
        (5, "14:56:30.000", 'S', "10.20"),
        (6, "14:59:30.000", 'S', "10.20"),
        (7, "15:00:01.000", 'S', "10.20"),
    ]
    .iter()
    .map(|(number, clock, side, price)| {
        format!("0,1,6,600519,{clock},A,{number},{price},100,{side},{number},{clock},1\n")
    })
    .collect();
    let at = |hour: u64, minute: u64| ((hour * 60 + minute) - (9 * 60 + 15)) * 60_000;
    let steps = [
        (at(9, 17), "a buy 9.90 100"),
        (at(9, 18), "b buy 9.90 100"),
        (at(9, 19), "cancel a"),
        // Between two rows, behind the time at which the phase begins.
        (at(9, 20) + 30_000, "cancel b"),
        (at(9, 22), "replace b 9.91 100"),
        (at(9, 27), "cancel b"),
        (at(9, 30) + 10_000, "cancel b"),
        (at(12, 0), "c buy 10.10 100"),
        (at(14, 55), "d buy 9.90 100"),
        (at(14, 57) + 10_000, "cancel d"),
    ];
    let files = [("entrust.csv", [head, &rows].concat()), ("trade.csv", trades.to_owned())];
    let files = [(files[0].0, files[0].1.as_str()), (files[1].0, files[1].1.as_str())];
    for way in ways("uncross") {
        let log = run("sse", "", &files, way, &steps);
        let expected = [
            "a accepted none",
            "b accepted none",
            "a cancelled requested",
            "b cancel-rejected call-auction",
            "b replace-rejected call-auction",
            "b cancel-rejected not-tradable",
            "b cancelled requested",
            // At noon.
            "c rejected not-tradable",
            "d accepted none",
            "d cancel-rejected call-auction",
            // The day ends.
            "d cancelled expired",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}: {log:#?}");
    }
}
