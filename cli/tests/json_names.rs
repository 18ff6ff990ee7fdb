//! `docs/cli-json.md` against what the verbs print: every name and its type, both ways.

mod home;
mod shanghai;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use home::Home;
use home::written::Written;

/// A row of a table: `| name | value | meaning |`.
#[derive(Debug)]
struct Row {
    path: String,
    /// `text`, `whole`, …, or the name of a part.
    kind: String,
    is_part: bool,
    /// A list of `kind`.
    is_list: bool,
    or_null: bool,
    optional: bool,
}

impl Row {
    fn parse(line: &str) -> Option<Row> {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let path = cells.next()?.strip_suffix('`')?.to_owned();
        let value = cells.next()?.trim();
        let (value, optional) = value.strip_suffix(", if any").map_or((value, false), |value| (value, true));
        let (value, or_null) = value.strip_suffix(" or null").map_or((value, false), |value| (value, true));
        let (value, is_list) = value.strip_prefix("list of ").map_or((value, false), |value| (value, true));
        let part = value.strip_prefix('[').and_then(|value| value.split(']').next());
        let kind = part.unwrap_or(value).to_owned();
        Some(Row { path, kind, is_part: part.is_some(), is_list, or_null, optional })
    }
}

/// Tables by heading.
struct Page(BTreeMap<String, Vec<Row>>);

impl Page {
    fn read() -> Page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli-json.md");
        let text = std::fs::read_to_string(path).expect("the page");
        let (mut tables, mut heading) = (BTreeMap::<String, Vec<Row>>::new(), String::new());
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
                heading = title.replace('`', "");
            }
            if let Some(row) = Row::parse(line) {
                tables.entry(heading.clone()).or_default().push(row);
            }
        }
        Page(tables)
    }
}

/// One comparison of what came out with the page.
struct Comparison<'a> {
    page: &'a Page,
    faults: BTreeSet<String>,
    names: usize,
}

impl Comparison<'_> {
    /// An object against the rows of `heading` that begin with `prefix`.
    fn object(&mut self, heading: &str, prefix: &str, object: &Map<String, Value>) {
        let Some(rows) = self.page.0.get(heading) else {
            self.faults.insert(format!("the page has no table `{heading}`"));
            return;
        };
        let row = |name: &str| rows.iter().find(|row| row.path == format!("{prefix}{name}"));
        for (name, value) in object {
            self.names += 1;
            match row(name).or_else(|| row("*")) {
                Some(row) => self.value(heading, row, value),
                None => {
                    self.faults
                        .insert(format!("{heading}: `{prefix}{name}` is printed, and not on the page"));
                }
            }
        }
        for row in rows.iter().filter(|row| !row.optional) {
            let Some(name) = row.path.strip_prefix(prefix) else { continue };
            let is_direct = name != "*" && !name.contains(['.', '[']);
            if is_direct && !object.contains_key(name) {
                self.faults.insert(format!("{heading}: `{}` is on the page, and not printed", row.path));
            }
        }
    }

    fn value(&mut self, heading: &str, row: &Row, value: &Value) {
        if value.is_null() && row.or_null {
            return;
        }
        match (value, row.is_list) {
            (Value::Array(elements), true) => {
                elements.iter().for_each(|element| self.element(heading, row, "[]", element));
            }
            (_, true) => self.wrong(heading, row, value),
            (value, false) => self.element(heading, row, "", value),
        }
    }

    fn element(&mut self, heading: &str, row: &Row, suffix: &str, value: &Value) {
        let fits = match row.kind.as_str() {
            "any" => return,
            "text" => value.is_string(),
            "whole" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "bool" => value.is_boolean(),
            "list" => value.is_array(),
            _ => value.is_object(),
        };
        if !fits {
            return self.wrong(heading, row, value);
        }
        match value {
            Value::Object(object) if row.is_part => self.object(&row.kind, "", object),
            Value::Object(object) => self.object(heading, &format!("{}{suffix}.", row.path), object),
            Value::Array(elements) => {
                let prefix = format!("{}[].", row.path);
                let objects = elements.iter().filter_map(Value::as_object);
                objects.for_each(|element| self.object(heading, &prefix, element));
            }
            _ => {}
        }
    }

    fn wrong(&mut self, heading: &str, row: &Row, value: &Value) {
        self.faults.insert(format!("{heading}: `{}` is no {}: {value}", row.path, row.kind));
    }
}

