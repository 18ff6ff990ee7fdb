//! `colo bench durable` and `colo bench recover`.

use std::path::PathBuf;

use bench_harness::durable::{
    DurableReport, DurableRow, DurableSettings, Mode, RecoverReport, RecoverSettings, measure,
    recover as bring_back,
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
    text += &one_at_a_time(&report.rows);
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

/// The way of a single order to the disk, with nothing else on the way.
fn one_at_a_time(rows: &[DurableRow]) -> String {
    let alone = |row: &&DurableRow| row.mode == Mode::Sync && row.batch == Some(1) && row.files == 1;
    let Some(row) = rows.iter().find(alone) else { return String::new() };
    let spread = |figures: [Option<f64>; 3]| {
        let [p50, p99, p999] = figures.map(|figure| maybe(figure, |figure| format!("{figure:.1}")));
        format!("p50 {p50}, p99 {p99}, p99.9 {p999} µs")
    };
    format!(
        "\norder to durable, one at a time: {}; the bare write {}\n",
        spread([row.durable_p50_us, row.durable_p99_us, row.durable_p999_us]),
        spread([row.bare_p50_us, row.bare_p99_us, row.bare_p999_us]),
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mode: Mode, batch: Option<usize>, files: usize, p50: Option<f64>) -> DurableRow {
        DurableRow {
            mode,
            batch,
            files,
            record_bytes: 128,
            records_per_s: 7_000.0,
            bare_records_per_s: p50.map(|_| 7_100.0),
            ratio: p50.map(|_| 0.99),
            durable_p50_us: p50,
            durable_p99_us: p50.map(|p50| 2.0 * p50),
            durable_p999_us: p50.map(|p50| 3.0 * p50),
            bare_p50_us: p50.map(|p50| p50 - 1.0),
            bare_p99_us: p50,
            bare_p999_us: None,
            records: 700,
            syncs: 700,
            bytes: 134_400,
            samples: 700,
        }
    }

    #[test]
    fn the_way_of_a_single_order_to_the_disk_has_a_line() {
        let rows = [
            row(Mode::None, Some(1), 1, None),
            row(Mode::Sync, Some(1), 2, Some(300.0)),
            row(Mode::Sync, Some(100), 1, Some(200.0)),
            row(Mode::Sync, Some(1), 1, Some(140.0)),
        ];
        assert_eq!(
            one_at_a_time(&rows),
            "\norder to durable, one at a time: p50 140.0, p99 280.0, p99.9 420.0 µs; the bare write p50 139.0, p99 140.0, \
             p99.9 – µs\n"
        );
        assert_eq!(one_at_a_time(&rows[..3]), "", "what was not measured has none");
    }
}
