//! Huge-page file systems of this host.

use std::fs;
use std::path::PathBuf;

/// A mounted huge-page file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugeMount {
    /// Where.
    pub path: PathBuf,
    /// Bytes of one of its pages.
    pub page: u64,
}

/// All of them, in the order of the mount table.
pub fn huge_mounts() -> Vec<HugeMount> {
    parse(&fs::read_to_string("/proc/mounts").unwrap_or_default())
}

/// Huge pages of `page` bytes on this host that a new mapping can have: free, and promised to nobody.
pub fn free_huge_pages(page: u64) -> u64 {
    count(page, "free_hugepages").saturating_sub(count(page, "resv_hugepages"))
}

/// Huge pages of `page` bytes on this host, whoever has them.
pub fn all_huge_pages(page: u64) -> u64 {
    count(page, "nr_hugepages")
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
    use super::parse;
    use std::path::Path;

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
}