fn compare(page: &Page, heading: &str, printed: &Value) -> usize {
    let mut comparison = Comparison { page, faults: BTreeSet::new(), names: 0 };
    comparison.object(heading, "", printed.as_object().expect("an object"));
    let faults: Vec<String> = comparison.faults.into_iter().collect();
    assert!(faults.is_empty(), "docs/cli-json.md and `{heading}` differ:\n{}", faults.join("\n"));
    println!("{heading}: {} names", comparison.names);
    comparison.names
}

#[test]
fn what_verbs_print_of_a_platform_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let print = |arguments: &str| {
        let words: Vec<&str> = arguments.split(' ').chain(["--format", "json"]).collect();
        home.json(&words)
    };
    let mut names = 0;
    let mut check = |heading: &str, printed: &Value| names += compare(&page, heading, printed);
    check("colo up --stay", &print("up --stay --set md.count=0 --set md.interval=5ms"));
    home.wait_for("a fill", || {
        home.node("demo", "matching")["counters"]["fills"].as_u64().is_some_and(|fills| fills > 0)
    });
    check("colo status", &print("status"));
    check("colo top", &print("top --interval 100ms"));
    check("colo book", &print("book SIM001"));
    check("colo journal ls", &print("journal ls"));
    check("colo journal stat", &print("journal stat md.quotes --interval 50ms"));
    check("colo journal stat", &print("journal stat master.events --no-rate"));
    check("colo journal tail", &print("journal tail td.orders -n 50"));
    check("colo journal verify", &print("journal verify"));
    check("colo journal trace", &print("journal trace --last"));
    let file = home.state_path().join("names.pftrace");
    let file = file.to_str().expect("a path");
    check("colo trace", &print(&format!("trace record demo --for 200ms --out {file}")));
    check("colo trace", &print(&format!("trace export demo --out {file}")));
    check("colo journal clean", &print("journal clean"));
    home.damage("demo", "reports.makers-2");
    for (verb, arguments) in [("colo status", "status"), ("colo top", "top --interval 50ms")] {
        let printed = print(arguments);
        assert_eq!(printed["damaged"][0]["journal"], "reports.makers-2", "{printed}");
        check(verb, &printed);
    }
    check("colo up and colo down", &print("down"));
    check("colo check", &print("check"));
    check("colo explain", &print("explain"));
    check("colo doctor", &print("doctor"));
    check("colo tune", &print("tune --dry-run"));
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/scenarios/matrix-quick.toml");
    check("colo t2o plan", &print(&format!("t2o plan {scenario}")));
    assert!(names > 1_000, "{names} names");
}

#[test]
fn what_a_matrix_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/scenarios/smoke.toml");
    let run = ["t2o", "run", scenario, "--out", &out, "--only", "A2,B2", "--format", "json"];
    let sets = ["--set", "run.repeats=1", "--set", "run.slice=\"100ms\""];
    let matrix = home.json(&[&run[..], &sets].concat());
    assert!(!matrix["cells"][0]["slices"]["all"].is_null(), "{matrix}");
    compare(&page, "colo t2o run", &matrix);
    compare(&page, "colo t2o report", &home.json(&["t2o", "report", &out, "--format", "json"]));
}

