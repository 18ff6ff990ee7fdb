//! Files mapped into this process: once, or twice in a row.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::OnceLock;

use super::{Owner, Region};
use crate::fork::withhold_memory;

/// Mappings larger than this are not populated; without a value all are.
static ON_ACCESS: OnceLock<usize> = OnceLock::new();

/// From now on, rings of more than `bytes` that this process creates or opens get their pages with the first access to each,
/// instead of all at once. The first round of such a ring is slower for it. For programs whose whole time counts and whose
/// latency does not, as a backtest: clearing a large ring of which little is used can take longer than a short run.
///
/// It cannot be taken back, and a second call changes nothing.
pub fn map_large_rings_on_access(bytes: u64) {
    // A ring is mapped twice in a row.
    let mapped = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_mul(2);
    let _ = ON_ACCESS.set(mapped);
}

/// Permissions of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    ReadWrite,
}

impl Access {
    fn protection(self) -> libc::c_int {
        match self {
            Access::Read => libc::PROT_READ,
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        }
    }
}

/// Sets the file's length and reserves all of its memory now, so that a full file system is an error here and never a
/// SIGBUS later.
///
/// # Errors
/// `ENOSPC` when the memory is not available; other errors of the system.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(bytes)?;
    // SAFETY: an open descriptor and integers.
    let refused = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) };
    if refused != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Maps the whole file once and populates this process's page tables.
///
/// # Errors
/// The error of the system.
pub(crate) fn map(file: &File, bytes: u64, access: Access) -> io::Result<Region> {
    let region = map_on_access(file, bytes, access)?;
    if let Owner::Map { address, bytes, .. } = region.owner {
        populate(address, bytes, access)?;
    }
    Ok(region)
}

/// Maps the whole file once; pages come with the first access to each.
///
/// # Errors
/// The error of the system.
pub(crate) fn map_on_access(file: &File, bytes: u64, access: Access) -> io::Result<Region> {
    let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: a fresh mapping at an address of the kernel's choice; it aliases nothing of ours.
    let address = unsafe {
        libc::mmap(ptr::null_mut(), length, access.protection(), libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(Region {
        words: address.cast(),
        length: length / 8,
        mirrored: false,
        owner: Owner::Map { address, bytes: length, withheld: withhold_memory(address, length) },
    })
}

/// Bytes of a transparent huge page.
const TRANSPARENT_PAGE: u64 = 2 << 20;

/// Maps the file twice in a row, so that any run of up to `bytes` that starts in the first half is contiguous.
///
/// `page` is the size of the file's pages: huge pages need an address that is a multiple of it. A file on small pages
/// gets an address that suits transparent huge pages too, in case the kernel uses them.
///
/// # Errors
/// The error of the system.
pub(crate) fn mirror(file: &File, bytes: u64, page: u64, access: Access) -> io::Result<Region> {
    let alignment = if bytes.is_multiple_of(TRANSPARENT_PAGE) { page.max(TRANSPARENT_PAGE) } else { page };
    let (Ok(length), Ok(page)) = (usize::try_from(bytes), usize::try_from(alignment)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let span = length.checked_mul(2).ok_or(io::ErrorKind::InvalidInput)?;
    let reserved_bytes = span.checked_add(page).ok_or(io::ErrorKind::InvalidInput)?;
    // First an empty range, large enough to hold both views at an aligned address; then the views over it.
    // SAFETY: a fresh, inaccessible mapping at an address of the kernel's choice.
    let reserved = unsafe {
        libc::mmap(
            ptr::null_mut(),
            reserved_bytes,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if reserved == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let lead = reserved.align_offset(page);
    let start = reserved.wrapping_byte_add(lead);
    for view in 0..2 {
        // SAFETY: MAP_FIXED replaces only pages of the range reserved above, which is ours.
        let mapped = unsafe {
            libc::mmap(
                start.wrapping_byte_add(view * length),
                length,
                access.protection(),
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            // SAFETY: the whole range is ours and nothing refers to it yet.
            unsafe { libc::munmap(reserved, reserved_bytes) };
            return Err(error);
        }
    }
    // Unmap the slack before and behind the views, so that one range describes the mapping.
    let tail = start.wrapping_byte_add(span);
    for (address, slack) in [(reserved, lead), (tail, page - lead)] {
        if slack > 0 {
            // SAFETY: part of the reserved range that no view covers.
            unsafe { libc::munmap(address, slack) };
        }
    }
    let region = Region {
        words: start.cast_const().cast(),
        length: span / 8,
        mirrored: true,
        owner: Owner::Map { address: start, bytes: span, withheld: withhold_memory(start, span) },
    };
    populate(start, span, access)?;
    Ok(region)
}

/// Attempts when the kernel refuses for a reason that may pass.
const COLLAPSE_ATTEMPTS: u32 = 5;

/// From Linux 6.1 on, the same on every architecture; the binding to musl has no name for it.
const MADV_COLLAPSE: libc::c_int = 25;

/// Moves a mapped file's memory onto transparent huge pages now. Mappings in other processes keep their addresses and
/// contents.
///
/// # Errors
/// `EINVAL` where the kernel does not support this (before 6.1, or switched off for shared memory), `ENOMEM` or
/// `EAGAIN` where it finds no huge page. Part of the memory may have been moved then.
pub(crate) fn collapse(region: &Region) -> io::Result<()> {
    let Owner::Map { address, bytes, .. } = region.owner else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let once = if region.mirrored { bytes / 2 } else { bytes };
    let mut attempts = 0;
    loop {
        attempts += 1;
        // SAFETY: the range is a mapping that lives as long as `region`; this advice changes no byte of it.
        if unsafe { libc::madvise(address, once, MADV_COLLAPSE) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // Pages in transit between the kernel's lists cannot be moved at that moment.
        let passing = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM | libc::EBUSY));
        if !passing || attempts == COLLAPSE_ATTEMPTS {
            return Err(error);
        }
    }
}

/// Fills this process's page tables, so that no access faults later. `MAP_POPULATE` would only read-fault a shared
/// file, and the first write to each page would fault again.
fn populate(address: *mut libc::c_void, length: usize, access: Access) -> io::Result<()> {
    if ON_ACCESS.get().is_some_and(|&most| length > most) {
        return Ok(());
    }
    let advice = match access {
        Access::Read => libc::MADV_POPULATE_READ,
        Access::ReadWrite => libc::MADV_POPULATE_WRITE,
    };
    // SAFETY: the range was mapped by the caller; this advice changes no byte of it.
    if unsafe { libc::madvise(address, length, advice) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // Kernels before 5.14 do not know the advice. The pages exist (`reserve`), so the only cost is a minor fault at the
    // first access to each.
    if error.raw_os_error() == Some(libc::EINVAL) { Ok(()) } else { Err(error) }
}
