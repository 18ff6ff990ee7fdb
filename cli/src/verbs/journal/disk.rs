//! When an order's frames were on disk, as recordings say it.

use observe::{Hop, Step, Trace};
use recorder::shelf::Shelf;

/// By hop: when its frame was on disk; `None` where nothing says it.
#[derive(Debug, Default)]
pub(super) struct OnDisk {
    times: Vec<Option<u64>>,
}

impl OnDisk {
    pub(super) fn of(trace: &Trace, shelves: &[Shelf]) -> OnDisk {
        let of_hop = |hop: &Hop| {
            let (journal, position, time) = (hop.journal.as_deref()?, hop.position?, hop.time_ns?);
            shelves.iter().find_map(|shelf| shelf.synced(journal, position, time))
        };
        OnDisk { times: trace.hops.iter().map(of_hop).collect() }
    }

    /// The time of the hop with this number.
    pub(super) fn time(&self, hop: usize) -> Option<u64> {
        self.times.get(hop).copied().flatten()
    }

    /// From when its frame was committed in memory.
    pub(super) fn since_commit(&self, number: usize, hop: &Hop) -> Option<i64> {
        Some((self.time(number)? as i64).wrapping_sub(hop.time_ns? as i64))
    }

    /// The same of the order itself.
    pub(super) fn order(&self, trace: &Trace) -> Option<i64> {
        let (number, hop) = trace.hops.iter().enumerate().find(|(_, hop)| hop.hop == Step::Ordered)?;
        self.since_commit(number, hop)
    }

    /// True when nothing says anything: no journal of the order is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.times.iter().all(Option::is_none)
    }
}