#[test]
fn what_verbs_print_of_accounts_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/desk.toml");
    let file = file.to_str().expect("text");
    let print = |arguments: &str| {
        let words: Vec<&str> = arguments.split(' ').chain(["--format", "json"]).collect();
        home.json(&words)
    };
    let mut names = 0;
    let mut check = |heading: &str, printed: &Value| names += compare(&page, heading, printed);
    check("colo check", &print(&format!("check {file}")));
    check("colo up --stay", &print(&format!("up {file} --stay")));
    home.wait_for("a fill", || {
        home.node("desk", "matching")["counters"]["fills"].as_u64().is_some_and(|fills| fills > 5)
    });
    check("colo account", &print("account deposit 8 5 --why test"));
    check("colo account", &print("account rate USD 7.1"));
    check("colo account", &print("account limit position 500 --account 7 --instrument SIM001 --why test"));
    check("colo account list", &print("account list"));
    check("colo account show", &print("account show 7"));
    check("colo account show", &print("account show --strategy takers-1"));
    check("colo account", &print("kill --strategy makers-1 --why test"));
    check("colo status", &print("status"));
    check("colo audit", &print("audit"));
    check("colo account", &print("kill --all --why test"));
    home.wait_for("the orders' end", || print("account show 7")["open_orders"] == 0);
    let prices = home.state_path().join("prices.csv");
    let rows = (1..=4).map(|number| format!("{number},100\n")).collect::<String>();
    std::fs::write(&prices, format!("instrument,price\n{rows}")).expect("prices");
    let settled = print(&format!("settle 20260131 --prices {}", prices.display()));
    assert!(settled["statements"].is_array(), "{settled}");
    check("colo settle", &settled);
    assert!(names > 200, "{names} names");
}

#[test]
fn what_verbs_print_of_recordings_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let (file, folder) = home.recorded_platform("");
    let up = home.colo(&["up", &file, "--set", "md.count=200"]);
    assert!(up.status.success(), "{}\n{}", home::stderr(&up), home.logs());
    let mut names = 0;
    for (heading, arguments) in [
        ("colo journal ls --recording", "journal ls --recording"),
        ("colo journal stat --recording", "journal stat td.orders --recording"),
        ("colo journal tail", "journal tail td.orders --recording"),
        ("colo journal verify --recording", "journal verify --recording"),
        ("colo journal trace", "journal trace --last --recording"),
        ("colo recover", "recover"),
    ] {
        let words: Vec<&str> = arguments.split(' ').chain([folder.as_str(), "--format", "json"]).collect();
        names += compare(&page, heading, &home.json(&words));
    }
    assert!(names > 300, "{names} names");
}

#[test]
fn what_a_benchmark_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let quick = ["bench", "wake", "--quick", "--readers", "4", "--rates", "800", "--format", "json"];
    let report = home.json(&quick);
    compare(&page, "colo bench wake", &report);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert!(row["samples"].as_u64().is_some_and(|samples| samples > 10), "{row}");
    }
}

#[test]
fn what_the_benchmark_of_the_exchange_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let quick = "bench matching --quick --operations 2000 --turns 1 --levels 10,1000 --memory-orders 20000";
    let ascending: Vec<&str> = quick.split(' ').chain(["--format", "json"]).collect();
    let report = home.json(&ascending);
    compare(&page, "colo bench matching", &report);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), report["memory"].as_array().map(Vec::len)), (8, Some(3)));
    for row in rows {
        assert_eq!(row["samples"], 2_000, "{row}");
        for name in ["ops_per_s", "ladder_ops_per_s", "simulator_ops_per_s", "events_per_s"] {
            assert!(row[name].as_f64().is_some_and(|rate| rate > 0.0), "{name} of {row}");
        }
    }
    for row in report["memory"].as_array().expect("rows") {
        assert!(row["own_bytes_per_order"].as_f64().is_some_and(|bytes| bytes >= 64.0), "{row}");
    }
    let scattered: Vec<&str> = ascending.iter().copied().chain(["--scattered-ids"]).collect();
    let report = home.json(&scattered);
    compare(&page, "colo bench matching", &report);
    assert_eq!(
        (&report["ids"], &report["rows"][0]["simulator_ops_per_s"]),
        (&"scattered".into(), &Value::Null)
    );
}

