//! `.ci/matrix`: every language writes what every other reads.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it prints what came of it")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use bindings_conformance::{Matrix, cases::CASES, discover};
use clap::{Parser, ValueEnum};
use node::StopFlag;

/// Every language writes what every other reads: bindings/conformance/README.md
#[derive(Parser)]
struct Arguments {
    /// How to print what came of it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only these languages
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these cases
    #[arg(long = "case", value_delimiter = ',')]
    cases: Vec<String>,
    /// A folder with a driver more; one of a language that is there takes its place
    #[arg(long)]
    driver: Vec<PathBuf>,
    /// Where the bindings are
    #[arg(long, default_value = "bindings")]
    bindings: PathBuf,
    /// Where drivers are built [default: `bindings` in the folder of Cargo's builds]
    #[arg(long)]
    builds: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(unknown) = arguments.cases.iter().find(|name| CASES.iter().all(|case| case.name != **name)) {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        eprintln!("there is no case `{unknown}`; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let builds = arguments.builds.unwrap_or_else(|| target.join("bindings"));
    let builds = match std::fs::create_dir_all(&builds).and_then(|()| builds.canonicalize()) {
        Ok(builds) => builds,
        Err(error) => {
            eprintln!("cannot make {}: {error}", builds.display());
            return ExitCode::from(2);
        }
    };
    let mut found = discover(&arguments.bindings, &builds, &arguments.only);
    for folder in &arguments.driver {
        match bindings_conformance::build(folder, &builds) {
            Some(driver) => found.push(driver),
            None => {
                eprintln!("{} has no executable file `driver`", folder.display());
                return ExitCode::from(2);
            }
        }
    }
    let stop = match StopFlag::install() {
        Ok(stop) => stop,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let matrix = Matrix::run(
        found,
        &arguments.cases,
        |_, _| true,
        |cell| {
            if arguments.format == Format::Text {
                let held = if cell.problem.is_none() { "ok" } else { "FAILED" };
                println!("{} -> {}, {}: {held}", cell.producer, cell.consumer, cell.case);
            }
            if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    if stop.is_set() {
        eprintln!("stopped: this is no result");
        return ExitCode::FAILURE;
    }
    match arguments.format {
        Format::Text => print!("{}", matrix.text()),
        Format::Json => println!("{}", matrix.json()),
    }
    ExitCode::from(u8::from(!matrix.passed()))
}
