//! What comes of files that are right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use settings::Origin;
use topology::config::{Fill, Mode, OnDeath, ReaderFrom, ReaderKind, RestartPolicy, Speed};
use topology::{
    Fault, HostSection, NodeKind, Pages, Platform, Program, StrategySection, Stream, TdSection, Topology,
};

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs")
}

fn parse(text: &str, sets: &[&str]) -> Platform {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    topology::parse("test.toml", text, &sets).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn demo(sets: &[&str]) -> Platform {
    parse(topology::DEMO, sets)
}

const MINIMAL: &str = "[md]\n[strategies]\n";

#[test]
fn as_many_strategies_with_a_process_each_fit_as_there_are_seats() {
    let count = topology::MAX_SEATS - 5;
    let full = parse(MINIMAL, &[&format!("strategies.count={count}")]);
    assert_eq!(full.topology.check(), Vec::<Fault>::new());
    let state = full.topology.journal("ledger.state").expect("the ledger writes it");
    assert_eq!(state.capacity_bytes, 4 << 20, "it grows with those who are told");
    let sets = [format!("strategies.count={}", count + 1)];
    let wrong = topology::parse("test.toml", MINIMAL, &sets).unwrap_err().to_string();
    assert!(wrong.contains("1025 nodes are 1 more than an instance has seats (1024)"), "{wrong}");
}

#[test]
fn a_ring_for_states_that_is_too_small_is_warned_of() {
    let said = |sets: &[&str]| parse(MINIMAL, sets).warnings.to_string();
    let small = said(&["strategies.count=80", "journal.ledger.capacity=64KiB"]);
    assert!(small.contains("`ledger.state` is too small") && small.contains("1MiB"), "{small}");
    let everywhere = said(&["strategies.count=80", "journal.capacity=64KiB"]);
    assert!(everywhere.contains("`ledger.state` is too small"), "{everywhere}");
    for sets in
        [["strategies.count=80", "md.count=1"], ["strategies.count=2", "journal.ledger.capacity=64KiB"]]
    {
        let fine = said(&sets);
        assert!(!fine.contains("`ledger.state` is too small"), "{fine}");
    }
}

#[test]
fn who_need_not_be_woken_naps_where_it_parks_and_not_in_lock_step() {
    let mode = |sets: &[&str], name: &str| demo(sets).topology.node(name).expect("it is there").mode;
    let naps = |micros| Mode::Napping { within: Duration::from_micros(micros) };
    let within = "ledger.wake_within=2ms";
    assert_eq!(mode(&[], "ledger"), Mode::Parked);
    assert_eq!(mode(&[within], "ledger"), naps(2_000));
    assert_eq!(mode(&[within, "ledger.mode=fast"], "ledger"), Mode::Fast);
    assert_eq!(
        mode(&[within, "platform.deterministic=true", "md.generator=timed", "md.readers=gated"], "ledger"),
        Mode::Parked
    );
    assert_eq!(mode(&[within], "matching"), Mode::Parked);
    let text = format!("{MINIMAL}[[service]]\nname = \"tape\"\nprogram = \"/bin/true\"\nreads = [\"all\"]\n");
    let service = |text: &str| parse(text, &[]).topology.node("tape").expect("it is there").mode;
    assert_eq!(service(&text), Mode::Parked);
    assert_eq!(service(&format!("{text}wake_within = \"1ms\"\n")), naps(1_000));
    // What master hands to a node is what the file said.
    let json = serde_json::to_string(&naps(500)).expect("JSON");
    assert_eq!(serde_json::from_str::<Mode>(&json).expect("a mode"), naps(500));
}

#[test]
fn a_group_is_left_alone_with_its_reports_where_it_sleeps_and_not_in_lock_step() {
    let within = |text: &str, sets: &[&str], name: &str| {
        let topology = parse(text, sets).topology;
        let node = topology.node(name).expect("it is there");
        let others = node.reads.iter().filter(|read| read.role != "reports");
        assert!(
            others.fold(Duration::ZERO, |sum, read| sum + read.wake_within).is_zero(),
            "{:?}",
            node.reads
        );
        node.reads.iter().find(|read| read.role == "reports").expect("its reports").wake_within.as_micros()
    };
    let own = "[md]\n[strategies]\nwake_within = \"500us\"\n";
    assert_eq!(within(MINIMAL, &[], "strategy-2"), 0);
    assert_eq!(within(own, &[], "strategy-2"), 500);
    assert_eq!(within(own, &["strategies.mode=adaptive"], "strategy-2"), 500);
    assert_eq!(within(own, &["strategies.mode=fast"], "strategy-2"), 0);
    let lock_step = ["platform.deterministic=true", "md.generator=timed", "md.readers=gated"];
    assert_eq!(within(own, &lock_step, "strategy-2"), 0);
    let two = "[md]\n[[strategies.group]]\nname = \"a\"\nwake_within = \"1ms\"\n[[strategies.group]]\nname = \"b\"\n";
    assert_eq!((within(two, &[], "a-1"), within(two, &[], "b-1")), (1_000, 0));
    let hosted = format!("{own}host = {{ name = \"h\", mode = \"parked\" }}\n");
    assert_eq!((within(&hosted, &[], "h"), within(&hosted, &["strategies.host.mode=fast"], "h")), (500, 0));
}

#[test]
fn every_file_in_configs_is_right() {
    let mut checked = 0;
    for entry in std::fs::read_dir(configs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        // A recorded day is named on the command line.
        let replay = path.ends_with("replay.toml");
        let sets = if replay { vec!["md.files=DAY".to_owned()] } else { Vec::new() };
        let platform = topology::load(&path, &sets).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(platform.warnings.diagnostics.is_empty(), "{}", platform.warnings);
        assert_eq!(platform.topology.check(), Vec::<Fault>::new());
        if replay {
            let wrong = topology::load(&path, &[]).unwrap_err().to_string();
            assert!(wrong.contains("md.files names no recorded day"), "{wrong}");
        } else if platform.config.service.is_empty() {
            // Programs of services have to be built first.
            platform.check_files().unwrap();
        }
        checked += 1;
    }
    println!("{checked} configs");
    assert!(checked >= 3);
}

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
fn nodes_and_their_parts() {
    let platform = demo(&["strategies.group.makers.params.edge=2", "td.mode={adaptive={spin='50us'}}"]);
    let topology = &platform.topology;
    let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names[..6], ["master", "md", "td", "matching", "ledger", "takers-1"]);
    assert_eq!(names[11..], ["makers-1", "makers-2"]);
    assert!(topology.nodes.iter().enumerate().all(|(seat, node)| usize::from(node.seat) == seat));
    assert!(topology.journals.iter().zip(1..).all(|(journal, id)| journal.id == id));

    let started: Vec<&str> =
        topology.start_sequence().iter().map(|node| node.name.as_str()).collect::<Vec<_>>();
    for node in &topology.nodes {
        let place = |name: &str| started.iter().position(|other| *other == name).unwrap();
        assert!(node.needs.iter().all(|need| place(need) < place(&node.name)), "{started:?}");
    }

    let part = topology.part("makers-2").unwrap();
    assert_eq!(part.node.parameters["edge"], 2);
    assert_eq!(part.node.program, Program::Builtin("market-maker".to_owned()));
    let section: StrategySection = serde_json::from_value(part.node.section).unwrap();
    assert_eq!((section.group.as_str(), section.index, section.index_in_group), ("makers", 7, 1));
    let journals: Vec<&str> = part.journals.iter().map(|journal| journal.name.as_str()).collect();
    let wanted = ["md.instruments", "md.quotes", "ledger.state", "orders.makers-2", "reports.makers-2"];
    assert_eq!(journals, wanted);

    let td = topology.part("td").unwrap();
    assert!(matches!(td.node.mode, Mode::Adaptive { spin } if spin.as_micros() == 50));
    assert_eq!(td.node.reads.iter().filter(|read| read.role == "orders").count(), 8);
    assert_eq!(td.node.writes.iter().filter(|write| write.role == "reports").count(), 8);
    let section: TdSection = serde_json::from_value(td.node.section).unwrap();
    for account in &section.strategies {
        assert_eq!(topology.node(&account.name).unwrap().seat, account.seat);
        assert_eq!(account.max_working_orders, 100);
    }
    assert!(topology.part("nobody").is_none());
}

