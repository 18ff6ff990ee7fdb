//! `colo bench orders`.

use std::env;
use std::time::Duration;

use bench_harness::orders::{Checks, DeskChecks, OrdersReport, OrdersSettings, Waiting, measure};
use clap::Args;

use super::measured;
use crate::failure::Failure;
use crate::output::{self, Format, table};

#[derive(Debug, Args)]
pub(crate) struct Orders {
    /// One short turn of each row: ends within two minutes.
    #[arg(long)]
    quick: bool,
    /// Strategies, row by row. [default: 1,8,80]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    strategies: Vec<u32>,
    /// Accounts, row by row; 0: none are kept. [default: 0,1,100,1000,10000,50000; quick: 0,1,10000]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    accounts: Vec<u32>,
    /// How the nodes wait: fast, parked. Both when left out.
    #[arg(long, value_delimiter = ',', value_name = "WAIT,…")]
    waiting: Vec<Waiting>,
    /// Length of each of a turn's two stages in milliseconds.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(50..=600_000))]
    turn: Option<u64>,
    /// Turns of each row.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn orders(arguments: &Orders) -> Result<u8, Failure> {
    let colo = env::current_exe()?;
    let mut settings = if arguments.quick { OrdersSettings::quick(colo) } else { OrdersSettings::full(colo) };
    if !arguments.strategies.is_empty() {
        settings.strategies.clone_from(&arguments.strategies);
    }
    if !arguments.accounts.is_empty() {
        settings.accounts.clone_from(&arguments.accounts);
    }
    if !arguments.waiting.is_empty() {
        settings.waiting.clone_from(&arguments.waiting);
    }
    if let Some(turn) = arguments.turn {
        settings.turn = Duration::from_millis(turn);
    }
    if let Some(rounds) = arguments.rounds {
        settings.rounds = rounds as usize;
    }
    measured("checks", arguments.format, text, |progress| measure(&settings, progress))
}

fn text(report: &OrdersReport) -> String {
    let host = &report.host;
    let mut text = format!(
        "{}, {} CPUs{}; {} rounds, two stages of {} ms each\n",
        host.cpu_model,
        host.cpus,
        host.virtualised.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default(),
        report.rounds,
        report.turn_ms,
    );
    if report.is_short_of_cpus {
        text += "Too few CPUs for strategy, td and exchange to have one each. In fast rows the strategies have one and look all \
                 the time; td and exchange share one and sleep: no round trip is one of free cores.\n";
    }
    text += "\n";
    let us = |nanos: u64| format!("{:.1}", nanos as f64 / 1e3);
    let rows = report.rows.iter().map(|row| {
        vec![
            row.strategies.to_string(),
            row.accounts.to_string(),
            if row.hosted {
                format!("{}, one process", row.waiting.as_str())
            } else {
                row.waiting.as_str().to_owned()
            },
            output::number(row.orders_per_s.round() as u64),
            us(row.round_trip_p50_ns),
            us(row.round_trip_p99_ns),
            us(row.round_trip_p999_ns),
            us(row.saturated_p50_ns),
            format!("{:.2}", row.cpu_ns_per_order / 1e3),
            output::bytes(row.memory_bytes),
            output::number(row.samples),
        ]
    });
    let head = [
        "strategies",
        "accounts",
        "waiting",
        "orders/s",
        "µs p50",
        "p99",
        "p99.9",
        "saturated",
        "CPU µs",
        "td's memory",
        "samples",
    ];
    text += &table(&head, 3, rows);
    text + &checks(&report.checks) + &desk(&report.desk)
}

fn checks(checks: &Checks) -> String {
    let ns = |nanos: f64| format!("{nanos:.1}");
    let rows = checks.rows.iter().map(|row| vec![row.check.clone(), ns(row.without_ns), ns(row.price_ns)]);
    format!(
        "\ntd's core takes {} ns for an order with all of its limits, {} ns without those that can be left out\n{}",
        ns(checks.all_ns),
        ns(checks.none_ns),
        table(&["switched off", "ns without", "its price"], 1, rows),
    )
}

fn desk(desk: &DeskChecks) -> String {
    let ns = |nanos: f64| format!("{nanos:.1}");
    let mut text = String::new();
    if !desk.accounts.is_empty() {
        let rows = desk
            .accounts
            .iter()
            .map(|row| vec![output::number(u64::from(row.accounts)), ns(row.all_ns), ns(row.desk_ns)]);
        text += &format!(
            "\nwith accounts, all of their checks and limits\n{}",
            table(&["accounts", "ns an order", "of that the desk"], 0, rows)
        );
    }
    let rows = desk.rows.iter().map(|row| vec![row.check.clone(), ns(row.without_ns), ns(row.price_ns)]);
    text + "\n" + &table(&["switched off (1 account)", "ns without", "its price"], 1, rows)
}
