//! The extent of a batch in lock-step, and which journal is taken next.

use node::InputId;

/// Journal by journal, each up to its end when the batch was opened.
#[derive(Debug)]
pub(super) struct Extent {
    /// By input: taken up to here.
    taken: Vec<u64>,
    /// By input: end of the batch.
    ends: Vec<u64>,
    /// The first input that is not taken to its end. Later ones wait, also while it waits for room: otherwise the order of
    /// requests would depend on how fast readers make room.
    current: usize,
}

impl Extent {
    /// No batch, with each input at its position.
    pub(super) fn new(positions: Vec<u64>) -> Extent {
        Extent { current: positions.len(), ends: positions.clone(), taken: positions }
    }

    /// Opens a batch that ends at these positions.
    pub(super) fn open(&mut self, ends: impl IntoIterator<Item = (InputId, u64)>) {
        ends.into_iter().for_each(|(input, end)| self.ends[input.0] = end);
        self.current = 0;
        self.advance();
    }

    /// True while a batch is being taken.
    pub(super) fn is_open(&self) -> bool {
        self.current < self.ends.len()
    }

    /// Up to where this input is taken.
    pub(super) fn taken(&self, input: InputId) -> u64 {
        self.taken[input.0]
    }

    /// Whether the frame at `position` of this input is the next of the batch.
    pub(super) fn takes(&mut self, input: InputId, position: u64) -> bool {
        self.taken[input.0] = position;
        self.advance();
        input.0 == self.current
    }

    /// Whether executions are read, given whether requests wait for room in `td.orders`. While td waits for matching,
    /// matching must not wait for td: a batch may be larger than both rings.
    pub(super) fn reads_executions(&self, requests_wait: bool) -> bool {
        !self.is_open() || requests_wait
    }

    fn advance(&mut self) {
        while self.taken.get(self.current).is_some_and(|taken| *taken >= self.ends[self.current]) {
            self.current += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most frames of one input in a round of the poll loop.
    const BURST: usize = 64;

    /// Takes a batch round by round, with room for the next request as `has_room` says.
    fn take(ends: &[u64], mut has_room: impl FnMut() -> bool) -> Vec<usize> {
        let mut extent = Extent::new(vec![0; ends.len()]);
        extent.open(ends.iter().enumerate().map(|(input, end)| (InputId(input), *end)));
        let mut positions = vec![0; ends.len()];
        let mut order = Vec::new();
        for _ in 0..100_000 {
            for (input, position) in positions.iter_mut().enumerate() {
                for _ in 0..BURST {
                    if !(has_room() && extent.takes(InputId(input), *position)) {
                        break;
                    }
                    *position += 1;
                    order.push(input);
                }
            }
            if !extent.is_open() {
                assert_eq!(positions, ends);
                return order;
            }
        }
        panic!("the batch is never taken: {positions:?} of {ends:?}");
    }

    #[test]
    fn requests_are_taken_journal_by_journal_whenever_there_is_room() {
        let ends = [100, 0, 64, 3];
        let order = take(&ends, || true);
        assert!(order.is_sorted(), "{order:?}");
        for seed in 1..200_u64 {
            let mut random = seed;
            let room = || {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % 10 > seed % 9
            };
            assert_eq!(take(&ends, room), order, "seed {seed}");
        }
    }

    /// td and matching with a ring between them each way: neither may wait for the other for ever.
    #[test]
    fn a_batch_larger_than_both_rings_is_taken() {
        const RING: u64 = 8;
        for size in [1, RING, 2 * RING, 2 * RING + 1, 2 * RING + 2, 10 * RING] {
            let mut extent = Extent::new(vec![0]);
            extent.open([(InputId(0), size)]);
            let (mut taken, mut backlog, mut orders, mut executions, mut answered) = (0, 0, 0, 0, 0);
            while answered < size {
                let before = (taken, backlog, orders, executions, answered);
                // td: the request that waits goes first, and none is taken before it.
                if backlog > 0 && orders < RING {
                    (backlog, orders) = (0, orders + 1);
                }
                if backlog == 0 && extent.takes(InputId(0), taken) {
                    taken += 1;
                    if orders < RING { orders += 1 } else { backlog = 1 }
                }
                if executions > 0 && extent.reads_executions(backlog > 0) {
                    (executions, answered) = (executions - 1, answered + 1);
                }
                // matching: no order without room for its answer.
                if orders > 0 && executions < RING {
                    (orders, executions) = (orders - 1, executions + 1);
                }
                let after = (taken, backlog, orders, executions, answered);
                assert_ne!(before, after, "td and matching wait for each other, in a batch of {size}");
            }
        }
    }

    #[test]
    fn executions_of_a_batch_are_not_read_before_it_is_taken() {
        let mut extent = Extent::new(vec![64]);
        assert!(extent.reads_executions(false), "no batch");
        extent.open([(InputId(0), 128)]);
        assert!(!extent.reads_executions(false) && extent.reads_executions(true));
        assert!(extent.takes(InputId(0), 64) && !extent.takes(InputId(0), 128));
        assert!(extent.reads_executions(false));
    }
}
