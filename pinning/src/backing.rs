//! Reads which pages back the files that a process maps: `/proc/PID/smaps`.
//!
//! A journal may be requested on huge pages; only the kernel knows whether it lies there. Each mapping of a file has
//! its own paragraph in `smaps`:
//!
//! ```text
//! 7f…-7f… rw-s … /mnt/huge/…/md.quotes.ring         a file of hugetlbfs: KernelPageSize 2048 kB
//! 7f…-7f… rw-s … /dev/shm/…/md.quotes.ring          a file of tmpfs: KernelPageSize 4 kB; what of it lies on
//!                                                   transparent huge pages stands in ShmemPmdMapped
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::host::size;
use crate::host::tree::{Tree, Unreadable};
use crate::observe::ObserveError;

/// A mapped file of a process, with all of its mappings together: a ring is mapped twice in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedFile {
    /// Its path, now or before it was removed.
    pub path: PathBuf,
    /// Bytes of address space.
    pub mapped_bytes: u64,
    /// Bytes of those that have a page.
    pub resident_bytes: u64,
    /// Bytes of those that cannot be swapped out, because the process locked them.
    pub locked_bytes: u64,
    /// The kind of pages.
    pub pages: PageBacking,
}

/// The pages behind a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PageBacking {
    /// The CPU's smallest pages.
    Small {
        /// Size of a page in bytes.
        page_bytes: u64,
    },
    /// Pages of a reserved pool (hugetlbfs): they never change size.
    Huge {
        /// Size of a page in bytes.
        page_bytes: u64,
    },
    /// Transparent huge pages: the kernel provides them where it can, and may take them back.
    Transparent {
        /// Size of the small pages that the rest lies on, in bytes.
        page_bytes: u64,
        /// Bytes of address space that are mapped with them.
        huge_bytes: u64,
        /// Total bytes of address space.
        mapped_bytes: u64,
    },
}

impl PageBacking {
    /// Size of a page in bytes; of the small ones where the kernel may use transparent huge ones.
    pub fn page_bytes(self) -> u64 {
        match self {
            PageBacking::Small { page_bytes }
            | PageBacking::Huge { page_bytes }
            | PageBacking::Transparent { page_bytes, .. } => page_bytes,
        }
    }

    /// Whether all of it lies on pages larger than the CPU's smallest.
    pub fn is_huge(self) -> bool {
        match self {
            PageBacking::Small { .. } => false,
            PageBacking::Huge { .. } => true,
            PageBacking::Transparent { huge_bytes, mapped_bytes, .. } => huge_bytes >= mapped_bytes,
        }
    }
}

impl fmt::Display for PageBacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            PageBacking::Small { page_bytes } => format!("{} pages", size(*page_bytes)),
            PageBacking::Huge { page_bytes } => format!("{} huge pages", size(*page_bytes)),
            PageBacking::Transparent { huge_bytes, mapped_bytes, .. } if huge_bytes >= mapped_bytes => {
                "transparent huge pages".to_owned()
            }
            PageBacking::Transparent { huge_bytes, mapped_bytes, .. } => format!(
                "transparent huge pages for {:.0} %, else small ones",
                *huge_bytes as f64 * 100.0 / *mapped_bytes as f64
            ),
        };
        f.pad(&text)
    }
}

/// The files that process `pid` has mapped, by path. A file that was removed meanwhile is listed under its old path.
///
/// # Errors
/// [`ObserveError`]: the process has ended, or belongs to another user.
pub fn mapped_files(pid: u32) -> Result<Vec<MappedFile>, ObserveError> {
    match Tree::new(Path::new("/")).text(&format!("proc/{pid}/smaps")) {
        Ok(text) => Ok(parse(&text)),
        Err(error @ Unreadable::Missing(_)) if error.is_missing() => Err(ObserveError::Gone { pid }),
        Err(error) => Err(ObserveError::Hidden { pid, reason: error.to_string() }),
    }
}

/// One mapping, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Mapping {
    size: u64,
    page: u64,
    resident: u64,
    hugetlb: u64,
    transparent: u64,
    locked: u64,
}

fn parse(text: &str) -> Vec<MappedFile> {
    let mut files: BTreeMap<&str, Mapping> = BTreeMap::new();
    let mut current: Option<&str> = None;
    for line in text.lines() {
        if let Some(path) = path_of(line) {
            current = path;
            continue;
        }
        let Some(mapping) = current.map(|path| files.entry(path).or_default()) else { continue };
        let Some((key, bytes)) = field(line) else { continue };
        match key {
            "Size" => add(&mut mapping.size, bytes),
            "KernelPageSize" => mapping.page = mapping.page.max(bytes),
            "Rss" => add(&mut mapping.resident, bytes),
            // Pages of a pool count in neither Rss nor Pss.
            "Shared_Hugetlb" | "Private_Hugetlb" => add(&mut mapping.hugetlb, bytes),
            "ShmemPmdMapped" | "FilePmdMapped" | "AnonHugePages" => add(&mut mapping.transparent, bytes),
            "Locked" => add(&mut mapping.locked, bytes),
            _ => {}
        }
    }
    files.into_iter().map(|(path, mapping)| mapping.file(path)).collect()
}

