//! The environment of a case: a journal on some backing.

use std::process::Command;

use journal::{Journal, JournalFiles};
use tempfile::TempDir;

use super::support;

/// A journal and what keeps it alive.
pub(super) struct Bed {
    pub(super) journal: Journal,
    pub(super) files: Option<JournalFiles>,
    pub(super) _directories: Vec<TempDir>,
}

impl Bed {
    /// The journal as another process would open it, where it has files.
    pub(super) fn opened(&self) -> Option<Journal> {
        self.files.clone().map(|files| Journal::open(files).unwrap())
    }

    pub(super) fn capacity(&self) -> u64 {
        self.journal.shape().capacity
    }

    /// Writes frames of `bytes` bytes until the head has moved on by at least `distance`.
    pub(super) fn advance(&self, writer: &mut journal::Writer, distance: u64, bytes: u64) {
        let target = writer.position() + distance;
        let body = vec![0xa5; support::payload_of_frame(bytes)];
        while writer.position() < target {
            writer.write(1, 0, &body).unwrap();
        }
    }
}

/// A huge-page file system for 2 MiB pages, mounted for this test if need be.
pub(super) struct HugeMount {
    pub(super) path: std::path::PathBuf,
    ours: Option<TempDir>,
}

impl HugeMount {
    pub(super) fn find() -> Result<HugeMount, String> {
        let free = std::fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
            .unwrap_or(0);
        if free < 2 {
            return Err(format!("{free} free huge pages of 2 MiB, 2 are needed (sysctl vm.nr_hugepages=2)"));
        }
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let mounted = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let (path, kind) = (fields.next()?, fields.next()?);
            (kind == "hugetlbfs" && tempfile::tempdir_in(path).is_ok()).then(|| path.into())
        });
        if let Some(path) = mounted {
            return Ok(HugeMount { path, ours: None });
        }
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let done = Command::new("mount")
            .args(["-t", "hugetlbfs", "-o", "pagesize=2M", "none"])
            .arg(directory.path())
            .output()
            .map_err(|error| error.to_string())?;
        if !done.status.success() {
            return Err("no hugetlbfs that we may write to, and none can be mounted".to_owned());
        }
        Ok(HugeMount { path: directory.path().to_owned(), ours: Some(directory) })
    }
}

impl Drop for HugeMount {
    fn drop(&mut self) {
        if self.ours.is_some() {
            let _ = Command::new("umount").arg(&self.path).status();
        }
    }
}

/// Scales a count down for an interpreter, which takes milliseconds for a frame.
pub(super) const fn scaled(count: u64) -> u64 {
    if cfg!(miri) { count / 50 } else { count }
}

/// Enough laps to count as many.
pub(super) const LAPS: u64 = if cfg!(miri) { 2 } else { 5 };
