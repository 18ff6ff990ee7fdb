//! What the journals need against what the host has.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::host::Host;

/// Memory that a platform will take, before anything starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryBill {
    /// Bytes on ordinary pages.
    pub ordinary_bytes: u64,
    /// Bytes on huge pages that must be there, by size of page in KiB; each journal rounded up to whole pages.
    pub required_huge_bytes: BTreeMap<u64, u64>,
}

/// Memory that the host does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The messages say what each field is.
pub enum MemoryProblem {
    /// Too few huge pages.
    #[error(
        "the journals need {wanted} huge pages of {size_kib} KiB, {available} are free; reserve them: echo {total} | sudo \
         tee /sys/kernel/mm/hugepages/hugepages-{size_kib}kB/nr_hugepages"
    )]
    HugePages { size_kib: u64, wanted: u64, available: u64, total: u64 },
    /// The host has no pages of this size.
    #[error(
        "this host has no huge pages of {size_kib} KiB (it has: {sizes}); set journal.page to one of those"
    )]
    NoSuchPage { size_kib: u64, sizes: String },
    /// Too little memory.
    #[error(
        "the journals need {wanted} bytes, {available} are available; make journal.capacity smaller or stop something else"
    )]
    Memory { wanted: u64, available: u64 },
}

impl MemoryBill {
    /// All that is missing on `host`. What the host does not say is not held against it.
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
                    let sizes: Vec<String> =
                        host.huge_pages.iter().map(|pool| format!("{} KiB", pool.size_kib)).collect();
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
        problems
    }
}
