//! `colo`: the one binary. It parses, calls the crates that do the work, and prints.
//!
//! Data goes to standard output, talk to standard error. Every verb that reads or measures takes `--format json` and
//! prints one object.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr)]

#[macro_use]
mod talk;

mod args;
mod desk;
#[cfg(test)]
mod examples;
mod failure;
mod interrupt;
mod message;
mod output;
#[cfg(test)]
mod reference;
mod screen;
mod services;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    node::keep_own_permissions();
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors.
            let _ = error.print();
            return if error.use_stderr() { node::Exit::Usage.into() } else { ExitCode::SUCCESS };
        }
    };
    match verbs::dispatch(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.exit())
        }
    }
}
