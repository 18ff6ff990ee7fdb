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

mod publisher;
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
    let publisher = Publisher::take(&mut node)?;
    match (config.source, config.generator) {
        (MarketSource::Sim, Generator::Threads) if !node.is_deterministic() => {
            node.run(&mut SimThreads::new(&config, publisher))
        }
        // Threads race for the journal; lock-step wants one order.
        (MarketSource::Sim, _) => {
            let mut component = SimTimed::new(&config, publisher, &node)?;
            node.run(&mut component)
        }
        _ => {
            let mut component = Replay::open(&config, publisher, &node)?;
            node.run(&mut component)
        }
    }
}
