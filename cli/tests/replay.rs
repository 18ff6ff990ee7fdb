//! Recordings run again: the whole platform, and one strategy alone.

mod home;

use std::path::{Path, PathBuf};

use serde_json::Value;

use home::{Home, number, stderr, stdout};

/// Makers that quote all instruments and takers that trade with them.
const PLATFORM: &str = r#"
[platform]
instance = "first"
deterministic = LOCK_STEP

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = COUNT
seed = 7
generator = "timed"
readers = "gated"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 3
params = { max_position = 50 }
HOSTED

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
instruments = "all"
HOSTED

[[recorder]]
path = "FOLDER"
compress = 0
"#;

/// A recorded run, and where it lies.
struct Recorded {
    home: Home,
    folder: String,
    report: Value,
}

impl Recorded {
    fn new(lock_step: bool, hosted: &str) -> Recorded {
        let home = Home::new();
        let folder = home.state_path().join("recordings").display().to_string();
        let text = PLATFORM
            .replace("FOLDER", &folder)
            .replace("LOCK_STEP", &lock_step.to_string())
            .replace("COUNT", "100")
            .replace("HOSTED", hosted);
        let file = home.state_path().join("first.toml");
        std::fs::write(&file, text).expect("a file");
        let report = home.json(&["up", &file.display().to_string(), "--format", "json"]);
        Recorded { home, folder, report }
    }

    /// One strategy, with more arguments: exit code and what is printed.
    fn alone(&self, strategy: &str, more: &[&str]) -> (i32, Value) {
        let arguments = ["replay", &self.folder, "--strategy", strategy, "--format", "json"];
        let output = self.home.colo(&[&arguments, more].concat());
        let printed = serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| {
            panic!("{strategy} {more:?}: {error}\n{}\n{}", stderr(&output), self.home.logs())
        });
        assert_eq!(self.home.left(), Vec::<PathBuf>::new(), "something of the instance is left");
        (output.status.code().expect("a code"), printed)
    }

    fn repeats(&self, strategy: &str) {
        let (code, printed) = self.alone(strategy, &["--check"]);
        assert_eq!((code, &printed["identical"]), (0, &Value::Bool(true)), "{strategy}: {printed:#}");
        assert!(number(&printed["requests"]) >= 50, "{strategy}: {printed}");
        assert_eq!(printed["requests"], printed["live_requests"], "{strategy}");
        assert_eq!(printed["requests"], printed["same_requests"], "{strategy}");
    }

    fn segment(&self) -> PathBuf {
        let mut folder = PathBuf::from(&self.folder);
        loop {
            let entries =
                || std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
            if let Some(segment) = entries().find(|path| path.to_string_lossy().ends_with(".seg")) {
                return segment;
            }
            folder = entries().find(|path| path.is_dir()).expect("a recording");
        }
    }
}

const STRATEGIES: [&str; 5] = ["takers-1", "takers-2", "takers-3", "makers-1", "makers-2"];

#[test]
fn strategies_of_a_platform_in_lock_step_send_what_they_sent() {
    let recorded = Recorded::new(true, "");
    STRATEGIES.iter().for_each(|strategy| recorded.repeats(strategy));
    // A speed changes nothing. The run took some ten milliseconds.
    let (code, printed) = recorded.alone("makers-1", &["--check", "--speed", "20"]);
    assert_eq!((code, &printed["identical"]), (0, &Value::Bool(true)), "{printed}");
}

#[test]
fn strategies_of_a_host_send_what_they_sent() {
    let recorded = Recorded::new(true, "host = { name = \"desk\" }\ndata = \"best\"");
    STRATEGIES.iter().for_each(|strategy| recorded.repeats(strategy));
}

