//! Seats, processes and hosts: who runs, how, and whom it waits for.

use std::time::Duration;

use super::{MINIMAL, demo, on_death, parse};
use topology::config::{Mode, OnDeath, RestartPolicy};
use topology::{Fault, HostSection, NodeKind, Program, StrategySection, TdSection, Topology};

#[test]
fn as_many_strategies_with_a_process_each_fit_as_there_are_seats() {
    let count = topology::MAX_SEATS - 5;
    let full = parse(MINIMAL, &[&format!("strategies.count={count}")]);
    assert_eq!(full.topology.check(), Vec::<Fault>::new());
    let state = full.topology.journal("ledger.state").expect("the ledger writes it");
    assert_eq!(state.capacity_bytes, 16 << 20, "it grows with the strategies and their orders");
    let sets = [format!("strategies.count={}", count + 1)];
    let wrong = topology::parse("test.toml", MINIMAL, &sets).unwrap_err().to_string();
    assert!(wrong.contains("1025 nodes are 1 more than an instance has seats (1024)"), "{wrong}");
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
fn md_of_an_exchange_is_started_again_and_no_other_unless_the_file_says_so() {
    let policy =
        |sets: &[&str]| parse(MINIMAL, sets).topology.node("md").expect("it is there").restart.policy;
    assert_eq!(policy(&[]), RestartPolicy::Never);
    assert_eq!(policy(&["md.source=exchange"]), RestartPolicy::OnFailure);
    assert_eq!(policy(&["md.source=exchange", "md.restart=never"]), RestartPolicy::Never);
}
