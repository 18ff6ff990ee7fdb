//! A platform of real processes whose parts are killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journal::process::ProcessIdentity;
use journal::{JournalFiles, Registry};
use node::{NodeState, Phase};
use serde_json::Value;

use crate::kind::{Kind, Pair};
use crate::load::Load;
use crate::stopping::Stage;
use crate::witness::Witness;

/// Whatever takes longer than this hangs.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Longest pause between two kills: some hit a process that has just begun, some one that has long been at work.
const LONGEST_PAUSE: u64 = 90;
/// Master's seat.
const MASTER: u32 = 0;
const NOBODY: ProcessIdentity = ProcessIdentity { pid: 0, start: 0 };

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
    load: Load,
}

impl Platform {
    /// Starts it and waits until it runs. The witness joins as soon as there are journals: nothing is in them yet.
    pub(crate) fn up(load: Load) -> (Platform, Witness) {
        (0..5).find_map(|_| Platform::witnessed(load)).expect("a host on which a witness comes in time")
    }

    /// `None` when the witness came too late: nothing is shown by that platform.
    fn witnessed(load: Load) -> Option<(Platform, Witness)> {
        let root = tempfile::Builder::new().prefix("colo-test-").tempdir_in("/dev/shm").expect("room");
        let state = tempfile::tempdir().expect("a temporary folder");
        let mut platform = Platform { root, state, registry: None, load };
        let text = load
            .file()
            .replace("RECORDINGS", &platform.state.path().join("recordings").display().to_string());
        std::fs::write(platform.file(), text).expect("the platform's file");
        if let Some((name, day)) = load.day() {
            std::fs::write(platform.state.path().join(name), day).expect("a recorded day");
        }
        let up = platform.start_up();
        platform.wait_for("the journals", || platform.journals().len() == load.journals());
        let witness = Witness::join(&platform);
        platform.await_up(up);
        let path = platform.instance().join("registry");
        platform.registry = Some(Registry::open_read_only(&path).expect("a registry"));
        Some((platform, witness?))
    }

    /// Stops it in good order; its report.
    pub(crate) fn down(&self) -> Value {
        self.ask("down")
    }

    /// Stops it while a process of this kind dies. The exit code and the report of the stop.
    pub(crate) fn down_while_dies(
        &self,
        kind: Kind,
        stage: Stage,
        chance: &mut Chance,
    ) -> (Option<i32>, Value) {
        let seats = self.seats(kind);
        let seat = seats[chance.below(seats.len() as u64) as usize];
        let pause = Duration::from_millis(chance.below(20));
        if stage == Stage::Before {
            self.kill_one(seat, NOBODY);
        }
        let mut asked = self.start(&["down", "recovery", "--format", "json"], Stdio::piped());
        let ends = || asked.try_wait().expect("a child").is_some();
        self.strike(seat, stage, pause, ends);
        self.wait_for("the end", || asked.try_wait().expect("a child").is_some());
        let output = asked.wait_with_output().expect("its output");
        let report = serde_json::from_slice(&output.stdout);
        (
            output.status.code(),
            report.unwrap_or_else(|_| panic!("{}\n{}", String::from_utf8_lossy(&output.stderr), self.logs())),
        )
    }

    /// Kills the process in this seat at that stage of the stop, unless the stop `ends` before.
    fn strike(&self, seat: u32, stage: Stage, pause: Duration, mut ends: impl FnMut() -> bool) {
        let registry = self.registry.as_ref().expect("it is up");
        let is_stopping = || registry.phase() == Phase::Stopping.to_word();
        let senders: Vec<u32> =
            [Kind::Strategy, Kind::Host].iter().flat_map(|kind| self.seats(*kind)).collect();
        let have_ended = || {
            let ended = |seat: &u32| {
                matches!(self.state(*seat), NodeState::Stopped | NodeState::Dead | NodeState::Failed)
            };
            senders.iter().all(ended)
        };
        let mut comes = |holds: &dyn Fn() -> bool| {
            self.wait_for("the stage", || holds() || ends());
            holds()
        };
        match stage {
            Stage::Before => {}
            Stage::Asked | Stage::Twice => {
                if comes(&is_stopping) {
                    std::thread::sleep(pause);
                    let killed = self.kill_one(seat, NOBODY);
                    let lives = || self.process(seat) != killed && self.process(seat).is_alive();
                    if stage == Stage::Twice && comes(&lives) {
                        std::thread::sleep(pause);
                        self.kill_one(seat, killed);
                    }
                }
            }
            Stage::Settling => {
                if comes(&have_ended) {
                    self.kill_one(seat, NOBODY);
                }
            }
            Stage::Draining => {
                if comes(&|| self.state(seat) == NodeState::Stopping) {
                    self.kill_one(seat, NOBODY);
                }
            }
        }
    }

