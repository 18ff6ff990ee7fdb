//! Busy waiting that ends when the other side has ended.

use std::time::{Duration, Instant};

use super::IpcError;

/// Turns between two looks at the clock: about a millisecond.
const TURNS: u32 = 1 << 16;
/// Longest silence of the other side.
const PATIENCE: Duration = Duration::from_secs(20);

/// Counts the turns of one wait.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    turns: u32,
    since: Option<Instant>,
    /// The parent of a peer, which must not outlive it.
    parent: Option<u32>,
}

impl Watch {
    pub(crate) fn of_peer(parent: u32) -> Watch {
        Watch { parent: Some(parent), ..Watch::default() }
    }

    /// Something arrived: restarts the patience.
    #[inline(always)]
    pub(crate) fn news(&mut self) {
        self.turns = 0;
    }

    /// One turn without news.
    #[inline(always)]
    pub(crate) fn idle(&mut self) -> Result<(), IpcError> {
        self.turns += 1;
        if self.turns >= TURNS { self.look() } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self) -> Result<(), IpcError> {
        if self.turns == TURNS {
            self.since = Some(Instant::now());
        }
        // Stays above the mark, so that from now on every turn checks: precision no longer matters.
        self.turns = TURNS + 1;
        self.parent_lives()?;
        if self.since.is_some_and(|since| since.elapsed() > PATIENCE) {
            return Err(IpcError::Peer(format!("did nothing for {} s", PATIENCE.as_secs())));
        }
        Ok(())
    }

    /// An error once the measuring process has ended.
    pub(crate) fn parent_lives(&self) -> Result<(), IpcError> {
        if self.parent.is_some_and(|parent| std::os::unix::process::parent_id() != parent) {
            return Err(IpcError::Peer("has ended".to_owned()));
        }
        Ok(())
    }
}
