//! What the children of a fork do not get, and the handlers that take it from them.

use std::cell::UnsafeCell;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::Opener;
use crate::sync::{AtomicU64, Ordering};

/// Bytes of the mark's page.
const PAGE: usize = 4_096;

/// A word that identifies this process, on a page that the kernel clears in the children of a fork.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(&'static AtomicU64);

impl Mark {
    #[inline(always)]
    pub(super) fn load(self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The mark of this process: how many forks lie between it and the first process that has opened anything, plus one, and
/// in the low half its process id. A process id alone can be that of the parent, in a namespace of its own.
pub(super) fn mark() -> Mark {
    static MARK: OnceLock<Mark> = OnceLock::new();
    let mark = *MARK.get_or_init(install);
    if mark.load() == 0 {
        identify(mark);
    }
    mark
}

/// Gives this process a mark, if it has none yet.
#[cold]
fn identify(mark: Mark) {
    let mut lists = lock();
    if mark.load() == 0 {
        // A child that was made by the bare system call comes here first: no handler has run. The kernel has left it no
        // shared memory, and something else of its own may lie at those addresses by now.
        lists.memory.clear();
        lists.give_up();
        lists.forks += 1;
        let value = lists.forks << 32 | u64::from(std::process::id());
        mark.0.store(value, Ordering::Relaxed);
    }
}

/// Makes the page and installs the handlers.
fn install() -> Mark {
    // SAFETY: a fresh mapping at an address of the kernel's choice, for this process alone.
    let page = unsafe {
        libc::mmap(
            ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert!(page != libc::MAP_FAILED, "no memory for a page: {}", std::io::Error::last_os_error());
    // SAFETY: the page was mapped above. Kernels before 4.14 refuse; then only the handler clears the mark.
    let _ = unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) };
    // SAFETY: the handlers are functions that live for ever and take nothing.
    let refused = unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
    assert!(refused == 0, "no memory for the handlers of a fork");
    // SAFETY: the page is never unmapped, its zeros are a valid word, and it is accessed as this word alone.
    let mark = Mark(unsafe { &*page.cast::<AtomicU64>() });
    let _ = HELD.mark.set(mark);
    mark
}

/// What this process has and its children do not get.
struct Lists {
    /// The number of the next entry.
    next: u64,
    /// Processes between the first one and this one, this one included.
    forks: u64,
    files: Vec<(u64, RawFd)>,
    memory: Vec<(u64, usize, usize)>,
}

static LISTS: Mutex<Lists> = Mutex::new(Lists { next: 0, forks: 0, files: Vec::new(), memory: Vec::new() });

fn lock() -> MutexGuard<'static, Lists> {
    LISTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lists {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// In a child: closes the files, and puts zeros of its own in the place of shared memory.
    fn give_up(&mut self) {
        for (_, descriptor) in self.files.drain(..) {
            // SAFETY: `OwnFile` owns the descriptor, and does not close it once it has left this list.
            unsafe { libc::close(descriptor) };
        }
        for (_, address, bytes) in self.memory.drain(..) {
            // SAFETY: the range was mapped by `memory::map`, and `Region` unmaps only what is still in this list. What
            // this process maps there now is its own, so that a store through a handle of the parent reaches no journal.
            unsafe {
                libc::mmap(
                    ptr::with_exposed_provenance_mut(address),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
        }
    }
}

/// The lists while a fork goes on: locked by the thread that forks, so that the child finds them whole and unlocked.
struct Held {
    lists: UnsafeCell<Option<MutexGuard<'static, Lists>>>,
    mark: OnceLock<Mark>,
}

// SAFETY: the cell is accessed by the handlers alone, between `prepare` and its counterpart in the same thread, which has
// the lock meanwhile.
unsafe impl Sync for Held {}

static HELD: Held = Held { lists: UnsafeCell::new(None), mark: OnceLock::new() };

extern "C" fn prepare() {
    let lists = lock();
    // SAFETY: this thread has the lock: see `Held`.
    unsafe { *HELD.lists.get() = Some(lists) };
}

extern "C" fn in_parent() {
    // SAFETY: this thread has had the lock since `prepare`.
    drop(unsafe { (*HELD.lists.get()).take() });
}

extern "C" fn in_child() {
    // SAFETY: the one thread of the child is a copy of the thread that has had the lock since `prepare`.
    let lists = unsafe { (*HELD.lists.get()).take() };
    if let Some(mut lists) = lists {
        lists.give_up();
    }
    if let Some(mark) = HELD.mark.get() {
        mark.0.store(0, Ordering::Relaxed);
    }
}

/// Something that children do not get.
#[derive(Debug)]
pub(crate) struct Withheld {
    opener: Opener,
    number: u64,
}

impl Withheld {
    /// True in the process that has it.
    pub(crate) fn is_here(&self) -> bool {
        self.opener.is_here()
    }

    /// Ends it by this call, during which no fork happens. Not in a child, which has given it up: the descriptor or the address
    /// may be another's by now.
    pub(crate) fn end(&self, by: impl FnOnce()) {
        let mut lists = lock();
        let before = lists.files.len() + lists.memory.len();
        lists.files.retain(|(number, _)| *number != self.number);
        lists.memory.retain(|(number, ..)| *number != self.number);
        if lists.files.len() + lists.memory.len() < before {
            by();
        }
    }
}

pub(super) fn withhold_file<E>(open: impl FnOnce() -> Result<File, E>) -> Result<(File, Withheld), E> {
    let opener = Opener::current();
    let mut lists = lock();
    let file = open()?;
    let number = lists.number();
    lists.files.push((number, file.as_raw_fd()));
    Ok((file, Withheld { opener, number }))
}

/// Takes this mapping from the children of every later fork.
pub(crate) fn withhold_memory(address: *mut libc::c_void, bytes: usize) -> Withheld {
    let opener = Opener::current();
    // SAFETY: the range is a mapping of the caller; the advice changes no byte of it. Where the kernel refuses, the handler
    // alone takes it from children.
    let _ = unsafe { libc::madvise(address, bytes, libc::MADV_DONTFORK) };
    let mut lists = lock();
    let number = lists.number();
    lists.memory.push((number, address.expose_provenance(), bytes));
    Withheld { opener, number }
}
