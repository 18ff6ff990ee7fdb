//! One row: so many strategies, and how they wait.

use std::path::Path;

use bench_kit::Spread;

use super::checks::Checks;
use super::desk::DeskChecks;
use super::platform::{self, Turn};
use super::report::OrdersRow;
use super::trips::Trips;
use super::{OrdersSettings, Waiting};
use crate::ipc::IpcError;

/// Orders on their way in all, while the rate is measured: enough to keep every node busy, and few enough that no journal is
/// ever full.
const PENDING: u32 = 2_048;
/// Nodes that an order passes beside the strategy: td and the exchange.
const PASSED: usize = 2;

/// A row and what its turns had.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) strategies: u32,
    pub(super) accounts: u32,
    pub(super) waiting: Waiting,
    pub(super) hosted: bool,
    /// There is one CPU for the strategies and one for all others.
    pub(super) shares_cpus: bool,
    pub(super) pending: u32,
    alone: Trips,
    together: Trips,
    rates: Vec<f64>,
    cpu_ns: Vec<f64>,
    memory: u64,
}

pub(super) fn all(settings: &OrdersSettings, cpus: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for &strategies in &settings.strategies {
        for &accounts in &settings.accounts {
            rows.extend(
                settings.waiting.iter().map(|&waiting| Row::new(strategies, accounts, waiting, cpus)),
            );
        }
    }
    rows
}

impl Row {
    fn new(strategies: u32, accounts: u32, waiting: Waiting, cpus: usize) -> Row {
        // Processes that look all the time and share CPUs measure the kernel's slices, and nothing of ours.
        let hosted = waiting == Waiting::Fast && strategies > 1 && strategies as usize + PASSED > cpus;
        Row {
            strategies,
            accounts,
            waiting,
            hosted,
            shares_cpus: waiting == Waiting::Fast && cpus < PASSED + 1,
            pending: (PENDING / strategies.max(1)).clamp(1, 1_024),
            alone: Trips::default(),
            together: Trips::default(),
            rates: Vec::new(),
            cpu_ns: Vec::new(),
            memory: 0,
        }
    }

    pub(super) fn name(&self) -> String {
        let hosted = if self.hosted { ", one process" } else { "" };
        let accounts = match self.accounts {
            0 => String::new(),
            accounts => format!(", {accounts} accounts"),
        };
        format!("{} strategies{accounts}, {}{hosted}", self.strategies, self.waiting.as_str())
    }

    /// A platform from its start to its end. `tick` is called with the done share of it.
    pub(super) fn turn(
        &mut self,
        settings: &OrdersSettings,
        scratch: &Path,
        tick: &dyn Fn(f64) -> bool,
    ) -> Result<(), IpcError> {
        let Turn { alone, together, memory, cpu_ns } = platform::turn(self, settings, scratch, tick)?;
        let orders = together.count();
        self.rates.push(orders as f64 / settings.turn.as_secs_f64());
        self.cpu_ns.push(cpu_ns as f64 / orders.max(1) as f64);
        self.alone.add(&alone);
        self.together.add(&together);
        self.memory = self.memory.max(memory);
        Ok(())
    }

    pub(super) fn report(&self, checks: &Checks, desk: &DeskChecks) -> OrdersRow {
        let with_accounts = desk.accounts.iter().find(|row| row.accounts == self.accounts);
        let rates = Spread::of(self.rates.iter().copied());
        let cpu = Spread::of(self.cpu_ns.iter().copied());
        OrdersRow {
            strategies: self.strategies,
            accounts: self.accounts,
            waiting: self.waiting,
            hosted: self.hosted,
            pending: self.pending,
            orders_per_s: rates.map_or(0.0, |spread| spread.median),
            orders_range: rates.map_or([0.0; 2], |spread| [spread.low, spread.high]),
            round_trip_p50_ns: self.alone.at(0.5),
            round_trip_p99_ns: self.alone.at(0.99),
            round_trip_p999_ns: self.alone.at(0.999),
            saturated_p50_ns: self.together.at(0.5),
            checks_ns: with_accounts.map_or(checks.all_ns, |row| row.all_ns),
            memory_bytes: self.memory,
            cpu_ns_per_order: cpu.map_or(0.0, |spread| spread.median),
            samples: self.alone.count(),
            orders: self.together.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn strategies_that_look_all_the_time_share_a_process_where_there_are_too_few_cpus() {
        let hosted = |strategies, waiting, cpus| Row::new(strategies, 1, waiting, cpus).hosted;
        assert!(!hosted(1, Waiting::Fast, 2), "one has a process in any case");
        assert!(hosted(8, Waiting::Fast, 8) && !hosted(8, Waiting::Fast, 10));
        assert!(!hosted(80, Waiting::Parked, 2), "who sleeps takes no CPU");
        let shares = |waiting, cpus| Row::new(1, 1, waiting, cpus).shares_cpus;
        assert!(shares(Waiting::Fast, 2) && !shares(Waiting::Fast, 3) && !shares(Waiting::Parked, 2));
    }

    #[test]
    fn rows_are_every_number_of_strategies_for_every_number_of_accounts() {
        let settings = OrdersSettings { accounts: vec![1, 100], ..OrdersSettings::full(PathBuf::new()) };
        let rows: Vec<_> =
            all(&settings, 2).iter().map(|row| (row.strategies, row.accounts, row.waiting)).collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[..2], [(1, 1, Waiting::Fast), (1, 1, Waiting::Parked)]);
        assert_eq!(rows[11], (80, 100, Waiting::Parked));
    }
}
