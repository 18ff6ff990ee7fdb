//! Events that are not written yet: what a later frame says of an earlier time still finds its place.

use std::collections::BTreeMap;

use super::event::Event;

/// Of an event: its time, its place among those of one time on one track, and which came first.
pub(super) type Key = (u64, u32, u64);

/// Sorted by time.
#[derive(Debug, Default)]
pub(super) struct Held {
    events: BTreeMap<Key, Event>,
    /// Everything before this time is written.
    settled: u64,
    next: u64,
}

/// Events that are held; beyond that the oldest are written, however young they are.
const MOST: usize = 1 << 18;

impl Held {
    /// `None`: all of that time is written.
    pub(super) fn push(&mut self, time: u64, rank: u32, event: Event) -> Option<Key> {
        if time < self.settled {
            return None;
        }
        let key = (time, rank, self.next);
        self.next += 1;
        self.events.insert(key, event);
        Some(key)
    }

    pub(super) fn get(&mut self, key: Key) -> Option<&mut Event> {
        self.events.get_mut(&key)
    }

    pub(super) fn take(&mut self, key: Key) -> Option<Event> {
        self.events.remove(&key)
    }

    pub(super) fn settled(&self) -> u64 {
        self.settled
    }

    /// The next event before `until`, or one that there is no more room for.
    pub(super) fn next_before(&mut self, until: u64) -> Option<(u64, Event)> {
        let (&key, _) = self.events.first_key_value()?;
        if key.0 >= until && self.events.len() <= MOST {
            self.settled = self.settled.max(until);
            return None;
        }
        self.settled = self.settled.max(key.0);
        self.events.remove(&key).map(|event| (key.0, event))
    }

    /// Nothing is held: all before `until` is written.
    pub(super) fn settle(&mut self, until: u64) {
        self.settled = self.settled.max(until);
    }
}
