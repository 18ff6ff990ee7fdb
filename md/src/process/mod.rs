//! The md process: lists its instruments, waits until everybody is there, publishes.
//!
//! ```text
//!  start:  open the source ──► Instrument* on md.instruments ──► ready
//!  phase running:  events ──► md.flow (recorded days) ──► md.quotes: TradePrint*, Quote
//!  source's end:   EndOfStream on both ──► state "finished"
//! ```
//!
//! The order flow goes first, so that matching's book is never older than the quote that a strategy answers. When a
//! gated reader makes a journal full, md waits; nothing is dropped.
//!
//! One that is killed goes on where its predecessor was: simulated instruments behind their last quote ([`recall`]), a
//! recorded day behind as many messages as its journals have had ([`Publisher`]).

mod publisher;
mod recall;
mod replay;
mod sim_threads;
mod sim_timed;

use node::{Node, RunError};
use topology::config::{Generator, MarketSource, MdConfig};

use publisher::Publisher;
use replay::Replay;
use sim_threads::SimThreads;
use sim_timed::SimTimed;

/// Runs md as this node until it is asked to stop.
///
/// # Errors
/// What it cannot start with, or cannot go on with.
pub fn run(mut node: Node) -> Result<(), RunError> {
    let config: MdConfig = node.section()?;
    let mut publisher = Publisher::take(&mut node)?;
    match (config.source, config.generator) {
        (MarketSource::Sim, Generator::Threads) if !node.is_deterministic() => {
            let published = publisher.published(&node, config.instruments)?;
            node.run(&mut SimThreads::new(&config, publisher, published))
        }
        // Threads race for the journal; lock-step wants one order.
        (MarketSource::Sim, _) => {
            let published = publisher.published(&node, config.instruments)?;
            let mut component = SimTimed::new(&config, publisher, published, &node)?;
            node.run(&mut component)
        }
        _ => {
            let mut component = Replay::open(&config, publisher.skipping(), &node)?;
            node.run(&mut component)
        }
    }
}
