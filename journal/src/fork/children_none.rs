//! Models and Miri start no processes: every handle is in the process that opened it.

use std::fs::File;

#[derive(Clone, Copy, Debug)]
pub(super) struct Mark;

impl Mark {
    #[inline(always)]
    pub(super) fn load(self) -> u64 {
        1
    }
}

pub(super) fn mark() -> Mark {
    Mark
}

#[derive(Debug)]
pub(crate) struct Withheld;

impl Withheld {
    pub(crate) fn is_here(&self) -> bool {
        true
    }

    pub(crate) fn end(&self, by: impl FnOnce()) {
        by();
    }
}

pub(super) fn withhold_file<E>(open: impl FnOnce() -> Result<File, E>) -> Result<(File, Withheld), E> {
    Ok((open()?, Withheld))
}

#[cfg(not(loom))]
pub(crate) fn withhold_memory(_address: *mut libc::c_void, _bytes: usize) -> Withheld {
    Withheld
}
