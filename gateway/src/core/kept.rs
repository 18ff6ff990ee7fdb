//! Orders that work stay in the ring of the gateway's own journal, so that a successor that reads the ring finds each of them with
//! its client. Pure.
//!
//! An order is there with the frames that brought it, and with a [`KeptOrder`](wire::KeptOrder) that is written again before the
//! ring passes the one before. For a ring of `n` bytes:
//!
//! - an order's newest frames are written again before a commit that would make them `n / 2` bytes old;
//! - requests are committed before they are more than `n / 8` bytes. So nothing that is needed grows older than `3n / 4` bytes;
//! - the orders that work need `n / 4` bytes at most: what would be more is refused before it is sent. So of all that is written a
//!   third at least are requests.

use std::collections::VecDeque;

use node::frame_bytes;
use wire::{KeptOrder, Message, OrderId};

/// Part of the ring that what works may need.
const SHARE: u64 = 4;
/// Part of the ring behind which it is written again.
const AGE: u64 = 2;
/// Part of the ring that requests of one commit may need.
const TURN: u64 = 8;

/// Bytes of an order in the ring.
fn each() -> u64 {
    frame_bytes(KeptOrder::SIZE as u64)
}

/// Where the orders that work are in the ring.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Bytes of the ring.
    ring: u64,
    /// Positions of orders' frames, the oldest first. Those of orders that have ended, or that were written again, are among them.
    aged: VecDeque<(u64, OrderId)>,
}

impl Kept {
    pub(super) fn of_ring(ring: u64) -> Kept {
        Kept { ring, aged: VecDeque::new() }
    }

    /// So many orders may work at a time.
    pub(super) fn most(&self) -> usize {
        usize::try_from(self.ring / SHARE / each()).unwrap_or(usize::MAX)
    }

    /// Requests of so many bytes are committed before more of them are gathered.
    pub(super) fn longest_turn(&self) -> u64 {
        self.ring / TURN
    }

    /// The frames of this order are at this position or behind it.
    pub(super) fn add(&mut self, at: u64, id: OrderId) {
        self.aged.push_back((at, id));
    }

    /// The frames of this order may be overwritten.
    pub(super) fn add_oldest(&mut self, id: OrderId) {
        self.aged.push_front((0, id));
    }

    /// These were not written again: they are the oldest still.
    pub(super) fn put_back(&mut self, old: &[(u64, OrderId)]) {
        old.iter().rev().for_each(|old| self.aged.push_front(*old));
    }

    /// The orders that are to be written before the journal ends at `end`; those with `is_needed` false are left out.
    pub(super) fn take_old(
        &mut self,
        mut end: u64,
        is_needed: impl Fn(u64, OrderId) -> bool,
    ) -> Vec<(u64, OrderId)> {
        let mut old = Vec::new();
        while let Some((at, id)) = self.aged.front().copied() {
            if end.saturating_sub(at) < self.ring / AGE {
                break;
            }
            self.aged.pop_front();
            if is_needed(at, id) {
                old.push((at, id));
                // What is written makes the next one older.
                end += each();
            }
        }
        old
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use wire::StrategyId;

    use super::*;

    fn id(number: u32) -> OrderId {
        OrderId::new(StrategyId(9), 1, number)
    }

    /// Random orders that are sent and that end, in rings of several sizes, with turns as long as they may be: the newest frames of
    /// each order that works are always in the ring, and what is written again is twice the requests at most.
    #[test]
    fn the_ring_never_passes_an_order_that_works() {
        let order = frame_bytes(120) + frame_bytes(96);
        for (ring, share) in [(64 << 10, 1), (64 << 10, 4), (1 << 20, 1), (1 << 20, 50)] {
            let mut random = 77_u64;
            let mut next = |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) as usize % below.max(1)
            };
            let mut kept = Kept::of_ring(ring);
            let most = kept.most() / share;
            assert!(most > 0);
            let (mut end, mut sent, mut again) = (64_u64, 0_u64, 0_u64);
            let mut works: HashMap<OrderId, u64> = HashMap::new();
            let mut number = 0;
            while end < ring * 40 {
                let turn = 1 + next((kept.longest_turn() / order) as usize);
                // Mostly orders that end at once, beside many that work on.
                let fresh: Vec<OrderId> = (0..turn).map(|index| id(number + index as u32)).collect();
                number += turn as u32;
                let bytes = turn as u64 * order;
                let old = kept.take_old(end + bytes, |at, id| works.get(&id) == Some(&at));
                // The journal had room for a part.
                let written = if next(8) == 0 { next(old.len() + 1) } else { old.len() };
                let at = end;
                for (_, id) in &old[..written] {
                    works.insert(*id, at);
                    kept.add(at, *id);
                    end += each();
                    again += each();
                }
                kept.put_back(&old[written..]);
                if written < old.len() {
                    continue;
                }
                let at = end;
                for id in fresh {
                    kept.add(at, id);
                    if works.len() < most {
                        works.insert(id, at);
                    }
                }
                end += bytes;
                sent += bytes;
                for (id, at) in &works {
                    assert!(end - at <= ring, "{id} is overwritten");
                }
                if next(3) == 0
                    && let Some(id) = works.keys().nth(next(works.len())).copied()
                {
                    works.remove(&id);
                }
            }
            assert!(again <= sent * 2, "ring of {ring}: {again} bytes again for {sent}");
            assert!(kept.aged.len() as u64 <= ring / 64 * 2, "{}", kept.aged.len());
        }
    }

    #[test]
    fn an_order_whose_frames_may_be_overwritten_is_the_next_to_be_written() {
        let mut kept = Kept::of_ring(64 << 10);
        kept.add(1 << 20, id(1));
        kept.add_oldest(id(2));
        assert_eq!(kept.take_old(1 << 20, |_, _| true), [(0, id(2))]);
        assert_eq!(kept.take_old(1 << 20, |_, _| true), []);
        assert_eq!(kept.take_old((1 << 20) + (32 << 10), |_, _| true), [(1 << 20, id(1))]);
    }
}
