//! `cargo xtask gen`: makes the files that are made from the code.
#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask gen [--check]

gen           writes every file that is made from the code, and the files that hold what tests made before
gen --check   names the files made from the code that are stale, and writes nothing
              (tests compare the others: cargo test golden_file)

exit codes: 0 done, 1 failed, 2 usage, 4 a file is stale";

/// Those with tests that hold files, and the targets these are in.
const GOLDEN: &[&str] = &[
    "-p=master",
    "-p=recorder",
    "-p=colo",
    "-p=topology",
    "-p=venue-fix",
    "--lib",
    "--bin=colo",
    "--test=vectors",
    "--test=golden",
    "--test=rude",
    "golden_file",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let checks = match arguments.as_slice() {
        ["gen"] => false,
        ["gen", "--check"] => true,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(checks) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(checks: bool) -> std::io::Result<ExitCode> {
    let root = xtask::root();
    let stale = xtask::stale(&root)?;
    for file in &stale {
        eprintln!(
            "{}:{}: {}",
            file.path,
            file.line,
            if checks { "stale: run cargo xtask gen" } else { "made" }
        );
        if !checks {
            file.renew(&root)?;
        }
    }
    if checks {
        return Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(4) });
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(&root)
        .args(["test", "--quiet"])
        .args(GOLDEN)
        .env(golden::WRITES, "1")
        .status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