    fn process(&self, seat: u32) -> ProcessIdentity {
        let registry = self.registry.as_ref().expect("it is up");
        registry.seat(seat).expect("a seat").process()
    }

    /// Kills the process in this seat, if it is another one.
    fn kill_one(&self, seat: u32, other: ProcessIdentity) -> ProcessIdentity {
        let process = self.process(seat);
        if process != other && process.is_alive() {
            signal(process.pid, "KILL");
        }
        process
    }

    pub(crate) fn status(&self) -> Value {
        self.ask("status")
    }

    fn ask(&self, verb: &str) -> Value {
        let mut asked = self.start(&[verb, "recovery", "--format", "json"], Stdio::piped());
        self.wait_for("the end", || asked.try_wait().expect("a child").is_some());
        let output = asked.wait_with_output().expect("its output");
        assert!(output.status.success(), "{}", self.logs());
        serde_json::from_slice(&output.stdout).expect("a report")
    }

    /// What `colo audit` finds in the recording of its run; nothing where it is not recorded.
    pub(crate) fn audited(&self) -> Vec<String> {
        let recordings = self.state.path().join("recordings");
        if !recordings.exists() {
            return Vec::new();
        }
        let folder = recordings.display().to_string();
        let asked = self.start(&["audit", "--recording", &folder], Stdio::piped());
        let output = asked.wait_with_output().expect("its output");
        if output.status.success() {
            return Vec::new();
        }
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        vec![format!("`colo audit` ends with {:?}: {text}{errors}", output.status.code())]
    }

