//! Which pages a ring is really mapped with.

use std::path::Path;

/// Bytes of a page of the mapping of `ring` in this process, as the kernel says; `None` where it is not mapped, or the
/// kernel does not say.
pub(super) fn mapped_page(ring: &Path) -> Option<u64> {
    let ring = ring.canonicalize().ok()?;
    page_of(&std::fs::read_to_string("/proc/self/smaps").ok()?, ring.to_str()?)
}

fn page_of(smaps: &str, path: &str) -> Option<u64> {
    let mut lines = smaps.lines().skip_while(|line| !line.ends_with(path));
    let page = lines.find_map(|line| line.strip_prefix("KernelPageSize:"))?;
    Some(page.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn the_page_size_of_the_right_mapping_is_read() {
        let smaps = "7f00-7f10 r--s 0 00:1a 7 /dev/shm/a.ring\nSize:  64 kB\nKernelPageSize:        4 kB\n\
                     7f20-7f30 r--s 0 00:1b 8 /mnt/huge/b.ring\nSize: 2048 kB\nKernelPageSize:     2048 kB\n";
        assert_eq!(page_of(smaps, "/mnt/huge/b.ring"), Some(2 << 20));
        assert_eq!(page_of(smaps, "/dev/shm/a.ring"), Some(4_096));
        assert_eq!(page_of(smaps, "/dev/shm/c.ring"), None);
    }
}
