//! The md process: lists its instruments, waits until all nodes are ready, publishes.
//!
//! ```text
//!  start:  open the source ──► Instrument* on md.instruments ──► ready
//!  phase running:  events ──► md.flow (recorded days) ──► md.quotes: TradePrint*, Quote ──► md.best: TradePrint*, Best
//!  source's end:   EndOfStream on each ──► state "finished"
//! ```
//!
//! With `source = "recording"` the source is another run, as a recorder has it ([`recording`]).
//! With `source = "exchange"` the source is matching's book ([`exchange`]).
//!
//! Only what somebody wants is published. A best is published when it has changed; of simulated instruments with every
//! quote, because each has a place in the schedule. Behind `md.best` the latest whole quote of each instrument is kept in
//! shared memory ([`node::Depths`]).
//!
//! The order flow is published first, so that matching's book is never older than the quote that a strategy answers.
//! When a gated reader makes a journal full, md waits; nothing is dropped.
//!
//! After a crash md resumes where its predecessor was: simulated instruments after their last quote ([`recall`]), a
//! recorded day after as many messages as its journals contain ([`Publisher`]).

mod exchange;
mod lock_step;
mod market_time;
mod publisher;
mod recall;
mod recording;
mod replay;
mod sim_threads;
mod sim_timed;

use node::{Node, RunError, Runner, Service, Stepwise, ToItsEnd};
use topology::MdSection;
use topology::NodeKind;
use topology::config::{Generator, MarketSource};

use exchange::Exchange;
use publisher::Publisher;
use recording::Recording;
use replay::Replay;
use sim_threads::SimThreads;
use sim_timed::SimTimed;

/// Market data in.
pub const SERVICE: Service = Service {
    kind: NodeKind::Md,
    about: "Market data in",
    flags: &[],
    run: |node, _| run(node, ToItsEnd),
    steps: Some(|node| run(node, Stepwise)),
};

fn run<R: Runner>(mut node: Node, runner: R) -> Result<R::Outcome, RunError> {
    let MdSection { config, market } = node.section()?;
    let mut publisher = Publisher::take(&mut node)?;
    if config.source != MarketSource::Recording {
        publisher = publisher.listing_by(market);
    }
    match (config.source, config.generator) {
        (MarketSource::Sim, Generator::Threads) if !node.assignment().deterministic => {
            publisher = publisher.every_best();
            let published = publisher.published(&node, config.instruments)?;
            runner.run(node, SimThreads::new(&config, publisher, published))
        }
        // Threads race for the journal; lock-step needs one order.
        (MarketSource::Sim, _) => {
            publisher = publisher.every_best();
            let published = publisher.published(&node, config.instruments)?;
            let component = SimTimed::new(&config, publisher, published, &node)?;
            runner.run(node, component)
        }
        (MarketSource::Exchange, _) => {
            let component = Exchange::new(&config, publisher, &node)?;
            runner.run(node, component)
        }
        (MarketSource::Recording, _) => {
            let component = Recording::open(&config, publisher.skipping(), &node)?;
            runner.run(node, component)
        }
        _ => {
            if config.source.is_replay() {
                publisher = publisher.keeping_quotes(&node)?;
            }
            let component = Replay::open(&config, publisher.skipping(), &node)?;
            runner.run(node, component)
        }
    }
}
