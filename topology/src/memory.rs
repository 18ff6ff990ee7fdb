//! What the rings of a topology take.

use serde::Serialize;

use crate::spec::{Pages, Topology};

/// Bytes that the rings reserve, before anything starts. Control pages come on top: a few KiB a journal, and for
/// journals with topics one bit for each topic and seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryBill {
    /// Each ring, by journal id.
    pub journals: Vec<MemoryItem>,
    /// Of those on 4 KiB or transparent pages: what /dev/shm must have free.
    pub small_bytes: u64,
    /// Of those that want huge pages: what must be reserved, or what falls back to 4 KiB pages.
    pub huge_bytes: u64,
    /// Both.
    pub total_bytes: u64,
}

/// One ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryItem {
    /// The journal.
    pub journal: String,
    /// Bytes of its ring.
    pub bytes: u64,
    /// What it lies on.
    pub pages: Pages,
}

impl Topology {
    /// The bill.
    pub fn memory_bill(&self) -> MemoryBill {
        let sum = |huge: bool| {
            let of_kind =
                self.journals.iter().filter(|journal| matches!(journal.pages, Pages::Huge { .. }) == huge);
            of_kind.fold(0_u64, |sum, journal| sum.saturating_add(journal.capacity_bytes))
        };
        let (small_bytes, huge_bytes) = (sum(false), sum(true));
        let journals = self.journals.iter().map(|journal| MemoryItem {
            journal: journal.name.clone(),
            bytes: journal.capacity_bytes,
            pages: journal.pages,
        });
        MemoryBill {
            journals: journals.collect(),
            small_bytes,
            huge_bytes,
            total_bytes: small_bytes.saturating_add(huge_bytes),
        }
    }
}