    /// What is left of it after `down`: files under its root, and processes that were started for it.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for entry in std::fs::read_dir(self.root.path()).into_iter().flatten().flatten() {
            left.push(format!("the file {}", entry.path().display()));
        }
        let ours = format!("COLO_ROOT={}", self.root.path().display());
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            // Of processes that are not ours the environment cannot be read, and of those that ended it is empty.
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes()) {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                left.push(format!("process {}: {line}", entry.file_name().display()));
            }
        }
        left
    }

    fn file(&self) -> PathBuf {
        self.state.path().join("recovery.toml")
    }

    /// `colo up`: starts it, or takes over what runs without a master.
    fn start_up(&self) -> Child {
        let file = self.file().display().to_string();
        let settings = self.load.settings().iter().flat_map(|setting| ["--set", setting]);
        let arguments = [&["up", &file, "--stay"], &settings.collect::<Vec<_>>()[..]].concat();
        self.start(&arguments, Stdio::null())
    }

    fn await_up(&self, mut up: Child) {
        self.wait_for("the platform", || up.try_wait().expect("a child").is_some());
        let output = up.wait_with_output().expect("its output");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}\n{}", self.logs());
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

    fn start(&self, arguments: &[&str], stdout: Stdio) -> Child {
        Command::new(env!("CARGO_BIN_EXE_colo"))
            .env("COLO_RUNS", "")
            .args(arguments)
            .env("COLO_ROOT", self.root.path())
            .env("XDG_STATE_HOME", self.state.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .expect("colo starts")
    }

    /// The seats of all processes of a kind.
    pub(crate) fn seats(&self, kind: Kind) -> Vec<u32> {
        let registry = self.registry.as_ref().expect("it is up");
        (0..registry.seats()).filter(|seat| kind.is(&registry.name(*seat), self.load)).collect()
    }

    /// Kills the processes of these kinds in turn, `kills` times, at random moments, and waits for the last of them.
    pub(crate) fn kill(&self, kinds: &[Kind], kills: u64, chance: &mut Chance) {
        let seats: Vec<u32> = kinds.iter().flat_map(|kind| self.seats(*kind)).collect();
        let mut killed = BTreeMap::new();
        for number in 0..kills {
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            let seat = seats[(number % seats.len() as u64) as usize];
            self.kill_at(&[seat], Duration::ZERO, &mut killed);
        }
        self.settle(&killed);
    }

    /// Kills one process of each of two kinds at once, `kills` times; sometimes one a moment after the other.
    pub(crate) fn kill_together(&self, pair: Pair, kills: u64, chance: &mut Chance) {
        let seats = pair.map(|kind| self.seats(kind));
        assert!(seats.iter().all(|seats| !seats.is_empty()), "{pair:?}: no such process");
        let mut killed = BTreeMap::new();
        for _ in 0..kills {
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            let first = seats[0][chance.below(seats[0].len() as u64) as usize];
            let others: Vec<u32> = seats[1].iter().copied().filter(|seat| *seat != first).collect();
            let mut victims = [first, others[chance.below(others.len() as u64) as usize]];
            if chance.below(2) == 0 {
                victims.reverse();
            }
            let pause = Duration::from_millis(chance.below(2) * chance.below(8));
            self.kill_at(&victims, pause, &mut killed);
        }
        self.settle(&killed);
    }

    /// Kills the processes in these seats, once all of them live. A new master takes over at once.
    fn kill_at(&self, seats: &[u32], pause: Duration, killed: &mut BTreeMap<u32, ProcessIdentity>) {
        for seat in seats {
            let process = self.await_process(*seat, killed.get(seat).copied().unwrap_or(NOBODY));
            killed.insert(*seat, process);
        }
        for (number, seat) in seats.iter().enumerate() {
            if number > 0 {
                std::thread::sleep(pause);
            }
            signal(killed[seat].pid, "KILL");
        }
        if seats.contains(&MASTER) {
            self.wait_for("the end of master", || !killed[&MASTER].is_alive());
            self.await_up(self.start_up());
        }
    }

    /// Waits until the successors of all who were killed run, and have caught up.
    fn settle(&self, killed: &BTreeMap<u32, ProcessIdentity>) {
        for (seat, process) in killed {
            self.await_process(*seat, *process);
            self.wait_for("a process that runs", || self.state(*seat) == NodeState::Running);
        }
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Stops the process in seat `reader` until what it does not read is full, and kills the one in seat `writer` then:
    /// it has messages in hand that it could not write.
    pub(crate) fn kill_before_full(&self, writer: Kind, reader: Kind, kills: u64, chance: &mut Chance) {
        let [writer, reader] = [writer, reader].map(|kind| self.seats(kind)[0]);
        let mut last = NOBODY;
        for _ in 0..kills {
            let stopped = self.await_process(reader, NOBODY);
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

    /// Stops the process `answers` of these kinds until much waits for it, and then `reader`, which does not read what
    /// comes of that; kills `writer` when it has held it for a while.
    pub(crate) fn kill_with_unread(
        &self,
        [writer, answers, reader]: [Kind; 3],
        kills: u64,
        chance: &mut Chance,
    ) {
        let [writer, answers, reader] = [writer, answers, reader].map(|kind| self.seats(kind)[0]);
        let mut last = NOBODY;
        for _ in 0..kills {
            let [answers, reader] = [answers, reader].map(|seat| self.await_process(seat, NOBODY).pid);
            signal(answers, "STOP");
            std::thread::sleep(Duration::from_millis(100));
            signal(reader, "STOP");
            signal(answers, "CONT");
            std::thread::sleep(Duration::from_millis(50 + chance.below(LONGEST_PAUSE)));
            last = self.await_process(writer, last);
            signal(last.pid, "KILL");
            std::thread::sleep(Duration::from_millis(chance.below(LONGEST_PAUSE)));
            signal(reader, "CONT");
            self.await_process(writer, last);
            self.wait_for("a process that runs", || self.state(writer) == NodeState::Running);
            std::thread::sleep(Duration::from_millis(100 + chance.below(LONGEST_PAUSE)));
        }
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Stops the process of one kind until nothing comes of it any more, and kills that of another then.
    pub(crate) fn kill_in_a_pause(&self, source: Kind, victim: Kind, kills: u64, chance: &mut Chance) {
        let [source, victim] = [source, victim].map(|kind| self.seats(kind)[0]);
        let mut killed = BTreeMap::new();
        for _ in 0..kills {
            let stopped = self.await_process(source, NOBODY);
            signal(stopped.pid, "STOP");
            std::thread::sleep(Duration::from_millis(500 + chance.below(LONGEST_PAUSE)));
            self.kill_at(&[victim], Duration::ZERO, &mut killed);
            self.await_process(victim, killed[&victim]);
            signal(stopped.pid, "CONT");
            std::thread::sleep(Duration::from_millis(200 + chance.below(LONGEST_PAUSE)));
        }
        self.settle(&killed);
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
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// All of one node's log.
    pub(crate) fn whole_log(&self, node: &str) -> String {
        let path = self.state.path().join(format!("colo/recovery/{node}.log"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
