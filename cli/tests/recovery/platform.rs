//! A platform of real processes whose parts are killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journal::{JournalFiles, ProcessIdentity, Registry};
use node::NodeState;

use crate::witness::Witness;

/// Whatever takes longer than this hangs.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Longest pause between two kills: some hit a process that has just begun, some one that has long been at work.
const LONGEST_PAUSE: u64 = 90;

/// Seven of the platform's own, two a strategy.
const JOURNALS: usize = 7 + 2 * 4;

/// What the strategies are like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// They wait for answers: nothing is ever full.
    Steady,
    /// Some ask at every quote, answered or not: what a stopped reader does not take soon fills its journal.
    Flood,
    /// The same, with a matching process that is not started again.
    Closing,
}

impl Load {
    /// Overrides of the platform's file.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Load::Steady => &[],
            Load::Flood => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
            ],
            Load::Closing => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
                "matching.restart=never",
            ],
        }
    }
}

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
max_working_orders = 0
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
td.orders.capacity = "64KiB"
matching.capacity = "64KiB"
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
    /// Starts it and waits until it runs. The witness joins as soon as there are journals: nothing is in them yet.
    pub(crate) fn up(load: Load) -> (Platform, Witness) {
        let root = tempfile::Builder::new().prefix("colo-test-").tempdir_in("/dev/shm").expect("room");
        let state = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(state.path().join("recovery.toml"), CONFIG).expect("the platform's file");
        let mut platform = Platform { root, state, registry: None };
        let file = platform.state.path().join("recovery.toml").display().to_string();
        let settings = load.settings().iter().flat_map(|setting| ["--set", setting]);
        let mut up = platform.start(&[&["up", &file, "--stay"], &settings.collect::<Vec<_>>()[..]].concat());
        platform.wait_for("the journals", || platform.journals().len() == JOURNALS);
        let witness = Witness::join(&platform);
        platform.wait_for("the platform", || up.try_wait().expect("a child").is_some());
        assert!(up.wait().is_ok_and(|status| status.success()), "{}", platform.logs());
        let path = platform.instance().join("registry");
        platform.registry = Some(Registry::open_read_only(&path).expect("a registry"));
        (platform, witness)
    }

    /// Stops it in good order.
    pub(crate) fn down(&self) {
        let mut down = self.start(&["down", "recovery"]);
        self.wait_for("the end", || down.try_wait().expect("a child").is_some());
        assert!(down.wait().is_ok_and(|status| status.success()), "{}", self.logs());
    }

    fn instance(&self) -> PathBuf {
        self.root.path().join("recovery")
    }

    /// All journals, by name.
    pub(crate) fn journals(&self) -> Vec<(String, JournalFiles)> {
        let folder = self.instance().join("journals");
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let names =
            entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".ctl")?.to_owned()));
        names.map(|name| (name.clone(), JournalFiles::new(&folder, &folder, &name))).collect()
    }

    fn start(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_colo"))
            .args(arguments)
            .env("COLO_ROOT", self.root.path())
            .env("XDG_STATE_HOME", self.state.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("colo starts")
    }

    /// Kills the processes in `seats` in turn, `kills` times, at random moments, and waits for the last of them.
    pub(crate) fn kill(&self, seats: &[u32], kills: u64, chance: &mut Chance) {
        let mut last = ProcessIdentity { pid: 0, start: 0 };
        for number in 0..kills {
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            let seat = seats[(number % seats.len() as u64) as usize];
            last = self.await_process(seat, last);
            signal(last.pid, "KILL");
        }
        for &seat in seats {
            self.await_process(seat, last);
            self.wait_for("a process that runs", || self.state(seat) == NodeState::Running);
        }
        // What the last one has to catch up with.
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Stops the process in seat `reader` until what it does not read is full, and kills the one in seat `writer` then:
    /// it has messages in hand that it could not write.
    pub(crate) fn kill_before_full(&self, writer: u32, reader: u32, kills: u64, chance: &mut Chance) {
        let mut last = ProcessIdentity { pid: 0, start: 0 };
        for _ in 0..kills {
            let stopped = self.await_process(reader, ProcessIdentity { pid: 0, start: 0 });
            signal(stopped.pid, "STOP");
            std::thread::sleep(Duration::from_millis(100 + chance.below(LONGEST_PAUSE)));
            last = self.await_process(writer, last);
            signal(last.pid, "KILL");
            // Sometimes its successor finds its journal full still.
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            signal(stopped.pid, "CONT");
            self.await_process(writer, last);
            self.wait_for("a process that runs", || self.state(writer) == NodeState::Running);
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
        }
        std::thread::sleep(Duration::from_millis(300));
    }

    /// The next process in a seat that lives and is not the one that was killed.
    fn await_process(&self, seat: u32, killed: ProcessIdentity) -> ProcessIdentity {
        let registry = self.registry.as_ref().expect("it is up");
        let process = || registry.seat(seat).expect("a seat").process();
        self.wait_for("a successor", || process() != killed && process().is_alive());
        process()
    }

    fn state(&self, seat: u32) -> NodeState {
        let registry = self.registry.as_ref().expect("it is up");
        registry.seat(seat).and_then(|seat| NodeState::from_word(seat.state())).unwrap_or(NodeState::Empty)
    }

    fn wait_for(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let patience = Instant::now() + WATCHDOG;
        while !holds() {
            assert!(Instant::now() < patience, "{what} does not come\n{}", self.logs());
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
        let left =
            self.registry.take().or_else(|| Registry::open_read_only(&self.instance().join("registry")).ok());
        let Some(registry) = left else { return };
        for seat in 0..registry.seats() {
            if let Some(process) = registry.seat(seat).map(|seat| seat.process())
                && process.is_alive()
            {
                signal(process.pid, "KILL");
            }
        }
    }
}

fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}
