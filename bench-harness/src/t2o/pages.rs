//! The actual pages of the rings.

use observe::{InstanceView, JournalView};
use serde::{Deserialize, Serialize};

/// Bytes of rings by the kernel's page size, as the platform's own processes have them mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// Bytes on 4 KiB pages.
    pub small_bytes: u64,
    /// Bytes on huge pages.
    pub huge_bytes: u64,
}

impl Pages {
    /// The pages of all rings that a living process has mapped.
    pub(crate) fn of(view: &InstanceView) -> Pages {
        let journals = view.journals().unwrap_or_default();
        let journals: Vec<JournalView> = journals.sound.into_iter().map(|(_, journal)| journal).collect();
        let backings = view.backings(&journals);
        let mut pages = Pages::default();
        for journal in &journals {
            let shape = &journal.stat.shape;
            match backings.get(&shape.name) {
                Some(backing) if backing.is_huge() => pages.huge_bytes += shape.capacity,
                Some(_) => pages.small_bytes += shape.capacity,
                None => {}
            }
        }
        pages
    }

    /// As text: `2 MiB pages`, `4 KiB pages`, `both`.
    pub(crate) fn words(&self) -> &'static str {
        match (self.small_bytes, self.huge_bytes) {
            (0, 0) => "unknown",
            (_, 0) => "4 KiB",
            (0, _) => "huge",
            _ => "both",
        }
    }
}
