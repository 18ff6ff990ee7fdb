//! Rings that are too small for the state that a successor of their node starts from.

use node::Counter;
use serde::Serialize;
use topology::NodeKind;

use crate::view::SeatView;

/// A journal with a ring that is too small for its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outgrown {
    /// The journal.
    pub journal: String,
    /// The node that writes it.
    pub node: String,
    /// Bytes that its capacity needs to be at least.
    pub needs_bytes: u64,
}

impl Outgrown {
    /// Those of which the nodes report it.
    pub fn of_all(seats: &[SeatView]) -> Vec<Outgrown> {
        let rings = [
            (NodeKind::Ledger, Counter::StateNeeds, "ledger.state"),
            (NodeKind::Ledger, Counter::DeskNeeds, "ledger.desk"),
            (NodeKind::Matching, Counter::StateNeeds, "matching.state"),
        ];
        let of_seat = |seat: &SeatView| {
            let its =
                rings.iter().filter(|(kind, counter, _)| *kind == seat.kind && seat.counter(*counter) > 0);
            let rows = its.map(|(_, counter, journal)| Outgrown {
                journal: (*journal).to_owned(),
                node: seat.name.clone(),
                needs_bytes: seat.counter(*counter),
            });
            rows.collect::<Vec<_>>()
        };
        seats.iter().flat_map(of_seat).collect()
    }
}

impl std::fmt::Display for Outgrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outgrown { journal, node, needs_bytes } = self;
        write!(
            f,
            "journal {journal} is too small for its state: if {node} is killed, its successor may not find it; raise the \
             capacity of [journal.{journal}] to {} KiB or more",
            needs_bytes.div_ceil(1_024)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counting, seat};

    #[test]
    fn each_ring_that_is_too_small_has_a_row_with_its_cure() {
        let ledger = counting(
            seat(5, "ledger", NodeKind::Ledger),
            &[(Counter::StateNeeds, 1 << 20), (Counter::DeskNeeds, 1 << 16)],
        );
        let matching = counting(seat(4, "matching", NodeKind::Matching), &[(Counter::StateNeeds, 1 << 12)]);
        let td = counting(seat(3, "td", NodeKind::Td), &[(Counter::StateNeeds, 1)]);
        let rows = Outgrown::of_all(&[td, matching, ledger, seat(6, "ledger", NodeKind::Ledger)]);
        let found: Vec<(&str, u64)> =
            rows.iter().map(|row| (row.journal.as_str(), row.needs_bytes)).collect();
        assert_eq!(found, [("matching.state", 1 << 12), ("ledger.state", 1 << 20), ("ledger.desk", 1 << 16)]);
        assert_eq!(
            rows[1].to_string(),
            "journal ledger.state is too small for its state: if ledger is killed, its successor may not find it; raise the \
             capacity of [journal.ledger.state] to 1024 KiB or more"
        );
    }
}
