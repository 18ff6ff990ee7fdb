//! What killed runs of `colo bench` left in shared memory.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use master_client::mapping;
use node::Exit;
use serde::Serialize;

use super::clean::{Living, size};
use crate::failure::Failure;

/// Where benchmarks make their folders, and how the names begin.
const PLACE: &str = "/dev/shm";
const PREFIX: &str = "colo-bench-";

/// The folder of one benchmark.
#[derive(Debug, Serialize)]
pub(super) struct Bench {
    pub(super) path: String,
    /// `alive`, `removed`, or `would-remove`.
    pub(super) outcome: &'static str,
    pub(super) bytes: u64,
    /// Who still uses it.
    pub(super) alive: Vec<Living>,
}

/// Removes those that nobody uses. Only folders of this user that hold a journal or a registry of ours are looked at.
pub(super) fn clean(dry_run: bool) -> Result<Vec<Bench>, Failure> {
    let place = Path::new(PLACE);
    let mut found = Vec::new();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && is_own_folder(&path) && bears_mark(&path) {
            found.push(look(&path, dry_run)?);
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn look(path: &Path, dry_run: bool) -> Result<Bench, Failure> {
    let mut bench =
        Bench { path: path.display().to_string(), outcome: "alive", bytes: size(path), alive: Vec::new() };
    let users = mapping(&[path.to_owned()]).into_iter();
    bench.alive.extend(users.map(|user| Living { node: user.command, pid: Some(user.process.pid) }));
    if bench.alive.is_empty() && is_of_another_namespace(path) {
        let node = "perhaps a benchmark of another pid namespace".to_owned();
        bench.alive.push(Living { node, pid: None });
    }
    if bench.alive.is_empty() {
        bench.outcome = "would-remove";
        if !dry_run {
            match fs::remove_dir_all(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("cannot remove {}: {error}", path.display());
                    return Err(Failure::new(Exit::of_io(&error), message));
                }
                _ => bench.outcome = "removed",
            }
        }
    }
    Ok(bench)
}

fn is_own_folder(path: &Path) -> bool {
    // The kernel shows a process as its effective user's.
    let Ok(this) = fs::metadata("/proc/self") else { return false };
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == this.uid() && found.mode() & 0o022 == 0)
}

/// A benchmark's files begin as those of an instance.
fn bears_mark(folder: &Path) -> bool {
    use journal::layout::{CONTROL_MAGIC, REGISTRY_MAGIC};
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.any(|entry| {
        let mut first = [0; 8];
        let read = File::open(entry.path()).and_then(|mut file| file.read_exact(&mut first));
        read.is_ok() && matches!(u64::from_le_bytes(first), CONTROL_MAGIC | REGISTRY_MAGIC)
    })
}

/// Whether it was made where process ids are others, so that nobody here can see who uses it.
fn is_of_another_namespace(folder: &Path) -> bool {
    journal::Registry::open_read_only(&folder.join("registry"))
        .is_ok_and(|registry| !registry.is_of_this_namespace())
}
