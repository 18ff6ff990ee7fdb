//! A growing block of records in memory of this process alone, on huge pages if the host has free ones.
//!
//! For private data of a node that is accessed at random, such as the orders of a book: on 4 KiB pages every record is
//! likely to miss the TLB. Journals are shared, and lie on files of hugetlbfs instead.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::ptr::NonNull;

use crate::host::tree::Tree;

/// Contiguous records, as in a `Vec`.
///
/// ```
/// let mut block = pinning::Block::with_capacity(100, true);
/// block.push(7_u64);
/// assert_eq!((block.len(), block[0]), (1, 7));
/// // It works without reserved huge pages too.
/// println!("on huge pages: {}", block.is_huge());
/// ```
pub struct Block<T: Copy> {
    start: NonNull<T>,
    length: usize,
    capacity: usize,
    /// Whether to ask for huge pages.
    wants_huge: bool,
    /// Whether the memory is on huge pages.
    huge: bool,
}

// SAFETY: the block owns its records as a `Vec` does, and may be sent if they may.
unsafe impl<T: Copy + Send> Send for Block<T> {}
// SAFETY: as above: shared access hands out shared references only.
unsafe impl<T: Copy + Sync> Sync for Block<T> {}

impl<T: Copy> Block<T> {
    /// Room for `capacity` records before the first growth. With `wants_huge`, on huge pages of the default size if
    /// enough are free, otherwise on ordinary ones.
    pub fn with_capacity(capacity: usize, wants_huge: bool) -> Block<T> {
        let mut block = Block { start: NonNull::dangling(), length: 0, capacity: 0, wants_huge, huge: false };
        block.take(capacity);
        block
    }

    /// Adds a record at the end. Doubles the capacity when it is used up.
    pub fn push(&mut self, record: T) {
        if self.length == self.capacity {
            self.take(self.capacity.saturating_mul(2).max(16));
        }
        // SAFETY: `length < capacity` by the lines above, and the memory is ours and aligned.
        unsafe { self.start.add(self.length).write(record) };
        self.length += 1;
    }

    /// Whether the records lie on huge pages.
    pub fn is_huge(&self) -> bool {
        self.huge
    }

    /// Moves the records to memory for `capacity` of them, which is not less than their number.
    fn take(&mut self, capacity: usize) {
        let Some(layout) = layout::<T>(capacity) else { return };
        let (start, huge) = match self.wants_huge.then(|| huge_memory(layout)).flatten() {
            Some(start) => (start, true),
            // SAFETY: the layout's size is not zero.
            None => match NonNull::new(unsafe { alloc(layout) }) {
                Some(start) => (start, false),
                None => handle_alloc_error(layout),
            },
        };
        let start = start.cast::<T>();
        // SAFETY: both ranges hold `length` records, and the new one was just made.
        unsafe { start.copy_from_nonoverlapping(self.start, self.length) };
        self.give_back();
        (self.start, self.capacity, self.huge) = (start, capacity, huge);
    }

    fn give_back(&mut self) {
        let Some(layout) = layout::<T>(self.capacity) else { return };
        let start = self.start.cast::<u8>().as_ptr();
        if self.huge {
            // SAFETY: it came from `huge_memory` with this very layout.
            unsafe { hugepage_rs::dealloc(start, layout) };
        } else {
            // SAFETY: it came from `alloc` with this very layout.
            unsafe { dealloc(start, layout) };
        }
    }
}

/// `None` for zero bytes. More than the address space holds aborts the process, as it does for a `Vec`.
fn layout<T>(capacity: usize) -> Option<Layout> {
    match Layout::array::<T>(capacity) {
        Ok(layout) => Some(layout).filter(|layout| layout.size() > 0),
        Err(_) => handle_alloc_error(Layout::new::<T>()),
    }
}

/// Allocates populated huge pages; `None` when there are not enough.
fn huge_memory(layout: Layout) -> Option<NonNull<u8>> {
    // The library assumes that the kernel supports huge pages.
    Tree::new(Path::new("/")).field("proc/meminfo", "Hugepagesize").ok().filter(|&size| size > 0)?;
    // SAFETY: the layout's size is not zero.
    let start = NonNull::new(unsafe { hugepage_rs::alloc(layout) })?;
    // Reserved pages can still be missing on the NUMA node of this thread's memory: find out now rather than by a
    // SIGBUS.
    // SAFETY: the range was just mapped, and the advice changes no byte of it.
    let populated =
        unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_POPULATE_WRITE) } == 0;
    if !populated {
        // SAFETY: it was just allocated with this layout.
        unsafe { hugepage_rs::dealloc(start.as_ptr(), layout) };
    }
    populated.then_some(start)
}

impl<T: Copy> Drop for Block<T> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<T: Copy> Deref for Block<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `length` records were written, and the block owns them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T: Copy> DerefMut for Block<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Block;

    #[test]
    fn it_holds_what_was_put_in_however_it_grows() {
        for wants_huge in [false, true] {
            for capacity in [0, 1, 3, 5_000] {
                let mut block = Block::with_capacity(capacity, wants_huge);
                for number in 0..10_000_u64 {
                    block.push([number, !number, 7]);
                }
                assert_eq!(block.len(), 10_000);
                assert!(block.iter().zip(0..).all(|(record, number)| *record == [number, !number, 7]));
                block[9_999][2] = 8;
                assert_eq!(block.iter().filter(|record| record[2] == 8).count(), 1);
                assert!(wants_huge || !block.is_huge());
            }
        }
    }

    #[test]
    fn records_without_a_size_need_no_memory() {
        let mut block = Block::with_capacity(4, true);
        (0..100).for_each(|_| block.push(()));
        assert_eq!((block.len(), block.is_huge()), (100, false));
    }

    #[test]
    fn it_goes_to_another_thread() {
        let mut block = Block::with_capacity(1, false);
        block.push(5_u32);
        assert_eq!(std::thread::spawn(move || block[0]).join().unwrap(), 5);
    }
}