#[test]
fn what_the_benchmark_of_orders_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let quick = "bench orders --quick --strategies 1,3 --accounts 0,20 --turn 400 --format json";
    // On a host that others use too, a turn may end before one order came back.
    let measure = || home.json(&quick.split(' ').collect::<Vec<_>>());
    let is_whole = |report: &Value| {
        let rows = report["rows"].as_array();
        rows.is_some_and(|rows| rows.iter().all(|row| row["samples"].as_u64() > Some(0)))
    };
    let report = (0..5).map(|_| measure()).find(is_whole).expect("no round trip in five measurements");
    compare(&page, "colo bench orders", &report);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    for (index, row) in rows.iter().enumerate() {
        let figure = |name: &str| row[name].as_f64().unwrap_or_default();
        for name in ["orders_per_s", "samples", "orders", "checks_ns", "memory_bytes", "cpu_ns_per_order"] {
            assert!(figure(name) > 0.0, "{name} of {row}");
        }
        assert!(figure("round_trip_p50_ns") <= figure("round_trip_p999_ns"), "{row}");
        assert_eq!(row["accounts"], [0, 20][index / 2 % 2], "{row}");
    }
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn what_a_replay_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let file = home.state_path().join("recorded.toml");
    let text = concat!(
        "[platform]\ndeterministic = true\n[md]\ncount = 50\ngenerator = \"timed\"\nreaders = \"gated\"\n",
        "[[strategies.group]]\nname = \"makers\"\nprogram = \"builtin:market-maker\"\ncount = 1\n",
        "[[recorder]]\npath = \"FOLDER\"\n"
    );
    let folder = home.state_path().join("recordings").display().to_string();
    std::fs::write(&file, text.replace("FOLDER", &folder)).expect("a file");
    home.json(&["up", &file.display().to_string(), "--format", "json"]);
    for parameter in [&[][..], &["--param", "quantity=3"]] {
        let verb = ["replay", &folder, "--strategy", "makers-1", "--check", "--format", "json"];
        let printed = home.json(&[&verb, parameter].concat());
        assert_eq!(printed["difference"].is_null(), parameter.is_empty(), "{printed}");
        compare(&page, "colo replay", &printed);
    }
}

#[test]
fn what_verbs_print_of_files_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let written = Written::new(3, 250);
    let path = written.text("ctl");
    // Every kind of message, so every field.
    let dump = home.colo(&["journal", "dump", &path, "--format", "json"]);
    let mut fields = BTreeSet::new();
    for line in home::stdout(&dump).lines() {
        let frame: Value = serde_json::from_str(line).expect("JSON");
        compare(&page, "frame", &frame);
        fields.extend(frame["fields"].as_object().expect("fields").keys().cloned());
    }
    let documented: BTreeSet<String> = page.0["fields"].iter().map(|row| row.path.clone()).collect();
    assert_eq!(fields, documented);
    compare(&page, "colo journal stat", &home.json(&["journal", "stat", &path, "--format", "json"]));
    let tokens = home.state_path().join("tokens.json").to_string_lossy().into_owned();
    for verb in [&["token", "create", "me"][..], &["token", "list"], &["token", "revoke", "me"]] {
        let printed = home.json(&[verb, &["--file", &tokens, "--format", "json"]].concat());
        compare(&page, &format!("colo token {}", verb[1]), &printed);
    }
    let (position, _) = written.frames[100];
    written.overwrite("ring", position % (1 << 16) + 8, &u32::MAX.to_le_bytes());
    let verified = home.json(&["journal", "verify", &path, "--format", "json"]);
    assert_eq!(verified["clean"], false);
    compare(&page, "colo journal verify", &verified);
}

#[test]
fn what_the_verbs_about_runs_print_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let root = home.state_path().join("runs").display().to_string();
    let run = |name: &str, more: &[&str]| {
        let out = format!("{root}/{name}");
        let up = [&["up", "--set", "md.count=200", "--out", &out, "--format", "json"], more].concat();
        compare(&page, "colo up and colo down", &home.json(&up));
        out
    };
    let lock_step = ["md.generator=timed", "md.readers=gated", "platform.deterministic=true"];
    let lock_step: Vec<&str> = lock_step.iter().flat_map(|set| ["--set", set]).collect();
    let (one, other) = (run("one", &[]), run("other", &[]));
    let steps = run("steps", &lock_step);
    let others = run("others", &[&lock_step[..], &["--set", "md.seed=2"]].concat());
    std::fs::write(format!("{one}/keep"), "").expect("written");
    let dir = ["--dir", &root, "--format", "json"];
    let verb = |words: &[&str]| home.json(&[&["runs"], words, &dir].concat());
    compare(&page, "colo runs ls", &verb(&["ls"]));
    compare(&page, "colo runs show", &verb(&["show", &one]));
    compare(&page, "colo runs compare", &verb(&["compare", &one, &other]));
    let compared = verb(&["compare", &steps, &others]);
    assert_eq!(compared["comparison"]["verdict"], "differs", "{compared}");
    compare(&page, "colo runs compare", &compared);
    compare(&page, "colo runs report", &verb(&["report", &one]));
    compare(&page, "colo runs clean", &verb(&["clean", "--keep-for", "1ns"]));
    compare(&page, "colo runs ls", &verb(&["ls"]));
}

