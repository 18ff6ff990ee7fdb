//! What another node says of itself.

use std::sync::Arc;

use journal::Registry;

use crate::node::Node;
use crate::state::{Counter, NodeState};

/// The seat of another node of the instance, for reading.
#[derive(Clone, Debug)]
pub struct Peer {
    registry: Arc<Registry>,
    seat: u32,
}

impl Node {
    /// The node in that seat.
    pub fn peer(&self, seat: u32) -> Peer {
        Peer { registry: self.registry(), seat }
    }
}

impl Peer {
    /// Its name.
    pub fn name(&self) -> String {
        self.registry.name(self.seat)
    }

    /// Where it stands, as master and it have noted last.
    pub fn state(&self) -> NodeState {
        let seat = self.registry.seat(self.seat);
        seat.and_then(|seat| NodeState::from_word(seat.state())).unwrap_or(NodeState::Empty)
    }

    /// One of its counters.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.registry.seat(self.seat).map_or(0, |seat| seat.counter(counter as usize))
    }
}
