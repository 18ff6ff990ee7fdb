//! A service from outside: counts the frames of every journal that the platform file gives it to read.
//!
//! ```toml
//! [[service]]
//! name = "counter"
//! program = "target/debug/examples/count_frames"
//! reads = ["all"]
//! params = { totals = "/tmp/totals" }
//! ```
//!
//! It starts, sleeps and stops as the built-in parts do, and `colo status` shows it beside them.

use std::path::PathBuf;
use std::process::ExitCode;

use node::{Component, Context, Exit, Frame, INSTANCE_VARIABLE, InputId, NODE_VARIABLE, Node, RunError};
use serde::Deserialize;

/// Its part of the platform file.
#[derive(Deserialize)]
struct Section {
    params: Parameters,
}

#[derive(Deserialize)]
struct Parameters {
    /// Written at the end: a line for each journal, its name and how many frames it had.
    totals: PathBuf,
}

struct Counting {
    totals: PathBuf,
    /// By input: its journal, and frames so far.
    counts: Vec<(String, u64)>,
}

impl Component for Counting {
    fn frame(&mut self, _context: &mut Context, input: InputId, _frame: &Frame<'_>) -> Result<(), RunError> {
        self.counts[input.0].1 += 1;
        Ok(())
    }

    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        let lines = self.counts.iter().map(|(journal, frames)| format!("{journal} {frames}\n"));
        std::fs::write(&self.totals, lines.collect::<String>())
            .map_err(|error| RunError::failed(format!("cannot write {}: {error}", self.totals.display())))
    }
}

fn run() -> Result<(), (Exit, String)> {
    // Master says to every program that it starts which node it is.
    let variable = |name: &str| std::env::var(name).map_err(|_| (Exit::Usage, format!("{name} is not set")));
    let node = Node::join(&variable(INSTANCE_VARIABLE)?, &variable(NODE_VARIABLE)?)
        .map_err(|error| (error.exit(), error.to_string()))?;
    let Section { params } = node.section().map_err(|error| (error.exit(), error.to_string()))?;
    let counts = node.inputs().iter().map(|input| (input.name().to_owned(), 0)).collect();
    let mut counting = Counting { totals: params.totals, counts };
    node.run(&mut counting).map_err(|error| (error.exit(), error.to_string()))
}

pub(crate) fn main() -> ExitCode {
    node::start_log();
    match run() {
        Ok(()) => ExitCode::from(Exit::Done.code()),
        Err((exit, message)) => {
            log::error!("{message}");
            ExitCode::from(exit.code())
        }
    }
}
