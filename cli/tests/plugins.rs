//! Programs of one's own in the one process of a backtest: what they do there, and what keeps them out of it.

mod home;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strategy_sdk::Options;

use home::{Home, number, stderr, stdout};

/// The platforms' own program: this test program, as [`be_a_strategy`] alone.
const CHILD: &str = "COLO_NODE";

const PLATFORM: &str = r#"
[platform]
instance = "plugged"
deterministic = true

[md]
source = "sim"
instruments = 3
interval = "1ms"
count = 120
seed = 5
generator = "timed"
readers = "gated"

[td]
price_band = 0

[strategies]
program = "PROGRAM"
instruments = "all"

[[strategies.group]]
name = "alone"
count = 2
PARAMS

[[strategies.group]]
name = "hosted"
count = 2
host = { name = "desk" }

[[strategies.group]]
name = "maker"
program = "builtin:market-maker"
count = 1

[[recorder]]
name = "recorder"
loose = ["all"]
path = "FOLDER"
"#;

const JOURNALS: &[&str] = &[
    "orders.alone-1",
    "orders.alone-2",
    "orders.hosted-1",
    "orders.hosted-2",
    "orders.maker-1",
    "td.orders",
    "matching.executions",
    "reports.alone-1",
    "reports.desk",
];

/// No test: what the platforms of the tests below start.
#[test]
fn be_a_strategy() {
    if std::env::var_os(CHILD).is_some() {
        node::start_log();
        let exit = strategy_sdk::run::<plugged::Plugged>(&Options::default());
        std::process::exit(exit.code().into());
    }
}

/// The library of the example, which this test program depends on.
fn library() -> PathBuf {
    let colo = Path::new(env!("CARGO_BIN_EXE_colo"));
    let names = ["libplugged.so", "deps/libplugged.so"];
    let found = names.iter().map(|name| colo.with_file_name(name)).filter(|path| path.is_file());
    found
        .max_by_key(|path| std::fs::metadata(path).and_then(|file| file.modified()).ok())
        .expect("libplugged.so")
}

struct Author {
    home: Home,
    /// Recordings are no logs, which the home's folder is shown as.
    recordings: tempfile::TempDir,
    program: PathBuf,
}

impl Author {
    /// A program that is this test as a strategy, without a plug-in.
    fn new() -> Author {
        let home = Home::new();
        let program = home.state_path().join("my-strategy");
        let own = std::env::current_exe().expect("a path").display().to_string();
        let text = format!("#!/bin/sh\nexec '{own}' be_a_strategy --exact --nocapture --quiet\n");
        std::fs::write(&program, text).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Author { home, recordings: tempfile::tempdir().expect("a temporary folder"), program }
    }

    fn plugin(&self) -> PathBuf {
        self.program.with_file_name("libmy_strategy.so")
    }

    fn build(&self) {
        std::fs::copy(library(), self.plugin()).expect("copied");
    }

    fn file(&self, name: &str, program: &Path, params: &str) -> (String, PathBuf) {
        let (file, folder) = (self.home.state_path().join(name), self.recordings.path().join(name));
        let text = PLATFORM
            .replace("PROGRAM", &program.display().to_string())
            .replace("PARAMS", params)
            .replace("FOLDER", &folder.display().to_string());
        std::fs::write(&file, text).expect("a file");
        (file.display().to_string(), folder)
    }

    /// The report, what it says, and the frames of all journals.
    fn run(&self, name: &str, sets: &[&str], params: &str) -> (Value, String, Vec<Vec<Value>>) {
        let (file, folder) = self.file(name, &self.program, params);
        let up = self.home.colo(&[&["up", &file, "--format", "json"], sets].concat());
        let report = serde_json::from_str(&stdout(&up))
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", stderr(&up), self.home.logs()));
        assert_eq!(self.home.left(), Vec::<PathBuf>::new());
        let frames = JOURNALS.iter().map(|journal| frames(&self.home, &folder, journal)).collect();
        (report, stderr(&up), frames)
    }
}

