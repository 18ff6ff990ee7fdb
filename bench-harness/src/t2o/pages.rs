//! What rings are really mapped on, from `/proc/PID/smaps`.

use std::collections::BTreeMap;
use std::fs;

use node::{InstanceView, NodeKind};
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
    /// Of md, td, matching and ledger, which map every ring between them; each ring counts once.
    pub(crate) fn of(view: &InstanceView) -> Pages {
        let mut rings: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for seat in view.seats() {
            let wanted =
                matches!(seat.kind, NodeKind::Md | NodeKind::Td | NodeKind::Matching | NodeKind::Ledger);
            if wanted && seat.alive {
                let path = format!("/proc/{}/smaps", seat.process.pid);
                rings.extend(mapped_rings(&fs::read_to_string(path).unwrap_or_default()));
            }
        }
        let sum = |huge: bool| {
            rings.values().filter(|(_, page)| (*page > 4_096) == huge).map(|(bytes, _)| *bytes).sum()
        };
        Pages { small_bytes: sum(false), huge_bytes: sum(true) }
    }

    /// In words: `2 MiB pages`, `4 KiB pages`, `both`.
    pub fn words(&self) -> &'static str {
        match (self.small_bytes, self.huge_bytes) {
            (0, 0) => "unknown",
            (_, 0) => "4 KiB",
            (0, _) => "huge",
            _ => "both",
        }
    }
}

/// Size and page size of each ring in the text of a `smaps` file. A ring is mapped twice in a row: once is counted.
fn mapped_rings(smaps: &str) -> BTreeMap<String, (u64, u64)> {
    let mut rings = BTreeMap::new();
    let (mut ring, mut bytes) = (None, 0);
    for line in smaps.lines() {
        if let Some((key, rest)) = line.split_once(':')
            && !key.contains(' ')
        {
            let kib = || rest.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0) << 10;
            match (key, &ring) {
                ("Size", _) => bytes = kib(),
                ("KernelPageSize", Some(name)) => drop(rings.insert(String::clone(name), (bytes, kib()))),
                _ => {}
            }
        } else {
            ring = line.split_whitespace().nth(5).filter(|path| path.ends_with(".ring")).map(str::to_owned);
        }
    }
    rings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ring_counts_once_with_the_page_that_it_lies_on() {
        let text = "7f00-7f10 rw-s 00000000 00:1a 7                          /dev/shm/colo-0/a/journals/x.ring\n\
            Size:                 64 kB\nKernelPageSize:        4 kB\nVmFlags: rd wr\n\
            7f10-7f20 rw-s 00000000 00:1a 7                          /dev/shm/colo-0/a/journals/x.ring\n\
            Size:                 64 kB\nKernelPageSize:        4 kB\n\
            7f20-7f30 r--s 00000000 00:1b 8                          /mnt/huge/y.ring\n\
            Size:               2048 kB\nKernelPageSize:     2048 kB\n\
            7f40-7f50 r-xp 00000000 00:1b 8                          /usr/bin/colo\n\
            Size:                 10 kB\nKernelPageSize:        4 kB\n";
        let rings = mapped_rings(text);
        assert_eq!(rings.len(), 2);
        assert_eq!(rings["/mnt/huge/y.ring"], (2 << 20, 2 << 20));
        assert_eq!(rings["/dev/shm/colo-0/a/journals/x.ring"], (64 << 10, 4 << 10));
    }
}
