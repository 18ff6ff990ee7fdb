//! `colo bench gateway`: the program colo-gateway measures itself, beside others, with a platform that this program starts.

use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use node::Exit;

use crate::failure::Failure;
use crate::output::Format;
use crate::verbs::gateway::find;

#[derive(Debug, Args)]
pub(crate) struct Gateway {
    /// Ends within three minutes.
    #[arg(long)]
    quick: bool,
    /// These parts alone: hello, order, broadcast, private, diff.
    #[arg(long, value_delimiter = ',', value_name = "PART,…", value_parser = ["hello", "order", "broadcast", "private", "diff"])]
    only: Vec<String>,
    /// WebSockets that hear each quote, and sessions of DIFF. [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50_000))]
    subscribers: Option<u32>,
    /// Connections that wait. [default: 12000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50_000))]
    connections: Option<u32>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Becomes the measurement: returns only if there is none.
pub(super) fn gateway(arguments: &Gateway) -> Result<u8, Failure> {
    let program = find();
    let mut command = Command::new(&program);
    command.arg("bench").arg("--colo").arg(std::env::current_exe()?);
    if arguments.quick {
        command.arg("--quick");
    }
    if !arguments.only.is_empty() {
        command.arg("--only").arg(arguments.only.join(","));
    }
    for (name, number) in [("--subscribers", arguments.subscribers), ("--connections", arguments.connections)]
    {
        if let Some(number) = number {
            command.arg(name).arg(number.to_string());
        }
    }
    if let Format::Json = arguments.format {
        command.arg("--json");
    }
    let error = command.exec();
    let message = format!(
        "`{}` does not start: {error}; `cargo build --release -p gateway` builds it beside `colo`",
        program.display()
    );
    Err(Failure::new(Exit::Failed, message))
}
