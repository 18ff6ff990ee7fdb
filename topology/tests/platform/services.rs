//! Programs from outside.

use super::parse;
use topology::NodeKind;
use topology::config::{ReaderFrom, ReaderKind};

#[test]
fn further_nodes_hang_off_the_side() {
    let text = "[md]\n[strategies]\ncount = 1\n[[service]]\nname = 'recorder'\nprogram = '/bin/true'\n\
                reads = [{ journal = 'md.quotes' }, { journal = 'orders.strategy-1', kind = 'gated' }]\n\
                writes = [{ journal = 'recorder.index', capacity = '64KiB', topics = 3 }]\n";
    let platform = parse(text, &["journal.capacity=1MiB"]);
    let node = platform.topology.node("recorder").unwrap();
    assert_eq!((node.kind, node.seat), (NodeKind::Service, 6));
    assert_eq!(node.needs, ["md", "strategy-1"]);
    assert_eq!((node.reads[0].role.as_str(), node.reads[0].from), ("quotes", ReaderFrom::Head));
    assert_eq!(node.reads[1].from, ReaderFrom::Cursor);
    let index = platform.topology.journal("recorder.index").unwrap();
    assert_eq!((index.capacity_bytes, index.topics, index.writer.as_str()), (65_536, 3, "recorder"));
    platform.check_files().unwrap();
}

#[test]
fn a_service_may_read_whole_families_and_all() {
    let reads = |reads: &str| -> Vec<(String, String, ReaderKind)> {
        let text = format!(
            "[md]\n[strategies]\ncount = 2\n[[service]]\nname = 'x'\nprogram = '/bin/true'\nwrites = ['x.out']\nreads = {reads}\n"
        );
        let topology = parse(&text, &[]).topology;
        let node = topology.node("x").unwrap();
        assert_eq!(
            node.reads.len(),
            topology
                .journals
                .iter()
                .filter(|journal| { journal.readers.iter().any(|reader| reader.node == "x") })
                .count()
        );
        node.reads.iter().map(|read| (read.journal.clone(), read.role.clone(), read.kind)).collect()
    };
    let loose = |journal: &str, role: &str| (journal.to_owned(), role.to_owned(), ReaderKind::Loose);
    assert_eq!(
        reads("['orders.*', 'md.quotes']"),
        [
            loose("orders.strategy-1", "orders"),
            loose("orders.strategy-2", "orders"),
            loose("md.quotes", "quotes")
        ]
    );
    let all = reads("['all']");
    let demo = parse("[md]\n[strategies]\ncount = 2\n", &[]).topology;
    assert_eq!(all.len(), demo.journals.len(), "its own is not among them: {all:?}");
    // What an entry names in full, no pattern covers, and no journal is read twice.
    let mixed = reads("['orders.*', 'all', { journal = 'td.orders', kind = 'gated' }]");
    assert_eq!(mixed.len(), all.len());
    let gated: Vec<_> = mixed.iter().filter(|(.., kind)| *kind == ReaderKind::Gated).collect();
    assert_eq!(gated, [&("td.orders".to_owned(), "orders".to_owned(), ReaderKind::Gated)]);
}

#[test]
fn a_service_that_only_reads_is_an_observer_and_needs_nobody_but_master() {
    let text = |more: &str| {
        format!("[md]\n[strategies]\ncount = 1\n[[service]]\nname = 'x'\nprogram = '/bin/true'\n{more}\n")
    };
    let node = |more: &str| parse(&text(more), &[]).topology.node("x").unwrap().clone();
    assert_eq!(node("reads = ['all']").kind, NodeKind::Observer);
    assert_eq!(node("reads = ['all']").needs, ["master"]);
    assert_eq!(node("reads = ['all']\nstop = 'first'").kind, NodeKind::Service);
    assert_eq!(node("writes = ['x.out']").kind, NodeKind::Service);
    assert_eq!(node("writes = ['x.out']\nstop = 'last'").kind, NodeKind::Observer);
    // Families without a member now are fine, others are mistakes.
    let none = parse(&text("reads = ['orders.*']"), &["strategies.count=0"]).topology;
    assert!(none.node("x").unwrap().reads.is_empty());
    let wrong = topology::parse("t.toml", &text("reads = ['oders.*']"), &[]).unwrap_err().to_string();
    assert!(wrong.contains("`x` reads `oders.*`, which nobody writes"), "{wrong}");
}
