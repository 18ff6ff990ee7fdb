//! The flag that asks a process to stop.

#![allow(
    clippy::disallowed_types,
    reason = "a signal handler sets this flag; signal-hook takes std's type, and nothing of it is in shared memory"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::error::JoinError;

/// Set by SIGTERM, SIGINT, or the process itself. The default one is not set by signals.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Makes the two signals set the flag from now on; a second signal ends the process at once. A write beyond the limit for
    /// files (`ulimit -f`) fails from now on, and does not end the process.
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn install() -> Result<StopFlag, JoinError> {
        let flag = Arc::new(AtomicBool::new(false));
        let_writes_fail()?;
        for signal in [SIGTERM, SIGINT] {
            let failed = |source| JoinError::System { action: "handle signals", source };
            // Registered first, so that it acts on the second signal: the flag is set by then.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))
                .map_err(failed)?;
            signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(failed)?;
        }
        Ok(StopFlag(flag))
    }

    /// Makes the two signals set the flag from now on, however many come: for a process that ends with another one, of whose
    /// end it hears once for each of that one's threads ([`end_with`](crate::end_with)).
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn install_patient() -> Result<StopFlag, JoinError> {
        let_writes_fail()?;
        let flag = StopFlag::default();
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&flag.0))
                .map_err(|source| JoinError::System { action: "handle signals", source })?;
        }
        Ok(flag)
    }

    /// Makes the two signals set the first flag, and a second signal the other one, for who has more to end than itself: it
    /// has to look at both. A third ends the process at once.
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn install_twice() -> Result<(StopFlag, StopFlag), JoinError> {
        let failed = |source| JoinError::System { action: "handle signals", source };
        let_writes_fail()?;
        let (first, second) = (StopFlag::default(), StopFlag::default());
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&second.0))
                .map_err(failed)?;
        }
        let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(failed)?;
        let flags = (first.clone(), second.clone());
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    if flags.0.is_set() { flags.1.set() } else { flags.0.set() }
                }
            })
            .map_err(failed)?;
        Ok((first, second))
    }

    /// The end of the terminal sets it too, for a verb that has started a platform: the platform would trade on without its owner.
    /// Not where the caller has SIGHUP ignored, as `nohup` does. However often it comes, it ends nothing at once.
    ///
    /// # Errors
    /// [`JoinError::System`].
    pub fn with_hang_up(self) -> Result<StopFlag, JoinError> {
        if !is_ignored(SIGHUP) {
            signal_hook::flag::register(SIGHUP, Arc::clone(&self.0))
                .map_err(|source| JoinError::System { action: "handle signals", source })?;
        }
        Ok(self)
    }

    /// True once set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether this process ignores a signal; one that it has from its caller.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A write beyond the limit for files is an error, and no end.
fn let_writes_fail() -> Result<(), JoinError> {
    let ignored = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, ignored)
        .map(drop)
        .map_err(|source| JoinError::System { action: "handle signals", source })
}
