//! The other processes.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use bench_kit::OwnedChild;
use matching::exchange::ExchangeOptions;
use serde::{Deserialize, Serialize};

use super::memory::{self, MemoryRow};
use super::share::Share;
use super::stream;
use crate::ipc::{IpcError, pin, system};

/// What a process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Part {
    /// Reads events.
    Reader { directory: PathBuf, cpu: usize, parent: u32 },
    /// Fills an exchange, and answers what it has cost.
    Memory { orders: usize, expected_orders: usize, huge_pages: bool },
}

/// Takes part as the text on `input` says.
///
/// # Errors
/// [`IpcError`]; also when the measuring process has ended.
pub fn run_peer(mut input: impl Read, mut output: impl Write) -> Result<(), IpcError> {
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(system("read what to do"))?;
    let part: Part =
        serde_json::from_str(&text).map_err(|error| system("understand what to do")(error.into()))?;
    match part {
        Part::Reader { directory, cpu, parent } => {
            pin(cpu)?;
            stream::read(&Share::open(&directory)?, parent)
        }
        Part::Memory { orders, expected_orders, huge_pages } => {
            let row = memory::measure(orders, ExchangeOptions { expected_orders, huge_pages })?;
            let row = serde_json::to_string(&row).map_err(|error| system("answer")(error.into()))?;
            writeln!(output, "{row}").and_then(|()| output.flush()).map_err(system("answer"))
        }
    }
}

/// Starts a process for `part`.
pub(super) fn start(program: &impl Fn() -> Command, part: &Part) -> Result<OwnedChild, IpcError> {
    let mut child = OwnedChild::spawn(program().stdin(Stdio::piped()).stdout(Stdio::piped()))
        .map_err(system("start the other process"))?;
    let text = serde_json::to_string(part).map_err(|error| system("describe the work")(error.into()))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(system("tell the other process"))?;
    }
    Ok(child)
}

/// What the memory of resting orders is, in a process of its own.
pub(super) fn memory(
    program: &impl Fn() -> Command,
    orders: usize,
    options: ExchangeOptions,
) -> Result<MemoryRow, IpcError> {
    let ExchangeOptions { expected_orders, huge_pages } = options;
    let mut child = start(program, &Part::Memory { orders, expected_orders, huge_pages })?;
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text).map_err(system("hear the other process"))?;
    }
    // Without an answer it has reported the reason on standard error.
    serde_json::from_str(&text).map_err(|_| IpcError::Peer("ended without an answer".to_owned()))
}
