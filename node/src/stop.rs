//! The flag that asks a process to stop.

#![allow(
    clippy::disallowed_types,
    reason = "a signal handler sets this flag; signal-hook takes std's type, and nothing of it is in shared memory"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};

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
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .map_err(|source| JoinError::System { action: "handle signals", source })?;
        for signal in [SIGTERM, SIGINT] {
            let failed = |source| JoinError::System { action: "handle signals", source };
            // Registered first, so that it acts on the second signal: the flag is set by then.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&flag))
                .map_err(failed)?;
            signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(failed)?;
        }
        Ok(StopFlag(flag))
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
