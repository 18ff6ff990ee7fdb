//! Children of a test: the same test binary started again with another role, to be killed.
//!
//! The binaries that have children bring a `main` of their own (`harness = false`), so that a child is not a test and
//! is not counted as one that passed.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "COLO_CHILD_DIRECTORY";
const NUMBER: &str = "COLO_CHILD_NUMBER";
const PART: &str = "COLO_CHILD_PART";

/// What a child does, with the folder it works in and its number.
pub(crate) type Part = fn(&Path, u32);

/// The test binary's `main`: the role that the environment names, or the tests.
pub(crate) fn main(parts: &[(&str, Part)], tests: &[(&'static str, fn())]) {
    if let Some(wanted) = std::env::var_os(PART) {
        let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
        let number = std::env::var(NUMBER).unwrap().parse().unwrap();
        let (_, part) = parts.iter().find(|(name, _)| wanted == *name).expect("a part of this binary");
        return part(&directory, number);
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let trial = |&(name, test): &(&'static str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.iter().map(trial).collect()).exit();
}

/// A child that does not outlive its test.
pub(crate) struct Child(std::process::Child);

/// Starts this test binary again to do nothing but `part`.
pub(crate) fn start(part: &str, directory: &Path, number: u32) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .env(PART, part)
        .env(DIRECTORY, directory)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Child(child)
}

impl Child {
    /// Sends SIGKILL and waits for the process. Panics if the child had ended by itself.
    pub(crate) fn kill(mut self) {
        if let Some(status) = self.0.try_wait().unwrap() {
            panic!("the child ended before it was killed: {status}");
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Neither can fail for a child that is ours and not waited for; a child that has ended is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How often to kill: 50 times, or `COLO_KILLS`.
pub(crate) fn kills() -> u32 {
    std::env::var("COLO_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(50)
}

/// Waits until `done`, for at most `limit`.
pub(crate) fn wait(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !done() {
        if start.elapsed() > limit {
            return false;
        }
    }
    true
}

/// A number that a child leaves behind, however it dies.
pub(crate) struct Witness(File);

impl Witness {
    pub(crate) fn open(directory: &Path, name: &str) -> Witness {
        let path = directory.join(name);
        Witness(OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap())
    }

    /// `None` before the first.
    pub(crate) fn get(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.write_all_at(&value.to_le_bytes(), 0).unwrap();
    }
}

/// Pauses of random length, the same on every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    pub(crate) fn micros(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.below(limit))
    }
}