/// Reports wait for the disk, quotes do not: the strategy read them in another order than they were committed in.
#[test]
fn strategies_whose_reports_waited_for_the_disk_are_checked_in_the_order_in_which_they_read() {
    for durable in ["durability = \"sync\"", "durability = \"sync\"\nhost = { name = \"desk\" }"] {
        let recorded = Recorded::new(false, durable);
        for strategy in STRATEGIES {
            let (code, printed) = recorded.alone(strategy, &["--check"]);
            println!(
                "{strategy}: {}, {} of {} the same, {} moved",
                printed["verdict"],
                printed["same_requests"],
                printed["live_requests"],
                printed["moved_frames"]
            );
            // How the host's scheduler mixed the two decides which it is: what is said and what it ends with agree.
            let expected = match printed["verdict"].as_str() {
                Some("same") => 0,
                Some("inconclusive") => 5,
                _ => 4,
            };
            assert_eq!(code, expected, "{strategy}: {printed:#}");
            assert_eq!(printed["identical"], expected == 0, "{strategy}: {printed:#}");
            // Before its first report nothing is open.
            assert!(number(&printed["same_requests"]) > 0, "{strategy}: {printed:#}");
            assert!(!printed["caveats"].to_string().contains("does not say when"), "{printed:#}");
        }
        // Another program is not taken for another order.
        let (code, printed) = recorded.alone("takers-1", &["--check", "--param", "max_position=1"]);
        assert!(code == 4 || code == 5, "{printed:#}");
        assert_eq!(printed["identical"], false, "{printed:#}");
    }
}

#[test]
fn two_replays_of_a_live_run_send_the_same_byte_for_byte() {
    let recorded = Recorded::new(false, "");
    let sent = |name: &str| {
        let file = recorded.home.state_path().join(name).display().to_string();
        let (code, printed) = recorded.alone("takers-2", &["--orders", &file]);
        assert_eq!(code, 0, "without --check a difference is no failure: {printed}");
        assert!(printed["caveats"].to_string().contains("lock-step"), "{printed}");
        std::fs::read_to_string(file).expect("the requests")
    };
    // But for when they were received, which is the strategy's own time.
    let lines = |text: String| -> Vec<Value> {
        let line = |line: &str| -> Value {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            line.as_object_mut().expect("an object").remove("received_ns");
            line
        };
        text.lines().map(line).collect()
    };
    let (first, second) = (lines(sent("first.jsonl")), lines(sent("second.jsonl")));
    assert!(first.len() >= 50, "{} requests", first.len());
    assert_eq!(first, second);
}

#[test]
fn two_replays_of_the_whole_platform_give_the_same_report() {
    let recorded = Recorded::new(true, "");
    let report = || {
        let mut report = recorded.home.json(&["replay", &recorded.folder, "--format", "json"]);
        let table = report.as_object_mut().expect("a report");
        for name in ["host", "seconds", "memory", "caveats", "wait_timeouts_with_data"] {
            assert!(table.remove(name).is_some(), "no `{name}` in the report");
        }
        for stage in table["stages"].as_object_mut().expect("stages").values_mut() {
            *stage = stage["n"].clone();
        }
        report
    };
    let first = report();
    assert_eq!(first, report());
    // Bounds between which nothing was recorded are refused, and are no empty or whole replay.
    for bounds in [
        &["--from", "2100-01-01T00:00:00Z"][..],
        &["--to", "2001-01-01T00:00:00Z"],
        &["--from", "2001-01-01T00:00:00Z", "--to", "2000-01-01T00:00:00Z"],
    ] {
        let refused = recorded.home.colo(&[&["replay", &recorded.folder][..], bounds].concat());
        assert_eq!(refused.status.code(), Some(2), "{bounds:?}: {}", stderr(&refused));
    }
    for name in ["quotes", "trades", "orders", "cancels", "replaces", "fills"] {
        assert!(number(&first[name]) > 0, "no {name}: {first}");
        assert_eq!(
            first[name], recorded.report[name],
            "{name}: as in the recorded run, which was in lock-step too"
        );
    }
    assert_eq!(recorded.home.left(), Vec::<PathBuf>::new());
}

#[test]
fn the_first_order_of_a_changed_strategy_that_differs_is_named_with_its_inputs() {
    let recorded = Recorded::new(true, "");
    let (code, printed) = recorded.alone("makers-1", &["--check", "--param", "skew_ticks=3"]);
    assert_eq!((code, &printed["identical"]), (4, &Value::Bool(false)), "{printed}");
    let difference = &printed["difference"];
    assert!(number(&difference["number"]) > 1, "before a position it is the same: {difference}");
    assert_eq!(number(&difference["number"]), number(&printed["same_requests"]) + 1);
    assert_eq!(difference["fields"], serde_json::json!(["price"]), "{difference}");
    assert_ne!(difference["live"]["fields"]["price"], difference["replayed"]["fields"]["price"]);
    let inputs = difference["inputs"].as_array().expect("inputs");
    let position = &difference["replayed"]["fields"]["cause_position"];
    assert_eq!(&inputs.last().expect("an input")["position"], position, "what it answers is the last input");
}

