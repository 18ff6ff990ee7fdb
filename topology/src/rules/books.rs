//! Room in `matching.state` for the images of an exchange's orders.

use settings::ByteSize;
use wire::OrderImage;

use super::state::frame;
use crate::config::{PlatformConfig, StrategyGroup};

/// Every order is written anew within two fifths of the ring, and the last two rounds must be there.
const PART: u64 = 5;

/// Bytes of the largest ring that is made without being asked for: for 100,000 orders.
const MOST: u64 = 64 << 20;

/// Bytes of `matching.state`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    let most = |group: &StrategyGroup| {
        let orders = group.limits.max_working_orders.unwrap_or(config.td.max_working_orders);
        // Without a limit, as many as fit into the largest ring.
        if orders == 0 { MOST } else { u64::from(group.count) * u64::from(orders) }
    };
    let orders: u64 = config.strategies.iter().map(most).fold(0, u64::saturating_add);
    let bytes = orders.saturating_mul(frame::<OrderImage>() * PART).clamp(1 << 20, MOST);
    ByteSize(bytes.next_power_of_two())
}
