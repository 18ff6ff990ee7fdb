//! The directory of an instance.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use journal::JournalFiles;
use pinning::huge_mounts;
use topology::LONGEST_INSTANCE;

use crate::folder::{FOLDER_MODE, FolderError, OwnFolder, is_own_folder};

/// The directory of one instance.
///
/// ```text
/// /dev/shm/colo-$UID/INSTANCE/     0750; both folders belong to this user, who alone may write them
///     lock           held by master while it lives; marks the folder as an instance
///     registry       seats
///     topology.json  what runs here
///     master.sock    nodes register, `colo` asks
///     journals/      NAME.ctl, NAME.ring
/// $XDG_STATE_HOME/colo/INSTANCE/   0700; NODE.log: stays when the instance is gone
/// ```
///
/// `COLO_ROOT` replaces `/dev/shm/colo-$UID`; it must be in a memory file system to be fast. Only folders that are
/// marked as an instance, by a lock or a registry, are touched in it, and those of the form `.INSTANCE.PID.NUMBER`, in which an
/// instance is made and removed. Without `XDG_STATE_HOME` logs go to
/// `~/.local/state`, and without a home of this user's own to the folder `.logs` of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceDir {
    name: String,
    path: PathBuf,
}

/// Name of the environment variable that replaces the root of all instances.
pub(crate) const ROOT_VARIABLE: &str = "COLO_ROOT";

pub(crate) const LOCK: &str = "lock";
pub(crate) const JOURNALS: &str = "journals";

impl InstanceDir {
    /// The directory of the instance called `name`, which need not exist. `None` when the name is invalid: 1 to 32 of
    /// `a-z`, `0-9`, `-`, `_`.
    pub fn new(name: &str) -> Option<InstanceDir> {
        let good = !name.is_empty()
            && name.len() <= LONGEST_INSTANCE
            && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        good.then(|| InstanceDir { name: name.to_owned(), path: root().join(name) })
    }

    /// Refuses an instance whose root or directory somebody else could have made or could change: what is read there
    /// decides what this process maps and writes.
    ///
    /// # Errors
    /// [`FolderError`]; a missing directory is not an error.
    pub fn demand_own(&self) -> Result<(), FolderError> {
        match OwnFolder::open(&root()).and_then(|root| root.folder(&self.name)) {
            Err(error) if !error.is_missing() => Err(error),
            _ => Ok(()),
        }
    }

    /// Every directory that holds files of this instance while it runs: its own, and one on each huge-page file system.
    pub fn places(&self) -> Vec<PathBuf> {
        let huge = huge_mounts().into_iter().map(|mount| self.on_huge_pages(&mount.path));
        [self.path.clone()].into_iter().chain(huge).collect()
    }

    /// The folder that holds the directories of all instances of this user.
    pub fn root() -> PathBuf {
        root()
    }

    /// The instance's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The registry.
    pub fn registry(&self) -> PathBuf {
        self.path.join("registry")
    }

    /// td's histograms of the times of orders. Among the journals, so that it is created and removed with them.
    pub fn latencies(&self) -> PathBuf {
        self.journals().join("td.latencies")
    }

    /// The latest whole quotes that md keeps where strategies hear the best alone. Among the journals too.
    pub fn depths(&self) -> PathBuf {
        self.journals().join("md.depths")
    }

    /// How each account stands, where the ledger keeps them. Among the journals too.
    pub fn accounts(&self) -> PathBuf {
        self.journals().join("ledger.accounts")
    }

    /// What a program that takes orders to a market elsewhere has heard and sent. Among the journals too.
    pub fn venue(&self) -> PathBuf {
        self.journals().join("matching.venue")
    }

    /// What operators decide of executions that such a program could not book: a line each, written by `colo venue`. Among the journals too.
    pub fn venue_decisions(&self) -> PathBuf {
        self.journals().join("matching.decisions")
    }

    /// What people want of a strategy: its `json`, `ask` or `answer`. Among the journals too.
    pub(crate) fn intent(&self, node: &str, part: &str) -> PathBuf {
        self.journals().join(format!("strategy.{node}.{part}"))
    }

    /// The running topology, as JSON.
    pub fn topology(&self) -> PathBuf {
        self.path.join("topology.json")
    }

    /// Master's socket.
    pub fn socket(&self) -> PathBuf {
        self.path.join("master.sock")
    }

    /// Control files, and rings of ordinary pages.
    pub fn journals(&self) -> PathBuf {
        self.path.join(JOURNALS)
    }

    /// Files of a journal. `huge` is the mount point of the huge-page file system that its ring lies on.
    pub fn journal(&self, name: &str, huge: Option<&Path>) -> JournalFiles {
        let rings = match huge {
            Some(mount) => self.on_huge_pages(mount),
            None => self.journals(),
        };
        JournalFiles::new(&self.journals(), &rings, name)
    }

