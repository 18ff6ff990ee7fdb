//! `colo-fix-out`: orders out over FIX 4.4.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use venue_fix::{Config, Session};

fn main() -> ExitCode {
    venue::main(|setup| Session::new(Config::read(&setup.params)?))
}
