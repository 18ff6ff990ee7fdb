//! The folder on the disk that is measured.

use journal::sync::{AtomicU64, Ordering};
use std::path::{Path, PathBuf};

use nix::sys::statfs::{FsType, statfs};
use serde::{Deserialize, Serialize};

use crate::ipc::{IpcError, system};
use crate::scratch::Scratch;

/// Names of file systems that are met, by the numbers of `statfs(2)`.
const NAMES: [(i64, &str); 8] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0xF2F5_2010, "f2fs"),
    (0x794C_7630, "overlayfs"),
    (0x0102_1994, "tmpfs"),
    (0x2FC1_2FC1, "zfs"),
    (0x6969, "nfs"),
];

/// Where was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// The folder.
    pub folder: PathBuf,
    /// Its file system: a name, or a number.
    pub file_system: String,
    /// True when that is memory: a sync of it does nothing, and no figure says anything of a disk.
    pub is_memory: bool,
}

/// A folder of our own in it, removed at the end.
#[derive(Debug)]
pub(super) struct Place {
    scratch: Scratch,
    disk: Disk,
    next: AtomicU64,
}

impl Place {
    pub(super) fn create(folder: &Path) -> Result<Place, IpcError> {
        let scratch =
            Scratch::create_at(folder).map_err(system("make a folder for files (name one by --dir)"))?;
        let found = statfs(folder).map_err(|errno| system("look at the file system")(errno.into()))?;
        let FsType(number) = found.filesystem_type();
        #[allow(clippy::unnecessary_cast, reason = "signed in glibc, unsigned in musl")]
        let number = number as i64;
        let name = NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
        let disk = Disk {
            folder: folder.to_owned(),
            file_system: name.map_or_else(|| format!("{number:#x}"), str::to_owned),
            is_memory: name == Some("tmpfs"),
        };
        Ok(Place { scratch, disk, next: AtomicU64::new(0) })
    }

    pub(super) fn disk(&self) -> Disk {
        self.disk.clone()
    }

    /// A path that nothing has yet.
    pub(super) fn path(&self) -> PathBuf {
        self.scratch.path().join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }
}
