//! Memory, swap and huge pages.

use nix::sys::statvfs::statvfs;
use serde::{Deserialize, Serialize};

use super::tree::Tree;

/// Memory and swap of the host, in bytes; `None` where the kernel does not report it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Memory that the kernel manages.
    pub total_bytes: Option<u64>,
    /// Unused memory.
    pub free_bytes: Option<u64>,
    /// Memory that can be allocated without swapping.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_total_bytes: Option<u64>,
    /// Unused swap space.
    pub swap_free_bytes: Option<u64>,
    /// Free space in `/dev/shm`; `None` if it is not mounted, and for a recorded host.
    pub shm_free_bytes: Option<u64>,
}

/// A pool of huge pages of one size, of the host or of one NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HugePages {
    /// Size of a page in KiB: 2048 or 1048576 on x86-64, others on Arm.
    pub size_kib: u64,
    /// Pages in the pool.
    pub total: u64,
    /// Free pages in the pool.
    pub free: u64,
    /// Free pages that are promised to a mapping (known for the host, 0 for a node).
    pub reserved: u64,
}

impl HugePages {
    /// Pages that a new mapping can have.
    pub fn available(&self) -> u64 {
        self.free.saturating_sub(self.reserved)
    }
}

/// Formats a size as in `2 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

pub(super) fn read(tree: &Tree) -> Memory {
    let bytes = |key| tree.field("proc/meminfo", key).ok().and_then(|kilobytes| kilobytes.checked_mul(1024));
    Memory {
        total_bytes: bytes("MemTotal"),
        free_bytes: bytes("MemFree"),
        available_bytes: bytes("MemAvailable"),
        swap_total_bytes: bytes("SwapTotal"),
        swap_free_bytes: bytes("SwapFree"),
        shm_free_bytes: if tree.is_live() { shm_free() } else { None },
    }
}

fn shm_free() -> Option<u64> {
    let stat = statvfs("/dev/shm").ok()?;
    Some(stat.blocks_available().saturating_mul(stat.fragment_size()))
}

/// The pools in a folder of `hugepages-2048kB` folders. A pool whose size cannot be read is left out.
pub(super) fn huge_pages(tree: &Tree, folder: &str) -> Vec<HugePages> {
    let mut pools: Vec<HugePages> = tree
        .names(folder)
        .iter()
        .filter_map(|name| {
            let size_kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            let count = |file: &str| tree.index(&format!("{folder}/{name}/{file}")).map(|count| count as u64);
            Some(HugePages {
                size_kib,
                total: count("nr_hugepages").ok()?,
                free: count("free_hugepages").unwrap_or(0),
                reserved: count("resv_hugepages").unwrap_or(0),
            })
        })
        .collect();
    pools.sort_by_key(|pool| pool.size_kib);
    pools
}
