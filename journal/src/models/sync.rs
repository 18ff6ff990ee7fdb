//! loom's atomics, in a wrapper that can kill: a thread that is out of fuel stores nothing any more, as a process
//! does that was killed there.

use std::cell::Cell;

pub use loom::sync::atomic::{Ordering, fence};

loom::thread_local! {
    /// Stores that this thread has left; `None`: no end.
    static FUEL: Cell<Option<u32>> = Cell::new(None);
}

/// Kills this thread after so many more stores; `None` brings it to life.
#[cfg(test)]
pub(crate) fn kill_after(stores: Option<u32>) {
    FUEL.with(|fuel| fuel.set(stores));
}

/// True when this thread was killed.
pub(crate) fn is_dead() -> bool {
    FUEL.with(|fuel| fuel.get() == Some(0))
}

/// Takes one store's worth of fuel; false when there is none.
fn burn() -> bool {
    FUEL.with(|fuel| match fuel.get() {
        None => true,
        Some(0) => false,
        Some(left) => {
            fuel.set(Some(left - 1));
            true
        }
    })
}

/// As std's.
#[derive(Debug)]
pub struct AtomicU64(loom::sync::atomic::AtomicU64);

impl AtomicU64 {
    /// As std's.
    pub fn new(value: u64) -> AtomicU64 {
        AtomicU64(loom::sync::atomic::AtomicU64::new(value))
    }

    /// As std's.
    pub fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    /// As std's, while the thread lives.
    pub fn store(&self, value: u64, order: Ordering) {
        if burn() {
            self.0.store(value, order);
        }
    }

    /// As std's, while the thread lives.
    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        if burn() { self.0.swap(value, order) } else { self.0.load(Ordering::Relaxed) }
    }

    /// As std's, while the thread lives.
    pub fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        if burn() { self.0.fetch_or(value, order) } else { self.0.load(Ordering::Relaxed) }
    }

    /// As std's, while the thread lives.
    pub fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        if burn() { self.0.fetch_and(value, order) } else { self.0.load(Ordering::Relaxed) }
    }

    /// As std's, while the thread lives.
    ///
    /// # Errors
    /// The value that stood there, if it was not `current`, or the thread was killed.
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        if burn() {
            self.0.compare_exchange(current, new, success, failure)
        } else {
            Err(self.0.load(Ordering::Relaxed))
        }
    }
}
