//! `colo bench matching`.

use bench_harness::matching::{MatchingReport, MatchingRow, MatchingSettings, measure};
use bench_kit::flow::{Ids, Mix};
use clap::Args;

use super::{measured, peer};
use crate::failure::Failure;
use crate::output::{self, Format, table};

#[derive(Debug, Args)]
pub(crate) struct Matching {
    /// Fewer operations and turns: ends within half a minute.
    #[arg(long)]
    quick: bool,
    /// Kinds of flow: mixed, calm, volatile, crash. All when left out.
    #[arg(long, value_delimiter = ',', value_name = "MIX,…")]
    mixes: Vec<Mix>,
    /// Price levels of both sides together, row by row. [default: 10,100,1000,10000]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    levels: Vec<u32>,
    /// Operations of each flow.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    operations: Option<u32>,
    /// Turns of each row.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    turns: Option<u32>,
    /// Another seed, other flows.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number orders with any 64-bit numbers instead of 1, 2, 3 ...
    #[arg(long)]
    scattered_ids: bool,
    /// Resting orders whose memory is read; 0: none.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=50_000_000))]
    memory_orders: Option<u32>,
    /// CPUs: that of the engines, then that of the process that reads events. By default the last two cores of the host.
    #[arg(long, value_delimiter = ',', value_name = "CPU,CPU")]
    cpus: Vec<usize>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn matching(arguments: &Matching) -> Result<u8, Failure> {
    let mut settings = if arguments.quick { MatchingSettings::quick() } else { MatchingSettings::full() };
    settings.cpus.clone_from(&arguments.cpus);
    if !arguments.mixes.is_empty() {
        settings.mixes.clone_from(&arguments.mixes);
    }
    if !arguments.levels.is_empty() {
        settings.levels.clone_from(&arguments.levels);
    }
    if let Some(operations) = arguments.operations {
        settings.operations = operations as usize;
    }
    if let Some(turns) = arguments.turns {
        settings.turns = turns as usize;
    }
    if let Some(orders) = arguments.memory_orders {
        settings.memory_orders = orders as usize;
    }
    settings.seed = arguments.seed.unwrap_or(settings.seed);
    if arguments.scattered_ids {
        settings.ids = Ids::Scattered;
    }
    measured("memory of resting orders", arguments.format, text, |progress| {
        measure(&settings, || peer("matching"), progress)
    })
}

fn text(report: &MatchingReport) -> String {
    let host = &report.host;
    let cpus: Vec<String> = report.cpus.iter().map(usize::to_string).collect();
    let mut text = format!(
        "{}, {} CPUs{}; engines on CPU {}, the reader of events on {}; {} operations a flow, seed {}; a reading of the clock \
         ({}) takes {:.1} ns, which is taken off\n\n",
        host.cpu_model,
        host.cpus,
        host.virtualised.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default(),
        cpus[0],
        cpus[1..].join(", "),
        output::number(report.operations as u64),
        report.seed,
        report.clock,
        report.clock_cost_ns,
    );
    text += &engines(&report.rows);
    let growth = report.growth.iter().map(|growth| {
        format!(
            "{} {:.2} ({} to {} levels)",
            growth.mix, growth.p50_ratio, growth.from_levels, growth.to_levels
        )
    });
    text += &format!("\nthe exchange's p50 grows by: {}\n", growth.collect::<Vec<_>>().join(", "));
    text += &events(report);
    if !report.memory.is_empty() {
        text += &memory(report);
    }
    text
}

fn million(value: f64) -> String {
    format!("{:.2}", value / 1e6)
}

fn engines(rows: &[MatchingRow]) -> String {
    let ns = |value: f64| format!("{value:.0}");
    let rows = rows.iter().map(|row| {
        vec![
            row.mix.to_string(),
            output::number(row.levels.into()),
            million(row.ops_per_s),
            million(row.ladder_ops_per_s),
            format!("{:.2}", row.ratio),
            format!("{:.2}..{:.2}", row.ratio_range[0], row.ratio_range[1]),
            row.simulator_ops_per_s.map_or_else(|| "–".to_owned(), million),
            ns(row.p50_ns),
            ns(row.p99_ns),
            ns(row.p999_ns),
            ns(row.ladder_p50_ns),
            ns(row.ladder_p99_ns),
            row.turns.to_string(),
            output::number(row.samples),
        ]
    });
    let head = [
        "mix",
        "levels",
        "M ops/s",
        "ladder",
        "ratio",
        "range",
        "simulator",
        "p50 ns",
        "p99",
        "p99.9",
        "ladder p50",
        "p99",
        "turns",
        "samples",
    ];
    table(&head, 1, rows)
}

fn events(report: &MatchingReport) -> String {
    let mut text = format!(
        "\nevents of {} bytes through a journal (ring of {}) to another process\n",
        report.event_bytes,
        output::bytes(report.ring_bytes)
    );
    let rows = report.rows.iter().map(|row| {
        vec![
            row.mix.to_string(),
            output::number(row.levels.into()),
            million(row.events_per_s),
            format!("{}..{}", million(row.events_range[0]), million(row.events_range[1])),
            million(row.streamed_ops_per_s),
            output::number(row.events),
        ]
    });
    text += &table(&["mix", "levels", "M events/s", "range", "M ops/s", "events"], 1, rows);
    if let Some(worst) = &report.worst {
        let rate = million(worst.events_per_s);
        text += &format!("worst: {} over {} levels, {rate} M events/s\n", worst.mix, worst.levels);
    }
    text
}

fn memory(report: &MatchingReport) -> String {
    let rows = report.memory.iter().map(|row| {
        let pages = match (row.huge_pages, row.on_huge_pages) {
            (false, _) => "ordinary",
            (true, true) => "huge",
            (true, false) => "huge wanted, too few free",
        };
        vec![
            pages.to_owned(),
            output::number(row.orders as u64),
            output::number(row.expected_orders as u64),
            format!("{:.1}", row.resident_bytes_per_order),
            format!("{:.1}", row.mapped_bytes_per_order),
            format!("{:.1}", row.own_bytes_per_order),
        ]
    });
    let head = ["pages", "orders", "set aside", "resident", "mapped", "own account"];
    format!("\nbytes a resting order\n{}", table(&head, 1, rows))
}
