//! Room in `ledger.state` for what the ledger says there.

use settings::ByteSize;
use wire::{OrderUpdate, PositionState, Quote, SnapshotBegin, SnapshotEnd};

use super::Rules;
use crate::config::PlatformConfig;

/// A snapshot of everybody may take this part of the ring, so that it stays whole while the next one is written.
const PART: u64 = 4;
/// Quotes in a snapshot at most; with more instruments the ledger leaves them out.
const MOST_QUOTES: u64 = 256;

/// Bytes of a frame that holds an `M`.
pub(super) const fn frame<M>() -> u64 {
    const HEADER: u64 = 32;
    (HEADER + size_of::<M>() as u64).next_multiple_of(64)
}

/// Bytes of the ledger's snapshot when every strategy holds one position and has one order working.
fn least_snapshot(config: &PlatformConfig) -> u64 {
    let strategies: u64 = config.strategies.iter().map(|group| u64::from(group.count)).sum();
    let strategies = strategies + u64::from(config.gateway.is_some());
    let quotes = match config.md.source.has_flow() {
        true => 0,
        false => Some(u64::from(config.md.instruments)).filter(|quotes| *quotes <= MOST_QUOTES).unwrap_or(0),
    };
    let ends = frame::<SnapshotBegin>() + frame::<SnapshotEnd>();
    ends + strategies * (frame::<PositionState>() + frame::<OrderUpdate>()) + quotes * frame::<Quote>()
}

/// Bytes of `ledger.state`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    ByteSize((least_snapshot(config) * 2 * PART).next_power_of_two().max(1 << 20))
}

/// Notes a ring that is too small from the start.
pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    let journal = &config.journal;
    let Some(capacity) =
        journal.ledger.state.capacity.or(journal.ledger.ring.capacity).or(journal.ring.capacity)
    else {
        return;
    };
    let least = least_snapshot(config);
    if least <= capacity.0 / PART {
        return;
    }
    let path = match (journal.ledger.state.capacity, journal.ledger.ring.capacity) {
        (Some(_), _) => "journal.ledger.state.capacity",
        (None, Some(_)) => "journal.ledger.capacity",
        (None, None) => "journal.capacity",
    };
    let message = format!(
        "`ledger.state` is too small: what the ledger says of one position and one order a strategy takes {} of its {}, \
         and more than a quarter of it may be overwritten before a strategy that starts again has read it",
        kib(least),
        capacity
    );
    let help = format!("set journal.ledger.capacity = \"{}\" at least", own_capacity(config));
    rules.warning(path, message, help);
}

fn kib(bytes: u64) -> String {
    format!("{}KiB", bytes.div_ceil(1_024))
}
