//! A row for each node.

use std::collections::BTreeMap;

use node::{Counter, InstanceDir, Intent};
use serde::Serialize;
use serde_json::{Map, Value};
use topology::{NodeKind, NodeSpec, StrategySection, Topology};

use crate::seated::Seated;
use crate::view::{JournalView, SeatView};

/// A node at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStatus {
    /// Who sits there.
    #[serde(flatten)]
    pub seated: Seated,
    /// Starts in this seat.
    pub starts: u64,
    /// Since its last sign of life, while its process lives.
    pub silent_ms: Option<u64>,
    /// Exit code, if the node left one.
    pub exit: Option<u8>,
    /// Bytes committed for its gated inputs and not handled yet.
    pub lag_bytes: u64,
    /// Bytes that were overwritten before it had read them.
    pub lost_bytes: u64,
    /// CPUs that the plan gives it; `None` without a plan.
    pub planned_cpus: Option<String>,
    /// Longest that one call of this strategy should take; `None` where that is not measured.
    pub budget_ns: Option<u64>,
    /// Looks at its threads in which one was not where the plan says.
    pub off_plan: u64,
    /// Looks in all.
    pub place_samples: u64,
    /// What a person has set over its parameters (`colo strategy set`).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    /// Its counters by name.
    pub counters: Map<String, Value>,
}

impl NodeStatus {
    /// By seat; without a topology nothing is planned and no budget known.
    pub(crate) fn of_all(
        instance: &InstanceDir,
        seats: &[SeatView],
        journals: &[JournalView],
        topology: Option<&Topology>,
    ) -> Vec<NodeStatus> {
        let planned = topology.map(planned).unwrap_or_default();
        let budget = |seat: &SeatView| budget_ns(topology?.node(&seat.name)?);
        let row = |seat: &SeatView| NodeStatus {
            seated: Seated::of(seat),
            starts: seat.generation,
            silent_ms: seat.silent_ns.filter(|_| seat.alive).map(|silent| silent / 1_000_000),
            exit: seat.exit,
            lag_bytes: lag_bytes(seat, journals),
            lost_bytes: seat.counter(Counter::BytesLost),
            planned_cpus: planned.get(&seat.name).cloned(),
            budget_ns: budget(seat),
            off_plan: seat.counter(Counter::OffPlan),
            place_samples: seat.counter(Counter::PlaceSamples),
            set: match seat.kind {
                NodeKind::Strategy => Intent::read(instance, &seat.name).unwrap_or_default().params,
                _ => Map::new(),
            },
            counters: seat
                .counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                .collect(),
        };
        seats.iter().map(row).collect()
    }

    /// Value of one counter.
    pub fn counter(&self, counter: Counter) -> u64 {
        let name = Counter::ALL.iter().find(|(known, _)| *known == counter).map(|(_, name)| *name);
        name.and_then(|name| self.counters.get(name)?.as_u64()).unwrap_or_default()
    }
}

fn lag_bytes(seat: &SeatView, journals: &[JournalView]) -> u64 {
    journals
        .iter()
        .flat_map(|journal| journal.stat.readers.iter().map(move |reader| (journal.stat.head, reader)))
        .filter(|(_, reader)| reader.gated && reader.seat == seat.seat)
        .map(|(head, reader)| head.saturating_sub(reader.position))
        .sum()
}

/// CPUs by node, as the instance's plan has them on this host; empty when it plans nothing.
fn planned(topology: &Topology) -> BTreeMap<String, String> {
    let host = pinning::Host::read("/".as_ref()).ok();
    let plan = host.and_then(|host| topology.place(&host).ok().flatten());
    let placements = plan.into_iter().flat_map(|plan| plan.placements);
    placements.map(|placement| (placement.node, placement.cpus.to_string())).collect()
}

/// Longest that one call of a strategy should take, where that is measured.
fn budget_ns(node: &NodeSpec) -> Option<u64> {
    let section: StrategySection = serde_json::from_value(node.section.clone()).ok()?;
    let budget = u64::try_from(section.budget.as_nanos()).ok()?;
    (budget > 0).then_some(budget)
}

#[cfg(test)]
mod tests {
    use journal::tools::ReaderView;
    use topology::NodeKind;

    use super::*;
    use crate::fixture::{counting, journal, seat};

    #[test]
    fn a_node_lags_by_what_its_gated_inputs_hold_for_it_and_loose_ones_do_not_count() {
        let reader = |seat, gated, position| ReaderView {
            seat,
            gated,
            position,
            holds: gated.then_some(position),
            durable: false,
            lost: 0,
            gaps: 0,
            frames: 0,
        };
        let mut quotes = journal(1, "md.quotes", 1);
        quotes.stat.head = 1_000;
        quotes.stat.readers = vec![reader(2, true, 900), reader(3, true, 400), reader(2, false, 0)];
        let mut orders = journal(2, "td.orders", 3);
        orders.stat.head = 500;
        orders.stat.readers = vec![reader(2, true, 500 - 64)];
        let seats = [seat(2, "matching", NodeKind::Matching), seat(3, "td", NodeKind::Td)];
        let nobody = node::InstanceDir::new("nobody-runs-this").unwrap();
        let rows = NodeStatus::of_all(&nobody, &seats, &[quotes, orders], None);
        assert_eq!(rows.iter().map(|row| row.lag_bytes).collect::<Vec<_>>(), [164, 600]);
    }

    #[test]
    fn counters_are_found_by_what_they_count() {
        let md = counting(seat(1, "md", NodeKind::Md), &[(Counter::Overruns, 7), (Counter::OffPlan, 2)]);
        let nobody = node::InstanceDir::new("nobody-runs-this").unwrap();
        let rows = NodeStatus::of_all(&nobody, &[md], &[], None);
        assert_eq!((rows[0].counter(Counter::Overruns), rows[0].counter(Counter::Orders)), (7, 0));
        assert_eq!((rows[0].off_plan, rows[0].place_samples), (2, 0));
    }
}
