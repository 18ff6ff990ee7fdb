//! What was measured.

use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::Waiting;
use super::checks::Checks;
use super::desk::DeskChecks;

/// `colo bench orders`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrdersReport {
    /// Where.
    pub host: HostSummary,
    /// Turns of each row.
    pub rounds: usize,
    /// Length of each stage of a turn.
    pub turn_ms: u64,
    /// Strategy, td and exchange cannot have a CPU each. In fast rows the strategies have one, on which they look all the time;
    /// the others share one and sleep. No round trip is one of free cores.
    pub is_short_of_cpus: bool,
    /// Row by row.
    pub rows: Vec<OrdersRow>,
    /// What td's core takes for an order.
    pub checks: Checks,
    /// The same where accounts are kept.
    pub desk: DeskChecks,
}

/// So many strategies. Rates are medians over the turns, times of all turns together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrdersRow {
    /// Strategies.
    pub strategies: u32,
    /// Accounts that they trade for; 0: none are kept.
    pub accounts: u32,
    /// How strategies, td and exchange wait.
    pub waiting: Waiting,
    /// The strategies share one process.
    pub hosted: bool,
    /// Orders of each strategy on their way while the rate is measured.
    pub pending: u32,
    /// Orders whose end was reported, in a second.
    pub orders_per_s: f64,
    /// Lowest and highest turn.
    pub orders_range: [f64; 2],
    /// From before an order is sent until its end is handled, one at a time: median.
    pub round_trip_p50_ns: u64,
    /// 99th percentile.
    pub round_trip_p99_ns: u64,
    /// 99.9th percentile.
    pub round_trip_p999_ns: u64,
    /// The same while the rate is measured: median.
    pub saturated_p50_ns: u64,
    /// What td's core takes for one order, all limits set.
    pub checks_ns: f64,
    /// td's own memory, without journals and program: the most of all turns.
    pub memory_bytes: u64,
    /// CPU time of all nodes for one order while the rate is measured: median over the turns.
    pub cpu_ns_per_order: f64,
    /// Round trips of the percentiles.
    pub samples: u64,
    /// Orders of the rate.
    pub orders: u64,
}
