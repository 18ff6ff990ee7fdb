//! Which instances there are, and who holds them.

use std::io;

use pinning::huge_mounts;

use crate::claim::{self, Claim, ClaimError, Holding};
use crate::folder::{FolderError, OwnFolder};
use crate::instance::InstanceDir;

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

    /// As [`InstanceDir::all`], and those of which only rings on huge pages are left.
    ///
    /// # Errors
    /// As [`InstanceDir::all`].
    pub fn all_with_remains() -> io::Result<Vec<InstanceDir>> {
        let mut found = InstanceDir::all()?;
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

    /// Removes rings on huge pages, for an instance of which nothing else is left.
    ///
    /// # Errors
    /// As the system says.
    pub fn remove_rings_on_huge_pages(&self) -> io::Result<()> {
        claim::remove_rings_on_huge_pages(self)
    }
}