#[test]
fn what_a_sweep_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/sweeps/simulated.toml");
    let root = home.state_path().join("sweeps").display().to_string();
    let out = format!("{root}/one");
    let small = ["--set", "sample=3", "--set", "set=[\"md.interval=100ms\", \"md.count=100\"]"];
    let run = [&["sweep", file, "--format", "json"][..], &small].concat();
    compare(&page, "colo sweep --dry-run", &home.json(&[&run[..], &["--dry-run"]].concat()));
    compare(&page, "colo sweep --dry-run", &home.json(&["check", file, "--format", "json"]));
    let ended = home.json(&[&run[..], &["--out", &out]].concat());
    assert_eq!((&ended["failed"], &ended["ended"]), (&0.into(), &6.into()), "{ended}");
    compare(&page, "colo sweep", &ended);
    let shown = home.json(&["sweep", "show", &out, "--format", "json"]);
    assert!(shown["combinations"][0]["train"]["sd"].is_number(), "{shown}");
    compare(&page, "colo sweep show", &shown);
    compare(&page, "colo sweep ls", &home.json(&["sweep", "ls", "--dir", &root, "--format", "json"]));
    compare(&page, "colo sweep report", &home.json(&["sweep", "report", &out, "--format", "json"]));
}

#[test]
fn what_the_comparison_with_a_market_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    // One of the two differs, so that a difference is printed too.
    for trades in [shanghai::TRADES.to_owned(), shanghai::TRADES.replace("10.05,50,,8", "10.05,51,,8")] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, text) in
            [("orders", shanghai::ORDERS), ("trades", &trades), ("snapshots", shanghai::SNAPSHOTS)]
        {
            std::fs::write(path(name), text).expect("written");
        }
        let (orders, trades, snapshots) = (path("orders"), path("trades"), path("snapshots"));
        let files = ["--orders", &orders, "--trades", &trades, "--snapshots", &snapshots, "--format", "json"];
        let report = home.json(&[&["matching", "verify", "--source", "sse"][..], &files].concat());
        compare(&page, "colo matching verify", &report);
    }
}

#[test]
fn what_the_benchmarks_of_recordings_print_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("text");
    let report = home.json(&["bench", "durable", "--quick", "--dir", folder, "--format", "json"]);
    compare(&page, "colo bench durable", &report);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3 + 2 * (3 + 4));
    for row in rows {
        assert!(row["records"].as_u64().is_some_and(|records| records > 0), "{row}");
        assert_eq!(row["syncs"].as_u64().is_some_and(|syncs| syncs > 0), row["mode"] != "none", "{row}");
    }
    assert!(report["orders"]["orders"].as_u64().is_some_and(|orders| orders > 0), "{report}");
    assert_eq!(report["ways"].as_array().map(Vec::len), Some(15));
    let recover = ["bench", "recover", "--records", "1000,30000", "--dir", folder, "--format", "json"];
    let report = home.json(&recover);
    compare(&page, "colo bench recover", &report);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row["identical"], true, "{row}");
    }
    let left: Vec<_> = std::fs::read_dir(folder).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_the_verbs_of_strategies_print_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    let up = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}", home::stderr(&up));
    let strategies = home.json(&["strategy", "ls", "--format", "json"]);
    compare(&page, "colo strategy ls", &strategies);
    let name = strategies["strategies"][0]["node"].as_str().expect("a name").to_owned();
    for verb in [["stop", &name], ["start", &name], ["reload", &name]] {
        let row = home.json(&[&["strategy"][..], &verb, &["--format", "json"]].concat());
        assert_eq!(row["node"], name.as_str(), "{verb:?}");
    }
    let stopped = home.json(&["strategy", "stop", &name, "--format", "json"]);
    assert_eq!(stopped["stopped"]["orders"], "cancel", "{stopped}");
    compare(&page, "colo strategy ls", &home.json(&["strategy", "ls", "--format", "json"]));
    compare(&page, "colo status", &home.json(&["status", "--format", "json"]));
    assert!(home.colo(&["down"]).status.success());
}

