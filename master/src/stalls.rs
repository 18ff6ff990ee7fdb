//! Notices strategies that block their processes: one that does not return from a callback stops all that share its
//! host.

use std::time::{Duration, Instant};

use node::{HELD_NS, Held, held};
use topology::NodeKind;

use crate::supervise::Master;

/// Time between two looks at all nodes.
const ROUND: Duration = Duration::from_secs(1);

/// The stalls that were logged.
#[derive(Debug)]
pub(crate) struct StallWatch {
    looked: Instant,
    told: Vec<Told>,
}

/// A logged stall.
#[derive(Debug)]
struct Told {
    /// Seat of the blocked process.
    seat: u16,
    held: Held,
    /// It is logged again when it has lasted this long, in nanoseconds: at 1 s, 2 s, 4 s, ….
    next_ns: u64,
}

impl StallWatch {
    pub(crate) fn new() -> StallWatch {
        StallWatch { looked: Instant::now(), told: Vec::new() }
    }

    /// Whether to log a call that blocks the process of `seat` now.
    fn is_said(&mut self, seat: u16, held: Held, lasts_ns: u64) -> bool {
        let index = self.told.iter().position(|told| told.seat == seat && told.held == held);
        let index = index.unwrap_or_else(|| {
            self.told.retain(|told| told.seat != seat);
            self.told.push(Told { seat, held, next_ns: HELD_NS });
            self.told.len() - 1
        });
        let told = &mut self.told[index];
        let due = lasts_ns >= told.next_ns;
        while told.next_ns <= lasts_ns {
            told.next_ns = told.next_ns.saturating_mul(2);
        }
        due
    }

    /// The process of `seat` is not blocked. Returns the call that blocked it until now.
    fn is_free(&mut self, seat: u16) -> Option<Held> {
        let index = self.told.iter().position(|told| told.seat == seat)?;
        Some(self.told.swap_remove(index).held)
    }

    /// The process of `seat` has ended, and its stall with it.
    pub(crate) fn forget(&mut self, seat: u16) {
        self.told.retain(|told| told.seat != seat);
    }
}

impl Master {
    /// Logs which strategy blocks its process and for how long, and when its call returns.
    pub(crate) fn look_for_stalls(&mut self) {
        if self.stalls.looked.elapsed() < ROUND {
            return;
        }
        self.stalls.looked = Instant::now();
        let (registry, now) = (&self.instance.registry, self.instance.clock.now());
        for node in self.nodes.iter().filter(|node| node.process.is_some()) {
            if !node.spec.kind.trades() {
                continue;
            }
            let seat = node.spec.seat;
            let Some(record) = registry.seat(u32::from(seat)) else { continue };
            match held(&record, now) {
                Some(held) => {
                    let lasts_ns = now.saturating_sub(held.since);
                    if self.stalls.is_said(seat, held, lasts_ns) {
                        let name = registry.name(held.seat);
                        let others = match node.spec.kind {
                            NodeKind::Host => {
                                format!(": nobody in `{}` gets anything meanwhile", node.spec.name)
                            }
                            _ => String::new(),
                        };
                        let seconds = lasts_ns as f64 / 1e9;
                        log::warn!(
                            "strategy `{name}` has not returned from a callback for {seconds:.1} s{others}"
                        );
                    }
                }
                None => {
                    if let Some(held) = self.stalls.is_free(seat) {
                        log::info!("strategy `{}` has returned from its callback", registry.name(held.seat));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_said_when_it_has_doubled_and_a_new_one_at_once() {
        const SECOND: u64 = 1_000_000_000;
        let mut watch = StallWatch::new();
        let held = Held { seat: 7, since: 5 };
        let said: Vec<u64> =
            (1..=9).filter(|seconds| watch.is_said(3, held, seconds * SECOND + 1_000)).collect();
        assert_eq!(said, [1, 2, 4, 8]);
        assert!(watch.is_said(4, held, 3 * SECOND), "another process");
        let next = Held { seat: 8, since: 9 };
        assert!(watch.is_said(3, next, SECOND), "another call");
        assert_eq!(watch.is_free(3), Some(next));
        assert_eq!(watch.is_free(3), None);
    }
}
