//! What the gateway counts of itself. The counters are found once: a request adds to them and looks nothing up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};

use wire::Reason;

use crate::http::problem::Kind;
use crate::push::Counts;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident => $name:literal,)*) => {
        /// Classes of routes: bounded, whatever clients ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Class { $($(#[$doc])* $class,)* }

        impl Class {
            pub(crate) const ALL: &[(Class, &'static str)] = &[$((Class::$class, $name),)*];
        }
    };
}

classes! {
    Health => "health",
    /// Whatever sends, changes, cancels or asks for orders.
    Orders => "orders",
    Market => "market",
    Accounts => "accounts",
    Platform => "platform",
    /// The kill switch.
    Risk => "risk",
    WebSocket => "websocket",
    Metrics => "metrics",
    /// The page, the documents.
    Page => "page",
    Other => "other",
}

impl Class {
    /// Of a path as it came.
    pub(crate) fn of(path: &str) -> Class {
        let mut parts = path.split('/').skip(1);
        match (parts.next(), parts.next()) {
            (Some("health"), None) => Class::Health,
            (Some("metrics"), None) => Class::Metrics,
            (Some("" | "page" | "docs" | "docs.css" | "docs.js" | "openapi.json"), _) => Class::Page,
            (Some("v1"), Some(route)) => match route {
                "orders" | "clients" => Class::Orders,
                "instruments" | "quotes" | "book" | "trades" | "bars" => Class::Market,
                "accounts" | "positions" => Class::Accounts,
                "status" | "overview" => Class::Platform,
                "kill" | "revive" => Class::Risk,
                "ws" => Class::WebSocket,
                _ => Class::Other,
            },
            _ => Class::Other,
        }
    }
}

/// Classes of answers.
pub(crate) const STATUSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// What the threads that push have in hand and have done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pushed {
    pub(crate) counts: Counts,
    pub(crate) clients: u64,
}

/// What the thread of DIFF keeps for its sessions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) sessions: u64,
    /// Bytes: requests, and what waits for peeks.
    pub(crate) kept: u64,
    /// Bytes of answers that are being written.
    pub(crate) answers: u64,
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Meter {
    diff: Mutex<Waiting>,
    requests: Vec<[Counter; STATUSES.len()]>,
    durations: Vec<Histogram>,
    accepted: Counter,
    refused: Counter,
    /// By kind.
    problems: [Counter; Kind::ALL.len()],
    /// Of td and the market, by reason.
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    /// By thread.
    pushed: Mutex<Vec<Pushed>>,
}

/// In seconds: from a core that answers at once to td that does not.
const BOUNDS: [f64; 13] =
    [25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 0.25, 1.0, 5.0];

impl Default for Meter {
    fn default() -> Meter {
        let histogram = || Histogram::new_classic_and_native(BOUNDS, NativeHistogramConfig::new(1.1));
        Meter {
            diff: Mutex::default(),
            requests: Class::ALL.iter().map(|_| std::array::from_fn(|_| Counter::default())).collect(),
            durations: Class::ALL.iter().map(|_| histogram()).collect(),
            accepted: Counter::default(),
            refused: Counter::default(),
            problems: std::array::from_fn(|_| Counter::default()),
            refusals: Mutex::default(),
            pushed: Mutex::default(),
        }
    }
}

impl Meter {
    pub(crate) fn answered(&self, class: Class, status: u16) {
        let status = usize::from(status / 100).clamp(1, STATUSES.len()) - 1;
        if let Some(counter) = self.requests.get(class as usize).map(|row| &row[status]) {
            counter.inc();
        }
    }

    pub(crate) fn took(&self, class: Class, time: Duration) {
        if let Some(histogram) = self.durations.get(class as usize) {
            histogram.observe(time.as_secs_f64());
        }
    }

    pub(crate) fn accepted(&self) {
        self.accepted.inc();
    }

    /// A request was answered with a problem.
    pub(crate) fn problem(&self, kind: Kind) {
        if let Some(counter) = self.problems.get(kind as usize) {
            counter.inc();
        }
    }

    /// td or the market has refused a request about an order.
    pub(crate) fn refusal(&self, reason: Reason) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals.entry(reason.as_str()).or_default() += 1;
    }

    /// Every kind of problem, with its count.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Kind::ALL.iter().zip(&self.problems).map(|(kind, counter)| (kind.parts().0, counter.get()))
    }

    /// Every reason of td's and the market's that was given, with its count.
    pub(crate) fn refusals(&self) -> BTreeMap<&'static str, u64> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn refused(&self) {
        self.refused.inc();
    }

    /// A thread that pushes says how it stands.
    pub(crate) fn pushed(&self, thread: usize, pushed: Pushed) {
        let mut threads = self.pushed.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() <= thread {
            threads.resize(thread + 1, Pushed::default());
        }
        if let Some(place) = threads.get_mut(thread) {
            *place = pushed;
        }
    }

    /// The thread of DIFF says how it stands.
    pub(crate) fn diff(&self, waiting: Waiting) {
        *self.diff.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }

    /// How it stood last.
    pub(crate) fn of_diff(&self) -> Waiting {
        *self.diff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of all threads.
    pub(crate) fn all_pushed(&self) -> Pushed {
        let threads = self.pushed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = Pushed::default();
        for thread in threads.iter() {
            sum.counts.add(thread.counts);
            sum.clients += thread.clients;
        }
        sum
    }

    /// Every class of route and answer, with its count.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> + '_ {
        let rows = Class::ALL.iter().zip(&self.requests);
        rows.flat_map(|((_, class), row)| {
            STATUSES.iter().zip(row).map(move |(status, counter)| (*class, *status, counter.get()))
        })
    }

    /// How long each class of route took.
    pub(crate) fn durations(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        Class::ALL.iter().zip(&self.durations).map(|((_, class), histogram)| (*class, histogram))
    }

    /// Connections that were let in, and those that were not.
    pub(crate) fn connections(&self) -> (u64, u64) {
        (self.accepted.get(), self.refused.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_for_falls_into_a_class() {
        for (path, class) in [
            ("/health", Class::Health),
            ("/", Class::Page),
            ("/page/page.js", Class::Page),
            ("/v1/orders/1-1-1", Class::Orders),
            ("/v1/clients/9/x", Class::Orders),
            ("/v1/book/A", Class::Market),
            ("/v1/kill", Class::Risk),
            ("/v1/nothing", Class::Other),
            ("nonsense", Class::Other),
            ("", Class::Other),
        ] {
            assert_eq!(Class::of(path), class, "{path:?}");
        }
    }

    #[test]
    fn answers_of_impossible_statuses_are_counted_too() {
        let meter = Meter::default();
        for status in [0, 200, 599, 999] {
            meter.answered(Class::Other, status);
        }
        assert_eq!(meter.requests().map(|(.., count)| count).sum::<u64>(), 4);
    }
}
