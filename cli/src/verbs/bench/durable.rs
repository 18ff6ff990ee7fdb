//! `colo bench durable` and `colo bench recover`.

use std::path::PathBuf;

use bench_harness::durable::{
    DurableReport, DurableSettings, RecoverReport, RecoverSettings, measure, recover as bring_back,
};
use clap::Args;

use super::measured;
use crate::failure::Failure;
use crate::output::{self, Format, table};

#[derive(Debug, Args)]
pub(crate) struct Durable {
    /// One round, one and two files: ends within half a minute.
    #[arg(long)]
    quick: bool,
    /// Folder on the disk to measure; files of the benchmark are in a folder of its own in it, and removed.
    #[arg(long, value_name = "FOLDER", default_value = "/var/tmp")]
    dir: PathBuf,
    /// Records of a batch, row by row; 0: what gathers.
    #[arg(long, value_delimiter = ',', value_name = "RECORDS,…", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    batches: Vec<u32>,
    /// Files that are written in parallel, row by row.
    #[arg(long, value_delimiter = ',', value_name = "FILES,…", value_parser = clap::value_parser!(u32).range(1..=16))]
    files: Vec<u32>,
    /// Rounds over all rows.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Recover {
    /// Up to a million records, once.
    #[arg(long)]
    quick: bool,
    /// Folder on the disk for the recordings; they are in a folder of their own in it, and removed.
    #[arg(long, value_name = "FOLDER", default_value = "/var/tmp")]
    dir: PathBuf,
    /// Records, row by row; each takes up to 400 bytes of memory, and 200 of the disk.
    #[arg(long, value_delimiter = ',', value_name = "RECORDS,…", value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    records: Vec<u64>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn durable(arguments: &Durable) -> Result<u8, Failure> {
    let folder = arguments.dir.clone();
    let mut settings =
        if arguments.quick { DurableSettings::quick(folder) } else { DurableSettings::full(folder) };
    if !arguments.batches.is_empty() {
        let batch = |&batch: &u32| (batch > 0).then_some(batch as usize);
        settings.batches = arguments.batches.iter().map(batch).collect();
    }
    if !arguments.files.is_empty() {
        settings.files = arguments.files.iter().map(|&files| files as usize).collect();
    }
    if let Some(rounds) = arguments.rounds {
        settings.rounds = rounds as usize;
    }
    measured("files", arguments.format, durable_text, |progress| measure(&settings, progress))
}

pub(super) fn recover(arguments: &Recover) -> Result<u8, Failure> {
    let folder = arguments.dir.clone();
    let mut settings =
        if arguments.quick { RecoverSettings::quick(folder) } else { RecoverSettings::full(folder) };
    if !arguments.records.is_empty() {
        settings.records.clone_from(&arguments.records);
    }
    let differs = std::cell::Cell::new(false);
    let code = measured("a recording", arguments.format, recover_text, |progress| {
        let report = bring_back(&settings, progress)?;
        differs.set(report.rows.iter().any(|row| !row.identical));
        Ok(report)
    })?;
    Ok(if differs.get() { node::Exit::CheckFailed.code() } else { code })
}

fn rate(records: f64) -> String {
    output::number(records.round() as u64)
}

fn maybe(figure: Option<f64>, format: impl Fn(f64) -> String) -> String {
    figure.map_or_else(|| "–".to_owned(), format)
}

fn durable_text(report: &DurableReport) -> String {
    let disk = &report.disk;
    let mut text = format!(
        "{}, {} CPUs; {} ({}{}), {} rounds, turns of {} ms\n\n",
        report.host.cpu_model,
        report.host.cpus,
        disk.folder.display(),
        disk.file_system,
        if disk.is_memory { ": memory, so no figure says anything of a disk" } else { "" },
        report.rounds,
        report.turn_ms,
    );
    let us = |figure| maybe(figure, |figure: f64| format!("{figure:.1}"));
    let rows = report.rows.iter().map(|row| {
        vec![
            format!("{:?}", row.mode).to_lowercase(),
            row.batch.map_or_else(|| "gathers".to_owned(), |batch| output::number(batch as u64)),
            row.files.to_string(),
            rate(row.records_per_s),
            maybe(row.bare_records_per_s, rate),
            maybe(row.ratio, |ratio| format!("{ratio:.2}")),
            us(row.durable_p50_us),
            us(row.durable_p99_us),
            us(row.durable_p999_us),
            us(row.bare_p50_us),
            us(row.bare_p99_us),
            us(row.bare_p999_us),
            output::number(row.syncs),
        ]
    });
    let head = [
        "mode",
        "batch",
        "files",
        "records/s",
        "bare",
        "ratio",
        "durable µs p50",
        "p99",
        "p99.9",
        "bare µs p50",
        "p99",
        "p99.9",
        "syncs",
    ];
    text += &table(&head, 1, rows);
    let (writer, orders) = (&report.writer, &report.orders);
    text += &format!(
        "\na write of {} bytes: {:.1} ns; with a recorder beside it {:.1} ns, {:+.1} ns\n\
         orders of {} strategies, acknowledged when on disk: {}/s; the bare loop allows {}/s, ratio {:.2}\n\n",
        report.rows.first().map_or(0, |row| row.record_bytes),
        writer.alone_ns,
        writer.recorded_ns,
        writer.added_ns,
        orders.strategies,
        rate(orders.orders_per_s),
        rate(orders.bare_orders_per_s),
        orders.ratio,
    );
    let ways = report.ways.iter().map(|way| {
        vec![
            way.way.clone(),
            output::number(way.bytes as u64),
            format!("{:.1}", way.p50_us),
            format!("{:.1}", way.p99_us),
            format!("{:.1}", way.mb_per_s),
        ]
    });
    text += &table(&["way to write", "bytes", "µs p50", "p99", "MB/s"], 1, ways);
    text
}

fn recover_text(report: &RecoverReport) -> String {
    let rows = report.rows.iter().map(|row| {
        vec![
            output::number(row.records),
            output::number(row.records_per_frame as u64),
            format!("{:.3}", row.seconds),
            rate(row.records_per_s),
            if row.identical { "identical" } else { "DIFFERENT" }.to_owned(),
        ]
    });
    let table = table(&["records", "a frame", "s", "records/s", "state"], 0, rows);
    format!(
        "{}, {} CPUs; {} ({})\n\n{table}",
        report.host.cpu_model,
        report.host.cpus,
        report.disk.folder.display(),
        report.disk.file_system
    )
}
