//! Which processes belong to an instance, without its registry: for when that is damaged.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use journal::process::ProcessIdentity;
use node::{Holding, InstanceDir};

/// A process that belongs to an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The process.
    pub process: ProcessIdentity,
    /// Its program, as the kernel names it.
    pub command: String,
    /// It holds the instance's lock: master.
    pub is_master: bool,
    /// It may write a file of the instance, or was started as one of its nodes. Else it only looks on.
    pub takes_part: bool,
}

/// Every process of this user that has a file of the instance mapped, holds its lock, or was started for it: what the
/// kernel says, whatever stands in the instance's own files.
pub fn members(instance: &InstanceDir) -> Vec<Member> {
    let master = match instance.held() {
        Holding::By(Some(holder)) if holder.is_of_this_namespace() => Some(holder.process),
        _ => None,
    };
    let found = of_this_user(&instance.places()).filter_map(|(found, uses)| {
        let is_master = master == Some(found.process);
        let was_started = node::started_for(found.process.pid, instance).is_some();
        let takes_part = uses == Uses::Writing || is_master || was_started;
        (uses != Uses::Nothing || takes_part).then_some(Member { is_master, takes_part, ..found })
    });
    found.collect()
}

/// Processes of this user that have a file below one of these folders mapped.
pub fn mapping(folders: &[PathBuf]) -> Vec<Member> {
    let found = of_this_user(folders).filter(|(_, uses)| *uses != Uses::Nothing);
    found.map(|(found, uses)| Member { takes_part: uses == Uses::Writing, ..found }).collect()
}

/// What a process has mapped below some folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uses {
    Nothing,
    /// To look on.
    Reading,
    Writing,
}

/// All processes of this user but this one, with what they map there.
fn of_this_user(folders: &[PathBuf]) -> impl Iterator<Item = (Member, Uses)> + use<> {
    let prefixes: Vec<String> =
        folders.iter().map(|folder| format!("{}/", resolved(folder).display())).collect();
    let user = nix::unistd::geteuid().as_raw();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        if pid == std::process::id() || entry.metadata().ok()?.uid() != user {
            return None;
        }
        let process = ProcessIdentity::of(pid)?;
        let maps = fs::read_to_string(entry.path().join("maps")).unwrap_or_default();
        let mut uses = Uses::Nothing;
        for line in maps.lines().filter(|line| prefixes.iter().any(|prefix| line.contains(prefix))) {
            match (line.contains(" rw-s "), uses) {
                (true, _) => uses = Uses::Writing,
                (false, Uses::Nothing) => uses = Uses::Reading,
                _ => {}
            }
        }
        let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default().trim().to_owned();
        let member = Member { process, command, is_master: false, takes_part: false };
        Some((member, uses))
    })
}

/// The kernel writes paths of mappings without links.
fn resolved(place: &Path) -> PathBuf {
    place.canonicalize().unwrap_or_else(|_| place.to_owned())
}