#[test]
fn what_the_benchmark_of_languages_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    // A language of no toolchain: Rust's program, by another name. Beside it one that says what it lacks.
    let bindings = home.state_path().join("bindings");
    let script = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    let colo = env!("CARGO_BIN_EXE_colo");
    script(&bindings.join("other/bench"), &format!("[ \"$1\" = build ] || exec {colo} bench peer languages"));
    script(&bindings.join("other/example"), &format!("ln -sf {colo} \"$1\""));
    script(&bindings.join("absent/bench"), "echo no compiler for it >&2; exit 77");
    script(&bindings.join("absent/example"), "exit 77");
    let bindings = bindings.display().to_string();
    let quick = "bench languages --quick --rounds 2 --platforms 0 --format json --bindings";
    let report = home.json(&quick.split(' ').chain([bindings.as_str()]).collect::<Vec<_>>());
    compare(&page, "colo bench languages", &report);
    let rows = report["languages"].as_array().expect("rows");
    assert_eq!(
        (rows.len(), &rows[0]["language"], &rows[1]["language"]),
        (2, &"rust".into(), &"other".into())
    );
    for row in rows {
        for name in ["read_ns", "read_batch_ns", "write_ns", "read_rate_ratio", "wake_p50_us"] {
            assert!(row[name].as_f64().is_some_and(|figure| figure > 0.0), "{name} of {row}");
        }
        assert_eq!(row["t2o_fast_p50_us"], Value::Null, "no platform ran: {row}");
    }
    let skipped = serde_json::json!([{ "language": "absent", "reason": "no compiler for it" }]);
    assert_eq!(report["skipped"], skipped);
    // One alone, with its platforms.
    let rust =
        "bench languages --quick --rounds 1 --platforms 1 --quotes 200 --only rust --format json --bindings";
    let report = home.json(&rust.split(' ').chain([bindings.as_str()]).collect::<Vec<_>>());
    compare(&page, "colo bench languages", &report);
    assert_eq!(report["languages"].as_array().map(Vec::len), Some(1), "{report}");
    for name in ["t2o_parked_p50_us", "t2o_fast_p50_us", "orders"] {
        assert!(
            report["languages"][0][name].as_f64().is_some_and(|figure| figure > 0.0),
            "{name} of {report}"
        );
    }
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}

#[test]
fn what_the_benchmark_of_the_gateway_prints_is_on_the_page() {
    let (page, home) = (Page::read(), Home::new());
    if !Path::new(env!("CARGO_BIN_EXE_colo")).with_file_name("colo-gateway").exists() {
        println!("skipped: there is no colo-gateway beside colo; `cargo build -p gateway` makes it");
        return;
    }
    let quick = "bench gateway --quick --subscribers 20 --connections 50 --format json";
    let report = home.json(&quick.split(' ').collect::<Vec<_>>());
    compare(&page, "colo bench gateway", &report);
    for (part, name) in [
        ("hello", "requests_per_s"),
        ("order", "notification_p50_us"),
        ("broadcast", "deliveries_per_s"),
        ("private", "notifications_per_s"),
        ("diff", "peek_p50_us"),
    ] {
        assert!(report[part][name].as_f64().is_some_and(|figure| figure > 0.0), "{part}: {report}");
    }
    assert_eq!((&report["hello"]["failed"], &report["order"]["failed"]), (&0.into(), &0.into()), "{report}");
    let one = "bench gateway --quick --only broadcast --subscribers 20 --format json";
    let report = home.json(&one.split(' ').collect::<Vec<_>>());
    compare(&page, "colo bench gateway", &report);
    assert!(report["hello"].is_null() && report["broadcast"]["subscribers"] == 20, "{report}");
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}
