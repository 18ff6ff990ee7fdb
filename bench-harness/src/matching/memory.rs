//! Memory of resting orders, in a process of its own: nothing else has been in its heap before.

use bench_kit::flow::{Add, Operation, Side};
use matching::exchange::{Discard, ExchangeOptions};
use serde::{Deserialize, Serialize};

use super::venue::Venue;
use crate::ipc::{IpcError, system};

/// Price levels that the orders rest on, both sides together.
const LEVELS: u32 = 10_000;

/// Memory of resting orders.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemoryRow {
    /// Resting orders.
    pub orders: usize,
    /// Room that was set aside at the start, in orders.
    pub expected_orders: usize,
    /// Whether huge pages were asked for.
    pub huge_pages: bool,
    /// Whether orders and levels lie on them.
    pub on_huge_pages: bool,
    /// Bytes an order that the process has more in memory than before, as the kernel counts them (resident and huge pages).
    pub resident_bytes_per_order: f64,
    /// Bytes an order of address space that the process has mapped more than before.
    pub mapped_bytes_per_order: f64,
    /// Bytes an order by the exchange's own account.
    pub own_bytes_per_order: f64,
}

/// Fills an exchange, and reads what that has cost.
pub(super) fn measure(orders: usize, options: ExchangeOptions) -> Result<MemoryRow, IpcError> {
    let before = Usage::now()?;
    let mut venue = Venue::new(options)?;
    for number in 0..orders as u32 {
        // A multiplier that has no factor in common with the number of levels: every level, none in sequence.
        let level = number.wrapping_mul(7_919) % (LEVELS / 2);
        let (side, tick) = match number % 2 {
            0 => (Side::Buy, LEVELS / 2 - 1 - level),
            _ => (Side::Sell, LEVELS / 2 + level),
        };
        let add = Add { id: u64::from(number) + 1, place: number, tick, quantity: 100, side };
        venue.apply(&Operation::Add(add), &mut Discard);
    }
    let after = Usage::now()?;
    if venue.exchange().working_orders() != orders {
        return Err(IpcError::Peer(format!("has {} of {orders} orders", venue.exchange().working_orders())));
    }
    let each = |bytes: u64| bytes as f64 / orders.max(1) as f64;
    Ok(MemoryRow {
        orders,
        expected_orders: options.expected_orders,
        huge_pages: options.huge_pages,
        on_huge_pages: venue.exchange().is_on_huge_pages(),
        resident_bytes_per_order: each(after.resident.saturating_sub(before.resident)),
        mapped_bytes_per_order: each(after.mapped.saturating_sub(before.mapped)),
        own_bytes_per_order: each(venue.exchange().bytes() as u64),
    })
}

/// Bytes of this process.
struct Usage {
    resident: u64,
    mapped: u64,
}

impl Usage {
    fn now() -> Result<Usage, IpcError> {
        let status =
            std::fs::read_to_string("/proc/self/status").map_err(system("read the memory in use"))?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let count = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            count.unwrap_or_default() << 10
        };
        Ok(Usage { resident: kib("VmRSS") + kib("HugetlbPages"), mapped: kib("VmSize") })
    }
}
