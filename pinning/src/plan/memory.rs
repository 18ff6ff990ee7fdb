//! Compares the memory that the journals need with what the host has.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::host::{Host, size};

/// Memory that a platform will use, computed before anything starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryBill {
    /// Bytes on ordinary pages.
    pub ordinary_bytes: u64,
    /// Bytes on huge pages that must be available, by page size in KiB; each journal rounded up to whole pages.
    pub required_huge_bytes: BTreeMap<u64, u64>,
}

/// Memory that the host lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The messages say what each field is.
pub enum MemoryProblem {
    /// Too few huge pages.
    #[error(
        "the journals need {wanted} huge pages of {}, {available} are free; reserve them: echo {total} | sudo \
         tee /sys/kernel/mm/hugepages/hugepages-{size_kib}kB/nr_hugepages",
        page(*size_kib)
    )]
    HugePages { size_kib: u64, wanted: u64, available: u64, total: u64 },
    /// The host has no pages of this size.
    #[error(
        "this host has no huge pages of {} (it has: {sizes}); set journal.page to one of those",
        page(*size_kib)
    )]
    NoSuchPage { size_kib: u64, sizes: String },
    /// Too little memory.
    #[error(
        "the journals need {wanted} bytes, {available} are available; make journal.capacity smaller or stop something else"
    )]
    Memory { wanted: u64, available: u64 },
    /// Too little space in /dev/shm.
    #[error(
        "the journals need {wanted} bytes, /dev/shm has room for {free}; make journal.capacity smaller, or: sudo mount -o \
         remount,size={mib}m /dev/shm (in a container: docker run --shm-size={mib}m)"
    )]
    Shm { wanted: u64, free: u64, mib: u64 },
}

/// Formats a size as in `2 MiB`.
fn page(size_kib: u64) -> String {
    size(size_kib.saturating_mul(1024))
}

impl MemoryBill {
    /// Everything that `host` lacks. Facts that the host does not report are not problems.
    pub fn problems(&self, host: &Host) -> Vec<MemoryProblem> {
        let mut problems = Vec::new();
        for (&size_kib, &bytes) in &self.required_huge_bytes {
            let page_bytes = size_kib.saturating_mul(1024).max(1);
            let wanted = bytes.div_ceil(page_bytes);
            match host.huge_pages.iter().find(|pool| pool.size_kib == size_kib) {
                Some(pool) if pool.available() >= wanted => {}
                Some(pool) => {
                    let available = pool.available();
                    let total = pool.total.saturating_add(wanted - available);
                    problems.push(MemoryProblem::HugePages { size_kib, wanted, available, total });
                }
                None => {
                    let sizes: Vec<String> = host.huge_pages.iter().map(|pool| page(pool.size_kib)).collect();
                    let sizes = if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") };
                    problems.push(MemoryProblem::NoSuchPage { size_kib, sizes });
                }
            }
        }
        let limit = host.limits.memory_bytes.unwrap_or(u64::MAX);
        if let Some(available) = host.memory.available_bytes.map(|bytes| bytes.min(limit))
            && self.ordinary_bytes > available
        {
            problems.push(MemoryProblem::Memory { wanted: self.ordinary_bytes, available });
        }
        if let Some(free) = host.memory.shm_free_bytes
            && self.ordinary_bytes > free
        {
            // Files already there need space too.
            let mib = (self.ordinary_bytes >> 20).saturating_mul(2).max(1 << 10);
            problems.push(MemoryProblem::Shm { wanted: self.ordinary_bytes, free, mib });
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{MemoryBill, MemoryProblem};
    use crate::host::{Host, HugePages};

    #[test]
    fn what_is_missing_is_named_with_the_command_that_mends_it() {
        let mut host = Host::read("/".as_ref()).unwrap();
        host.memory.available_bytes = Some(1 << 30);
        host.memory.shm_free_bytes = Some(1 << 20);
        host.limits.memory_bytes = Some(1 << 20);
        host.huge_pages = vec![HugePages { size_kib: 2048, total: 10, free: 6, reserved: 2 }];
        let bill = |ordinary_bytes, huge: &[(u64, u64)]| {
            let required_huge_bytes = huge.iter().copied().collect::<BTreeMap<_, _>>();
            MemoryBill { ordinary_bytes, required_huge_bytes }.problems(&host)
        };
        assert_eq!(bill(1 << 20, &[(2048, 4 << 21)]), []);
        let found = bill((1 << 20) + 1, &[(2048, (4 << 21) + 1), (1 << 20, 1)]);
        assert!(
            matches!(found[0], MemoryProblem::HugePages { wanted: 5, available: 4, total: 11, .. }),
            "{found:?}"
        );
        assert!(
            found[0].to_string().contains("echo 11 | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB")
        );
        assert!(matches!(found[1], MemoryProblem::NoSuchPage { size_kib: 1_048_576, .. }), "{found:?}");
        assert!(matches!(found[2], MemoryProblem::Memory { available: 1_048_576, .. }), "{found:?}");
        assert!(matches!(found[3], MemoryProblem::Shm { free: 1_048_576, .. }), "{found:?}");
    }
}
