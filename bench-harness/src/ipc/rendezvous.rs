//! Where the measuring side and its peers wait for each other before a step.

use std::time::Duration;

use super::IpcError;
use super::parts::{Parts, word};
use super::watch::Watch;

/// The measuring side begins `step` once peers 0 to `peers - 1` are ready for it.
pub(super) fn meet(parts: &Parts, step: u64, peers: usize, watch: &mut Watch) -> Result<(), IpcError> {
    for peer in 0..peers {
        while parts.floor.get(word::READY + peer) < step {
            watch.idle()?;
        }
        watch.news();
    }
    parts.floor.set(word::WRITTEN, 0);
    for peer in 0..peers {
        parts.floor.set(word::STEP + peer, step);
        parts.floor.wake(word::STEP + peer);
    }
    Ok(())
}

/// A peer is ready for `step`, and continues when it begins. Until then it sleeps, however long the steps before take:
/// a core that spins beside a measurement would affect it.
pub(super) fn arrive(parts: &Parts, peer: usize, step: u64, watch: &mut Watch) -> Result<(), IpcError> {
    parts.floor.set(word::READY + peer, step);
    loop {
        let now = parts.floor.get(word::STEP + peer);
        if now >= step {
            watch.news();
            return Ok(());
        }
        parts.floor.sleep(word::STEP + peer, now as u32, Duration::from_millis(100));
        watch.parent_lives()?;
    }
}
