//! A place of its own for each test, and `colo` as a user runs it there.

#![allow(dead_code, reason = "no test program uses all of it")]

pub(crate) mod written;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A run that takes longer than this hangs.
const WATCHDOG: Duration = Duration::from_secs(120);

/// A home of its own for each test: instances, logs.
pub(crate) struct Home {
    pub(crate) root: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        let memory = Path::new("/dev/shm");
        Home {
            root: tempfile::Builder::new().prefix("colo-test-").tempdir_in(memory).expect("room in /dev/shm"),
            state: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Where logs lie.
    pub(crate) fn state_path(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colo"));
        command
            .args(arguments)
            .env("COLO_ROOT", self.root.path())
            .env("XDG_STATE_HOME", self.state.path())
            // Folders of runs only where a test asks for one.
            .env("COLO_RUNS", "")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs to the end, under the watchdog.
    pub(crate) fn colo(&self, arguments: &[&str]) -> Output {
        let child = self.command(arguments).spawn().expect("colo starts");
        let pid = child.id();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        match receiver.recv_timeout(WATCHDOG) {
            Ok(output) => output.expect("its output"),
            Err(_) => {
                kill(pid, "KILL");
                panic!("`colo {}` hangs\n{}", arguments.join(" "), self.logs());
            }
        }
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.colo(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}\n{text}\n{}\n{}", stderr(&output), self.logs())
        })
    }

    /// The demo with a recorder, which has `more` in its table: its file, and the folder with its recordings.
    pub(crate) fn recorded_platform(&self, more: &str) -> (String, String) {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/demo.toml");
        let demo = std::fs::read_to_string(demo).expect("the demo");
        let (file, folder) = (self.state.path().join("recorded.toml"), self.state.path().join("recordings"));
        let folder = folder.display().to_string();
        let table = format!(
            "\n[[recorder]]\npath = \"{folder}\"\n{more}\n[journal.reports]\ndurability = \"sync\"\n"
        );
        std::fs::write(&file, demo + &table).expect("written");
        (file.display().to_string(), folder)
    }

    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        let mut folders = vec![self.state.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else if let Ok(log) = std::fs::read_to_string(entry.path()) {
                    text.push_str(&format!("--- {}\n{log}", entry.path().display()));
                }
            }
        }
        text
    }

    /// What is left of instances.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.root.path())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect()
    }

    pub(crate) fn node(&self, instance: &str, name: &str) -> Value {
        let status = self.json(&["status", instance, "--format", "json"]);
        let nodes = status["nodes"].as_array().expect("nodes").clone();
        nodes.into_iter().find(|node| node["node"] == name).unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Makes the control page of a journal one that nobody can read.
    pub(crate) fn damage(&self, instance: &str, journal: &str) {
        let page = self.root.path().join(format!("{instance}/journals/{journal}.ctl"));
        let page = std::fs::OpenOptions::new().write(true).open(page).expect("the control page");
        page.write_all_at(&[0x5a; 8], 0).expect("written");
    }

    /// Asks again until it holds.
    pub(crate) fn wait_for(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let patience = Instant::now() + Duration::from_secs(30);
        while !holds() {
            assert!(Instant::now() < patience, "{what} does not come to be\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Home {
    /// A test that failed leaves nobody running. Master is in the first seat, so that it starts nobody again.
    fn drop(&mut self) {
        for instance in self.left() {
            let Ok(registry) = journal::Registry::open_read_only(&instance.join("registry")) else {
                continue;
            };
            let processes = (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process()));
            processes
                .filter(journal::process::ProcessIdentity::is_alive)
                .for_each(|process| kill(process.pid, "KILL"));
        }
    }
}

pub(crate) fn kill(pid: u32, signal: &str) {
    let _ = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status();
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}
