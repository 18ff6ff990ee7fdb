//! Lock-step: what nodes have to do by the market's time, beside what the market's events cause.
//!
//! A strategy has timers and bars, matching has requests and reports under way. Each writes the earliest of its own times into its
//! seat before its cursors move ([`Counter::MarketDue`]), so md, which waits for the cursors, knows all of them before it
//! publishes the next event.
//!
//! md's own is the time of a message that it has not written to all its journals yet. A node that hears of a consequence in the first
//! of them would otherwise be ahead of a reader of the second, or not, as the scheduler likes: so td passes nothing on until then.

use std::sync::Arc;

use journal::Registry;
use topology::{NodeKind, Topology};
use wire::Nanos;

use crate::node::Node;
use crate::state::{Counter, NodeState};

/// The seats of an instance that may have something to do.
#[derive(Debug)]
pub struct MarketDues {
    registry: Arc<Registry>,
    seats: Vec<u32>,
}

impl MarketDues {
    /// Those that act in a node's instance: what md has to announce.
    ///
    /// # Errors
    /// The instance's description of itself cannot be read.
    pub fn of_actors(node: &Node) -> std::io::Result<MarketDues> {
        MarketDues::of(node, &[NodeKind::Strategy, NodeKind::Matching])
    }

    /// md's, in a node's instance: it has one while a message is not in all its journals.
    ///
    /// # Errors
    /// The instance's description of itself cannot be read.
    pub fn of_md(node: &Node) -> std::io::Result<MarketDues> {
        MarketDues::of(node, &[NodeKind::Md])
    }

    fn of(node: &Node, kinds: &[NodeKind]) -> std::io::Result<MarketDues> {
        let handle = node.handle();
        let text = std::fs::read(node.instance().topology())?;
        let topology: Topology = serde_json::from_slice(&text)?;
        let specs = topology.nodes.iter().filter(|spec| kinds.contains(&spec.kind));
        Ok(MarketDues { registry: handle.registry, seats: specs.map(|spec| u32::from(spec.seat)).collect() })
    }

    /// The earliest of their times.
    pub fn earliest(&self) -> Option<Nanos> {
        let seats = self.seats.iter().filter_map(|seat| self.registry.seat(*seat));
        let due = seats.filter_map(|seat| {
            let due = seat.counter(Counter::MarketDue as usize);
            // A node that has ended does nothing any more, whatever it left there.
            let is_there = || {
                !matches!(
                    NodeState::from_word(seat.state()),
                    Some(NodeState::Empty | NodeState::Stopped | NodeState::Dead | NodeState::Failed)
                )
            };
            (due > 0 && is_there()).then_some(due)
        });
        due.min().map(Nanos)
    }
}
