//! Are the nodes where the plan put them? Looked at again and again while the platform runs.

use std::time::{Duration, Instant};

use node::{Counter, NodeState};

use crate::supervise::Master;

/// Every node is looked at about this often.
const ROUND: Duration = Duration::from_secs(1);

/// Whose turn it is.
#[derive(Debug)]
pub(crate) struct PlaceWatch {
    /// Position in the list of placements.
    next: usize,
    looked: Instant,
    /// Nodes whose departure was said in the log; the counter says the rest.
    told: Vec<usize>,
}

impl PlaceWatch {
    pub(crate) fn new() -> PlaceWatch {
        PlaceWatch { next: 0, looked: Instant::now(), told: Vec::new() }
    }

    /// The seats that are due: all of them once a round, a few at a time, so that master's own core stays quiet.
    fn due(&mut self, seats: usize) -> Vec<usize> {
        let passed = self.looked.elapsed().min(ROUND).as_micros() as usize;
        let count = seats * passed / ROUND.as_micros() as usize;
        if count == 0 {
            return Vec::new();
        }
        self.looked = Instant::now();
        let first = self.next;
        self.next = (first + count) % seats;
        (first..first + count).map(|turn| turn % seats).collect()
    }
}

impl Master {
    /// Looks at the nodes whose turn it is. A thread off its plan is counted in its node's seat, and said once.
    pub(crate) fn look_at_places(&mut self) {
        let placements = &self.instance.placements;
        if placements.is_empty() {
            return;
        }
        for index in self.places.due(placements.len()) {
            let seat_number = index as u32;
            let Some(seat) = self.instance.registry.occupy(seat_number) else { continue };
            let state = NodeState::from_word(seat.state());
            if !matches!(state, Some(NodeState::Running | NodeState::Finished)) {
                continue;
            }
            // Gone meanwhile: that is noticed elsewhere.
            let Ok(sample) = pinning::sample(seat.process().pid, &placements[index]) else { continue };
            seat.add(Counter::PlaceSamples as usize, sample.threads);
            seat.add(Counter::OffPlan as usize, sample.off_plan.len() as u64);
            if let Some((thread, departure)) = sample.off_plan.first()
                && !self.places.told.contains(&index)
            {
                let node = &placements[index].node;
                log::warn!("node `{node}` is off its plan: its thread `{thread}` {departure}");
                self.places.told.push(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PlaceWatch, ROUND};
    use std::time::{Duration, Instant};

    #[test]
    fn everybody_has_a_turn_in_a_round() {
        let mut watch = PlaceWatch::new();
        let mut seen = Vec::new();
        for _ in 0..10 {
            watch.looked = Instant::now() - ROUND / 10 - Duration::from_millis(1);
            seen.extend(watch.due(40));
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
        watch.looked = Instant::now() - ROUND * 60;
        assert_eq!(watch.due(3).len(), 3, "a late round is one round");
    }
}
