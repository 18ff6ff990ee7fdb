//! Locks that are held decide who lives, and not start times: those differ between time namespaces, and change when a process is
//! restored from a checkpoint.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};

use home::{Home, kill, number, stderr, stdout};
use journal::layout::{control, registry};
use journal::{Journal, JournalFiles, WriterState};

const PLATFORM: &str = r#"
[platform]
instance = "elsewhen"
[md]
instruments = 2
interval = "10ms"
count = 0
[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 1
"#;

/// Adds to a word of a file in shared memory.
fn shift(file: &Path, word: usize) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let (mut bytes, at) = ([0; 8], word as u64 * 8);
    file.read_exact_at(&mut bytes, at).unwrap();
    if bytes != [0; 8] {
        file.write_all_at(&(u64::from_le_bytes(bytes) + 7).to_le_bytes(), at).unwrap();
    }
}

/// A platform whose master was killed; everybody else runs.
struct Left {
    home: Home,
    file: String,
    nodes: Vec<(String, u64)>,
    head: u64,
}

fn left() -> Left {
    let home = Home::new();
    let file = home.state_path().join("elsewhen.toml");
    std::fs::write(&file, PLATFORM).unwrap();
    let file = file.display().to_string();
    let up = home.colo(&["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let status = home.json(&["status", "elsewhen", "--format", "json"]);
    let of = |node: &serde_json::Value| (node["node"].as_str().unwrap().to_owned(), number(&node["pid"]));
    let nodes: Vec<_> = status["nodes"].as_array().unwrap().iter().map(of).collect();
    let master = nodes.iter().find(|(name, _)| name == "master").unwrap().1;
    kill(u32::try_from(master).unwrap(), "KILL");
    home.wait_for("its end", || !Path::new(&format!("/proc/{master}")).exists());
    let nodes = nodes.into_iter().filter(|(name, _)| name != "master").collect();
    let left = Left { head: 0, home, file, nodes };
    Left { head: left.head(), ..left }
}

impl Left {
    fn journals(&self) -> std::path::PathBuf {
        self.home.root.path().join("elsewhen/journals")
    }

    fn quotes(&self) -> Journal {
        Journal::open_read_only(JournalFiles::new(&self.journals(), &self.journals(), "md.quotes")).unwrap()
    }

    fn head(&self) -> u64 {
        self.quotes().head()
    }

    /// Every node runs, in the process that it had.
    fn all_run(&self, run: &impl Fn(&[&str]) -> Output) {
        let status = run(&["status", "elsewhen", "--format", "json"]);
        let status: serde_json::Value = serde_json::from_str(&stdout(&status)).unwrap();
        for (name, pid) in &self.nodes {
            let node =
                status["nodes"].as_array().unwrap().iter().find(|node| node["node"] == **name).unwrap();
            assert_eq!(node["state"], "running", "{node}");
            assert_eq!(number(&node["pid"]), *pid, "{node}");
        }
    }

    /// As `run` sees it: no node is dead, and nothing is replaced; then the platform is taken down.
    fn stays_untouched(self, run: impl Fn(&[&str]) -> Output) {
        self.all_run(&run);
        let up = run(&["up", &self.file, "--stay"]);
        assert!(!up.status.success(), "{}{}", stdout(&up), stderr(&up));
        assert!(!stderr(&up).contains("replaced"), "{}", stderr(&up));
        assert!(stderr(&up).contains("processes hold its journals"), "{}", stderr(&up));
        let listed = run(&["journal", "ls", "--instance", "elsewhen", "--format", "json"]);
        assert!(!stdout(&listed).contains("\"dead\""), "{}", stdout(&listed));
        self.home.wait_for("quotes in the journal of before", || self.head() > self.head);
        self.goes_down(&run);
    }

    /// A new master takes over, starts nothing again, and ends all.
    fn goes_to_the_next_master(self, run: impl Fn(&[&str]) -> Output) {
        self.all_run(&run);
        let up = run(&["up", &self.file, "--stay"]);
        assert!(up.status.success(), "{}{}\n{}", stdout(&up), stderr(&up), self.home.logs());
        self.home.wait_for("quotes in the journal of before", || self.head() > self.head);
        // Master looks at every node four times a second.
        std::thread::sleep(std::time::Duration::from_secs(1));
        self.all_run(&run);
        self.goes_down(&run);
    }

    fn goes_down(self, run: &impl Fn(&[&str]) -> Output) {
        let down = run(&["down", "elsewhen"]);
        assert!(down.status.success(), "{}{}", stdout(&down), stderr(&down));
        for (name, pid) in &self.nodes {
            self.home.wait_for(name, || !Path::new(&format!("/proc/{pid}")).exists());
        }
        assert!(self.home.left().is_empty());
    }
}

#[test]
fn processes_that_were_restored_from_a_checkpoint_are_taken_over_and_not_replaced() {
    let left = left();
    // Restored, each has another start time than the one that it noted.
    let folder = left.home.root.path().join("elsewhen");
    for seat in 0..64 {
        let record = registry::RECORDS + seat * registry::RECORD_WORDS;
        shift(&folder.join("registry"), record + registry::START);
    }
    for entry in std::fs::read_dir(left.journals()).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "ctl") {
            shift(&entry.path(), control::WRITER_START);
        }
    }
    assert!(matches!(left.quotes().stat().writer, WriterState::Attached(_)));
    let home = Path::new(left.home.root.path()).to_owned();
    let state = left.home.state_path().to_owned();
    left.goes_to_the_next_master(|arguments| {
        colo(Command::new(env!("CARGO_BIN_EXE_colo")), &home, &state, arguments)
    });
}

#[test]
fn processes_of_another_time_namespace_are_not_replaced() {
    let there = ["-T", "--boottime", "100000", "--fork", "--"];
    let probe = Command::new("unshare").args(there).arg("true").output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: no time namespace can be made here (unshare -T)");
        return;
    }
    let left = left();
    let home = Path::new(left.home.root.path()).to_owned();
    let state = left.home.state_path().to_owned();
    left.stays_untouched(|arguments| {
        let mut command = Command::new("unshare");
        command.args(there).arg(env!("CARGO_BIN_EXE_colo"));
        colo(command, &home, &state, arguments)
    });
}

fn colo(mut command: Command, home: &Path, state: &Path, arguments: &[&str]) -> Output {
    command.args(arguments).env("COLO_ROOT", home).env("XDG_STATE_HOME", state).env("COLO_RUNS", "");
    command.output().unwrap()
}
