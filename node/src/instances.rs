//! Which instances there are, and who holds them.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use pinning::huge_mounts;

use crate::claim::{self, Claim, ClaimError, Holding};
use crate::folder::{FolderError, OwnFolder};
use crate::instance::InstanceDir;
use crate::passing;

impl InstanceDir {
    /// All instances of this user that have a directory, by name.
    ///
    /// # Errors
    /// As the system says, or the root is not this user's alone; no root at all is an empty list.
    pub fn all() -> io::Result<Vec<InstanceDir>> {
        let names = match OwnFolder::open(&InstanceDir::root()) {
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            root => root?.names()?,
        };
        let mut found: Vec<InstanceDir> =
            names.iter().filter_map(|name| InstanceDir::new(name.to_str()?)).collect();
        // What has another owner or is a link is no instance, like whatever bears no mark.
        found.retain(|instance| claim::is_marked(instance).unwrap_or(false));
        found.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(found)
    }

    /// As [`InstanceDir::all`], and those of which only rings on huge pages are left, or a folder that a killed process had not
    /// yet given the instance's name or had no longer removed.
    ///
    /// # Errors
    /// As [`InstanceDir::all`].
    pub fn all_with_remains() -> io::Result<Vec<InstanceDir>> {
        let mut found = InstanceDir::all()?;
        found.extend(unfinished()?.iter().filter_map(|(name, _)| InstanceDir::new(name)));
        for mount in huge_mounts() {
            // A mount that nobody of ours has used has no such directory.
            let Ok(root) = OwnFolder::open(&mount.path.join(InstanceDir::root_on_huge_pages())) else {
                continue;
            };
            for name in root.names()? {
                let instance = name.to_str().and_then(InstanceDir::new);
                found.extend(instance.filter(|instance| root.folder(instance.name()).is_ok()));
            }
        }
        found.sort_by(|a, b| a.name().cmp(b.name()));
        found.dedup();
        Ok(found)
    }

    /// Whether the instance has a directory that bears its mark.
    ///
    /// # Errors
    /// The root or the directory is not this user's alone, or a link.
    pub fn is_there(&self) -> Result<bool, FolderError> {
        claim::is_marked(self)
    }

    /// Takes the instance, to make it or to take it over. Makes its directory if there is none.
    ///
    /// # Errors
    /// [`ClaimError`].
    pub fn claim(&self) -> Result<Claim, ClaimError> {
        Claim::take(self)
    }

    /// Takes what is left of the instance; `None` when it has no directory.
    ///
    /// # Errors
    /// As [`InstanceDir::claim`].
    pub fn claim_remains(&self) -> Result<Option<Claim>, ClaimError> {
        Claim::take_remains(self)
    }

    /// Whether a process holds the instance, in whatever pid namespace.
    pub fn held(&self) -> Holding {
        claim::holder(self)
    }

    /// Folders that a killed process was making or removing for this instance.
    ///
    /// # Errors
    /// As [`InstanceDir::all`].
    pub fn unfinished(&self) -> io::Result<Vec<PathBuf>> {
        let of_it = unfinished()?.into_iter().filter(|(name, _)| name == self.name());
        Ok(of_it.map(|(_, entry)| InstanceDir::root().join(entry)).collect())
    }

    /// Removes what is left of an instance without a folder: rings on huge pages, and [`InstanceDir::unfinished`]. The instance is
    /// claimed meanwhile, so that no process makes it at the same time.
    ///
    /// # Errors
    /// [`ClaimError`]; and as the system says.
    pub fn remove_remains(&self) -> io::Result<()> {
        self.claim()?.remove()
    }
}

fn unfinished() -> io::Result<Vec<(String, OsString)>> {
    match OwnFolder::open(&InstanceDir::root()) {
        Err(error) if error.is_missing() => Ok(Vec::new()),
        root => Ok(passing::left(&root?)?),
    }
}
