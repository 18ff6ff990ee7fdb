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
    /// Of a recurring one: how many of its times before this one were passed over, because they were long past.
    pub missed: u64,
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
    /// Nanoseconds from one time to the next; zero: it fires once.
    every: u64,
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

    pub(crate) fn set(&mut self, due: Nanos, every: u64, key: u64, floating: bool) -> TimerId {
        let id = TimerId(self.next);
        self.next += 1;
        self.insert(Entry { timer: Timer { id, key, due, missed: 0 }, every, floating });
        id
    }

    fn insert(&mut self, entry: Entry) {
        let index = self.entries.partition_point(|other| other.order() > entry.order());
        self.entries.insert(index, entry);
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

    /// The next one, if it is due by `now` and was set before `limit`. A recurring one is set again at once, a whole number
    /// of its intervals later: for the next time, or with `skips` for the first that has not passed.
    pub(crate) fn pop(&mut self, now: Nanos, limit: TimerId, skips: bool) -> Option<Timer> {
        let due = |entry: &mut Entry| entry.timer.due <= now && entry.timer.id < limit;
        let mut entry = self.entries.pop_if(due)?;
        // One that does not recur has 0 for its interval.
        if let Some(missed) = (now.0 - entry.timer.due.0).checked_div(entry.every) {
            if skips {
                entry.timer.missed = missed;
                entry.timer.due += Nanos(missed * entry.every);
            }
            let timer = Timer { due: entry.timer.due + Nanos(entry.every), missed: 0, ..entry.timer };
            self.insert(Entry { timer, ..entry });
        }
        Some(entry.timer)
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
            } else {
                entry.timer.due = not_before(entry.timer.due, entry.every, start);
            }
        }
        self.entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.order()));
    }
}

/// The first time of a recurring timer from `start` on; another timer's is as it was set.
pub(crate) fn not_before(due: Nanos, every: u64, start: Nanos) -> Nanos {
    let late = start - due;
    if every == 0 { due } else { due + Nanos(late.0.div_ceil(every).saturating_mul(every)) }
}

impl Entry {
    fn order(&self) -> (Nanos, TimerId) {
        (self.timer.due, self.timer.id)
    }
}
