//! Journals: their rings, who reads them from where, and whose cursors are held.

use super::{MINIMAL, demo, on_death, parse};
use settings::Origin;
use topology::config::{OnDeath, ReaderKind};
use topology::{Pages, Stream};

#[test]
fn the_standard_wiring() {
    let topology = demo(&[]).topology;
    let mut lines = String::new();
    for journal in &topology.journals {
        let readers = journal.readers.iter().map(|reader| {
            let kind = if reader.kind == ReaderKind::Gated { 'g' } else { 'l' };
            format!("{} {kind} {}", reader.node, reader.from)
        });
        let readers: Vec<String> = readers.collect();
        let strategy = |name: &str| name.contains("takers-") && !name.contains("takers-1");
        if !strategy(&journal.name) {
            let readers: Vec<_> =
                readers.into_iter().filter(|name| !strategy(name) && !name.contains("makers-")).collect();
            let (id, name) = (journal.id, &journal.name);
            lines += &format!("{id} {name} {}: {}\n", journal.topics, readers.join(", "));
        }
    }
    let lines: Vec<&str> = lines.lines().filter(|line| !line.contains("makers-")).collect();
    assert_eq!(
        lines.join("\n"),
        "1 master.events 1: td l start, ledger l start\n\
         2 md.instruments 1: td l start, matching l start, ledger l start, takers-1 l start\n\
         3 md.quotes 9: matching g cursor, ledger l start, takers-1 l head\n\
         4 td.orders 1: matching g cursor\n\
         5 td.samples 1: \n\
         6 matching.executions 1: td g cursor, ledger g cursor\n\
         7 matching.state 1: \n\
         8 ledger.state 14: takers-1 l head\n\
         9 orders.takers-1 1: td g cursor\n\
         10 reports.takers-1 1: takers-1 g cursor"
    );
}

#[test]
fn a_ring_for_states_that_is_too_small_is_warned_of() {
    let said = |sets: &[&str]| parse(MINIMAL, sets).warnings.to_string();
    let small = said(&["strategies.count=80", "journal.ledger.capacity=64KiB"]);
    assert!(small.contains("`ledger.state` is too small") && small.contains("64MiB"), "{small}");
    assert!(small.contains("the 80000 orders that may work"), "{small}");
    let everywhere = said(&["strategies.count=80", "journal.capacity=64KiB"]);
    assert!(everywhere.contains("`ledger.state` is too small"), "{everywhere}");
    let few = ["strategies.count=2", "td.max_working_orders=10", "journal.ledger.capacity=64KiB"];
    for sets in [&["strategies.count=80", "md.count=1"][..], &few] {
        let fine = said(sets);
        assert!(!fine.contains("`ledger.state` is too small"), "{fine}");
    }
}

#[test]
fn snapshots_have_room_for_the_orders_that_may_work() {
    let mib = |sets: &[&str], journal: &str| {
        let text = "[md]\n[[accounts]]\nnumber = 7\n[strategies]\n";
        parse(text, sets).topology.journal(journal).unwrap().capacity_bytes >> 20
    };
    let one = |orders: &str| vec!["strategies.count=1".to_owned(), format!("td.max_working_orders={orders}")];
    for (orders, state, desk) in [("10", 1, 16), ("10000", 8, 64), ("32768", 16, 128), ("1000000", 16, 128)] {
        let sets = one(orders);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        assert_eq!((mib(&sets, "ledger.state"), mib(&sets, "ledger.desk")), (state, desk), "{orders}");
    }
    let said =
        |sets: &[&str]| parse("[md]\n[[accounts]]\nnumber = 7\n[strategies]\n", sets).warnings.to_string();
    assert!(said(&["journal.ledger.desk.capacity=4MiB"]).contains("`ledger.desk` is too small"));
    assert!(!said(&[]).contains("too small"));
}

#[test]
fn the_nearest_word_on_a_ring_counts() {
    let text = "[md]\n[strategies]\ncount = 1\n[journal]\ncapacity = '2MiB'\n[journal.md]\ncapacity = '8MiB'\n\
                [journal.md.quotes]\nhuge_pages = 'require'\n";
    let platform = parse(text, &[]);
    let ring = |name: &str| {
        let journal = platform.topology.journal(name).unwrap();
        (journal.capacity_bytes >> 20, journal.pages)
    };
    let huge = Pages::Huge { size: 2 << 20, require: true };
    assert_eq!(ring("md.quotes"), (8, huge));
    assert_eq!(ring("md.instruments"), (8, Pages::Small));
    assert_eq!(ring("reports.strategy-1"), (2, Pages::Small));
    assert!(matches!(platform.capacity_origin("md.quotes"), Origin::File { line: 7, .. }));
    let bill = platform.topology.memory_bill();
    assert_eq!((bill.huge_bytes, bill.small_bytes), (8 << 20, (8 + 8 * 2) << 20));
    let default = parse(MINIMAL, &["journal.huge_pages=prefer", "strategies.count=1"]).topology;
    assert_eq!(default.journal("master.events").unwrap().capacity_bytes, 2 << 20, "one huge page at least");
}

#[test]
fn cursors_are_held_for_who_comes_back() {
    let platform = parse(MINIMAL, &["ledger.restart=never"]);
    assert_eq!(on_death(&platform, "reports.strategy-1", "strategy-1"), OnDeath::Drop);
    assert_eq!(on_death(&platform, "matching.executions", "td"), OnDeath::Hold);
    assert_eq!(on_death(&platform, "matching.executions", "ledger"), OnDeath::Drop);
    let platform = parse(MINIMAL, &["strategies.restart=on-failure"]);
    assert_eq!(on_death(&platform, "reports.strategy-1", "strategy-1"), OnDeath::Hold);
}

#[test]
fn streams_know_their_journals() {
    let topology = demo(&["strategies.group.takers.host.name=first"]).topology;
    for journal in &topology.journals {
        assert_eq!(Stream::of(&journal.name), journal.stream, "{}", journal.name);
        assert!(journal.stream.is_some(), "{}", journal.name);
    }
    assert_eq!((Stream::of("recorder.index"), Stream::of("orders")), (None, None));
    assert_eq!(Stream::State.journal(), Some("ledger.state"));
    assert_eq!(Stream::Reports.journal(), None);
    let quotes: Vec<&str> = topology.carrying(Stream::Quotes).map(|journal| journal.name.as_str()).collect();
    assert_eq!(quotes, ["md.quotes"]);
}

#[test]
fn gated_circles_are_known() {
    let circles = parse(MINIMAL, &["strategies.count=1"]).topology.gated_circles();
    assert_eq!(circles, [["matching", "strategy-1", "td"]]);
}
