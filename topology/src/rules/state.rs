//! Room in `ledger.state` for what the ledger says there.

use settings::ByteSize;
use wire::{OrderUpdate, PositionState, Quote, SnapshotBegin, SnapshotEnd};

use super::Rules;
use super::room::{PART, Short, named, working_orders};
use crate::config::PlatformConfig;

/// Bytes of the largest ring that is made without being asked for.
const MOST: u64 = 16 << 20;
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

/// The same with as many orders as may work; without a limit, with one each.
fn most_snapshot(config: &PlatformConfig) -> u64 {
    let orders = working_orders(config).unwrap_or(0).saturating_mul(frame::<OrderUpdate>());
    least_snapshot(config).saturating_add(orders)
}

/// Bytes of `ledger.state`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    // Limits are rarely reached all at once: a larger ring is not worth its memory.
    let most = most_snapshot(config).saturating_mul(PART).min(MOST);
    ByteSize((least_snapshot(config) * 2 * PART).max(most).next_power_of_two().max(1 << 20))
}

/// Notes a ring that is named too small.
pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    let journal = &config.journal;
    let rings = [
        ("journal.ledger.state.capacity", &journal.ledger.state),
        ("journal.ledger.capacity", &journal.ledger.ring),
        ("journal.capacity", &journal.ring),
    ];
    let Some(named) = named(&rings) else { return };
    let most = most_snapshot(config);
    let what = match working_orders(config) {
        Some(orders) => format!("the {orders} orders that may work"),
        None => "one position and one order a strategy".to_owned(),
    };
    let enough = ByteSize((most * PART).next_power_of_two());
    Short { journal: "ledger.state", named, most, what, enough }.warn(rules);
}
