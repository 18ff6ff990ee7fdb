//! `colo bench languages`.

use std::env;
use std::path::PathBuf;

use bench_harness::languages::{LanguagesReport, LanguagesSettings, measure};
use clap::Args;

use super::{measured, peer};
use crate::failure::Failure;
use crate::output::{Format, table};

#[derive(Debug, Args)]
pub(crate) struct Languages {
    /// Fewer turns: ends within two minutes, when the programs are built.
    #[arg(long)]
    quick: bool,
    /// The folder `bindings` of a source tree.
    #[arg(long, value_name = "DIR", default_value = "bindings")]
    bindings: PathBuf,
    /// Where the programs are built. [default: target/languages beside bindings]
    #[arg(long, value_name = "DIR")]
    build: Option<PathBuf>,
    /// These languages alone, beside Rust.
    #[arg(long, value_delimiter = ',', value_name = "LANGUAGE,…")]
    only: Vec<String>,
    /// Turns over all languages.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// Platforms of each language and way of waiting; 0: no t2o.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    platforms: Option<u32>,
    /// Quotes of each platform.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    quotes: Option<u64>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn languages(arguments: &Languages) -> Result<u8, Failure> {
    let colo = env::current_exe()?;
    let mut settings =
        if arguments.quick { LanguagesSettings::quick(colo) } else { LanguagesSettings::full(colo) };
    settings.bindings.clone_from(&arguments.bindings);
    settings.build =
        arguments.build.clone().unwrap_or_else(|| arguments.bindings.join("../target/languages"));
    settings.only.clone_from(&arguments.only);
    if let Some(rounds) = arguments.rounds {
        settings.rounds = rounds as usize;
    }
    if let Some(platforms) = arguments.platforms {
        settings.platforms = platforms as usize;
    }
    if let Some(quotes) = arguments.quotes {
        settings.quotes = quotes;
    }
    measured("languages", arguments.format, text, |progress| {
        measure(&settings, || peer("languages"), progress)
    })
}

fn text(report: &LanguagesReport) -> String {
    let host = &report.host;
    let mut text = format!(
        "{}, {} CPUs{}; messages of {} bytes, {} turns; {} platforms of each language and way of waiting\n",
        host.cpu_model,
        host.cpus,
        host.virtualised.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default(),
        report.message_bytes,
        report.rounds,
        report.platforms,
    );
    if report.is_unoptimised {
        text += "This colo is not optimised: Rust's figures are too slow, and ratios flatter the others.\n";
    }
    let figure = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let rows = report.languages.iter().map(|row| {
        vec![
            row.language.clone(),
            figure(row.read_ns, 1),
            figure(row.read_rate_ratio, 2),
            figure(row.read_batch_ns, 1),
            figure(row.read_batch_rate_ratio, 2),
            figure(row.write_ns, 1),
            figure(row.allocated_bytes, 4),
            figure(row.wake_p50_us, 1),
            figure(row.wake_p99_us, 1),
            figure(row.t2o_parked_p50_us, 1),
            figure(row.t2o_parked_ratio, 2),
            figure(row.t2o_fast_p50_us, 1),
            figure(row.t2o_fast_ratio, 2),
        ]
    });
    let head = [
        "language",
        "read ns",
        "rate",
        "by 64",
        "rate",
        "write ns",
        "bytes/msg",
        "wake µs p50",
        "p99",
        "t2o parked µs",
        "ratio",
        "fast µs",
        "ratio",
    ];
    text += "\nrates in parts of Rust's, t2o p50 as a multiple of Rust's: medians of those of each turn\n";
    text += &table(&head, 1, rows);
    for skipped in &report.skipped {
        text += &format!("skipped: {}: {}\n", skipped.language, skipped.reason);
    }
    text
}
