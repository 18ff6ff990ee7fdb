//! Room in `matching.state` for the images of an exchange's orders.

use settings::ByteSize;
use wire::OrderImage;

use super::state::frame;
use crate::config::PlatformConfig;

/// Every order is written anew within two fifths of the ring, and the last two rounds must be there.
const PART: u64 = 5;

/// Bytes of `matching.state`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    let most = |group: &crate::config::StrategyGroup| {
        let orders = group.limits.max_working_orders.unwrap_or(config.td.max_working_orders);
        u64::from(group.count) * u64::from(orders)
    };
    let orders: u64 = config.strategies.iter().map(most).sum();
    let bytes = orders.saturating_mul(frame::<OrderImage>() * PART).clamp(1 << 20, 64 << 20);
    ByteSize(bytes.next_power_of_two())
}
