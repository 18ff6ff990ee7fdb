//! `colo run`: one process of a platform.

use std::env;
use std::io::Read;

use matching::Market;
use node::{Exit, Node};
use topology::{RelaySection, Topology};

use crate::args::{Builtin, Place, Run, RunMaster, RunMatching, RunStrategy};
use crate::failure::Failure;
use crate::output;

// The examples of the SDK are what a reader of its documentation sees, and what runs here: one text.
#[path = "../../../strategy-sdk/examples/market_maker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod market_maker;
#[path = "../../../strategy-sdk/examples/taker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod taker;

pub(crate) fn run(what: Run) -> Result<u8, Failure> {
    node::start_log();
    let ended = match what {
        Run::Master(arguments) => master(&arguments),
        Run::Md(place) => join(&place, "md").and_then(|node| Ok(md::run(node)?)),
        Run::Td(place) => join(&place, "td").and_then(|node| Ok(td::run(node)?)),
        Run::Matching(arguments) => matching(&arguments),
        Run::Ledger(place) => join(&place, "ledger").and_then(|node| Ok(ledger::run(node)?)),
        Run::Relay(place) => relay(&place),
        Run::Strategy(arguments) => return Ok(strategy(&arguments)),
        Run::Host(arguments) => return Ok(host(arguments.options())),
    };
    if let Err(failure) = &ended {
        // With time and level, beside the node's other words in its log.
        log::error!("{failure}");
        return Ok(failure.exit());
    }
    Ok(Exit::Done.code())
}

fn join(place: &Place, kind: &str) -> Result<Node, Failure> {
    Ok(Node::join(place.instance(), place.node.as_deref().unwrap_or(kind))?)
}

fn relay(place: &Place) -> Result<(), Failure> {
    let node = join(place, "relay")?;
    let RelaySection { seats, journals, .. } = node.section()?;
    Ok(node::relay::run(node, &seats, &journals)?)
}

fn matching(arguments: &RunMatching) -> Result<(), Failure> {
    let market = if arguments.closed { Market::Closed } else { Market::Open };
    Ok(matching::run(join(&arguments.place, "matching")?, market)?)
}

fn master(arguments: &RunMaster) -> Result<(), Failure> {
    let topology: Topology = match &arguments.topology {
        Some(_) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            serde_json::from_str(&text).map_err(|error| {
                Failure::new(Exit::Usage, format!("standard input holds no topology: {error}"))
            })?
        }
        None => super::platform(&arguments.platform)?.topology,
    };
    let colo = env::current_exe()?;
    let outcome = master::run(topology, master::MasterOptions { colo }).map_err(Failure::from);
    if let (Err(failure), Some(_)) = (&outcome, &arguments.topology) {
        // For whoever started us and passed the topology on: the log is not ours alone.
        let _ = output::print(&format!("{failure}\n"));
    }
    outcome
}

fn host(options: strategy_sdk::Options) -> u8 {
    strategy_sdk::Roster::new(options)
        .with::<taker::Taker>("taker")
        .with::<market_maker::MarketMaker>("market-maker")
        .run()
        .code()
}

fn strategy(arguments: &RunStrategy) -> u8 {
    let options = &arguments.options();
    match arguments.strategy {
        Builtin::Taker => strategy_sdk::run::<taker::Taker>(options),
        Builtin::MarketMaker => strategy_sdk::run::<market_maker::MarketMaker>(options),
    }
    .code()
}
