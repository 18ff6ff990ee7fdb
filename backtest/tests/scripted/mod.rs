//! A strategy that follows a script on a recorded day, through all nodes in lock-step.
#![allow(unreachable_pub, dead_code, reason = "each test takes what it wants")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use backtest::{Plugins, Unwatched};
use node::{Exit, Node, NodeState, Service, Steps};
use observe::Report;
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

fn program<S>(spec: &NodeSpec, node: Node) -> Result<Box<dyn Steps>, (String, Exit)>
where
    strategy_sdk::Exported<S>: Export,
{
    let failed = |error: node::RunError| (error.to_string(), error.exit());
    if spec.kind == NodeKind::Strategy {
        return <strategy_sdk::Exported<S> as Export>::steps(node).map_err(failed);
    }
    let service = SERVICES.iter().find(|service| service.kind == spec.kind).unwrap();
    service.steps.unwrap()(node).map_err(failed)
}

/// A way to run a day.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub fill: &'static str,
    pub data: &'static str,
    pub call_auctions: &'static str,
    pub latency: &'static str,
}

/// Every way of such auctions.
pub fn ways(call_auctions: &'static str) -> Vec<Way> {
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

/// Runs a strategy on a day of these files, to the end: no row contradicts another. `sections` follow `[md]`, which begins with `more`.
pub fn run_strategy<S>(source: &str, more: &str, files: &[(&str, impl AsRef<[u8]>)], sections: &str) -> Report
where
    strategy_sdk::Exported<S>: Export,
{
    static NEXT: Mutex<u32> = Mutex::new(0);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = if files.len() == 1 { folder.path().join(files[0].0) } else { folder.path().to_owned() };
    let number = {
        let mut next = NEXT.lock().unwrap();
        *next += 1;
        *next
    };
    let text = format!(
        "[platform]\ninstance = \"{}-{}-{number}\"\ndeterministic = true\n[md]\nsource = \"{source}\"\nfiles = \"{}\"\n\
         readers = \"gated\"\n{more}\n{sections}[journal]\ncapacity = \"512KiB\"\n[strategies]\ninstruments = \"all\"\n",
        env!("CARGO_CRATE_NAME"),
        std::process::id(),
        path.display(),
    );
    let platform = topology::parse("day.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut topology = platform.topology;
    for node in &mut topology.nodes {
        if matches!(node.program, Program::Path(_)) {
            node.program = Program::Builtin("script".to_owned());
        }
    }
    let outcome =
        backtest::run(topology, &Plugins::default(), &program::<S>, &mut Unwatched, |_| true).unwrap();
    let failed: Vec<_> = outcome.report.nodes.iter().filter(|node| node.state == NodeState::Failed).collect();
    assert!(failed.is_empty(), "{failed:?}");
    outcome.report
}

/// What a strategy with these steps hears on a day of these files, and the report.
pub fn run_and_report(
    source: &str,
    more: &str,
    files: &[(&str, impl AsRef<[u8]>)],
    way: Way,
    steps: &[(u64, &str)],
) -> (Vec<String>, Report) {
    let steps: Vec<String> = steps.iter().map(|(ms, what)| format!("[{ms}, \"{what}\"]")).collect();
    let Way { fill, data, call_auctions, latency } = way;
    let sections = format!(
        "[matching]\nfill = \"{fill}\"\ncall_auctions = \"{call_auctions}\"\norder_latency = \"{latency}\"\n\
         [[strategies.group]]\nname = \"script\"\nprogram = \"script.so\"\ncount = 1\ndata = \"{data}\"\n\
         params = {{ steps = [{}] }}\n",
        steps.join(", "),
    );
    LOG.take();
    let report = run_strategy::<Script>(source, more, files, &sections);
    (LOG.take(), report)
}

/// The same without the report.
pub fn run(
    source: &str,
    more: &str,
    files: &[(&str, impl AsRef<[u8]>)],
    way: Way,
    steps: &[(u64, &str)],
) -> Vec<String> {
    run_and_report(source, more, files, way, steps).0
}

/// Of orders alone.
pub fn of_orders(log: &[String]) -> Vec<&str> {
    log.iter().map(String::as_str).filter(|line| !line.starts_with("phase")).collect()
}
