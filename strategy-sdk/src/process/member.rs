//! One strategy of the process: its session, whatever its type, and what is known of it beside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use node::{Counter, Frame, Gap, NodeHandle};
use wire::Nanos;

use super::early::Early;
use super::watch::Budget;
use crate::session::{Needs, Role, Session};
use crate::strategy::Strategy;

/// A session of any strategy. Each call answers what the session needs afterwards.
pub(crate) trait Driven {
    /// See [`Session::frame`].
    fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) -> Needs;
    /// See [`Session::gap`].
    fn gap(&mut self, role: Role, gap: Gap) -> Needs;
    /// See [`Session::turn`].
    fn turn(&mut self) -> Needs;
    /// See [`Session::list_is_whole`].
    fn list_is_whole(&mut self) -> Needs;
    /// See [`Session::stop`].
    fn stop(&mut self);
    /// See [`Session::take_topics`].
    fn take_topics(&mut self) -> Option<Option<Vec<u32>>>;
}

impl<S: Strategy> Driven for Session<S> {
    #[inline]
    fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) -> Needs {
        Session::frame(self, role, journal, frame, received);
        self.needs()
    }

    fn gap(&mut self, role: Role, gap: Gap) -> Needs {
        Session::gap(self, role, gap);
        self.needs()
    }

    fn turn(&mut self) -> Needs {
        Session::turn(self);
        self.needs()
    }

    fn list_is_whole(&mut self) -> Needs {
        Session::list_is_whole(self);
        self.needs()
    }

    fn stop(&mut self) {
        Session::stop(self);
    }

    fn take_topics(&mut self) -> Option<Option<Vec<u32>>> {
        Session::take_topics(self)
    }
}

/// A strategy that panicked: what it said.
#[derive(Debug)]
pub(super) struct Panicked(pub(super) Box<dyn std::any::Any + Send>);

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.downcast_ref::<&str>().copied();
        let text = text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str));
        f.write_str(text.unwrap_or("(without a message)"))
    }
}

/// Where a call of a strategy's ends, however it ends. A strategy that panicked is not called again: that it may have
/// left itself half changed harms nobody, and what it wrote to its journal is whole.
#[inline]
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(Panicked)
}

/// One strategy.
pub(super) struct Member {
    /// Name of its node.
    pub(super) name: String,
    /// Its seat's counters and state.
    pub(super) handle: NodeHandle,
    /// `None` before it has joined, and after it has left.
    pub(super) driven: Option<Box<dyn Driven>>,
    /// Since its start: everything it hears goes to it at once.
    pub(super) started: bool,
    pub(super) holds: bool,
    /// When its turn comes even without news, nanoseconds; `u64::MAX`: never.
    pub(super) deadline: u64,
    pub(super) budget: Budget,
    /// Topics of the quotes that it wants; `None`: all. Nothing before the list is whole.
    pub(super) topics: Option<Vec<u32>>,
    /// What came before its start.
    pub(super) early: Early,
}

impl Member {
    pub(super) fn new(name: String, handle: NodeHandle) -> Member {
        Member {
            name,
            handle,
            driven: None,
            started: false,
            holds: false,
            deadline: u64::MAX,
            budget: Budget::new(0),
            topics: Some(Vec::new()),
            early: Early::default(),
        }
    }

    /// Takes its place with a session that has heard nothing.
    pub(super) fn arrive(&mut self, driven: Box<dyn Driven>, budget: u64) {
        self.driven = Some(driven);
        self.started = false;
        self.holds = false;
        self.deadline = u64::MAX;
        self.budget = Budget::new(budget);
        self.topics = Some(Vec::new());
    }

    /// Lets go of the session, and so of its journal of orders; a panic of the strategy's own `Drop` ends here.
    pub(super) fn depart(&mut self) {
        let driven = self.driven.take();
        if guarded(move || drop(driven)).is_err() {
            log::error!("strategy `{}` panicked once more as it was dropped", self.name);
        }
        self.early.forget_market();
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
            if overrun.is_said {
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
