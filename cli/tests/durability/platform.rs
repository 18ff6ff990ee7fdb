//! A platform of real processes with a recorder, of which some or all are killed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journal::process::ProcessIdentity;
use journal::{Journal, JournalFiles, Registry};
use node::{Counter, NodeState};
use serde_json::Value;

/// Small rings, so that they go round many times; restarts without end; snapshots often; small segments.
const CONFIG: &str = r#"
[platform]
instance = "durable"

[master]
# A disk that others use too may take seconds for what a recorder writes before its journals have room.
ready_timeout = "120s"

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 0
seed = 7
generator = "timed"

[td]
max_working_orders = 0

[ledger]
snapshot = "20ms"

[journal]
td.orders.capacity = "64KiB"
matching.capacity = "64KiB"
orders.capacity = "64KiB"
reports.capacity = "64KiB"
reports.durability = "sync"
ledger.capacity = "256KiB"

[[recorder]]
name = "recorder"
path = "recordings"
segment = "1MiB"
compress = 1
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"
#RECORDER#

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
params = { max_position = 50 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
instruments = "all"
params = { max_age_ms = 20, refresh_ms = 5 }
"#;

/// Eight of the platform's own, two of each strategy.
pub(crate) const JOURNALS: usize = 8 + 4 + 4;
/// The recorder's name.
pub(crate) const RECORDER: &str = "recorder";
/// Whatever takes longer than this hangs.
const WATCHDOG: Duration = Duration::from_secs(180);

/// Numbers that look random, the same for the same seed.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// One platform, in a root of its own, with its recordings on disk.
pub(crate) struct Platform {
    root: tempfile::TempDir,
    state: tempfile::TempDir,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Platform {
    /// Not started yet. `recorder`: more keys of the recorder.
    pub(crate) fn new(recorder: &str) -> Platform {
        Platform::with(recorder, &[])
    }

    /// The same, with parts of the file replaced.
    pub(crate) fn with(recorder: &str, replaced: &[(&str, &str)]) -> Platform {
        let root = tempfile::Builder::new().prefix("colo-test-").tempdir_in("/dev/shm").expect("room");
        let state = tempfile::tempdir().expect("a temporary folder");
        let platform = Platform { root, state, environment: Vec::new() };
        let mut file = CONFIG.replace("#RECORDER#", recorder);
        for (old, new) in replaced {
            assert!(file.contains(old), "{old} is not in the platform's file");
            file = file.replace(old, new);
        }
        std::fs::write(platform.file(), file).expect("the platform's file");
        platform
    }

    /// Programs are started with this variable too from now on.
    pub(crate) fn set(&mut self, name: &'static str, value: PathBuf) {
        self.environment.push((name, value));
    }

    fn file(&self) -> PathBuf {
        self.state.path().join("durable.toml")
    }

    pub(crate) fn start_up(&self) -> Child {
        self.start(&["up", &self.file().display().to_string(), "--stay"], Stdio::null())
    }

    /// From what is on disk.
    pub(crate) fn start_again(&self) -> Child {
        self.start_again_from(&[self.recordings()])
    }

    /// From the recordings of several recorders.
    pub(crate) fn start_again_from(&self, folders: &[PathBuf]) -> Child {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let recover = folders.iter().flat_map(|folder| ["--recover", folder]);
        let arguments: Vec<&str> = ["up"].into_iter().chain(recover).chain(["--stay"]).collect();
        self.start(&arguments, Stdio::null())
    }

    /// A folder beside the platform's file.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    pub(crate) fn await_up(&self, mut up: Child) {
        self.wait_for("the platform", || up.try_wait().expect("a child").is_some());
        let output = up.wait_with_output().expect("its output");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}\n{}", self.logs());
    }

    pub(crate) fn recordings(&self) -> PathBuf {
        self.state.path().join("recordings")
    }

    /// The recordings of all runs so far, in order.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.recordings().join("durable")).expect("recordings");
        let mut runs: Vec<PathBuf> =
            entries.map(|entry| entry.expect("a run").path()).filter(|path| path.is_dir()).collect();
        runs.sort();
        runs
    }

    fn instance(&self) -> PathBuf {
        self.root.path().join("durable")
    }

    /// All journals, by name.
    pub(crate) fn journals(&self) -> Vec<(String, JournalFiles)> {
        let folder = self.instance().join("journals");
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let names =
            entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".ctl")?.to_owned()));
        names.map(|name| (name.clone(), JournalFiles::new(&folder, &folder, &name))).collect()
    }

    pub(crate) fn down(&self) -> Value {
        self.ask("down")
    }

    pub(crate) fn status(&self) -> Value {
        self.ask("status")
    }

    /// Exit code and what is printed, on both ways.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut run = self.start(arguments, Stdio::piped());
        let mut stdout = run.stdout.take().expect("a pipe");
        let read = std::thread::spawn(move || std::io::read_to_string(&mut stdout));
        self.wait_for("the end", || run.try_wait().expect("a child").is_some());
        let text = read.join().expect("it reads").expect("its output");
        let output = run.wait_with_output().expect("its output");
        (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
    }

    fn ask(&self, verb: &str) -> Value {
        self.ask_for_exit(verb).1
    }

    /// The same, with the exit code.
    pub(crate) fn ask_for_exit(&self, verb: &str) -> (Option<i32>, Value) {
        let mut asked = self.start(&[verb, "durable", "--format", "json"], Stdio::piped());
        // Read beside the wait: a report may be longer than a pipe holds.
        let mut stdout = asked.stdout.take().expect("a pipe");
        let read = std::thread::spawn(move || std::io::read_to_string(&mut stdout));
        self.wait_for("the end", || asked.try_wait().expect("a child").is_some());
        let text = read.join().expect("it reads").expect("its output");
        let output = asked.wait_with_output().expect("its output");
        let errors = String::from_utf8_lossy(&output.stderr);
        let printed = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}\n{errors}\n{}", self.logs()));
        (output.status.code(), printed)
    }

    fn start(&self, arguments: &[&str], stdout: Stdio) -> Child {
        Command::new(env!("CARGO_BIN_EXE_colo"))
            .env("COLO_RUNS", "")
            .args(arguments)
            .envs(self.environment.clone())
            .env("COLO_ROOT", self.root.path())
            .env("XDG_STATE_HOME", self.state.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .expect("colo starts")
    }

    pub(crate) fn registry(&self) -> Registry {
        Registry::open_read_only(&self.instance().join("registry")).expect("a registry")
    }

    fn seat_of(&self, registry: &Registry, node: &str) -> u32 {
        (0..registry.seats()).find(|seat| registry.name(*seat) == node).expect("such a node")
    }

    pub(crate) fn process(&self, node: &str) -> ProcessIdentity {
        let registry = self.registry();
        registry.seat(self.seat_of(&registry, node)).expect("a seat").process()
    }

    pub(crate) fn counter(&self, node: &str, counter: Counter) -> u64 {
        let registry = self.registry();
        registry.seat(self.seat_of(&registry, node)).expect("a seat").counter(counter as usize)
    }

    pub(crate) fn state(&self, node: &str) -> NodeState {
        let registry = self.registry();
        let seat = registry.seat(self.seat_of(&registry, node)).expect("a seat");
        NodeState::from_word(seat.state()).unwrap_or(NodeState::Empty)
    }

    /// Kills the process of a node, and waits until its successor runs.
    pub(crate) fn kill_and_await(&self, node: &str) {
        let killed = self.process(node);
        signal(killed.pid, "KILL");
        self.wait_for("a successor", || {
            let process = self.process(node);
            process != killed && process.is_alive() && self.state(node) == NodeState::Running
        });
    }

    /// Kills every process at once.
    pub(crate) fn kill_everything(&self) {
        let registry = self.registry();
        let all = || (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process()));
        let alive: Vec<ProcessIdentity> = all().filter(|process| process.is_alive()).collect();
        let pids: Vec<String> = alive.iter().map(|process| process.pid.to_string()).collect();
        let killed = Command::new("kill").arg("-KILL").args(&pids).stderr(Stdio::null()).status();
        assert!(killed.is_ok_and(|status| status.success()), "they were all there");
        self.wait_for("the end of all", || all().all(|process| !process.is_alive()));
    }

    /// What was in memory is no more.
    pub(crate) fn forget(&mut self) {
        std::fs::remove_dir_all(self.instance()).expect("the instance's folder");
    }

    /// By journal: up to where the recorder has said that it is on disk.
    pub(crate) fn kept_by_recorder(&self) -> BTreeMap<String, u64> {
        let registry = self.registry();
        let seat = self.seat_of(&registry, RECORDER);
        let kept = |(name, files): (String, JournalFiles)| {
            let stat = Journal::open(files).expect("a journal").stat();
            let reader = stat.readers.iter().find(|reader| reader.seat == seat)?;
            Some((name, reader.holds.unwrap_or(reader.position)))
        };
        self.journals().into_iter().filter_map(kept).collect()
    }

    pub(crate) fn wait_for(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let patience = Instant::now() + WATCHDOG;
        while !holds() {
            assert!(Instant::now() < patience, "{what} does not come\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The ends of all nodes' logs.
    pub(crate) fn logs(&self) -> String {
        let folder = self.state.path().join("colo/durable");
        let mut text = String::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let log = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            text.push_str(&format!("--- {}\n", entry.file_name().display()));
            text.push_str(&lines[lines.len().saturating_sub(30)..].join("\n"));
            text.push('\n');
        }
        text
    }
}

impl Drop for Platform {
    /// A test that failed leaves nobody running.
    fn drop(&mut self) {
        let Ok(registry) = Registry::open_read_only(&self.instance().join("registry")) else { return };
        for seat in 0..registry.seats() {
            if let Some(process) = registry.seat(seat).map(|seat| seat.process())
                && process.is_alive()
            {
                signal(process.pid, "KILL");
            }
        }
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}
