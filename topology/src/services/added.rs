//! Adding a service: its row is all that it takes.

use std::cell::Cell;

use settings::ByteSize;

use super::stream::{Manner, When};
use super::{
    Journals, NodeKind, Place, Publication, SERVICES, Seat, Service, StopGroup, Stream, Subscription, Topics,
    Waiting, document, stop_group,
};
use crate::config::{OnDeath, ReaderFrom, RestartPolicy};
use crate::spec::{JournalSpec, Program};
use crate::wiring::json;

thread_local! {
    /// The table of this thread's test.
    pub(super) static TABLE: Cell<Option<&'static [Service]>> = const { Cell::new(None) };
}

/// A service of no use, once in every instance: it reads quotes and executions, and writes a journal of its own.
const IDLE: Service = Service {
    // A kind that other tables give to services from outside: a number and a name are all that it brings.
    kind: NodeKind::Service,
    seat: Seat::One { run: |config| &config.ledger.run, section: |config| json(&config.ledger) },
    needs: &[NodeKind::Md],
    publishes: &[Publication {
        stream: Stream::Flow,
        role: "thoughts",
        journals: Journals::One("idle.thoughts"),
        topics: Topics::One,
        capacity: |_| ByteSize::kib(64),
        rings: |_| vec![],
        when: When::Always,
    }],
    subscribes: &[
        Subscription {
            stream: Stream::Quotes,
            role: "quotes",
            manner: Manner::Loose(ReaderFrom::Head),
            when: When::Always,
        },
        Subscription {
            stream: Stream::Executions,
            role: "executions",
            manner: Manner::Gated,
            when: When::Always,
        },
    ],
    stops: StopGroup::Observers,
    restart: RestartPolicy::Never,
    always_returns: true,
    waiting: Waiting::Journals,
    place: Place::Platform,
};

/// The table with that row behind the other services that are there once.
fn with_idle() -> &'static [Service] {
    let others = SERVICES.iter().filter(|service| service.kind != IDLE.kind).copied();
    let (mut rows, many): (Vec<Service>, Vec<Service>) =
        others.partition(|service| matches!(service.seat, Seat::One { .. }));
    rows.push(IDLE);
    rows.extend(many);
    Vec::leak(rows)
}

#[test]
fn a_service_of_no_use_is_a_row_and_nothing_else() {
    let text = "[md]\n[strategies]\ncount = 2\n";
    let before = crate::parse("t.toml", text, &[]).unwrap().topology;
    TABLE.set(Some(with_idle()));
    let platform = crate::parse("t.toml", text, &[]).unwrap();
    let after = &platform.topology;

    // Wiring: a seat behind the other services, a program, a section, and its journals with their readers.
    let idle = after.node("service").expect("a node of that name");
    assert_eq!((idle.kind, usize::from(idle.seat)), (IDLE.kind, before.nodes.len() - 2));
    assert_eq!(idle.program, Program::Builtin("service".to_owned()));
    assert_eq!((idle.needs.as_slice(), idle.section.is_object()), (&["md".to_owned()][..], true));
    let written = after.journal("idle.thoughts").expect("its journal");
    assert_eq!((written.writer.as_str(), written.stream), ("service", Some(Stream::Flow)));
    let reads: Vec<(&str, OnDeath)> =
        idle.reads.iter().map(|read| (read.journal.as_str(), read.on_death)).collect();
    assert_eq!(reads, [("md.quotes", OnDeath::Hold), ("matching.executions", OnDeath::Hold)]);
    // The others are as before, one seat further where they come behind it.
    assert_eq!(
        (after.nodes.len(), after.journals.len()),
        (before.nodes.len() + 1, before.journals.len() + 1)
    );
    assert_eq!(after.node("strategy-1").unwrap().seat, before.node("strategy-1").unwrap().seat + 1);
    let names = |journals: &[JournalSpec]| -> Vec<String> {
        journals.iter().map(|journal| journal.name.clone()).filter(|name| name != "idle.thoughts").collect()
    };
    assert_eq!(names(&after.journals), names(&before.journals));
    // What looks at a platform finds journals by what they carry, and nodes by the number of their kind.
    assert_eq!(Stream::of("idle.thoughts"), Some(Stream::Flow));
    assert_eq!(NodeKind::from_word(idle.kind.to_word()), Some(idle.kind));

    assert!(stop_group(NodeKind::Matching, false) < stop_group(idle.kind, false));
    let row = document::row(&IDLE);
    assert!(
        row.starts_with("| service | md | `idle.thoughts`: flow | quotes (loose, from the head), "),
        "{row}"
    );
}
