//! Lock-step: the market's time between two messages.
//!
//! A strategy's timer, a bar that ends, a request that reaches the market and a report that comes back have times of their own,
//! between those of the market's events. md knows the next event before it publishes it. So it first announces, one after the
//! other, the times that are due before that event ([`MarketTime`]): whoever is due acts then, and sees nothing of the event.
//!
//! A request of an instant acts behind the last event of that instant, so matching keeps it, and is due at that same time.

use node::{MarketDues, Node, RunError};
use wire::Nanos;

use super::lock_step::LockStep;

/// Announcements of one and the same time, before it counts as passed: whoever is due again and again at one time never ends.
const MOST: u32 = 1_000;

/// The times that are due, and how far the market's time has come.
#[derive(Debug)]
pub(super) struct MarketClock {
    /// `None`: not in lock-step.
    dues: Option<MarketDues>,
    now: Nanos,
    repeated: u32,
}

impl MarketClock {
    pub(super) fn of(node: &Node, lock_step: &LockStep) -> Result<MarketClock, RunError> {
        let dues = match lock_step.is_on() {
            true => Some(MarketDues::of_actors(node).map_err(|error| {
                RunError::failed(format!("lock-step: the instance's topology cannot be read: {error}"))
            })?),
            false => None,
        };
        Ok(MarketClock { dues, now: Nanos(0), repeated: 0 })
    }

    /// The time to announce before a message of this time is published; without one, before the end. Everybody is quiet.
    pub(super) fn due_before(&mut self, next: Option<Nanos>) -> Option<Nanos> {
        let dues = self.dues.as_ref()?;
        if next.is_some_and(|next| next <= self.now) {
            // The instant goes on.
            return None;
        }
        let due = dues.earliest()?.max(self.now);
        let is_before = match next {
            Some(next) => due < next,
            // Behind the last event time stands still.
            None => due == self.now,
        };
        (is_before && (due > self.now || self.repeated < MOST)).then_some(due)
    }

    /// A time was announced.
    pub(super) fn announced(&mut self, time: Nanos) {
        self.repeated = if time > self.now { 1 } else { self.repeated + 1 };
        self.now = self.now.max(time);
    }

    /// A message of this time is published.
    pub(super) fn published(&mut self, time: Nanos) {
        if time > self.now {
            (self.now, self.repeated) = (time, 0);
        }
    }
}
