//! Orders on their way: a slice for each, with its stages within, in as many lanes as overlap.

use std::collections::{BTreeSet, HashMap, VecDeque};

use wire::OrderId;

use super::held::Key;

/// The places of an order's way, in causal order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Published,
    Received,
    Ordered,
    Taken,
    Routed,
    Executed,
    Reported,
}

/// What lies between two places that follow each other, as `docs/t2o.md` and `docs/trace.md` name it.
pub(super) const STAGES: [&str; 6] = ["md", "strategy", "order", "td", "matching", "report"];

/// An order of which something may still come.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) lane: usize,
    pub(super) seat: u16,
    pub(super) track: u64,
    pub(super) times: [Option<u64>; 7],
    /// Stages that are drawn.
    drawn: [bool; 6],
    /// Time of the last thing that is known of it.
    pub(super) last: u64,
    pub(super) flow: Flow,
    /// Its slice has its end.
    pub(super) is_ended: bool,
    /// td's event for it, which the sample turns into a slice.
    pub(super) at_td: Option<Key>,
    /// Position of its first execution.
    pub(super) execution: Option<u64>,
}

/// An order's flow through the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// No event yet.
    None,
    /// One, which is no flow by itself.
    One(Key),
    /// Two and more.
    Begun,
}

impl Order {
    /// Notes when it was at a place; the first time counts.
    pub(super) fn at(&mut self, place: Place, time: u64) {
        if time != 0 {
            self.times[place as usize].get_or_insert(time);
            self.last = self.last.max(time);
        }
    }

    pub(super) fn time(&self, place: Place) -> Option<u64> {
        self.times[place as usize]
    }

    /// Stages that can be drawn now: which, from, to. None whose times contradict each other.
    pub(super) fn stages(&mut self) -> Vec<(usize, u64, u64)> {
        let known: Vec<u64> = self.times.iter().flatten().copied().collect();
        if !known.is_sorted() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for stage in 0..STAGES.len() {
            if let (Some(from), Some(to)) = (self.times[stage], self.times[stage + 1])
                && !std::mem::replace(&mut self.drawn[stage], true)
            {
                found.push((stage, from, to));
            }
        }
        found
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Orders {
    open: HashMap<OrderId, Order>,
    /// By seat.
    lanes: HashMap<u16, Lanes>,
    /// Ended in matching: if nobody reports that, this is the end.
    finals: VecDeque<(u64, OrderId)>,
    ended: VecDeque<(u64, OrderId)>,
}

/// The lanes of one strategy.
#[derive(Debug, Default)]
struct Lanes {
    tracks: Vec<u64>,
    /// When the last order in it has ended, and which.
    free: BTreeSet<(u64, usize)>,
}

impl Orders {
    pub(super) fn get(&mut self, order: OrderId) -> Option<&mut Order> {
        self.open.get_mut(&order)
    }

    pub(super) fn has(&self, order: OrderId) -> bool {
        self.open.contains_key(&order)
    }

    /// A new one, that begins at `begin`. `track` makes a lane where none is free.
    pub(super) fn begin(&mut self, order: OrderId, begin: u64, track: impl FnOnce() -> u64) -> &mut Order {
        let seat = order.strategy().0;
        let lanes = self.lanes.entry(seat).or_default();
        // Strictly before: two slices that touch would not nest.
        let free = lanes.free.first().copied().filter(|(end, _)| *end < begin);
        let lane = match free {
            Some(free) => {
                lanes.free.remove(&free);
                free.1
            }
            None => {
                lanes.tracks.push(track());
                lanes.tracks.len() - 1
            }
        };
        let track = lanes.tracks[lane];
        self.open.entry(order).or_insert(Order {
            lane,
            seat,
            track,
            times: [None; 7],
            drawn: [false; 6],
            last: begin,
            flow: Flow::None,
            is_ended: false,
            at_td: None,
            execution: None,
        })
    }

    /// Ends one's slice: its track and when. It stays known for a while, for what still comes.
    pub(super) fn end(&mut self, order: OrderId, time: u64) -> Option<(u64, u64)> {
        let known = self.open.get_mut(&order)?;
        if std::mem::replace(&mut known.is_ended, true) {
            return None;
        }
        let end = time.max(known.last);
        known.last = end;
        if let Some(lanes) = self.lanes.get_mut(&known.seat) {
            lanes.free.insert((end, known.lane));
        }
        self.ended.push_back((end, order));
        Some((known.track, end))
    }

    /// Matching says that it has ended.
    pub(super) fn note_final(&mut self, order: OrderId, time: u64) {
        self.finals.push_back((time, order));
    }

    /// The next that ended in matching before `until`, and of which nobody has said so.
    pub(super) fn next_final(&mut self, until: u64) -> Option<(u64, OrderId)> {
        while let Some((time, order)) = before(&mut self.finals, until) {
            if self.open.get(&order).is_some_and(|order| !order.is_ended) {
                return Some((time, order));
            }
        }
        None
    }

    /// Forgets those that ended before `until`.
    pub(super) fn forget(&mut self, until: u64) {
        while let Some((_, order)) = before(&mut self.ended, until) {
            self.open.remove(&order);
        }
    }

    /// Those that have not ended.
    pub(super) fn working(&self) -> Vec<OrderId> {
        let working = self.open.iter().filter(|(_, order)| !order.is_ended);
        let mut working: Vec<OrderId> = working.map(|(id, _)| *id).collect();
        working.sort_unstable();
        working
    }
}

/// The first, if it is of a time before `until`.
fn before(queue: &mut VecDeque<(u64, OrderId)>, until: u64) -> Option<(u64, OrderId)> {
    let is_due = queue.front().is_some_and(|(time, _)| *time < until);
    if is_due { queue.pop_front() } else { None }
}