#[test]
fn hosted_strategies_keep_their_seats_and_their_orders() {
    let alone = demo(&[]).topology;
    let hosted = demo(&["strategies.host={cpus='3'}", "strategies.mode=fast"]).topology;
    let host = hosted.node("host").unwrap();
    assert_eq!((host.kind, host.mode, host.seat), (NodeKind::Host, Mode::Fast, 13));
    assert_eq!(host.program, Program::Builtin("host".to_owned()));
    let section: HostSection = serde_json::from_value(host.section.clone()).unwrap();
    for (own, strategy) in alone.nodes[5..].iter().zip(&section.strategies) {
        assert_eq!((&own.name, own.seat), (&strategy.name, strategy.seat));
        let node = hosted.node(&own.name).unwrap();
        assert_eq!((node.seat, node.host.as_deref(), &node.program), (own.seat, Some("host"), &own.program));
        assert!(node.reads.is_empty(), "the host reads for all");
        let writes: Vec<&str> = node.writes.iter().map(|write| write.journal.as_str()).collect();
        assert_eq!(writes, [format!("orders.{}", own.name)]);
    }
    let reads: Vec<&str> = host.reads.iter().map(|read| read.journal.as_str()).collect();
    assert_eq!(reads, ["md.instruments", "md.quotes", "reports.host", "ledger.state"]);
    // One journal of reports, with a topic for each seat.
    assert_eq!(hosted.journal("reports.host").unwrap().topics, 13);
    assert!(hosted.journal("reports.takers-1").is_none());
    let td: TdSection = serde_json::from_value(hosted.node("td").unwrap().section.clone()).unwrap();
    for account in &td.strategies {
        assert_eq!((account.reports.as_str(), account.reports_topic), ("reports.host", account.seat.into()));
    }
    assert_eq!(hosted.pin.rule_for("host").unwrap().cpus.unwrap().0, [3]);
    assert_eq!(hosted.check(), Vec::<Fault>::new());
    let json = serde_json::to_string(&hosted).unwrap();
    assert_eq!(serde_json::from_str::<Topology>(&json).unwrap(), hosted);
}

