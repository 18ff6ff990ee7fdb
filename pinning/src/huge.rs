//! Huge-page file systems of this host, and their free space.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{AccessFlags, access};

/// A mounted huge-page file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeMount {
    /// Its mount point.
    pub path: PathBuf,
    /// Size of its pages in bytes.
    pub page: u64,
}

/// All mounted huge-page file systems, in the order of the mount table.
pub fn huge_mounts() -> Vec<HugeMount> {
    parse(&fs::read_to_string("/proc/mounts").unwrap_or_default())
}

/// Huge pages of `page` bytes on this host that a new mapping can have: free, and promised to nobody.
fn free_huge_pages(page: u64) -> u64 {
    count(page, "free_hugepages").saturating_sub(count(page, "resv_hugepages"))
}

/// Huge pages of `page` bytes on this host, whoever has them.
fn all_huge_pages(page: u64) -> u64 {
    count(page, "nr_hugepages")
}

/// Why a ring cannot lie on huge pages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HugeLack {
    /// No file system of that page size.
    #[error("no huge-page file system of that page size is mounted")]
    NoMount,
    /// It is mounted read-only.
    #[error("the huge-page file system at {} is mounted read-only", path.display())]
    ReadOnly {
        /// Where.
        path: PathBuf,
    },
    /// This user may not make files there.
    #[error("the huge-page file system at {} is not writable by this user", path.display())]
    NotWritable {
        /// Where.
        path: PathBuf,
    },
    /// The mount's own limit (its option `size=`) is reached.
    #[error("{wanted} are needed, and the huge-page file system at {} may hold {left} more (its option size=)", path.display())]
    MountFull {
        /// Where.
        path: PathBuf,
        /// Pages needed.
        wanted: u64,
        /// Pages left there.
        left: u64,
    },
    /// The host's pool has too few.
    #[error("{wanted} are needed and {left} of {free} free ones are left")]
    PoolEmpty {
        /// Pages needed.
        wanted: u64,
        /// Pages left for this one.
        left: u64,
        /// Free pages of the host.
        free: u64,
    },
}

impl HugeLack {
    /// The command that corrects it, for a root shell. `needed` is the number of pages of `page` bytes that all rings
    /// need.
    pub fn fix(&self, page: u64, needed: u64) -> String {
        let megabytes = page >> 20;
        // Pages in use by others stay in use.
        let pool = all_huge_pages(page) + needed - free_huge_pages(page).min(needed);
        let reserve =
            format!("echo {pool} > /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages", page / 1024);
        match self {
            HugeLack::NoMount => format!(
                "mkdir -p /mnt/huge && mount -t hugetlbfs -o pagesize={megabytes}M,mode=1777 none /mnt/huge && {reserve}"
            ),
            HugeLack::ReadOnly { path } => format!("mount -o remount,rw {}", path.display()),
            HugeLack::NotWritable { path } => format!("chmod 1777 {}", path.display()),
            // hugetlbfs accepts no other size when it is remounted.
            HugeLack::MountFull { path, .. } => {
                let path = path.display();
                format!("umount {path} && mount -t hugetlbfs -o pagesize={megabytes}M,mode=1777 none {path}")
            }
            HugeLack::PoolEmpty { .. } => reserve,
        }
    }
}

/// The space for new rings: each ring reduces the space for the next.
#[derive(Clone, Debug)]
pub struct HugePool {
    mounts: Vec<MountRoom>,
    /// By page size.
    free: BTreeMap<u64, u64>,
}

#[derive(Clone, Debug)]
struct MountRoom {
    mount: HugeMount,
    refusal: Option<HugeLack>,
    /// Pages below its own limit; `None` without one.
    left: Option<u64>,
}

impl HugePool {
    /// The space on this host now.
    pub fn now() -> HugePool {
        HugePool::of(huge_mounts())
    }

    /// The same, with these file systems.
    pub(crate) fn of(mounts: Vec<HugeMount>) -> HugePool {
        let free = mounts.iter().map(|mount| (mount.page, free_huge_pages(mount.page))).collect();
        HugePool { mounts: mounts.into_iter().map(MountRoom::of).collect(), free }
    }

    /// The mount for a ring of `wanted` pages of `page` bytes, which are then taken.
    ///
    /// # Errors
    /// [`HugeLack`] of the most suitable mount.
    pub fn take(&mut self, page: u64, wanted: u64) -> Result<PathBuf, HugeLack> {
        let mut lack = HugeLack::NoMount;
        let free = free_huge_pages(page);
        for room in self.mounts.iter_mut().filter(|room| room.mount.page == page) {
            if let Some(refusal) = &room.refusal {
                // A later mount's problem is more specific than having no mount at all.
                if lack == HugeLack::NoMount {
                    lack = refusal.clone();
                }
                continue;
            }
            if let Some(left) = room.left.filter(|left| *left < wanted) {
                lack = HugeLack::MountFull { path: room.mount.path.clone(), wanted, left };
                continue;
            }
            let left = self.free.entry(page).or_default();
            if *left < wanted {
                return Err(HugeLack::PoolEmpty { wanted, left: *left, free });
            }
            *left -= wanted;
            room.left = room.left.map(|left| left - wanted);
            return Ok(room.mount.path.clone());
        }
        Err(lack)
    }
}

