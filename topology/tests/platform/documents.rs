//! The file, the command line, and what is made of both: settings, schema, JSON.

use std::collections::BTreeSet;
use std::path::Path;

use super::{MINIMAL, configs, demo, parse};
use settings::Origin;
use topology::config::Speed;
use topology::{Fault, Platform, Topology};

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
        } else if let Err(missing) = platform.check_files() {
            // Programs of services and of other languages have to be built first.
            let is_elsewhere = platform.config.matching.fill == topology::config::Fill::External;
            let has_program = is_elsewhere || !platform.config.service.is_empty();
            assert!(has_program || missing.to_string().contains("`bindings/build` builds it"), "{missing}");
        }
        checked += 1;
    }
    println!("{checked} configs");
    assert!(checked >= 3);
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
