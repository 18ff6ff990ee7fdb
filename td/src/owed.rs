//! Cancels that td owes: of orders that must end, where the market has refused the cancel that td or the owner sent.
//!
//! ```text
//!   must end ──► cancel on its way ──Cancelled, Filled──► ended: nothing is owed
//!                  ▲          │ CancelRejected
//!                  │          ▼
//!                  └────── waiting    sent again: by turns after the back-off, at once where the order or its market has changed
//! ```
//!
//! Most refusals are of a market that takes no cancels at the moment, so orders wait by instrument, and **one cancel at a time
//! asks** for all of them: the next in turn, [`back_off`] after the last refusal. Once the market has taken a cancel in that
//! instrument, all that wait there are sent. An order whose own state has changed (accepted, its replace answered) is sent at
//! once. So an instrument costs at most one refused cancel for each pause, however many orders wait, and no order
//! waits longer than that for a market that takes cancels.
//!
//! Time is what the caller says: nanoseconds, or market events where runs must repeat exactly. Lists come out in the order of
//! instruments and ids.

use std::collections::{BTreeMap, BTreeSet};

use wire::{InstrumentId, OrderId};

/// The pause after the first refusal, in nanoseconds.
pub const FIRST_PAUSE: u64 = 1_000_000;
/// The longest pause.
pub const LONGEST_PAUSE: u64 = 1_000_000_000;

/// The pause after so many refusals before the last one: it doubles each time.
pub fn back_off(refusals: u32) -> u64 {
    let doubled = FIRST_PAUSE.checked_shl(refusals.min(32)).unwrap_or(LONGEST_PAUSE);
    doubled.min(LONGEST_PAUSE)
}

/// Orders that must end, and what is owed for them.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// All that have not ended, with their instruments.
    orders: BTreeMap<OrderId, InstrumentId>,
    /// Those whose cancel was refused and that have none on its way.
    lines: BTreeMap<InstrumentId, Line>,
    /// Of those: orders that have changed since.
    changed: BTreeSet<OrderId>,
}

/// The orders of one instrument that wait.
#[derive(Debug, Default)]
struct Line {
    waiting: BTreeSet<OrderId>,
    /// The order whose cancel asks for all of them.
    asking: Option<OrderId>,
    /// The last one that asked: the next in turn is behind it.
    last: OrderId,
    /// Refusals in a row of cancels that asked.
    refusals: u32,
    due: Due,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Due {
    /// The pause begins when time is looked at next.
    #[default]
    Unset,
    /// One asks at this time.
    At(u64),
    /// All are sent: the market takes cancels.
    All,
}

impl Owed {
    /// True when no order must end.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// True when a cancel waits to be sent again.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.lines.is_empty()
    }

    /// How many orders must end and have not.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.orders.len()
    }

    /// Orders that must end and have not, by ascending id.
    pub(crate) fn orders(&self) -> impl Iterator<Item = OrderId> + '_ {
        self.orders.keys().copied()
    }

    /// The instruments in which cancels wait to be sent again.
    pub(crate) fn instruments(&self) -> impl Iterator<Item = InstrumentId> + '_ {
        self.lines.keys().copied()
    }

    /// An order must end.
    pub(crate) fn add(&mut self, order: OrderId, instrument: InstrumentId) {
        self.orders.insert(order, instrument);
    }

    /// A cancel of an order that must end is on its way.
    pub(crate) fn sent(&mut self, order: OrderId, instrument: InstrumentId) {
        self.changed.remove(&order);
        if let Some(line) = self.lines.get_mut(&instrument) {
            line.waiting.remove(&order);
            self.drop_if_done(instrument);
        }
    }

    /// A cancel of an order that must end, and works, was refused.
    pub(crate) fn refused(&mut self, order: OrderId, instrument: InstrumentId) {
        let line = self.lines.entry(instrument).or_default();
        line.waiting.insert(order);
        if line.asking == Some(order) {
            (line.asking, line.due) = (None, Due::Unset);
            line.refusals = line.refusals.saturating_add(1);
        }
    }

    /// An order that must end has changed: a cancel that was refused may be taken now.
    pub(crate) fn changed(&mut self, order: OrderId, instrument: InstrumentId) {
        if self.lines.get(&instrument).is_some_and(|line| line.waiting.contains(&order)) {
            self.changed.insert(order);
        }
    }

    /// An order has ended.
    pub(crate) fn ended(&mut self, order: OrderId) {
        let Some(instrument) = self.orders.remove(&order) else { return };
        self.changed.remove(&order);
        let Some(line) = self.lines.get_mut(&instrument) else { return };
        line.waiting.remove(&order);
        if line.asking == Some(order) {
            // By a trade: nobody has asked yet.
            line.asking = None;
            if line.due != Due::All {
                line.due = Due::At(0);
            }
        }
        self.drop_if_done(instrument);
    }

    /// The market takes cancels in this instrument, or may do so: all that wait are sent.
    pub(crate) fn taken(&mut self, instrument: InstrumentId) {
        if let Some(line) = self.lines.get_mut(&instrument) {
            line.due = Due::All;
        }
    }

    /// The market of this instrument has changed: one asks at once, if none is asking.
    pub(crate) fn market_changed(&mut self, instrument: InstrumentId) {
        if let Some(line) = self.lines.get_mut(&instrument).filter(|line| line.due != Due::All) {
            (line.due, line.refusals) = (Due::At(0), 0);
        }
    }

    /// The orders to cancel now, each once. `pause` is how long a line waits after so many refusals.
    pub(crate) fn due(&mut self, now: u64, pause: impl Fn(u32) -> u64) -> Vec<OrderId> {
        let changed = std::mem::take(&mut self.changed);
        let mut due: Vec<OrderId> = changed.iter().copied().collect();
        for line in self.lines.values_mut() {
            if !changed.is_empty() {
                line.waiting.retain(|order| !changed.contains(order));
            }
            line.collect(now, &pause, &mut due);
        }
        self.lines.retain(|_, line| !line.is_done());
        due
    }

    /// When [`Owed::due`] has the next one.
    pub(crate) fn next(&self) -> Option<u64> {
        let times = self.lines.values().filter_map(|line| match line.due {
            _ if line.waiting.is_empty() => None,
            Due::At(_) if line.asking.is_some() => None,
            Due::At(time) => Some(time),
            Due::Unset if line.asking.is_some() => None,
            Due::Unset | Due::All => Some(0),
        });
        times.chain((!self.changed.is_empty()).then_some(0)).min()
    }

    fn drop_if_done(&mut self, instrument: InstrumentId) {
        if self.lines.get(&instrument).is_some_and(Line::is_done) {
            self.lines.remove(&instrument);
        }
    }
}

impl Line {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.asking.is_none()
    }

    fn collect(&mut self, now: u64, pause: impl Fn(u32) -> u64, due: &mut Vec<OrderId>) {
        match self.due {
            Due::All => {
                due.extend(std::mem::take(&mut self.waiting));
                *self = Line::default();
            }
            _ if self.asking.is_some() || self.waiting.is_empty() => {}
            Due::Unset => self.due = Due::At(now.saturating_add(pause(self.refusals))),
            Due::At(time) if time > now => {}
            Due::At(_) => {
                let behind = (std::ops::Bound::Excluded(self.last), std::ops::Bound::Unbounded);
                let next = self.waiting.range(behind).next().or_else(|| self.waiting.first()).copied();
                let Some(next) = next else { return };
                self.waiting.remove(&next);
                (self.asking, self.last, self.due) = (Some(next), next, Due::Unset);
                due.push(next);
            }
        }
    }
}