impl MountRoom {
    fn of(mount: HugeMount) -> MountRoom {
        let path = mount.path.clone();
        let stat = statvfs(&path);
        let is_read_only = stat.as_ref().is_ok_and(|stat| stat.flags().contains(FsFlags::ST_RDONLY));
        let refusal = match access(&path, AccessFlags::W_OK | AccessFlags::X_OK) {
            _ if is_read_only => Some(HugeLack::ReadOnly { path }),
            Err(_) => Some(HugeLack::NotWritable { path }),
            Ok(()) => None,
        };
        // Zero blocks, or all bits: no limit. A block is a page.
        let left = stat
            .ok()
            .filter(|stat| stat.blocks() != 0 && stat.blocks() <= i64::MAX as u64)
            .map(|stat| stat.blocks_available());
        MountRoom { mount, refusal, left }
    }
}

fn count(page: u64, file: &str) -> u64 {
    let path = format!("/sys/kernel/mm/hugepages/hugepages-{}kB/{file}", page / 1024);
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn parse(table: &str) -> Vec<HugeMount> {
    table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            let (path, kind, options) = (fields.nth(1)?, fields.next()?, fields.next()?);
            (kind == "hugetlbfs").then(|| HugeMount {
                path: PathBuf::from(path),
                page: options
                    .split(',')
                    .find_map(|option| page_size(option.strip_prefix("pagesize=")?))
                    .unwrap_or(2 << 20),
            })
        })
        .collect()
}

fn page_size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return text.parse().ok(),
    };
    Some(number.parse::<u64>().ok()? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn mounts_are_read_with_their_page_size() {
        let table = "none /mnt/huge hugetlbfs rw,relatime,pagesize=2M 0 0\n\
                     tmpfs /dev/shm tmpfs rw 0 0\n\
                     none /mnt/giant hugetlbfs rw,pagesize=1024M 0 0\nshort\n";
        let found = parse(table);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].page, found[1].page), (2 << 20, 1 << 30));
        assert_eq!(found[1].path, Path::new("/mnt/giant"));
    }

    /// A mount of the test's own, removed with it.
    struct Mounted(tempfile::TempDir);

    impl Mounted {
        /// `None` if this process may not mount.
        fn new(options: &str) -> Option<Mounted> {
            let folder = tempfile::tempdir().unwrap();
            let mut mount = Command::new("mount");
            mount.args(["-t", "hugetlbfs", "-o", options, "none"]).arg(folder.path());
            let is_mounted = mount.output().is_ok_and(|output| output.status.success());
            is_mounted.then_some(Mounted(folder))
        }

        fn mount(&self) -> HugeMount {
            HugeMount { path: self.0.path().to_owned(), page: 2 << 20 }
        }
    }

    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0.path()).output();
        }
    }

    #[test]
    fn a_mount_that_takes_nothing_or_too_little_is_known_before_anything_is_made() {
        let two = ["pagesize=2M,size=4M", "pagesize=2M,ro"].map(Mounted::new);
        let [Some(limited), Some(read_only)] = two else {
            return eprintln!("SKIPPED: this process may not mount hugetlbfs");
        };
        let page = 2 << 20;
        let path = |mounted: &Mounted| mounted.0.path().to_owned();
        let mut pool = HugePool::of(vec![limited.mount()]);
        let lack = pool.take(page, 3).unwrap_err();
        assert_eq!(lack, HugeLack::MountFull { path: path(&limited), wanted: 3, left: 2 });
        let mut pool = HugePool::of(vec![read_only.mount()]);
        assert_eq!(pool.take(page, 1), Err(HugeLack::ReadOnly { path: path(&read_only) }));
        let mut pool = HugePool::of(vec![read_only.mount(), limited.mount()]);
        pool.free.insert(page, 100);
        assert_eq!(pool.take(page, 2), Ok(path(&limited)), "another mount does");
        assert!(matches!(pool.take(page, 1), Err(HugeLack::MountFull { left: 0, .. })), "taken by the first");
        assert_eq!(HugePool::of(Vec::new()).take(page, 1), Err(HugeLack::NoMount));
    }

    #[test]
    fn the_pool_counts_for_all_rings_together() {
        let Some(open) = Mounted::new("pagesize=2M") else {
            return eprintln!("SKIPPED: this process may not mount hugetlbfs");
        };
        let mut pool = HugePool::of(vec![open.mount()]);
        pool.free.insert(2 << 20, 5);
        assert!(pool.take(2 << 20, 3).is_ok());
        assert!(matches!(pool.take(2 << 20, 3), Err(HugeLack::PoolEmpty { wanted: 3, left: 2, .. })));
        assert!(pool.take(2 << 20, 2).is_ok());
    }
}