/// Garbled files must not cause an overflow.
fn add(sum: &mut u64, bytes: u64) {
    *sum = sum.saturating_add(bytes);
}

/// `Some(path)` for the first line of a paragraph; the path is `None` for memory without a file.
fn path_of(line: &str) -> Option<Option<&str>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let is_address = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_address(start) || !is_address(end) {
        return None;
    }
    // Permissions, offset, device and inode precede the path, which may contain spaces.
    let path = rest.find('/').map(|at| &rest[at..]);
    Some(path.map(|path| path.strip_suffix(" (deleted)").unwrap_or(path)))
}

/// `Rss:    12 kB` in bytes.
fn field(line: &str) -> Option<(&str, u64)> {
    let (key, value) = line.split_once(':')?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((key, kilobytes.checked_mul(1024)?))
}

impl Mapping {
    fn file(self, path: &str) -> MappedFile {
        /// The largest smallest page of the supported CPUs: 4 KiB, or 64 KiB on some Arm kernels.
        const LARGEST_SMALL_PAGE: u64 = 64 << 10;
        let pages = if self.hugetlb > 0 || self.page > LARGEST_SMALL_PAGE {
            PageBacking::Huge { page_bytes: self.page }
        } else if self.transparent > 0 {
            PageBacking::Transparent {
                page_bytes: self.page,
                huge_bytes: self.transparent,
                mapped_bytes: self.size,
            }
        } else {
            PageBacking::Small { page_bytes: self.page }
        };
        MappedFile {
            path: PathBuf::from(path),
            mapped_bytes: self.size,
            resident_bytes: self.resident.saturating_add(self.hugetlb),
            locked_bytes: self.locked,
            pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-s 00000000 00:1a 7                          /dev/shm/colo-0/a b/x.ring
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
ShmemPmdMapped:        0 kB
Locked:             4096 kB
VmFlags: rd wr sh
7f0000400000-7f0000800000 rw-s 00000000 00:1a 7                          /dev/shm/colo-0/a b/x.ring
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
ShmemPmdMapped:     4096 kB
7f1000000000-7f1000400000 r--s 00000000 00:1b 8                          /mnt/huge/y.ring (deleted)
Size:               4096 kB
KernelPageSize:     2048 kB
Rss:                   0 kB
Shared_Hugetlb:     2048 kB
Private_Hugetlb:       0 kB
7f2000000000-7f2000001000 rw-p 00000000 00:00 0                          [heap]
Size:                  4 kB
KernelPageSize:        4 kB
7f3000000000-7f3000001000 r--s 00000000 00:1a 9 /dev/shm/z.ctl
Size:                  4 kB
KernelPageSize:        4 kB
Rss:                   x kB
";

    #[test]
    fn the_mappings_of_a_file_are_taken_together() {
        let files = parse(SMAPS);
        assert_eq!(files.len(), 3, "memory without a file is left out: {files:?}");
        let of = |end: &str| files.iter().find(|file| file.path.ends_with(end)).unwrap();
        let twice = of("a b/x.ring");
        assert_eq!(
            (twice.mapped_bytes, twice.resident_bytes, twice.locked_bytes),
            (8 << 20, 8 << 20, 4 << 20)
        );
        assert_eq!(twice.pages.to_string(), "transparent huge pages for 50 %, else small ones");
        assert!(!twice.pages.is_huge());
        let huge = of("y.ring");
        assert_eq!((huge.pages, huge.resident_bytes), (PageBacking::Huge { page_bytes: 2 << 20 }, 2 << 20));
        assert_eq!(huge.pages.to_string(), "2 MiB huge pages");
        assert_eq!(of("z.ctl").pages.to_string(), "4 KiB pages");
    }

    #[test]
    fn garbage_is_no_mapping() {
        assert_eq!(parse("\n:::\nSize: 4 kB\n-- /x\nzz-yy rw /x\nSize: 1 kB\n"), []);
        let huge = parse("1-2 rw /x\nKernelPageSize: 99999999999999999999 kB\nSize: 18014398509481984 kB\n");
        assert_eq!(huge[0].mapped_bytes, 0, "what does not fit is left out");
    }

    #[test]
    fn this_process_maps_its_program() {
        let program = std::env::current_exe().unwrap().canonicalize().unwrap();
        let files = mapped_files(std::process::id()).unwrap();
        let file = files.iter().find(|file| file.path == program).unwrap();
        assert!(file.resident_bytes > 0 && file.resident_bytes <= file.mapped_bytes);
        assert!(matches!(mapped_files(u32::MAX), Err(ObserveError::Gone { .. })));
    }
}
