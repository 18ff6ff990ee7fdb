//! The rows, by seat: first who is there once, then those of whom there are many.

use settings::ByteSize;

use super::stream::{Manner, When};
use super::wanted;
use super::{
    Journals, NodeKind, Place, Publication, Seat, Service, StopGroup, Stream, Subscription, Topics, Waiting,
};
use crate::config::{Fill, MarketData, ReaderFrom, RestartPolicy};
use crate::rules::{books, desk, gateway, state};
use crate::wiring::{json, ledger_section, td_section};

/// Every kind of node.
pub(crate) static SERVICES: &[Service] = &[
    Service {
        kind: NodeKind::Master,
        seat: Seat::One { run: |config| &config.master.run, section: |config| json(&config.master) },
        needs: &[],
        publishes: &[
            Publication {
                stream: Stream::Events,
                role: "events",
                journals: Journals::One("master.events"),
                topics: Topics::One,
                capacity: |_| ByteSize::kib(64),
                rings: |journal| vec![&journal.master],
                when: When::Always,
            },
            // Made by master; written by whoever holds its writer's lock for a moment.
            Publication {
                stream: Stream::Entries,
                role: "entries",
                journals: Journals::One("desk.entries"),
                topics: Topics::One,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.desk],
                when: When::Accounts,
            },
        ],
        subscribes: &[],
        stops: StopGroup::Owner,
        restart: RestartPolicy::Never,
        always_returns: false,
        waiting: Waiting::System,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Md,
        seat: Seat::One { run: |config| &config.md.run, section: |config| json(&config.md) },
        needs: &[NodeKind::Master],
        publishes: &[
            Publication {
                stream: Stream::Instruments,
                role: "instruments",
                journals: Journals::One("md.instruments"),
                topics: Topics::One,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.md.ring, &journal.md.instruments],
                when: When::Always,
            },
            Publication {
                stream: Stream::Quotes,
                role: "quotes",
                journals: Journals::One(wanted::QUOTES),
                topics: Topics::Instruments,
                capacity: |_| ByteSize::mib(4),
                rings: |journal| vec![&journal.md.ring, &journal.md.quotes],
                when: When::Wanted(MarketData::Depth),
            },
            Publication {
                stream: Stream::Best,
                role: "best",
                journals: Journals::One(wanted::BEST),
                topics: Topics::Instruments,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.md.ring, &journal.md.best],
                when: When::Wanted(MarketData::Best),
            },
            Publication {
                stream: Stream::Flow,
                role: "flow",
                journals: Journals::One("md.flow"),
                topics: Topics::Instruments,
                capacity: |_| ByteSize::mib(4),
                rings: |journal| vec![&journal.md.ring, &journal.md.flow],
                when: When::Wanted(MarketData::Flow),
            },
        ],
        subscribes: &[Subscription {
            when: When::Fills(Fill::Exchange),
            ..subscription(Stream::Market, Manner::Gated)
        }],
        stops: StopGroup::Market,
        restart: RestartPolicy::Never,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Td,
        seat: Seat::One { run: |config| &config.td.run, section: td_section },
        needs: &[NodeKind::Md],
        publishes: &[
            Publication {
                stream: Stream::Orders,
                role: "orders",
                journals: Journals::One("td.orders"),
                topics: Topics::One,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.td.ring, &journal.td.orders],
                when: When::Always,
            },
            Publication {
                stream: Stream::Samples,
                role: "samples",
                journals: Journals::One("td.samples"),
                topics: Topics::One,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.td.ring, &journal.td.samples],
                when: When::Always,
            },
            Publication {
                stream: Stream::Drops,
                role: "drops",
                journals: Journals::One("td.drops"),
                topics: Topics::TakenAndRefused,
                capacity: desk::drops_capacity,
                rings: |journal| vec![&journal.td.ring, &journal.td.drops],
                when: When::Accounts,
            },
            Publication {
                stream: Stream::Reports,
                role: "reports",
                journals: Journals::EachReader("reports", NodeKind::Strategy),
                topics: Topics::One,
                capacity: |_| ByteSize::kib(256),
                rings: |journal| vec![&journal.reports],
                when: When::Always,
            },
            Publication {
                stream: Stream::Reports,
                role: "reports",
                journals: Journals::EachReader("reports", NodeKind::Host),
                topics: Topics::Seats,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.reports],
                when: When::Always,
            },
            Publication {
                stream: Stream::Reports,
                role: "reports",
                journals: Journals::EachReader("reports", NodeKind::Gateway),
                topics: Topics::One,
                // td does not wait for it, and after a restart it looks here for what became of its clients' orders.
                capacity: |_| ByteSize::mib(16),
                rings: |journal| vec![&journal.reports],
                when: When::Always,
            },
        ],
        subscribes: &[
            subscription(Stream::Instruments, Manner::Loose(ReaderFrom::Start)),
            subscription(Stream::Events, Manner::Loose(ReaderFrom::Start)),
            Subscription { when: When::Accounts, ..subscription(Stream::Entries, Manner::Gated) },
            Subscription { when: When::Accounts, ..subscription(Stream::Risk, Manner::Gated) },
            Subscription { role: "orders", ..subscription(Stream::Requests, Manner::Gated) },
            subscription(Stream::Executions, Manner::Gated),
        ],
        stops: StopGroup::Gateway,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Matching,
        seat: Seat::One { run: |config| &config.matching.run, section: |config| json(&config.matching) },
        needs: &[NodeKind::Md],
        publishes: &[
            Publication {
                stream: Stream::Executions,
                role: "executions",
                journals: Journals::One("matching.executions"),
                topics: Topics::One,
                capacity: |_| ByteSize::mib(1),
                rings: |journal| vec![&journal.matching.ring, &journal.matching.executions],
                when: When::Always,
            },
            Publication {
                stream: Stream::Market,
                role: "market",
                journals: Journals::One("matching.market"),
                topics: Topics::Instruments,
                capacity: |_| ByteSize::mib(4),
                rings: |journal| vec![&journal.matching.ring, &journal.matching.market],
                when: When::Fills(Fill::Exchange),
            },
            Publication {
                stream: Stream::Books,
                role: "state",
                journals: Journals::One("matching.state"),
                topics: Topics::One,
                capacity: books::own_capacity,
                rings: |journal| vec![&journal.matching.ring, &journal.matching.state],
                when: When::Always,
            },
        ],
        subscribes: &[
            subscription(Stream::Instruments, Manner::Loose(ReaderFrom::Start)),
            subscription(Stream::Orders, Manner::Gated),
            Subscription { when: When::Fills(Fill::Book), ..subscription(Stream::Flow, Manner::Gated) },
            Subscription { when: When::Fills(Fill::Quotes), ..subscription(Stream::Quotes, Manner::Gated) },
        ],
        stops: StopGroup::Exchange,
        restart: RestartPolicy::OnFailure,
        // If not to trade, then to close the market.
        always_returns: true,
        waiting: Waiting::Journals,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Ledger,
        seat: Seat::One { run: |config| &config.ledger.run, section: ledger_section },
        needs: &[NodeKind::Md],
        publishes: &[
            Publication {
                stream: Stream::State,
                role: "state",
                journals: Journals::One("ledger.state"),
                topics: Topics::EverybodyAndSeats,
                capacity: state::own_capacity,
                rings: |journal| vec![&journal.ledger.ring, &journal.ledger.state],
                when: When::Always,
            },
            Publication {
                stream: Stream::Desk,
                role: "desk",
                journals: Journals::One("ledger.desk"),
                topics: Topics::One,
                capacity: desk::snapshots_capacity,
                rings: |journal| vec![&journal.ledger.ring, &journal.ledger.desk],
                when: When::Accounts,
            },
            Publication {
                stream: Stream::Risk,
                role: "risk",
                journals: Journals::One("ledger.risk"),
                topics: Topics::One,
                capacity: |_| ByteSize::kib(256),
                rings: |journal| vec![&journal.ledger.ring, &journal.ledger.risk],
                when: When::Accounts,
            },
        ],
        subscribes: &[
            subscription(Stream::Instruments, Manner::Loose(ReaderFrom::Start)),
            subscription(Stream::Events, Manner::Loose(ReaderFrom::Start)),
            Subscription {
                when: When::Wanted(MarketData::Depth),
                ..subscription(Stream::Quotes, Manner::GatedInLockStep)
            },
            Subscription { when: When::NoDepth, ..subscription(Stream::Best, Manner::GatedInLockStep) },
            subscription(Stream::Executions, Manner::Gated),
            Subscription { when: When::Accounts, ..subscription(Stream::Drops, Manner::Gated) },
        ],
        stops: StopGroup::Books,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Strategy,
        seat: Seat::Many,
        needs: &[NodeKind::Td, NodeKind::Matching, NodeKind::Ledger],
        publishes: &[Publication {
            stream: Stream::Requests,
            role: "orders",
            journals: Journals::EachWriter("orders"),
            topics: Topics::One,
            capacity: |_| ByteSize::kib(256),
            rings: |journal| vec![&journal.orders],
            when: When::Always,
        }],
        subscribes: STRATEGY,
        stops: StopGroup::Senders,
        restart: RestartPolicy::Never,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Strategies,
    },
    Service {
        kind: NodeKind::Host,
        seat: Seat::Many,
        needs: &[NodeKind::Td, NodeKind::Matching, NodeKind::Ledger],
        publishes: &[],
        subscribes: STRATEGY,
        stops: StopGroup::Senders,
        restart: RestartPolicy::Never,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Strategies,
    },
    Service {
        kind: NodeKind::Gateway,
        seat: Seat::Many,
        needs: &[NodeKind::Td, NodeKind::Matching, NodeKind::Ledger],
        publishes: &[Publication {
            stream: Stream::Requests,
            role: "orders",
            journals: Journals::EachWriter("orders"),
            topics: Topics::One,
            capacity: gateway::own_capacity,
            rings: |journal| vec![&journal.orders],
            when: When::Always,
        }],
        subscribes: &[
            subscription(Stream::Instruments, Manner::Loose(ReaderFrom::Start)),
            Subscription {
                when: When::Wanted(MarketData::Depth),
                ..subscription(Stream::Quotes, Manner::Loose(ReaderFrom::Head))
            },
            Subscription {
                when: When::Wanted(MarketData::Best),
                ..subscription(Stream::Best, Manner::Loose(ReaderFrom::Head))
            },
            // Nobody waits for it: after a loss it asks the ledger.
            subscription(Stream::Reports, Manner::Loose(ReaderFrom::Start)),
            subscription(Stream::State, Manner::Loose(ReaderFrom::Head)),
            subscription(Stream::Events, Manner::Loose(ReaderFrom::Start)),
        ],
        stops: StopGroup::Senders,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Platform,
    },
    Service {
        kind: NodeKind::Observer,
        seat: Seat::Many,
        needs: &[NodeKind::Master],
        publishes: &[],
        subscribes: &[],
        stops: StopGroup::Observers,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Added,
    },
    Service {
        kind: NodeKind::Service,
        seat: Seat::Many,
        needs: &[NodeKind::Master],
        publishes: &[],
        subscribes: &[],
        stops: StopGroup::Senders,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Added,
    },
    Service {
        kind: NodeKind::Recorder,
        seat: Seat::Many,
        needs: &[NodeKind::Master],
        publishes: &[],
        // What the file names.
        subscribes: &[],
        stops: StopGroup::Disk,
        restart: RestartPolicy::OnFailure,
        // Writers wait for its cursors.
        always_returns: false,
        waiting: Waiting::Journals,
        place: Place::Added,
    },
    Service {
        kind: NodeKind::Relay,
        seat: Seat::Many,
        needs: &[NodeKind::Master],
        publishes: &[],
        subscribes: &[],
        stops: StopGroup::Senders,
        restart: RestartPolicy::OnFailure,
        always_returns: false,
        waiting: Waiting::Yielding,
        place: Place::Platform,
    },
];

/// What a strategy reads; its host reads it for all that run there.
const STRATEGY: &[Subscription] = &[
    subscription(Stream::Instruments, Manner::Loose(ReaderFrom::Start)),
    heard(MarketData::Depth, Stream::Quotes),
    heard(MarketData::Best, Stream::Best),
    // Of these two a platform has one.
    heard(MarketData::Flow, Stream::Flow),
    heard(MarketData::Flow, Stream::Market),
    subscription(Stream::Reports, Manner::Gated),
    // What it asks the ledger for comes behind its place there.
    subscription(Stream::State, Manner::Loose(ReaderFrom::Head)),
];

/// What strategies hear of the market, if their group says so.
const fn heard(data: MarketData, stream: Stream) -> Subscription {
    Subscription { when: When::Wanted(data), ..subscription(stream, Manner::AsMarket) }
}

/// Always there, and called what it carries.
const fn subscription(stream: Stream, manner: Manner) -> Subscription {
    Subscription { stream, role: stream.as_str(), manner, when: When::Always }
}
