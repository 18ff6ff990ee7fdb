//! How many orders may work, for the rings that must have room for all of them.

use settings::ByteSize;

use super::Rules;
use crate::config::{PlatformConfig, RingConfig};

/// The limit of a strategy or of the gateway, which may have its own; `None`: no limit.
fn limit(config: &PlatformConfig, own: Option<u32>) -> Option<u64> {
    Some(u64::from(own.unwrap_or(config.td.max_working_orders))).filter(|most| *most != 0)
}

/// Orders that may work for the gateway; `None`: it has no limit, or there is no gateway.
pub(super) fn of_gateway(config: &PlatformConfig) -> Option<u64> {
    limit(config, config.gateway.as_ref()?.limits.max_working_orders)
}

/// Orders that may work for all strategies and the gateway together; `None`: one of them has no limit.
pub(super) fn working_orders(config: &PlatformConfig) -> Option<u64> {
    let groups = config.strategies.iter().map(|group| {
        let each = limit(config, group.limits.max_working_orders)?;
        Some(u64::from(group.count).saturating_mul(each))
    });
    let gateway = config.gateway.iter().map(|gateway| limit(config, gateway.limits.max_working_orders));
    groups.chain(gateway).try_fold(0, |all: u64, orders| Some(all.saturating_add(orders?)))
}

/// The nearest key that names the capacity of a ring, with its value.
pub(super) fn named(rings: &[(&'static str, &RingConfig)]) -> Option<(&'static str, ByteSize)> {
    rings.iter().find_map(|(path, ring)| Some((*path, ring.capacity?)))
}

/// A ring of the ledger's snapshots that is named too small for what may be in one.
pub(super) struct Short {
    pub(super) journal: &'static str,
    pub(super) named: (&'static str, ByteSize),
    /// Bytes that a snapshot may take.
    pub(super) most: u64,
    /// Its content, in words.
    pub(super) what: String,
    /// A capacity that is enough.
    pub(super) enough: ByteSize,
}

/// A snapshot may take this part of a ring, so that it stays whole while the next one is written; the orders that the gateway
/// keeps in its own ring likewise.
pub(super) const PART: u64 = 4;

impl Short {
    /// Notes it, where it is short.
    pub(super) fn warn(self, rules: &mut Rules<'_>) {
        let (path, capacity) = self.named;
        if self.most <= capacity.0 / PART {
            return;
        }
        let message = format!(
            "`{}` is too small: a snapshot of {} takes {}KiB of its {capacity}; above a quarter, a ledger that is killed may \
             not find its last one, and then does not start again",
            self.journal,
            self.what,
            self.most.div_ceil(1_024),
        );
        rules.warning(path, message, format!("set {path} = \"{}\" at least", self.enough));
    }
}
