//! Checks repeatedly that the nodes are where the plan put them.

use std::time::{Duration, Instant};

use journal::Seat;
use node::{Counter, NodeState};

use crate::host_watch::HostWatch;
use crate::supervise::Master;

/// Time between two looks at a node.
const ROUND: Duration = Duration::from_secs(1);
/// Number of successive rounds that skip an idle node: looks at a hundred sleepers would cost more than the sleepers
/// do.
const IDLE_ROUNDS: u32 = 3;

/// The rotation of the checks.
#[derive(Debug)]
pub(crate) struct PlaceWatch {
    /// Position in the list of placements.
    next: usize,
    looked: Instant,
    /// By position in the list of placements.
    last: Vec<LastLook>,
    /// Nodes whose deviation was logged; the counter has the later ones.
    told: Vec<usize>,
    /// The host below them.
    pub(crate) host: HostWatch,
}

/// How much work a node had done at the last look, and how many rounds skipped it since.
#[derive(Clone, Copy, Debug, Default)]
struct LastLook {
    done: Option<u64>,
    left_out: u32,
}

/// Grows with everything that a node does except sleep.
fn work_of(seat: &Seat<'_>) -> u64 {
    let no_work = [Counter::Parks, Counter::WaitTimeouts, Counter::PlaceSamples, Counter::OffPlan];
    let counters =
        Counter::ALL.iter().map(|(counter, _)| *counter).filter(|counter| !no_work.contains(counter));
    counters.fold(seat.generation(), |sum, counter| sum.wrapping_add(seat.counter(counter as usize)))
}

impl PlaceWatch {
    pub(crate) fn new() -> PlaceWatch {
        PlaceWatch {
            next: 0,
            looked: Instant::now(),
            last: Vec::new(),
            told: Vec::new(),
            host: HostWatch::new(),
        }
    }

    /// Whether a node that has done this much work is checked in this round.
    fn is_worth_a_look(&mut self, index: usize, done: u64) -> bool {
        if self.last.len() <= index {
            self.last.resize(index + 1, LastLook::default());
        }
        let last = &mut self.last[index];
        if last.done == Some(done) && last.left_out < IDLE_ROUNDS {
            last.left_out += 1;
            return false;
        }
        *last = LastLook { done: Some(done), left_out: 0 };
        true
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
    /// Checks the nodes that are due. A thread off its plan is counted in its node's seat, and logged once.
    pub(crate) fn look_at_places(&mut self) {
        self.look_at_host();
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
            if !self.places.is_worth_a_look(index, work_of(&seat)) {
                continue;
            }
            // If it has ended meanwhile, that is noticed elsewhere.
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
    fn who_does_nothing_is_looked_at_now_and_then() {
        let mut watch = PlaceWatch::new();
        let looks: Vec<bool> = [7, 7, 7, 7, 7, 7, 8, 9].map(|done| watch.is_worth_a_look(2, done)).into();
        assert_eq!(looks, [true, false, false, false, true, false, true, true]);
    }

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