#[test]
fn groups_may_have_hosts_of_their_own_or_none() {
    let sets = ["strategies.group.takers.host.name=first", "strategies.group.takers.restart=on-failure"];
    let topology = demo(&sets).topology;
    assert_eq!(topology.node("takers-6").unwrap().host.as_deref(), Some("first"));
    assert_eq!(topology.node("makers-1").unwrap().host, None);
    // What one of its strategies may come back to is held.
    assert_eq!(on_death(&demo(&sets), "reports.first", "first"), OnDeath::Hold);
    assert_eq!(on_death(&demo(&sets[..1]), "reports.first", "first"), OnDeath::Drop);
    let empty = demo(&["strategies.host.name=first", "strategies.count=0"]).topology;
    assert!(empty.node("first").is_none(), "a host without strategies is none");
    let host = pinning::Host::read("/".as_ref()).unwrap();
    let first = host.allowed.first().unwrap();
    let placed = demo(&[&format!("strategies.host.cpus='{first}'"), "strategies.mode=fast"]);
    let placements = placed.topology.place(&host).unwrap().unwrap().placements;
    assert_eq!(placements.len(), placed.topology.nodes.len());
    assert_eq!((placements[5].node.as_str(), placements[5].pinned_cpu()), ("takers-1", Some(first)));
    assert_eq!((placements[13].node.as_str(), placements[13].pinned_cpu()), ("host", Some(first)));
}