/// The frames of the market's time: without the times of this host, and without the cancels of the stop, which come in any order
/// over processes.
fn frames(home: &Home, folder: &Path, journal: &str) -> Vec<Value> {
    let folder = folder.display().to_string();
    let dump = home.colo(&["journal", "dump", journal, "--recording", &folder, "--format", "json"]);
    assert!(dump.status.success(), "{journal}: {}", stderr(&dump));
    let mut frames: Vec<Value> = stdout(&dump)
        .lines()
        .map(|line| {
            let mut frame: Value = serde_json::from_str(line).expect("a frame");
            strip(&mut frame);
            frame
        })
        .collect();
    let at_the_stop =
        |frame: &Value| ["CancelOrder", "OrderUpdate"].iter().any(|name| frame["message"] == *name);
    while frames.last().is_some_and(at_the_stop) {
        frames.pop();
    }
    frames
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !["time_ns", "published_ns", "received_ns"].contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn totals(report: &Value) -> Vec<Value> {
    ["quotes", "orders", "rejected", "fills"].iter().map(|name| report[*name].clone()).collect()
}

#[test]
fn a_plug_in_sends_what_its_program_sends() {
    let author = Author::new();
    let over = author.run("over.toml", &[], "");
    assert!(
        over.1.contains("over processes") && over.1.contains("no plug-in libmy_strategy.so"),
        "{}",
        over.1
    );
    author.build();
    let one = author.run("one.toml", &[], "");
    assert!(one.1.contains("libmy_strategy.so") && one.1.contains("one process: "), "{}", one.1);
    for (index, journal) in JOURNALS.iter().enumerate() {
        let (over, one) = (&over.2[index], &one.2[index]);
        assert!(!one.is_empty(), "{journal} is empty");
        let same = over.iter().zip(one).take_while(|(over, one)| over == one).count();
        assert!(
            over.len() == one.len() && same == one.len(),
            "{journal}: frame {same}: {:?} over processes, {:?} as plug-in",
            over.get(same),
            one.get(same)
        );
    }
    assert_eq!(totals(&over.0), totals(&one.0));
    assert!(number(&one.0["fills"]) > 50, "{}", one.0);
    // And again.
    assert_eq!(author.run("again.toml", &[], "").2, one.2);
}

#[test]
fn a_panic_in_a_plug_in_ends_that_strategy_and_no_other() {
    let author = Author::new();
    author.build();
    let (report, said, _) = author.run("panics.toml", &[], "params = { panics_at = 30 }");
    assert!(said.contains("one process: "), "{said}");
    assert_eq!(number(&report["quotes"]), 3 * 120, "the market went on to its end: {report}");
    let nodes = report["nodes"].as_array().expect("nodes");
    let state = |name: &str| {
        let node = nodes.iter().find(|node| node["name"] == name).expect("a node");
        (node["state"].clone(), node["reason"].clone())
    };
    for name in ["alone-1", "alone-2"] {
        let (state, reason) = state(name);
        assert_eq!(state, "failed", "{report}");
        assert!(reason.to_string().contains("told to panic at quote 30"), "{reason}");
    }
    assert_eq!(state("hosted-1").0, "running", "{report}");
    assert_eq!(state("maker-1").0, "running", "{report}");
}

#[test]
fn what_keeps_a_run_over_processes_is_said() {
    let author = Author::new();
    std::fs::write(author.plugin(), "no library").expect("written");
    let (_, said, _) = author.run("broken.toml", &["--set", "md.count=10"], "");
    assert!(said.contains("over processes") && said.contains("libmy_strategy.so cannot be loaded"), "{said}");
    author.build();
    let (_, said, _) =
        author.run("false.toml", &["--set", "md.count=10", "--set", "platform.one_process=false"], "");
    assert!(!said.contains("plug-in") && !said.contains("one process: "), "it was asked for: {said}");
    // The library named itself, which no process can be.
    let (file, _) = author.file("named.toml", &author.plugin(), "");
    let check = author.home.colo(&["check", &file]);
    assert!(check.status.success(), "{}", stderr(&check));
    let up = author.home.colo(&["up", &file, "--format", "json"]);
    assert!(up.status.success() && stderr(&up).contains("one process: "), "{}", stderr(&up));
    let live = author.home.colo(&["up", &file, "--stay"]);
    assert_eq!(live.status.code(), Some(2), "{}", stderr(&live));
    assert!(stderr(&live).contains("runs in the one process of a backtest alone"), "{}", stderr(&live));
    // Parameters of a plug-in are checked as those of a program are.
    let (file, _) = author.file("unfit.toml", &author.plugin(), "params = { max_position = 0 }");
    let check = author.home.colo(&["check", &file]);
    assert!(
        stderr(&check).contains("`max_position` must be at least 1"),
        "{}{}",
        stdout(&check),
        stderr(&check)
    );
    assert_eq!(author.home.left(), Vec::<PathBuf>::new());
}
