//! Children of a test: the same test binary once more, in another part, to be killed.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "COLO_CHILD_DIRECTORY";
const NUMBER: &str = "COLO_CHILD_NUMBER";

/// A child that does not outlive its test.
pub(crate) struct Child(std::process::Child);

/// Starts this test binary again to run only the test `part`.
pub(crate) fn start(part: &str, directory: &Path, number: u32) -> Child {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([part, "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Child(child)
}

/// Inside a child: where it works, and which one it is. `None` in the parent, whose copy of the test has no part.
pub(crate) fn part() -> Option<(PathBuf, u32)> {
    let directory = std::env::var_os(DIRECTORY)?;
    Some((directory.into(), std::env::var(NUMBER).unwrap().parse().unwrap()))
}

impl Child {
    /// SIGKILL, and waits until the kernel has taken it all away. Panics if the child had ended by itself.
    pub(crate) fn kill(mut self) {
        if let Some(status) = self.0.try_wait().unwrap() {
            panic!("the child ended before it was killed: {status}");
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Neither can fail for a child that is ours and not waited for; one that is gone is what we want.
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
