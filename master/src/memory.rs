//! Which memory each journal lies on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use node::{HugeMount, free_huge_pages, huge_mounts};
use topology::{JournalSpec, Pages};

use crate::error::MasterError;

/// Where a journal's ring goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    /// Mount point of the huge-page file system; `None`: ordinary pages in the instance's directory.
    pub(crate) huge: Option<PathBuf>,
    /// Size of a page.
    pub(crate) page: u64,
}

impl Backing {
    const SMALL: Backing = Backing { huge: None, page: 4096 };
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
    let Pages::Huge { size, require } = journal.pages else { return Ok(Backing::SMALL) };
    let wanted = journal.capacity_bytes.div_ceil(size);
    let mount = mounts.iter().find(|mount| mount.page == size && is_writable(&mount.path));
    let left = free.get(&size).copied().unwrap_or(0);
    if let Some(mount) = mount
        && journal.capacity_bytes.is_multiple_of(size)
        && left >= wanted
    {
        free.insert(size, left - wanted);
        return Ok(Backing { huge: Some(mount.path.clone()), page: size });
    }
    let found = match mount {
        None => format!(
            "and no writable huge-page file system of that page size is mounted ({} pages are free)",
            free_huge_pages(size)
        ),
        Some(_) if !journal.capacity_bytes.is_multiple_of(size) => {
            format!("and its capacity of {} bytes is no whole number of them", journal.capacity_bytes)
        }
        Some(_) => format!("{} are free", free_huge_pages(size)),
    };
    let needed = all
        .iter()
        .filter(|other| matches!(other.pages, Pages::Huge { size: other_size, require: true } if other_size == size))
        .map(|other| other.capacity_bytes.div_ceil(size))
        .sum();
    if require {
        let kib = size / 1024;
        let fix = match mount {
            None => format!(
                "as root: mkdir -p /mnt/huge && mount -t hugetlbfs -o pagesize={}M,uid=$UID,mode=0770 none /mnt/huge, and \
                 echo {needed} > /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages",
                size >> 20
            ),
            Some(_) => {
                format!("as root: echo {needed} > /sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages")
            }
        };
        return Err(MasterError::HugePages { journal: journal.name.clone(), needed, page: size, found, fix });
    }
    log::warn!("journal `{}`: {wanted} huge pages preferred, {found}: it lies on 4 KiB pages", journal.name);
    Ok(Backing::SMALL)
}

fn is_writable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}