#[test]
fn a_replay_from_the_middle_begins_with_the_orders_and_positions_of_then() {
    let recorded = Recorded::new(true, "");
    let (_, printed) = recorded.alone("makers-1", &["--check", "--param", "skew_ticks=3"]);
    let time = number(&printed["difference"]["live_time_ns"]).to_string();
    // A maker begins with cancels of what a predecessor has left working.
    let (code, printed) = recorded.alone("makers-1", &["--check", "--from", &time]);
    assert_eq!(code, 4, "{printed}");
    let replayed = &printed["difference"]["replayed"];
    assert_eq!(replayed["message"], "CancelOrder", "{printed}");
    let id = |request: &Value| request["fields"]["order_id"].as_str().expect("an id").to_owned();
    let epoch = |id: String| id.split('-').nth(1).expect("an epoch").to_owned();
    assert_eq!(epoch(id(replayed)), "1", "an order of before");
    assert_eq!(epoch(id(&printed["difference"]["live"])), "2", "an order of then has a new id");
    // Up to then it is what it was.
    let (code, printed) = recorded.alone("makers-1", &["--check", "--to", &time]);
    assert_eq!((code, &printed["identical"]), (0, &Value::Bool(true)), "{printed}");
    assert!(number(&printed["same_requests"]) > 10, "{printed}");
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).expect("the segment");
    bytes[at] ^= 0x40;
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn a_damaged_recording_is_named_and_not_passed_over() {
    let recorded = Recorded::new(true, "");
    let segment = recorded.segment();
    let bytes = std::fs::metadata(&segment).expect("the segment").len() as usize;
    for at in [bytes / 3, bytes / 2] {
        flip(&segment, at);
        for more in [&["--strategy", "takers-1", "--check"][..], &["--strategy", "takers-1"], &[]] {
            let output = recorded.home.colo(&[&["replay", &recorded.folder], more].concat());
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(4), "{more:?}: {said}");
            assert!(said.contains("not whole") && said.contains("segment 1, offset"), "{said}");
        }
        flip(&segment, at);
    }
    recorded.repeats("takers-1");
    assert_eq!(recorded.home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_recording_without_its_last_segment_is_not_whole() {
    let recorded = Recorded::new(true, "");
    // As if a second segment had been begun, and lost.
    std::fs::write(recorded.segment().with_file_name("newest"), "0000000002\n").expect("written");
    for more in [&["--strategy", "takers-1", "--check"][..], &["--strategy", "takers-1"], &[]] {
        let output = recorded.home.colo(&[&["replay", &recorded.folder], more].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{more:?}: {said}");
        assert!(said.contains("not whole") && said.contains("segment 2"), "{said}");
    }
    let journal = |more: &[&str]| {
        let output = recorded.home.colo(&[&["journal"], more, &["--recording", &recorded.folder]].concat());
        assert_eq!(output.status.code(), Some(0), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("segment 2"), "{more:?}: {}", stderr(&output));
        stdout(&output)
    };
    let dumped = journal(&["dump", "td.orders", "--format", "json"]);
    let last: Value = serde_json::from_str(dumped.lines().last().expect("a line")).expect("an object");
    assert_eq!((&last["message"], &last["lost_bytes"]), (&Value::from("gap"), &Value::Null), "{last}");
    assert!(journal(&["ls"]).contains("1 missing"));
    assert_eq!(recorded.home.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_replayed_is_refused_with_a_reason() {
    let recorded = Recorded::new(true, "");
    let refused = |more: &[&str], code: i32, reason: &str| {
        let output = recorded.home.colo(&[&["replay", &recorded.folder], more].concat());
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{more:?}: {}", stderr(&output));
    };
    refused(&["--strategy", "nobody"], 2, "takers-1, takers-2");
    refused(&["--strategy", "takers-1", "--to", "1"], 2, "begins later");
    refused(&["--strategy", "takers-1", "--program", "/nowhere"], 1, "/nowhere");
    refused(&["--strategy", "takers-1", "--param", "max_position=\"many\""], 1, "log is");
    let output = recorded.home.colo(&["replay", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(recorded.home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_replay_that_is_interrupted_has_no_result() {
    let recorded = Recorded::new(true, "");
    // So slow that it does not end by itself.
    for more in [&["--strategy", "makers-1", "--speed", "0.0001"][..], &["--speed", "0.0001"]] {
        let arguments = [&["replay", &recorded.folder, "--format", "json"], more].concat();
        let child = recorded.home.command(&arguments).spawn().expect("colo starts");
        recorded.home.wait_for("its instance", || !recorded.home.left().is_empty());
        std::thread::sleep(std::time::Duration::from_millis(500));
        home::kill(child.id(), "INT");
        let (sender, ended) = std::sync::mpsc::channel();
        let pid = child.id();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let output = match ended.recv_timeout(std::time::Duration::from_secs(60)) {
            Ok(output) => output.expect("its output"),
            Err(_) => {
                home::kill(pid, "KILL");
                panic!("{more:?} hangs\n{}", recorded.home.logs());
            }
        };
        assert_eq!(output.status.code(), Some(1), "{more:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{more:?}: a part of it is no result");
        assert!(stderr(&output).contains("interrupted"), "{more:?}: {}", stderr(&output));
        assert_eq!(recorded.home.left(), Vec::<PathBuf>::new());
    }
}

/// A recording that an earlier release made, in a folder of its own.
struct Released {
    home: Home,
    folder: String,
}

impl Released {
    fn new(from: &Path) -> Released {
        let home = Home::new();
        let folder = home.state_path().join("recordings/released/20261128T100000.000Z");
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in ["00000001.seg.zst", "newest"] {
            std::fs::copy(from.join(name), folder.join(name)).expect("copied");
        }
        Released { home, folder: folder.display().to_string() }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.home.json(&[arguments, &["--format", "json"]].concat())
    }

    /// Every journal is whole, and every frame a message that this release knows.
    fn reads(&self) {
        let verified = self.json(&["journal", "verify", "--recording", &self.folder]);
        assert_eq!(verified["findings"], serde_json::json!([]), "{verified:#}");
        let listed = self.json(&["journal", "ls", "--recording", &self.folder]);
        let mut frames = 0;
        for journal in listed["journals"].as_array().expect("journals") {
            let name = journal["journal"].as_str().expect("a name");
            let dumped =
                self.home.colo(&["journal", "dump", name, "--recording", &self.folder, "--format", "json"]);
            let dumped = stdout(&dumped);
            for line in dumped.lines() {
                let frame: Value = serde_json::from_str(line).expect("an object");
                assert!(frame["message"].is_string() && frame["fields"].is_object(), "{name}: {frame}");
            }
            assert_eq!(dumped.lines().count() as u64, number(&journal["frames"]), "{name}");
            frames += dumped.lines().count();
        }
        assert!(frames > 300, "{frames}");
    }

    fn repeats(&self, strategy: &str) {
        let checked = self.json(&["replay", &self.folder, "--strategy", strategy, "--check"]);
        assert_eq!(checked["identical"], true, "{checked:#}");
        assert!(number(&checked["requests"]) > 10, "{checked}");
    }
}

#[test]
fn recordings_of_every_released_version_are_read_repeated_and_gone_on_with() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released");
    let versions: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("versions")
        .map(|version| version.expect("an entry").path())
        .collect();
    assert!(!versions.is_empty());
    for version in versions {
        let desk = Released::new(&version.join("desk"));
        desk.reads();
        desk.repeats("noise-1");
        let one = Released::new(&version.join("lock-step"));
        one.reads();
        one.repeats("takers-1");
        let report = one.json(&["up", "--recover", &one.folder]);
        let ran = |name: &str| number(&report[name]);
        assert!(ran("quotes") > 0 && ran("orders") > 0 && ran("fills") > 0, "{report}");
        assert_eq!(one.home.left(), Vec::<PathBuf>::new());
    }
}
