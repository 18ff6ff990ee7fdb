//! A strategy's timers, sorted by due time.

use std::time::Duration;

use wire::Nanos;

/// A timer, for [`Context::cancel_timer`](crate::Context::cancel_timer). Never given out twice by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(u64);

impl TimerId {
    /// The number, for interfaces that pass numbers.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The timer with this number, as [`TimerId::number`] gave it.
    pub fn of_number(number: u64) -> TimerId {
        TimerId(number)
    }
}

/// A timer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// As returned by [`Context::set_timer`](crate::Context::set_timer).
    pub id: TimerId,
    /// The key that it was set with.
    pub key: u64,
    /// When it should fire.
    pub due: Nanos,
}

/// When a timer is due: after a [`Duration`], or at a time ([`Nanos`] since the epoch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// This long after now.
    After(Duration),
    /// At this time; at once if it has passed.
    At(Nanos),
}

impl From<Duration> for When {
    fn from(after: Duration) -> When {
        When::After(after)
    }
}

impl From<Nanos> for When {
    fn from(at: Nanos) -> When {
        When::At(at)
    }
}

/// Room for this many before the first allocation.
const RESERVED: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Entry {
    timer: Timer,
    /// Its time counts from a start that is not known yet.
    floating: bool,
}

/// Timers that are set, in descending order of due time; of two with the same due time, the one set first is last.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    entries: Vec<Entry>,
    next: u64,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers { entries: Vec::with_capacity(RESERVED), next: 1 }
    }

    pub(crate) fn set(&mut self, due: Nanos, key: u64, floating: bool) -> TimerId {
        let id = TimerId(self.next);
        self.next += 1;
        let entry = Entry { timer: Timer { id, key, due }, floating };
        let index = self.entries.partition_point(|other| other.order() > entry.order());
        self.entries.insert(index, entry);
        id
    }

    /// True when it was still set.
    pub(crate) fn cancel(&mut self, id: TimerId) -> bool {
        let found = self.entries.iter().position(|entry| entry.timer.id == id);
        found.map(|index| self.entries.remove(index)).is_some()
    }

    /// When the next one is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.entries.last().map(|entry| entry.timer.due)
    }

    /// The next one, if it is due by `now` and was set before `limit`.
    pub(crate) fn pop(&mut self, now: Nanos, limit: TimerId) -> Option<Timer> {
        let entry = self.entries.last()?;
        (entry.timer.due <= now && entry.timer.id < limit)
            .then(|| self.entries.pop().map(|last| last.timer))?
    }

    /// The id that the next timer will get.
    pub(crate) fn limit(&self) -> TimerId {
        TimerId(self.next)
    }

    /// The start is known: times that count from it are set.
    pub(crate) fn begin(&mut self, start: Nanos) {
        for entry in &mut self.entries {
            if std::mem::take(&mut entry.floating) {
                entry.timer.due += start;
            }
        }
        self.entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.order()));
    }
}

impl Entry {
    fn order(&self) -> (Nanos, TimerId) {
        (self.timer.due, self.timer.id)
    }
}
