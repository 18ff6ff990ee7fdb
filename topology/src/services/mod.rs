//! One table of all that runs in an instance: [`SERVICES`]. Wiring, seats, the order of stopping, places and documents
//! are made from its rows; a new part of the platform is a row.
//!
//! A row says which [`Stream`]s its nodes publish and which they subscribe to. No row names another row's journal:
//! who reads quotes gets them from whoever publishes them.

#[cfg(test)]
mod added;
#[cfg(test)]
mod document;
mod kind;
mod stop;
mod stream;
mod table;
mod wanted;

use serde_json::Value as Json;

use crate::config::{PlatformConfig, RestartPolicy, RunConfig};

pub use kind::NodeKind;
pub(crate) use stop::StopGroup;
pub use stop::{finishes, looks_on, stop_group, stop_order};
pub use stream::Stream;
pub(crate) use stream::{Journals, Publication, Subscription, Topics};
use table::SERVICES;

/// A row: what holds of every node of one kind.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) kind: NodeKind,
    pub(crate) seat: Seat,
    /// The kinds whose nodes must be ready before it starts.
    pub(crate) needs: &'static [NodeKind],
    pub(crate) publishes: &'static [Publication],
    /// In the order in which the node looks at them.
    pub(crate) subscribes: &'static [Subscription],
    pub(crate) stops: StopGroup,
    /// Whether its nodes are started again, unless the file says otherwise.
    pub(crate) restart: RestartPolicy,
    /// A node of this kind comes back for its cursors even if the file does not have it restarted.
    pub(crate) always_returns: bool,
    pub(crate) waiting: Waiting,
    pub(crate) place: Place,
}

/// How many nodes of a kind there are.
#[derive(Clone, Copy)]
pub(crate) enum Seat {
    /// One in every instance, with a seat of its own; it bears the name of its kind, and so does its section.
    One {
        run: fn(&PlatformConfig) -> &RunConfig,
        /// What the node is told.
        section: fn(&PlatformConfig) -> Json,
    },
    /// As many as the file asks for.
    Many,
}

/// What a node of a kind waits for, and on whose time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Sockets and the ends of processes.
    System,
    /// Journals: it polls a core of its own if it is fast, or sleeps, and may be woken by a relay.
    Journals,
    /// Journals, but it yields its core to everybody.
    Yielding,
}

/// Whose cores a node runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Those of the platform.
    Platform,
    /// Those of the strategies.
    Strategies,
    /// Those of what the file has added.
    Added,
}

impl Service {
    /// The table.
    #[cfg(not(test))]
    pub(crate) fn all() -> &'static [Service] {
        SERVICES
    }

    /// The table; that of a test where it has one of its own.
    #[cfg(test)]
    pub(crate) fn all() -> &'static [Service] {
        added::TABLE.get().unwrap_or(SERVICES)
    }

    /// The row of a kind.
    pub(crate) fn of(kind: NodeKind) -> &'static Service {
        // A test holds that every kind has a row.
        Service::all().iter().find(|service| service.kind == kind).unwrap_or(&SERVICES[0])
    }

    /// The services that are there once in every instance, by seat, each with what the file says of how it runs.
    pub(crate) fn standard(config: &PlatformConfig) -> impl Iterator<Item = (&'static Service, &RunConfig)> {
        Service::all().iter().filter_map(|service| match service.seat {
            Seat::One { run, .. } => Some((service, run(config))),
            Seat::Many => None,
        })
    }

    /// How many of those there are: the seats before the first strategy's.
    pub(crate) fn standard_count() -> u16 {
        Service::all().iter().filter(|service| matches!(service.seat, Seat::One { .. })).count() as u16
    }
}

/// The family of the journals of reports to nodes of this kind.
pub(crate) fn reports_family(kind: NodeKind) -> Option<&'static str> {
    publications().find_map(|publication| match publication.journals {
        Journals::EachReader(family, reader) if reader == kind => Some(family),
        _ => None,
    })
}

/// Every publication of every row.
fn publications() -> impl Iterator<Item = &'static Publication> {
    Service::all().iter().flat_map(|service| service.publishes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row_and_every_number_one_kind() {
        for &kind in NodeKind::ALL {
            assert_eq!(SERVICES.iter().filter(|service| service.kind == kind).count(), 1, "{kind}");
            assert_eq!(NodeKind::from_word(kind.to_word()), Some(kind));
        }
        assert_eq!(SERVICES.len(), NodeKind::ALL.len());
        assert_eq!(NodeKind::from_word(99), None);
    }

    #[test]
    fn services_that_are_there_once_come_first_and_master_before_all() {
        let one = |service: &Service| matches!(service.seat, Seat::One { .. });
        assert!(SERVICES.is_sorted_by_key(|service| !one(service)));
        assert_eq!(SERVICES[0].kind, NodeKind::Master);
        let mut seen = Vec::new();
        for service in SERVICES {
            assert!(service.needs.iter().all(|need| seen.contains(need)), "{}", service.kind);
            seen.push(service.kind);
        }
    }

    #[test]
    fn every_stream_but_requests_is_published_by_one_row() {
        for &stream in Stream::ALL {
            let publishers = SERVICES
                .iter()
                .filter(|service| service.publishes.iter().any(|publication| publication.stream == stream));
            // Whoever sends orders has a journal for them.
            let senders = if stream == Stream::Requests { 2 } else { 1 };
            assert_eq!(publishers.count(), senders, "{stream}");
        }
        let mut names: Vec<&str> = Vec::new();
        for publication in SERVICES.iter().flat_map(|service| service.publishes) {
            if let Journals::One(name) = publication.journals {
                assert!(!names.contains(&name), "{name}");
                names.push(name);
            }
        }
        assert!(names.len() > 6, "{names:?}");
    }
}
