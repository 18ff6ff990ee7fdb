//! The program: what runs live.

use std::process::ExitCode;

fn main() -> ExitCode {
    strategy_sdk::main::<scripted::Scripted>()
}
