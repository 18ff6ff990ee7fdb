//! What seats and instruments are called.

use std::collections::BTreeMap;

use topology::Topology;
use wire::{Instrument, InstrumentId};

#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    seats: BTreeMap<u16, String>,
    symbols: BTreeMap<u32, String>,
}

impl Names {
    pub(crate) fn of(topology: &Topology) -> Names {
        let seats = topology.nodes.iter().map(|node| (node.seat, node.name.clone())).collect();
        Names { seats, symbols: BTreeMap::new() }
    }

    pub(crate) fn instrument(&mut self, instrument: &Instrument) {
        self.symbols.insert(instrument.id.0, instrument.symbol.to_string());
    }

    pub(crate) fn seat(&self, seat: u16) -> &str {
        self.seats.get(&seat).map_or("", String::as_str)
    }

    pub(crate) fn symbol(&self, instrument: InstrumentId) -> &str {
        self.symbols.get(&instrument.0).map_or("", String::as_str)
    }
}