    /// This instance's directory on a huge-page file system.
    pub fn on_huge_pages(&self, mount: &Path) -> PathBuf {
        mount.join(root_on_huge_pages()).join(&self.name)
    }

    /// Names of the journals that have a control file, sorted.
    ///
    /// # Errors
    /// The error of the system.
    pub fn journal_names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.journals())? {
            let name = entry?.file_name();
            names.extend(name.to_str().and_then(|name| name.strip_suffix(".ctl")).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// The folder of the nodes' standard error.
    pub fn logs(&self) -> PathBuf {
        logs_root().join(&self.name)
    }

    /// Log file of one node.
    pub fn log(&self, node: &str) -> PathBuf {
        self.logs().join(format!("{node}.log"))
    }

    /// Creates the directory of the logs, readable only by this user: logs contain positions and orders.
    ///
    /// # Errors
    /// The error of the system.
    pub fn create_logs(&self) -> io::Result<()> {
        let logs = self.logs();
        let place = logs.parent().unwrap_or(&logs);
        for folder in [place, &logs] {
            OwnFolder::create(folder, LOGS_MODE)?.set_mode(LOGS_MODE)?;
        }
        Ok(())
    }

    /// Creates this instance's directory on a huge-page file system.
    ///
    /// # Errors
    /// The error of the system, or another user could write there.
    pub fn create_on_huge_pages(&self, mount: &Path) -> Result<(), FolderError> {
        let root = OwnFolder::create(&mount.join(root_on_huge_pages()), FOLDER_MODE)?;
        root.create_folder(&self.name).map(drop)
    }

    /// Roots of other users in shared memory, when this user has not chosen one: what is in them only they can see.
    pub fn roots_of_others() -> Vec<PathBuf> {
        let (ours, shared) = (root(), Path::new("/dev/shm"));
        if other_root().is_some() {
            return Vec::new();
        }
        let is_root = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let user = name.and_then(|name| name.strip_prefix("colo-"));
            user.is_some_and(|user| user.parse::<u32>().is_ok()) && *path != ours && path.is_dir()
        };
        let entries = fs::read_dir(shared).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(is_root).collect()
    }

    /// Removes the root with the last instance, unless the user chose it.
    pub(crate) fn forget_root() {
        if other_root().is_none() {
            // If it is not empty, other instances are in it.
            let _ = fs::remove_dir(root());
        }
    }

    pub(crate) fn root_on_huge_pages() -> String {
        root_on_huge_pages()
    }

    /// Files of an existing journal, wherever its ring lies.
    pub fn find_journal(&self, name: &str) -> JournalFiles {
        huge_mounts()
            .iter()
            .map(|mount| self.journal(name, Some(&mount.path)))
            .find(|files| files.ring.exists())
            .unwrap_or_else(|| self.journal(name, None))
    }
}

fn user_root() -> String {
    format!("colo-{}", nix::unistd::getuid())
}

fn other_root() -> Option<PathBuf> {
    let root = env::var_os(ROOT_VARIABLE).filter(|root| !root.is_empty()).map(PathBuf::from)?;
    // Without a trailing slash, which would follow a link.
    Some(root.components().collect())
}

fn root() -> PathBuf {
    other_root().unwrap_or_else(|| Path::new("/dev/shm").join(user_root()))
}

/// The folder of this root's instances on a huge-page file system: one for each root, so that instances with the same
/// name below two roots never share a ring.
fn root_on_huge_pages() -> String {
    match other_root() {
        Some(root) => format!("{}{}", user_root(), root.to_string_lossy().replace('/', "-")),
        None => user_root(),
    }
}

/// Mode of the folders of the logs.
const LOGS_MODE: u32 = 0o700;

/// Folder of all logs. A home that belongs to another user (`/` for a user unknown to the host, another user's under
/// sudo) is not used; nor is a shared temporary folder, where others could have created the name first.
fn logs_root() -> PathBuf {
    let from = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let known = || nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten().map(|user| user.dir);
    let own = |home: &PathBuf| is_own_folder(home);
    let state = from("XDG_STATE_HOME").or_else(|| {
        let home = from("HOME").filter(own).or_else(|| known().filter(own));
        home.map(|home| home.join(".local/state"))
    });
    state.map_or_else(|| root().join(".logs"), |state| state.join("colo"))
}

#[cfg(test)]
mod tests {
    use super::InstanceDir;

    #[test]
    fn names_that_would_leave_the_root_are_refused() {
        for name in ["", "..", "a/b", "A", "a.b", &"x".repeat(33)] {
            assert!(InstanceDir::new(name).is_none(), "{name} was taken");
        }
        assert_eq!(InstanceDir::new("demo-1").unwrap().name(), "demo-1");
    }
}
