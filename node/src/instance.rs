//! Where an instance lives.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use journal::JournalFiles;

use crate::huge::huge_mounts;

/// The directory of one instance.
///
/// ```text
/// /dev/shm/colo-$UID/INSTANCE/     0750
///     lock           held by master while it lives
///     registry       seats
///     topology.json  what runs here
///     master.sock    nodes register, `colo` asks
///     journals/      NAME.ctl, NAME.ring
/// $XDG_STATE_HOME/colo/INSTANCE/   NODE.log: stays when the instance is gone
/// ```
///
/// `COLO_ROOT` replaces `/dev/shm/colo-$UID`; it must lie in a memory file system to be fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceDir {
    name: String,
    path: PathBuf,
}

/// Name of the environment variable that replaces the root of all instances.
pub const ROOT_VARIABLE: &str = "COLO_ROOT";

impl InstanceDir {
    /// The directory of the instance called `name`, which need not exist. `None` when the name is no good: 1 to 32 of
    /// `a-z`, `0-9`, `-`, `_`.
    pub fn new(name: &str) -> Option<InstanceDir> {
        let good = !name.is_empty()
            && name.len() <= 32
            && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        good.then(|| InstanceDir { name: name.to_owned(), path: root().join(name) })
    }

    /// All instances of this user that have a directory, by name.
    ///
    /// # Errors
    /// As the system says; no root at all is an empty list.
    pub fn all() -> io::Result<Vec<InstanceDir>> {
        let entries = match fs::read_dir(root()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            found.extend(name.to_str().and_then(InstanceDir::new));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// As [`InstanceDir::all`], and those of which only rings on huge pages are left.
    ///
    /// # Errors
    /// As [`InstanceDir::all`].
    pub fn all_with_remains() -> io::Result<Vec<InstanceDir>> {
        let mut found = InstanceDir::all()?;
        for mount in huge_mounts() {
            // A mount that nobody of ours has used has no such directory.
            let entries = fs::read_dir(mount.path.join(root_on_huge_pages())).into_iter().flatten().flatten();
            found.extend(entries.filter_map(|entry| InstanceDir::new(entry.file_name().to_str()?)));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found.dedup();
        Ok(found)
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

    /// Held by master.
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The seats.
    pub fn registry(&self) -> PathBuf {
        self.path.join("registry")
    }

    /// What runs here, as JSON.
    pub fn topology(&self) -> PathBuf {
        self.path.join("topology.json")
    }

    /// Master's socket.
    pub fn socket(&self) -> PathBuf {
        self.path.join("master.sock")
    }

    /// Control files, and rings of ordinary pages.
    pub fn journals(&self) -> PathBuf {
        self.path.join("journals")
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
    /// As the system says.
    pub fn journal_names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.journals())? {
            let name = entry?.file_name();
            names.extend(name.to_str().and_then(|name| name.strip_suffix(".ctl")).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Where the nodes' standard error goes.
    pub fn logs(&self) -> PathBuf {
        state_home().join("colo").join(&self.name)
    }

    /// Log file of one node.
    pub fn log(&self, node: &str) -> PathBuf {
        self.logs().join(format!("{node}.log"))
    }

    /// Makes the instance's directory and the one for its journals, readable by the user's group only.
    ///
    /// # Errors
    /// As the system says.
    pub fn create(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o750).create(self.journals())?;
        fs::DirBuilder::new().recursive(true).mode(0o750).create(self.logs())
    }

    /// Removes the instance with all that is in it, on huge pages too, and the roots if they are empty then.
    ///
    /// # Errors
    /// As the system says; what is gone already is fine.
    pub fn remove(&self) -> io::Result<()> {
        self.remove_rings_on_huge_pages()?;
        remove_tree(&self.path)?;
        // Not empty: other instances live there.
        let _ = fs::remove_dir(root());
        Ok(())
    }

    /// Removes all but the directory itself and the lock, for a master that holds it.
    ///
    /// # Errors
    /// As [`InstanceDir::remove`].
    pub fn clear(&self) -> io::Result<()> {
        self.remove_rings_on_huge_pages()?;
        remove_tree(&self.journals())?;
        for path in [self.registry(), self.topology(), self.socket()] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.create()
    }

    fn remove_rings_on_huge_pages(&self) -> io::Result<()> {
        for mount in huge_mounts() {
            let rings = self.on_huge_pages(&mount.path);
            if rings.exists() {
                remove_tree(&rings)?;
                let _ = rings.parent().map(fs::remove_dir);
            }
        }
        Ok(())
    }

    /// Files of a journal that is there, wherever its ring lies.
    pub fn find_journal(&self, name: &str) -> JournalFiles {
        huge_mounts()
            .iter()
            .map(|mount| self.journal(name, Some(&mount.path)))
            .find(|files| files.ring.exists())
            .unwrap_or_else(|| self.journal(name, None))
    }
}

fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn user_root() -> String {
    format!("colo-{}", nix::unistd::getuid())
}

fn other_root() -> Option<PathBuf> {
    env::var_os(ROOT_VARIABLE).filter(|root| !root.is_empty()).map(PathBuf::from)
}

fn root() -> PathBuf {
    other_root().unwrap_or_else(|| Path::new("/dev/shm").join(user_root()))
}

/// The folder of this root's instances on a huge-page file system: one of its own for each root, so that instances of
/// one name below two roots never share a ring.
fn root_on_huge_pages() -> String {
    match other_root() {
        Some(root) => format!("{}{}", user_root(), root.to_string_lossy().replace('/', "-")),
        None => user_root(),
    }
}

fn state_home() -> PathBuf {
    let from = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("XDG_STATE_HOME")
        .or_else(|| from("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(env::temp_dir)
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