#[test]
fn rows_of_an_exchange_are_for_instruments_that_md_lists() {
    let wrong = |row: &str| {
        let text = format!("{MINIMAL}\n{row}");
        let sets = ["md.source=exchange".to_owned(), "md.instruments=3".to_owned()];
        topology::parse("test.toml", &text, &sets).map(|_| ()).map_err(|error| error.to_string())
    };
    let tick = |names: &str| wrong(&format!("[[matching.ticks]]\ntick = \"0.01\"\ninstruments = {names}\n"));
    assert_eq!(tick("[\"SIM003\"]"), Ok(()));
    for name in ["SIM004", "SIM3", "SIM0003", "600519.SH"] {
        let said = tick(&format!("[\"{name}\"]")).unwrap_err();
        assert!(
            said.contains(&format!("md lists no instrument `{name}`")) && said.contains("SIM003"),
            "{said}"
        );
    }
    assert!(tick("[]").unwrap_err().contains("this row names no instrument"));
    let phase = "[[matching.phases]]\nafter = \"0s\"\nphase = \"continuous\"\n";
    assert_eq!(wrong(phase), Ok(()));
    assert!(wrong(&format!("{phase}instruments = []\n")).is_err());
}

#[test]
fn md_of_an_exchange_is_started_again_and_no_other_unless_the_file_says_so() {
    let policy =
        |sets: &[&str]| parse(MINIMAL, sets).topology.node("md").expect("it is there").restart.policy;
    assert_eq!(policy(&[]), RestartPolicy::Never);
    assert_eq!(policy(&["md.source=exchange"]), RestartPolicy::OnFailure);
    assert_eq!(policy(&["md.source=exchange", "md.restart=never"]), RestartPolicy::Never);
}

#[test]
fn the_books_of_every_market_are_written_down() {
    let capacity = |sets: &[&str]| {
        parse(MINIMAL, sets).topology.journal("matching.state").expect("always").capacity_bytes
    };
    assert!(capacity(&["td.max_working_orders=1"]) >= 1 << 20);
    assert!(capacity(&["td.max_working_orders=1", "md.instruments=2000"]) >= 4 << 20);
}

