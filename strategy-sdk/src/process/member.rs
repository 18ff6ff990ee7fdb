//! One strategy of the process: its session, and its state in the process.

use node::{Counter, NodeHandle};
use topology::config::MarketData;

use super::backlog::Backlog;
use super::watch::Budget;
use crate::panic::catch;
use crate::session::{AnySession, Role};

/// One strategy.
pub(super) struct Member {
    /// Name of its node.
    pub(super) name: String,
    /// Its seat's counters and state.
    pub(super) handle: NodeHandle,
    /// `None` before it has joined, and after it has left.
    pub(super) session: Option<Box<dyn AnySession>>,
    /// True once it has started: frames are handed over at once.
    pub(super) started: bool,
    pub(super) holds: bool,
    /// Requests that its session has sent.
    pub(super) requests: u64,
    /// When it is due for a turn without a frame, in nanoseconds; `u64::MAX`: never.
    pub(super) deadline: u64,
    /// The same by the market's time, as its seat says; 0: never.
    pub(super) market_due: u64,
    pub(super) budget: Budget,
    /// Its kind of market data.
    pub(super) hears: Role,
    /// Topics of the market data that it reads; `None`: all. Empty until the list is complete.
    pub(super) topics: Option<Vec<u32>>,
    /// Frames that arrived before its start.
    pub(super) backlog: Backlog,
}

impl Member {
    pub(super) fn new(name: String, handle: NodeHandle) -> Member {
        Member {
            name,
            handle,
            session: None,
            started: false,
            holds: false,
            requests: 0,
            deadline: u64::MAX,
            market_due: 0,
            budget: Budget::new(0),
            hears: Role::Quotes,
            topics: Some(Vec::new()),
            backlog: Backlog::default(),
        }
    }

    /// Writes into its seat when it is due by the market's time.
    #[inline]
    pub(super) fn set_market_due(&mut self, due: u64) {
        if self.market_due != due {
            self.market_due = due;
            self.handle.set(Counter::MarketDue, due);
        }
    }

    /// Joins with a new session.
    pub(super) fn join(&mut self, session: Box<dyn AnySession>, data: MarketData, budget: u64) {
        self.session = Some(session);
        self.hears = Role::of_data(data);
        self.started = false;
        self.holds = false;
        self.requests = 0;
        self.deadline = u64::MAX;
        self.budget = Budget::new(budget);
        self.topics = Some(Vec::new());
    }

    /// Drops the session, and with it the journal of orders; a panic in the strategy's `Drop` is caught.
    pub(super) fn leave(&mut self) {
        let session = self.session.take();
        if catch(move || drop(session)).is_err() {
            log::error!("strategy `{}` panicked once more as it was dropped", self.name);
        }
        self.set_market_due(0);
        self.backlog.forget_market();
        self.started = false;
        self.holds = false;
        self.deadline = u64::MAX;
        self.topics = Some(Vec::new());
    }

    /// A call took this long.
    #[inline]
    pub(super) fn charge(&mut self, took: u64) {
        if let Some(overrun) = self.budget.charge(took) {
            self.handle.add(Counter::Overruns, 1);
            let longest = overrun.longest.max(self.handle.counter(Counter::OverrunMax));
            self.handle.set(Counter::OverrunMax, longest);
            if overrun.is_logged {
                let (name, count) = (&self.name, overrun.count);
                let [took, limit, longest] =
                    [took, self.budget.limit(), overrun.longest].map(|ns| ns as f64 / 1_000.0);
                log::warn!(
                    "strategy `{name}` took {took:.1} us for one call, its budget is {limit} us ({count} overruns, the longest {longest:.1} us)"
                );
            }
        }
    }
}
