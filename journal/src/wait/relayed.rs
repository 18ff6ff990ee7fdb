//! Seats that a relay wakes: how they return to being woken by writers.

use super::{announce, wake};
use crate::files::registry::Registry;
use crate::layout::registry as at;
use crate::sync::Ordering;

/// Takes those of `seats` that the relay in seat `own` has away from it.
pub(crate) fn give_back(registry: &Registry, seats: &[u32], own: u32) -> usize {
    let mut taken = Vec::new();
    for &seat in seats {
        if registry.is_writable()
            && seat < registry.seats()
            && registry.relay(seat).load(Ordering::SeqCst) == u64::from(own)
            && registry.set_notified_by(seat, at::NOTIFY_RELAY, false)
        {
            taken.push(seat);
        }
    }
    if !taken.is_empty() {
        // SYNC: relay. A writer that has not seen the change has committed before this, visibly to all.
        announce(registry);
        for &seat in &taken {
            wake(registry, seat);
        }
    }
    taken.len()
}

/// For a node whose relay shows no sign of life: the writers wake it again, whatever the relay does. True when `seat`
/// had a relay whose last heartbeat is older than `patience` nanoseconds.
pub(crate) fn leave_silent_relay(registry: &Registry, seat: u32, now: u64, patience: u64) -> bool {
    if !registry.is_notified_by(seat, at::NOTIFY_RELAY) {
        return false;
    }
    let own = registry.relay(seat).load(Ordering::SeqCst) as u32;
    let alive = registry.seat(own).is_some_and(|relay| now.saturating_sub(relay.heartbeat()) <= patience);
    !alive && give_back(registry, &[seat], own) > 0
}
