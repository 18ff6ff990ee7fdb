//! What the models of the ring run on. loom tries every interleaving within a bound, on atomics of its own. Plain
//! threads repeat the same scenes a few times on the shipped accesses: for an interpreter (miri), which checks Rust's
//! rules, and for frames that are lent in place, which loom cannot follow.

#[cfg(loom)]
pub(super) use of_loom::{Loan, explore, spawn, yield_now};
#[cfg(not(loom))]
pub(super) use of_threads::{Loan, explore, spawn, yield_now};

#[cfg(loom)]
mod of_loom {
    use std::sync::{Arc, Mutex};
    use std::time::Instant;

    use loom::cell::UnsafeCell;

    pub(in super::super) use crate::models::sync::spawn;
    pub(in super::super) use loom::thread::yield_now;

    /// Stands for the bytes of a lent frame: loom fails on any two accesses that are not ordered.
    pub(in super::super) struct Loan(UnsafeCell<()>);

    impl Loan {
        pub(in super::super) fn new() -> Loan {
            Loan(UnsafeCell::new(()))
        }

        pub(in super::super) fn look(&self) {
            self.0.with(|_| ());
        }

        pub(in super::super) fn overwrite(&self) {
            self.0.with_mut(|_| ());
        }
    }

    /// Checks `model` with at most `preemptions` forced thread switches per execution, and prints the number of
    /// executions. `COLO_LOOM_PREEMPTIONS` adds to the bound.
    pub(in super::super) fn explore(
        name: &str,
        preemptions: usize,
        model: impl Fn() + Sync + Send + 'static,
    ) {
        let more =
            std::env::var("COLO_LOOM_PREEMPTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions + more);
        builder.max_branches = 20_000;
        let executions = Arc::new(Mutex::new(0_u64));
        let count = Arc::clone(&executions);
        let start = Instant::now();
        builder.check(move || {
            *count.lock().unwrap() += 1;
            model();
        });
        let executions = *executions.lock().unwrap();
        println!(
            "model {name}: {executions} executions, all within {} preemptions, {:.1} s",
            preemptions + more,
            start.elapsed().as_secs_f64()
        );
        assert!(executions > 1, "{name} explored nothing");
    }
}

#[cfg(not(loom))]
mod of_threads {
    use std::cell::UnsafeCell;
    use std::sync::mpsc;
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    pub(in super::super) use std::thread::yield_now;

    const ROUNDS: u32 = if cfg!(miri) { 6 } else { 300 };

    /// Stands for the bytes of a lent frame: plain memory, in which an interpreter finds races.
    pub(in super::super) struct Loan(UnsafeCell<u64>);

    // SAFETY: the models check that no two accesses ever overlap.
    unsafe impl Sync for Loan {}

    impl Loan {
        pub(in super::super) fn new() -> Loan {
            Loan(UnsafeCell::new(0))
        }

        pub(in super::super) fn look(&self) {
            // SAFETY: as above.
            std::hint::black_box(unsafe { self.0.get().read() });
        }

        pub(in super::super) fn overwrite(&self) {
            // SAFETY: as above.
            unsafe { self.0.get().write(1) };
        }
    }

    /// Starts one of a model's threads.
    pub(in super::super) fn spawn<T: Send + 'static>(
        _number: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        thread::spawn(work)
    }

    /// Runs `model` a few times; ends the process if it hangs.
    pub(in super::super) fn explore(
        name: &str,
        _preemptions: usize,
        model: impl Fn() + Sync + Send + 'static,
    ) {
        let (done, is_done) = mpsc::channel::<()>();
        let what = name.to_owned();
        let watching = thread::spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(300)) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprintln!("watchdog: {what} does not end");
                std::process::abort();
            }
        });
        (0..ROUNDS).for_each(|_| model());
        drop(done);
        watching.join().unwrap();
        println!("scene {name}: played {ROUNDS} times");
    }
}
