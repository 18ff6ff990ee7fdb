//! What each kind of market brings along.

use super::{MINIMAL, configs, demo, parse};
use topology::config::{Fill, Queue, ReaderFrom, ReaderKind, RestartPolicy};

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
    let rules = [
        "matching.displayed_first=true",
        "matching.call_auctions=uncross",
        "matching.self_trade_owner=account",
    ];
    let warnings = |market: &[&str]| {
        let all: Vec<&str> = market.iter().chain(&rules).copied().collect();
        parse(MINIMAL, &all).warnings.diagnostics.len() - parse(MINIMAL, market).warnings.diagnostics.len()
    };
    assert_eq!(warnings(&["md.source=lobster", "md.files=/days/1", "md.readers=gated"]), 0);
    assert_eq!(warnings(&["md.source=sim"]), 1, "quotes show nothing hidden");
    assert_eq!(warnings(&["md.source=exchange"]), 2, "an exchange knows accounts");
    let firm = ["md.source=exchange", "matching.self_trade_owner=firm"].map(str::to_owned);
    let refused = topology::parse("test.toml", MINIMAL, &firm).unwrap_err().to_string();
    assert!(refused.contains("matching.self_trade_owner") && refused.contains("has no trades"), "{refused}");
}

const BACKTEST: [&str; 3] = ["md.source=lobster", "md.files=/days/1", "md.readers=gated"];

#[test]
fn the_queue_goes_by_the_market() {
    let queue = |sets: &[&str]| parse(MINIMAL, sets).config.matching.queue;
    assert_eq!(queue(&BACKTEST), Queue::Position);
    assert_eq!(queue(&["md.source=sim"]), Queue::Through);
    assert_eq!(queue(&["md.source=sim", "matching.queue=touch"]), Queue::Touch);
}

#[test]
fn a_delay_is_for_lock_step_and_drawn_in_one_way() {
    let said = |sets: &[&str]| {
        let sets: Vec<String> = BACKTEST.iter().chain(sets).map(|&set| set.to_owned()).collect();
        topology::parse("test.toml", MINIMAL, &sets).map_err(|error| error.to_string())
    };
    let platform = said(&["matching.order_latency=150us"]).expect("a backtest");
    assert_eq!(platform.config.matching.run.restart, RestartPolicy::Never, "what is under way would be lost");
    let refused = |sets: &[&str], word: &str| {
        let error = said(sets).map(|_| ()).expect_err(word);
        assert!(error.contains(word), "{error}");
    };
    let samples = "matching.order_latency={ samples = \"runs/a\", stage = \"order\" }";
    assert!(said(&[samples]).is_ok());
    refused(&["matching.order_latency=150us", "platform.live=true"], "this platform races");
    refused(&["matching.report_latency=1s", "matching.restart=always"], "nobody could go on");
    refused(&["matching.order_latency={ samples = \"a\", uniform = { max = \"1ms\" } }"], "exactly one way");
    refused(&["matching.order_latency={ stage = \"md\" }"], "exactly one way");
    refused(&["matching.order_latency={ uniform = { min = \"2ms\", max = \"1ms\" } }"], "below uniform.min");
    refused(&["matching.order_latency={ uniform = { min = \"2ms\" } }"], "max is missing");
    refused(&["matching.report_latency={ normal = { sd = \"1ms\" } }"], "mean zero");
    refused(&["matching.report_latency={ lognormal = { median = \"1ms\" } }"], "median");
    refused(&["matching.order_latency=fast"], "duration");
    refused(&["matching.queue=position", "matching.fill=quotes"], "nobody knows an order's position");
}

#[test]
fn a_run_that_delays_are_drawn_from_is_looked_for_beside_the_file() {
    let text = "[md]\nsource = \"lobster\"\nfiles = \"/\"\nreaders = \"gated\"\n[strategies]\n\
                [matching]\norder_latency = { samples = \"runs/gone\" }\n";
    let error =
        parse(text, &[]).check_files().map_err(|error| error.to_string()).expect_err("it is not there");
    assert!(
        error.contains("runs/gone") && error.contains("matching.order_latency") | error.contains("samples"),
        "{error}"
    );
}

#[test]
fn the_times_of_a_run_in_lock_step_are_no_delays() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().display();
    let text = format!(
        "[md]\nsource = \"lobster\"\nfiles = \"/\"\nreaders = \"gated\"\n[strategies]\n\
         [matching]\norder_latency = {{ samples = \"{run}\" }}\n"
    );
    std::fs::write(folder.path().join("t2o.csv"), "").unwrap();
    let platform = parse(&text, &[]);
    for (mode, is_good) in [("live", true), ("one-process", false), ("lock-step", false)] {
        let manifest = format!("{{ \"format\": \"colo-run\", \"mode\": \"{mode}\" }}");
        std::fs::write(folder.path().join("run.json"), manifest).unwrap();
        let said = platform.check_files().map_err(|error| error.to_string());
        assert_eq!(said.is_ok(), is_good, "{mode}: {said:?}");
        assert!(is_good || said.unwrap_err().contains("was in lock-step"), "{mode}");
    }
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

/// docs/recorded-markets.md: the platform's orders may meet beside a recorded or quoted market, and the key says what happens.
#[test]
fn what_happens_at_self_trades_may_be_said_of_every_market() {
    let quoted = parse(MINIMAL, &["matching.self_trade=cancel-oldest"]);
    assert!(quoted.warnings.diagnostics.is_empty(), "{:?}", quoted.warnings);
    let outside = parse(
        MINIMAL,
        &["matching.fill=external", "matching.program=out", "matching.self_trade=cancel-oldest"],
    );
    assert_eq!(outside.warnings.diagnostics.len(), 1, "an outside market has rules of its own");
}

#[test]
fn orders_go_out_through_a_program_in_matching_s_seat() {
    let sets = ["matching.fill=external", "matching.program=bin/out", "matching.params={ host = \"x\" }"];
    let platform = parse(MINIMAL, &sets);
    let matching = platform.topology.node("matching").expect("its seat");
    assert_eq!(matching.program, topology::Program::Path("bin/out".into()));
    assert_eq!(matching.section["params"]["host"], "x");
    let read: Vec<&str> = matching.reads.iter().map(|read| read.journal.as_str()).collect();
    assert_eq!(read, ["md.instruments", "td.orders"]);
    assert!(platform.topology.journal("matching.market").is_none());
    assert!(platform.warnings.diagnostics.is_empty(), "{:?}", platform.warnings);
    let said = |sets: &[&str], word: &str| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let error = topology::parse("test.toml", MINIMAL, &sets).map(|_| ()).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    said(&["matching.fill=external"], "matching.program names no program");
    said(&[&sets[..2], &["platform.deterministic=true"]].concat(), "cannot run in lock-step");
    said(&[&sets[..2], &BACKTEST].concat(), "cannot run in lock-step");
    said(&[&sets[..2], &["platform.one_process=true"]].concat(), "a process of its own");
    said(&[&sets[..2], &["md.source=exchange"]].concat(), "an exchange has no other market beside it");
    let live: Vec<&str> = [&sets[..2], &BACKTEST, &["platform.live=true"]].concat();
    assert_eq!(parse(MINIMAL, &live).topology.node("matching").expect("its seat").reads.len(), 2);
    let idle = parse(MINIMAL, &["matching.program=bin/out"]).warnings.diagnostics.len();
    assert_eq!(idle, parse(MINIMAL, &[]).warnings.diagnostics.len() + 1, "it means nothing elsewhere");
}
