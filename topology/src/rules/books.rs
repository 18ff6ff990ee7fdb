//! Room in `matching.state` for the images of the orders in the books.

use settings::ByteSize;
use wire::OrderImage;

use super::room::working_orders;
use super::state::frame;
use crate::config::{Fill, PlatformConfig};

/// Every order is written anew within two fifths of the ring, and the last two rounds must be there.
const PART: u64 = 5;

/// Bytes of the largest ring that is made without being asked for: for 100,000 orders.
const MOST: u64 = 64 << 20;

/// The orders of a recorded market that there is room for, beside those of strategies.
const RECORDED: u64 = 50_000;

/// The instruments of a quoted market that there is room for at least.
const QUOTED: u64 = 500;

/// Bytes of `matching.state`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    // Without a limit, as many as fit into the largest ring.
    let orders = working_orders(config).unwrap_or(MOST);
    let recorded = match config.matching.fill {
        Fill::Book => RECORDED,
        // What is left of a quote takes as much as four orders.
        Fill::Quotes => u64::from(config.md.instruments).max(QUOTED) * 4,
        // Orders that work elsewhere have no images here.
        Fill::Exchange | Fill::External => 0,
    };
    let bytes =
        orders.saturating_add(recorded).saturating_mul(frame::<OrderImage>() * PART).clamp(1 << 20, MOST);
    ByteSize(bytes.next_power_of_two())
}
