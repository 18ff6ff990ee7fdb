//! A platform of real processes whose parts are killed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use journal::{JournalFiles, ProcessIdentity, Registry};
use node::NodeState;

/// Whatever takes longer than this hangs.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Longest pause between two kills: some hit a process that has just begun, some one that has long been at work.
const LONGEST_PAUSE: u64 = 90;

/// Small rings, so that they go round many times; restarts without end; snapshots often.
const CONFIG: &str = r#"
[platform]
instance = "recovery"

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 0
seed = 7
generator = "timed"
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[td]
max_working_orders = 40
restart_max = 1000000
restart_backoff = "0s"

[matching]
restart_max = 1000000
restart_backoff = "0s"

[ledger]
snapshot = "20ms"
restart_max = 1000000
restart_backoff = "0s"

[journal]
td.orders.capacity = "256KiB"
matching.capacity = "256KiB"
orders.capacity = "64KiB"
reports.capacity = "64KiB"
ledger.capacity = "256KiB"

[strategies]
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

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

/// One running platform, in a root of its own.
pub(crate) struct Platform {
    root: tempfile::TempDir,
    state: tempfile::TempDir,
    registry: Option<Registry>,
}

impl Platform {
    /// Starts it and waits until it runs.
    pub(crate) fn up() -> Platform {
        let root = tempfile::Builder::new().prefix("colo-test-").tempdir_in("/dev/shm").expect("room");
        let state = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(state.path().join("recovery.toml"), CONFIG).expect("the platform's file");
        let mut platform = Platform { root, state, registry: None };
        let file = platform.state.path().join("recovery.toml").display().to_string();
        let up = platform.colo(&["up", &file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", String::from_utf8_lossy(&up.stderr), platform.logs());
        let path = platform.instance().join("registry");
        platform.registry = Some(Registry::open_read_only(&path).expect("a registry"));
        platform
    }

    /// Stops it in good order.
    pub(crate) fn down(&self) {
        let down = self.colo(&["down", "recovery"]);
        assert!(down.status.success(), "{}\n{}", String::from_utf8_lossy(&down.stderr), self.logs());
    }

    fn instance(&self) -> PathBuf {
        self.root.path().join("recovery")
    }

    /// All journals, by name.
    pub(crate) fn journals(&self) -> Vec<(String, JournalFiles)> {
        let folder = self.instance().join("journals");
        let entries = std::fs::read_dir(&folder).expect("journals").flatten();
        let names =
            entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".ctl")?.to_owned()));
        names.map(|name| (name.clone(), JournalFiles::new(&folder, &folder, &name))).collect()
    }

    fn colo(&self, arguments: &[&str]) -> Output {
        let child = Command::new(env!("CARGO_BIN_EXE_colo"))
            .args(arguments)
            .env("COLO_ROOT", self.root.path())
            .env("XDG_STATE_HOME", self.state.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("colo starts");
        let pid = child.id();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        match receiver.recv_timeout(WATCHDOG) {
            Ok(output) => output.expect("its output"),
            Err(_) => {
                kill(pid);
                panic!("`colo {}` hangs\n{}", arguments.join(" "), self.logs());
            }
        }
    }

    /// Kills the processes in `seats` in turn, `kills` times, at random moments, and waits for the last of them.
    pub(crate) fn kill(&self, seats: &[u32], kills: u64, chance: &mut Chance) {
        let mut last = ProcessIdentity { pid: 0, start: 0 };
        for number in 0..if seats.is_empty() { 0 } else { kills } {
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            let seat = seats[(number % seats.len() as u64) as usize];
            last = self.await_process(seat, last);
            kill(last.pid);
        }
        for &seat in seats {
            self.await_process(seat, last);
            self.wait_for(seat, "to run", || self.state(seat) == NodeState::Running);
        }
        // What the last one has to catch up with.
        std::thread::sleep(Duration::from_millis(300));
    }

    /// The next process in a seat that lives and is not the one that was killed.
    fn await_process(&self, seat: u32, killed: ProcessIdentity) -> ProcessIdentity {
        let registry = self.registry.as_ref().expect("it is up");
        let process = || registry.seat(seat).expect("a seat").process();
        self.wait_for(seat, "to come again", || process() != killed && process().is_alive());
        process()
    }

    fn state(&self, seat: u32) -> NodeState {
        let registry = self.registry.as_ref().expect("it is up");
        registry.seat(seat).and_then(|seat| NodeState::from_word(seat.state())).unwrap_or(NodeState::Empty)
    }

    fn wait_for(&self, seat: u32, what: &str, holds: impl Fn() -> bool) {
        let patience = Instant::now() + WATCHDOG;
        while !holds() {
            assert!(Instant::now() < patience, "seat {seat} does not come {what}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The ends of all nodes' logs.
    pub(crate) fn logs(&self) -> String {
        let folder = self.state.path().join("colo/recovery");
        let mut text = String::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let log = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            text.push_str(&format!("--- {}\n", Path::new(&entry.file_name()).display()));
            text.push_str(&lines[lines.len().saturating_sub(30)..].join("\n"));
            text.push('\n');
        }
        text
    }
}

impl Drop for Platform {
    /// A test that failed leaves nobody running.
    fn drop(&mut self) {
        let Some(registry) = &self.registry else { return };
        for seat in 0..registry.seats() {
            if let Some(process) = registry.seat(seat).map(|seat| seat.process())
                && process.is_alive()
            {
                kill(process.pid);
            }
        }
    }
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
}
