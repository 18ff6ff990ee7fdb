//! Handles belong to the process that opened them. A child of a fork is another process.
//!
//! A child inherits the memory and the descriptors of its parent, and with them writers, readers, seats and locks. Two
//! processes would write one journal, and the child's end would close it. So a child gets none of it:
//!
//! | what | in the child | by |
//! |---|---|---|
//! | the mark that says who opened a handle | zero | `MADV_WIPEONFORK`, and the handler |
//! | shared memory | zeros of the child's own at the same address | `MADV_DONTFORK`, and the handler |
//! | descriptors that hold locks ([`OwnFile`]) | closed | the handler |
//!
//! The handler (`pthread_atfork`) runs in the child before `fork` returns there. A child that is made without it, by the
//! bare system call, has no shared memory at all and a mark of zero, but keeps the descriptors until it ends.
//!
//! Each call that reports errors compares the mark, which is one load of a line that nothing writes, and is refused
//! with [`Forked`]. Calls that report none reach memory of the child only. The parent does not notice the child.

#[cfg(not(any(loom, miri)))]
mod children;
#[cfg(any(loom, miri))]
#[path = "children_none.rs"]
mod children;

use std::fs::File;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};

use children::Mark;
pub(crate) use children::Withheld;
#[cfg(not(loom))]
pub(crate) use children::withhold_memory;

/// The handle was opened by another process, of which this one is a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "process {opener} opened this, and process {} is a fork of it: a handle of a journal, a seat or an instance works in \
     the process that opened it alone; a child opens its own",
    std::process::id()
)]
pub struct Forked {
    /// The process that opened the handle.
    pub opener: u32,
}

/// The process that opened a handle.
#[derive(Clone, Copy, Debug)]
pub struct Opener {
    mark: Mark,
    value: u64,
}

impl Opener {
    /// This process.
    pub fn current() -> Opener {
        let mark = children::mark();
        Opener { mark, value: mark.load() }
    }

    /// False in the children of a fork, and in theirs.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        self.mark.load() == self.value
    }

    /// Refuses the children of a fork.
    ///
    /// # Errors
    /// [`Forked`].
    #[inline(always)]
    pub fn check(&self) -> Result<(), Forked> {
        if self.is_here() { Ok(()) } else { Err(self.refusal()) }
    }

    #[cold]
    fn refusal(&self) -> Forked {
        // The low half is the process id: see `children::mark`.
        Forked { opener: self.value as u32 }
    }
}

/// A file that stays with the process that opened it: the children of a fork get no descriptor of it. The kernel releases
/// the lock of an open file when its last descriptor is closed, so a child would keep the lock of a parent that has ended.
#[derive(Debug)]
pub struct OwnFile {
    file: ManuallyDrop<File>,
    withheld: Withheld,
}

impl OwnFile {
    /// Opens a file. No fork happens meanwhile, whichever thread asks for one.
    ///
    /// # Errors
    /// That of `open`.
    pub fn open<E>(open: impl FnOnce() -> Result<File, E>) -> Result<OwnFile, E> {
        let (file, withheld) = children::withhold_file(open)?;
        Ok(OwnFile { file: ManuallyDrop::new(file), withheld })
    }

    /// True in the process that opened it.
    pub(crate) fn is_here(&self) -> bool {
        self.withheld.is_here()
    }
}

impl Deref for OwnFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let file = &mut self.file;
        // SAFETY: this is the only place that takes the file, and nothing uses it behind a drop.
        self.withheld.end(|| unsafe { ManuallyDrop::drop(file) });
    }
}

impl AsFd for OwnFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
