//! Which memory each journal lies on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use journal::Journal;
use node::{HugeMount, all_huge_pages, free_huge_pages, huge_mounts};
use topology::{JournalSpec, Pages};

use crate::error::MasterError;

/// Where a journal's ring goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    /// Mount point of the huge-page file system; `None`: ordinary pages in the instance's directory.
    pub(crate) huge: Option<PathBuf>,
    /// Size of a page.
    pub(crate) page: u64,
    /// The kernel is asked for transparent huge pages.
    pub(crate) transparent: bool,
}

impl Backing {
    const SMALL: Backing = Backing { huge: None, page: 4096, transparent: false };
    const TRANSPARENT: Backing = Backing { transparent: true, ..Backing::SMALL };
}

/// Bytes of a transparent huge page.
const TRANSPARENT_PAGE: u64 = 2 << 20;

/// Asks for transparent huge pages, if that was decided, and says what came of it. What really lies behind the ring is
/// read from the processes that map it, later.
pub(crate) fn make_transparent(journal: &Journal, backing: &Backing) {
    if !backing.transparent {
        return;
    }
    let name = &journal.shape().name;
    if !journal.shape().capacity.is_multiple_of(TRANSPARENT_PAGE) {
        log::warn!("journal `{name}` is smaller than a transparent huge page: it lies on 4 KiB pages");
        return;
    }
    match journal.make_transparent_huge() {
        Ok(()) => log::info!("journal `{name}` lies on transparent huge pages for now"),
        Err(error) => {
            log::warn!(
                "journal `{name}`: the kernel gives no transparent huge pages ({error}): it lies on 4 KiB pages"
            )
        }
    }
}

/// Decides for all journals at once, before any is made: pages that one journal takes are not there for the next.
///
/// # Errors
/// [`MasterError::HugePages`] for the first journal that requires what is not there.
pub(crate) fn decide(journals: &[JournalSpec]) -> Result<Vec<Backing>, MasterError> {
    let mounts = huge_mounts();
    let mut free: BTreeMap<u64, u64> = BTreeMap::new();
    for mount in &mounts {
        free.entry(mount.page).or_insert_with(|| free_huge_pages(mount.page));
    }
    journals.iter().map(|journal| decide_one(journal, journals, &mounts, &mut free)).collect()
}

fn decide_one(
    journal: &JournalSpec,
    all: &[JournalSpec],
    mounts: &[HugeMount],
    free: &mut BTreeMap<u64, u64>,
) -> Result<Backing, MasterError> {
    let (size, require) = match journal.pages {
        Pages::Small => return Ok(Backing::SMALL),
        Pages::Transparent => return Ok(Backing::TRANSPARENT),
        Pages::Huge { size, require } => (size, require),
    };
    let wanted = journal.capacity_bytes.div_ceil(size);
    let mount = mounts.iter().find(|mount| mount.page == size && is_writable(&mount.path));
    let left = free.get(&size).copied().unwrap_or(0);
    if let Some(mount) = mount
        && journal.capacity_bytes.is_multiple_of(size)
        && left >= wanted
    {
        free.insert(size, left - wanted);
        return Ok(Backing { huge: Some(mount.path.clone()), page: size, transparent: false });
    }
    let found = match mount {
        None => format!(
            "no writable huge-page file system of that page size is mounted ({} pages are free)",
            free_huge_pages(size)
        ),
        Some(_) if !journal.capacity_bytes.is_multiple_of(size) => {
            format!("the capacity of {} bytes is no whole number of them", journal.capacity_bytes)
        }
        Some(_) => format!("{wanted} are needed and {left} of {} free ones are left", free_huge_pages(size)),
    };
    let needed = all
        .iter()
        .filter(|other| matches!(other.pages, Pages::Huge { size: other_size, require: true } if other_size == size))
        .map(|other| other.capacity_bytes.div_ceil(size))
        .sum::<u64>();
    if require {
        let kib = size / 1024;
        // Those that others hold stay theirs.
        let pool = all_huge_pages(size) + needed - free_huge_pages(size).min(needed);
        let fix = match mount {
            None => format!(
                "as root: mkdir -p /mnt/huge && mount -t hugetlbfs -o pagesize={}M,uid=$UID,mode=0770 none /mnt/huge, and \
                 echo {pool} > /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages",
                size >> 20
            ),
            Some(_) => {
                format!("as root: echo {pool} > /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages")
            }
        };
        return Err(MasterError::HugePages { journal: journal.name.clone(), needed, page: size, found, fix });
    }
    log::warn!("journal `{}`: {wanted} huge pages of {} MiB preferred, {found}", journal.name, size >> 20);
    Ok(Backing::TRANSPARENT)
}

fn is_writable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}
