//! loom's atomics, in a wrapper that adds two things.
//!
//! It can kill a thread: a thread that is out of fuel stores nothing any more, like a process that was killed there.
//!
//! And it makes loom explore every order. To find races, loom 0.7 remembers only the last access to each atomic. When
//! one thread loads a word, and another loads and then stores it, the second load hides the first, and the order in
//! which the store comes before the first load is never tried. Whole models would be explored in one execution.
//! Therefore every word here has one more atomic for each thread, which that thread's loads and all others' stores
//! access: no access hides another there.

use std::cell::Cell;

pub use loom::sync::atomic::{Ordering, fence};

/// Threads that a model may have, main included.
const THREADS: usize = 3;

loom::thread_local! {
    /// Number of this thread within its model.
    static NUMBER: Cell<usize> = Cell::new(0);
    /// True where [`announce`](crate::wait::announce) of other threads fences this one.
    static ANNOUNCED_TO: Cell<bool> = Cell::new(false);
    /// Number of stores that this thread has left; `None`: no limit.
    static FUEL: Cell<Option<u32>> = Cell::new(None);
}

/// Starts the model's `number`-th thread; main is number 0.
#[cfg(test)]
pub(crate) fn spawn<T: 'static>(
    number: usize,
    work: impl FnOnce() -> T + 'static,
) -> loom::thread::JoinHandle<T> {
    assert!((1..THREADS).contains(&number));
    loom::thread::spawn(move || {
        NUMBER.with(|own| own.set(number));
        work()
    })
}

/// From now on this thread's light barriers pair with the heavy ones of others, which equals a full fence at both ends.
/// Other models do without, so that they test the fences of the code itself.
#[cfg(test)]
pub(crate) fn hear_announcements() {
    ANNOUNCED_TO.with(|heard| heard.set(true));
}

/// Between a commit and the look at the interest.
pub(crate) fn light_barrier() {
    if ANNOUNCED_TO.with(Cell::get) {
        fence(Ordering::SeqCst);
    }
}

/// Kills this thread after `stores` more stores; `None` revives it.
#[cfg(test)]
pub(crate) fn kill_after(stores: Option<u32>) {
    FUEL.with(|fuel| fuel.set(stores));
}

/// True when this thread was killed.
pub(crate) fn is_dead() -> bool {
    FUEL.with(|fuel| fuel.get() == Some(0))
}

/// Uses one unit of fuel; false when there is none.
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
pub struct AtomicU64 {
    word: loom::sync::atomic::AtomicU64,
    /// Accessed by the loads of one thread each, and by the stores of the others. Relaxed read-modify-writes: they
    /// order nothing and have only one outcome.
    loads: [loom::sync::atomic::AtomicU64; THREADS],
}

impl AtomicU64 {
    /// As std's.
    pub fn new(value: u64) -> AtomicU64 {
        let loads = std::array::from_fn(|_| loom::sync::atomic::AtomicU64::new(0));
        AtomicU64 { word: loom::sync::atomic::AtomicU64::new(value), loads }
    }

    fn touch_load(&self) {
        NUMBER.with(|own| self.loads[own.get()].fetch_add(1, Ordering::Relaxed));
    }

    fn touch_store(&self) {
        let own = NUMBER.with(Cell::get);
        for (number, load) in self.loads.iter().enumerate() {
            if number != own {
                load.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// As std's.
    pub fn load(&self, order: Ordering) -> u64 {
        self.touch_load();
        self.word.load(order)
    }

    /// As std's, while the thread lives.
    pub fn store(&self, value: u64, order: Ordering) {
        if burn() {
            self.touch_store();
            self.word.store(value, order);
        }
    }

    /// As std's, while the thread lives.
    pub fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.modify(|word| word.swap(value, order))
    }

    /// As std's, while the thread lives.
    pub fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        self.modify(|word| word.fetch_or(value, order))
    }

    /// As std's, while the thread lives.
    pub fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        self.modify(|word| word.fetch_and(value, order))
    }

    fn modify(&self, change: impl Fn(&loom::sync::atomic::AtomicU64) -> u64) -> u64 {
        if !burn() {
            return self.load(Ordering::Relaxed);
        }
        self.touch_load();
        self.touch_store();
        change(&self.word)
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
        if !burn() {
            return Err(self.load(Ordering::Relaxed));
        }
        self.touch_load();
        self.touch_store();
        self.word.compare_exchange(current, new, success, failure)
    }
}
