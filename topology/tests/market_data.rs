//! What groups hear of the market, and what md publishes for it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use topology::config::ReaderKind;
use topology::{Stream, Topology};

const RECORDED: &str = "[md]\nsource = 'lobster'\nfiles = 'F'\nreaders = 'gated'\n";
const EXCHANGE: &str = "[md]\nsource = 'exchange'\n";
const SIM: &str = "[md]\n";

fn parse(md: &str, strategies: &str) -> Result<Topology, String> {
    let text = format!("{md}{strategies}");
    topology::parse("t.toml", &text, &[]).map(|platform| platform.topology).map_err(|wrong| wrong.to_string())
}

fn groups(data: &[&str]) -> String {
    let group = |(number, data): (usize, &&str)| {
        let program = if *data == "flow" { "/bin/true" } else { "builtin:taker" };
        format!(
            "[[strategies.group]]\nname = 'g{number}'\nprogram = '{program}'\ncount = 1\ndata = '{data}'\n"
        )
    };
    data.iter().enumerate().map(group).collect()
}

/// The journals of market data, and who of the given node reads which.
fn published(topology: &Topology) -> Vec<&str> {
    let market = |journal: &&topology::JournalSpec| journal.stream.is_some_and(Stream::is_answered);
    topology.journals.iter().filter(market).map(|journal| journal.name.as_str()).collect()
}

fn read<'a>(topology: &'a Topology, node: &str) -> Vec<&'a str> {
    let node = topology.node(node).unwrap();
    let market = |journal: &&str| Stream::of(journal).is_some_and(Stream::is_answered);
    node.reads.iter().map(|read| read.journal.as_str()).filter(market).collect()
}

#[test]
fn md_publishes_what_somebody_wants() {
    let of = |md, data: &[&str]| {
        let topology = parse(md, &groups(data)).unwrap();
        published(&topology).join(" ")
    };
    // As it was before there was anything but depth.
    assert_eq!(of(SIM, &["depth"]), "md.quotes");
    assert_eq!(of(RECORDED, &["depth"]), "md.quotes md.flow");
    assert_eq!(of(EXCHANGE, &["depth"]), "md.quotes matching.market");
    // Matching fills from quotes in a simulated market.
    assert_eq!(of(SIM, &["best"]), "md.quotes md.best");
    assert_eq!(of(RECORDED, &["best"]), "md.best md.flow");
    assert_eq!(of(EXCHANGE, &["best"]), "md.best matching.market");
    assert_eq!(of(RECORDED, &["best", "depth"]), "md.quotes md.best md.flow");
    // For the ledger.
    assert_eq!(of(RECORDED, &["flow"]), "md.best md.flow");
    assert_eq!(of(EXCHANGE, &["flow"]), "md.best matching.market");
    let quotes = format!("{}\nfill = 'quotes'\n", "[matching]");
    let topology = parse(&format!("{RECORDED}{quotes}"), &groups(&["depth"])).unwrap();
    assert_eq!(published(&topology).join(" "), "md.quotes", "a flow that matching does not want");
    // Nobody is there: whoever comes from outside finds what there always was.
    assert_eq!(
        published(&parse(RECORDED, "[strategies]\ncount = 0\n").unwrap()).join(" "),
        "md.quotes md.flow"
    );
}

#[test]
fn who_names_a_journal_wants_it() {
    let service = "[[service]]\nname = 'x'\nprogram = '/bin/true'\nreads = ['md.quotes']\n";
    let text = groups(&["best"]) + service;
    assert_eq!(published(&parse(RECORDED, &text).unwrap()).join(" "), "md.quotes md.best md.flow");
    let all = groups(&["best"]) + &service.replace("md.quotes", "all");
    assert_eq!(
        published(&parse(RECORDED, &all).unwrap()).join(" "),
        "md.best md.flow",
        "a pattern takes what there is"
    );
}

#[test]
fn each_node_reads_what_its_strategies_hear() {
    let topology = parse(RECORDED, &groups(&["best", "depth", "flow"])).unwrap();
    assert_eq!(read(&topology, "g0-1"), ["md.best"]);
    assert_eq!(read(&topology, "g1-1"), ["md.quotes"]);
    assert_eq!(read(&topology, "g2-1"), ["md.flow"]);
    assert_eq!(read(&topology, "ledger"), ["md.quotes"]);
    let best = topology.journal("md.best").unwrap();
    assert!(best.readers.iter().all(|reader| reader.kind == ReaderKind::Gated), "as md.readers says");
    assert_eq!(read(&parse(RECORDED, &groups(&["best"])).unwrap(), "ledger"), ["md.best"]);
    assert_eq!(read(&parse(EXCHANGE, &groups(&["flow"])).unwrap(), "g0-1"), ["matching.market"]);
}

#[test]
fn a_host_reads_once_what_any_of_its_groups_hears() {
    let hosted = |data: &[&str]| groups(data).replace("count = 1", "count = 2\nhost = { name = 'h' }");
    let topology = parse(RECORDED, &hosted(&["best", "depth"])).unwrap();
    assert_eq!(read(&topology, "h"), ["md.quotes", "md.best"]);
    assert!(read(&topology, "g0-1").is_empty(), "the host reads for it");
    assert_eq!(read(&parse(RECORDED, &hosted(&["best", "best"])).unwrap(), "h"), ["md.best"]);
}

#[test]
fn a_flow_that_is_not_there_or_that_nobody_listens_to_is_refused() {
    let wrong = parse(SIM, &groups(&["flow"])).unwrap_err();
    for part in ["`g0` hears the flow of orders, and md.source is \"sim\"", "data = \"best\" or \"depth\""] {
        assert!(wrong.contains(part), "{wrong}");
    }
    let quotes = format!("{RECORDED}{}\nfill = 'quotes'\n", "[matching]");
    let wrong = parse(&quotes, &groups(&["flow"])).unwrap_err();
    for part in
        ["`g0` reads the flow of orders", "quotes older than what it answers", "matching.fill = \"book\""]
    {
        assert!(wrong.contains(part), "{wrong}");
    }
    let taker = groups(&["best"]).replace("'best'", "'flow'");
    let wrong = parse(RECORDED, &taker).unwrap_err();
    assert!(wrong.contains("`taker` answers best prices and quotes, and would hear none"), "{wrong}");
    let wrong = parse(SIM, &groups(&["bets"])).unwrap_err();
    assert!(wrong.contains("\"best\""), "the nearest word: {wrong}");
}

#[test]
fn the_ring_of_the_best_has_a_section_of_its_own() {
    let text = format!("[journal.md.best]\ncapacity = '2MiB'\n{}", groups(&["best"]));
    assert_eq!(parse(RECORDED, &text).unwrap().journal("md.best").unwrap().capacity_bytes, 2 << 20);
}