#[test]
fn an_exchange_of_strategies_brings_its_own_market() {
    let platform = parse(MINIMAL, &["md.source=exchange", "md.instruments=3"]);
    assert_eq!(platform.config.matching.fill, Fill::Exchange);
    let topology = platform.topology;
    let market = topology.journal("matching.market").unwrap();
    assert_eq!((market.readers[0].node.as_str(), market.readers[0].kind), ("md", ReaderKind::Gated));
    assert_eq!(market.topics, 4);
    let state = topology.journal("matching.state").unwrap();
    assert!(state.readers.is_empty(), "its successor reads it");
    let of = |working: u32| {
        let sets = ["md.source=exchange".to_owned(), format!("td.max_working_orders={working}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        parse(MINIMAL, &sets).topology.journal("matching.state").unwrap().capacity_bytes
    };
    assert_eq!((of(1), of(0)), (1 << 20, 64 << 20), "without a limit, room for 100,000 orders");
    let text = format!("{MINIMAL}\n[[recorder]]\npath = '/tmp/none'\n");
    let recorded = parse(&text, &["md.source=exchange"]).topology;
    assert_eq!(recorded.journal("matching.state").unwrap().readers.len(), 1, "books come back from disk too");
    assert_eq!(recorded.journal("matching.market").unwrap().readers.len(), 2);
    let matching = topology.node("matching").unwrap();
    assert!(matching.reads.iter().all(|read| read.role != "quotes" && read.role != "flow"));
    // Nowhere else.
    assert!(demo(&[]).topology.journal("matching.market").is_none());
}

#[test]
fn rules_beside_a_recorded_market_that_mean_nothing_are_warned_of() {
    let rules =
        ["matching.displayed_first=true", "matching.call_auctions=uncross", "matching.self_trade_owner=firm"];
    let warnings = |market: &[&str]| {
        let all: Vec<&str> = market.iter().chain(&rules).copied().collect();
        parse(MINIMAL, &all).warnings.diagnostics.len() - parse(MINIMAL, market).warnings.diagnostics.len()
    };
    assert_eq!(warnings(&["md.source=lobster", "md.files=/days/1", "md.readers=gated"]), 0);
    assert_eq!(warnings(&["md.source=sim"]), 1, "quotes show nothing hidden");
    assert_eq!(warnings(&["md.source=exchange"]), 3);
}

#[test]
fn recorded_days_bring_their_order_flow() {
    let platform = parse(MINIMAL, &["md.source=sse", "md.files=/days/1", "md.readers=gated"]);
    assert_eq!(platform.config.matching.fill, Fill::Book);
    let topology = platform.topology;
    assert_eq!(topology.journal("md.flow").unwrap().readers[0].node, "matching");
    assert_eq!(topology.journal("md.flow").unwrap().topics, 4_096);
    let matching = topology.node("matching").unwrap();
    assert!(matching.reads.iter().all(|read| read.role != "quotes"));
    let quotes = topology.journal("md.quotes").unwrap();
    let strategy = quotes.readers.iter().find(|reader| reader.node == "strategy-1").unwrap();
    assert_eq!((strategy.kind, strategy.from), (ReaderKind::Gated, ReaderFrom::Cursor));
}

#[test]
fn in_lock_step_every_reader_of_quotes_is_gated() {
    let platform = topology::load(&configs().join("deterministic.toml"), &[]).unwrap();
    let quotes = platform.topology.journal("md.quotes").unwrap();
    assert!(platform.topology.deterministic);
    assert!(quotes.readers.iter().all(|reader| reader.kind == ReaderKind::Gated));
}

#[test]
fn topologies_survive_json() {
    let pinned = "[pin.nodes]\nmd = { cpu = 1 }\n\"takers-*\" = { cpus = \"2-3\", numa = 0 }\n";
    let text = format!("{}\n{pinned}", topology::DEMO);
    let topology = parse(&text, &["journal.huge_pages=prefer"]).topology;
    let json = serde_json::to_string(&topology).unwrap();
    assert_eq!(serde_json::from_str::<Topology>(&json).unwrap(), topology);
    let part = topology.part("takers-3").unwrap();
    let json = serde_json::to_string(&part).unwrap();
    assert_eq!(serde_json::from_str::<topology::NodePart>(&json).unwrap(), part);
    // The pin plan is the one that the pinning crate reads.
    let plan: pinning::Plan = serde_json::from_value(serde_json::to_value(&topology.pin).unwrap()).unwrap();
    assert_eq!(plan.nodes["md"].cpu, Some(1));
}

#[test]
fn the_command_line_goes_before_the_file() {
    let count = |platform: &Platform| platform.topology.nodes.iter().filter(|n| n.group.is_some()).count();
    assert_eq!(count(&demo(&["strategies.group.takers.count=1"])), 3);
    assert_eq!(count(&demo(&["strategies.group.1.count=1"])), 7);
    assert_eq!(count(&demo(&["strategies.count=1"])), 2, "for all groups");
    assert_eq!(count(&parse(MINIMAL, &["strategies.count=3", "strategies.count=4"])), 4, "the last one");

    let day = ["md.source=sse", "md.files.orders=o.csv", "md.files.trades=2023", "md.readers=gated"];
    let platform = parse(MINIMAL, &day);
    let files = platform.config.md.files.as_ref().unwrap().paths();
    assert_eq!(files, [Path::new("o.csv"), Path::new("2023")], "a number is a file name here");

    let text = "[md]\nsource = 'sse'\nfiles = 'days/1'\nreaders = 'gated'\n[strategies]\n";
    let platform = topology::parse("configs/x.toml", text, &[]).unwrap();
    let files = platform.config.md.files.unwrap();
    assert_eq!(files.paths(), [Path::new("configs/days/1")], "a path in a file starts at its folder");

    for (set, speed) in [("max", Speed::MAX), ("\"max\"", Speed::MAX), ("50", Speed::Times(50.0))] {
        let speed_of = |platform: Platform| platform.config.md.speed;
        let set = format!("md.speed={set}");
        assert_eq!(speed_of(parse(text, &[&set])), speed);
    }
    let platform = parse(text, &["md.from=09:30:00", "md.to = \"10:00\"", "md.symbols=['A', 'B']"]);
    assert_eq!(platform.config.md.from.unwrap().to_string(), "09:30:00");
    assert_eq!(platform.config.md.to.unwrap().to_string(), "10:00:00");
    assert_eq!(platform.config.md.symbols, ["A", "B"]);
}

#[test]
fn every_setting_says_where_it_comes_from() {
    let platform = parse("[md]\ncount = 7\n[strategies]\n", &["md.interval=1ms"]);
    let settings = platform.settings();
    let setting = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap();
    let file = Origin::File { file: "test.toml".to_owned(), line: 2, column: 1 };
    assert_eq!((setting("md.count").value_text(), &setting("md.count").origin), ("7".to_owned(), &file));
    assert_eq!(setting("md.interval").origin, Origin::Set { argument: "md.interval=1ms".to_owned() });
    assert_eq!(setting("md.seed").origin, Origin::Default);
    assert_eq!(setting("md.files").value_text(), "-");
    assert!(matches!(setting("matching.fill").origin, Origin::Derived { .. }));
    assert_eq!(setting("matching.fill").value, "quotes");
    assert!(settings.iter().all(|setting| !setting.doc.is_empty()));
    let keys: BTreeSet<&str> = settings.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(keys.len(), settings.len(), "each key once");
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

fn on_death(platform: &Platform, journal: &str, node: &str) -> OnDeath {
    let journal = platform.topology.journal(journal).unwrap();
    journal.readers.iter().find(|reader| reader.node == node).unwrap().on_death
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

#[test]
fn missing_programs_and_days_are_found_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    std::fs::write(folder.path().join("plain"), "").unwrap();
    let text = "[md]\nsource = 'dbn'\nreaders = 'gated'\nfiles = 'day.dbn'\n[[strategies.group]]\nname = 'a'\nprogram = 'taker'\n\
                [[strategies.group]]\nname = 'b'\nprogram = 'plain'\n[[service]]\nname = 'c'\nprogram = '.'\n";
    std::fs::write(&file, text).unwrap();
    let wrong = topology::load(&file, &[]).unwrap().check_files().unwrap_err();
    assert_eq!(wrong.diagnostics.len(), 4, "{wrong}");
    for part in ["day.dbn: No such file", "\"builtin:taker\"?", "chmod +x", "it is no file"] {
        assert!(wrong.to_string().contains(part), "{wrong}");
    }
    let missing = topology::load(&folder.path().join("none.toml"), &[]).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read ") && missing.contains("none.toml"), "{missing}");
}

#[test]
fn the_schema_lists_every_key() {
    let schema = topology::schema();
    let md = &schema["properties"]["md"]["properties"];
    assert_eq!(md["instruments"]["maximum"], 4_095);
    assert_eq!(md["interval"]["default"], "2ms");
    assert_eq!(schema["properties"]["strategies"]["properties"]["group"]["type"], "array");
    assert_eq!(schema["additionalProperties"], false);
    for setting in demo(&[]).settings() {
        let mut place = &schema;
        for part in setting.key.split('.').filter(|part| !["takers", "makers"].contains(part)) {
            let items = if place["items"].is_object() { &place["items"] } else { place };
            place = &items["properties"][part];
        }
        assert!(place["description"].is_string(), "{} is not in the schema", setting.key);
    }
}

#[test]
fn a_topology_put_together_by_a_program_is_checked_too() {
    let mut topology = demo(&[]).topology;
    topology.journals[0].capacity_bytes = 1_000_000;
    topology.journals[1].writer = "td".to_owned();
    topology.journals[1].name = "md.quotes".to_owned();
    let faults = topology.check();
    assert!(faults.iter().any(|fault| matches!(fault, Fault::Capacity { near, .. } if near.len() == 2)));
    assert!(faults.iter().any(|fault| matches!(fault, Fault::TwoWriters { first, .. } if first == "td")));
    assert!(faults.iter().any(|fault| matches!(fault, Fault::UnknownJournal { .. })));
}

const RECORDED: &str = "[md]\n[journal]\nreports.durability = \"sync\"\n[[recorder]]\nname = \"disk\"\npath = \"/tmp/r\"\n[strategies]\ncount = 2\n";

#[test]
fn what_is_to_be_durable_must_be_recorded_whole() {
    let said = |text: &str| match topology::parse("test.toml", text, &[]) {
        Ok(platform) => format!("warnings: {}", platform.warnings),
        Err(wrong) => format!("errors: {wrong}"),
    };
    let fine = said(RECORDED);
    assert!(fine.starts_with("warnings: ") && !fine.contains("sync"), "{fine}");
    let with = |line: &str| said(&RECORDED.replace("path =", &format!("{line}\npath =")));
    let missing = with("journals = [\"md.*\"]");
    assert!(missing.starts_with("errors: ") && missing.contains("no recorder records it"), "{missing}");
    assert_eq!(missing.matches("no recorder records it").count(), 1, "one key, said once: {missing}");
    let nobody = said("[md]\n[journal]\ndurability = \"sync\"\n[strategies]\n");
    assert!(nobody.starts_with("errors: ") && nobody.contains("no recorder records it"), "{nobody}");
    let loose = with("loose = [\"reports.*\"]");
    assert!(loose.starts_with("errors: ") && loose.contains("reads it loosely"), "{loose}");
    let parted = with("journals = [\"reports.*\", \"orders.*\"]");
    assert!(
        parted.starts_with("warnings: ") && parted.contains("not `td.orders`, which leads to it"),
        "{parted}"
    );
}

#[test]
fn recorders_have_names_and_folders_of_their_own() {
    let said = |more: &str| {
        let text = format!("{RECORDED}[[recorder]]\n{more}\n");
        topology::parse("test.toml", &text, &[]).map_or_else(|wrong| wrong.to_string(), |_| "fine".to_owned())
    };
    assert_eq!(said("name = \"other\"\npath = \"/tmp/o\""), "fine");
    assert!(said("name = \"disk\"\npath = \"/tmp/o\"").contains("named `disk`"));
    let shared = said("name = \"other\"\npath = \"/tmp/r\"");
    assert!(shared.contains("have one folder: /tmp/r") && shared.contains("a folder of its own"), "{shared}");
    let unnamed = parse("[md]\n[[recorder]]\npath = \"r\"\n[strategies]\n", &[]);
    assert!(Path::new(&unnamed.config.recorder[0].path).ends_with("r"));
}

#[test]
fn td_knows_whose_reports_wait_for_which_recorder() {
    let recorders = |text: &str| -> Vec<Vec<u16>> {
        let platform = parse(text, &[]);
        let td = platform.topology.node("td").expect("td");
        let section: TdSection = serde_json::from_value(td.section.clone()).expect("its section");
        section.strategies.into_iter().map(|strategy| strategy.recorders).collect()
    };
    let disk = parse(RECORDED, &[]).topology.node("disk").expect("a recorder").seat;
    assert_eq!(recorders(RECORDED), [vec![disk], vec![disk]]);
    assert_eq!(recorders(&RECORDED.replace("sync", "async")), [Vec::<u16>::new(), Vec::new()]);
}
