//! `colo-gateway`: the gateway's process. Master starts it through `colo run gateway`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use node::{Exit, Node};

/// The way in from outside: HTTP and WebSocket beside the journals of a running platform.
#[derive(Debug, Parser)]
#[command(name = "colo-gateway", version)]
struct Arguments {
    /// Print the OpenAPI document and end.
    #[arg(long)]
    openapi: bool,
    /// Name of the instance.
    #[arg(value_name = "INSTANCE", env = node::INSTANCE_VARIABLE, required_unless_present = "openapi")]
    instance: Option<String>,
    /// Name of the node.
    #[arg(short, long, env = node::NODE_VARIABLE, default_value = "gateway")]
    node: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    node::start_log();
    if arguments.openapi {
        use std::io::Write;
        let written = writeln!(std::io::stdout(), "{}", gateway::document());
        return if written.is_ok() { Exit::Done.into() } else { Exit::Failed.into() };
    }
    let instance = arguments.instance.unwrap_or_default();
    let ran = Node::join(&instance, &arguments.node)
        .map_err(|error| (error.to_string(), Exit::Failed))
        .and_then(|node| gateway::run(node).map_err(|error| (error.to_string(), Exit::Failed)));
    match ran {
        Ok(()) => Exit::Done.into(),
        Err((error, exit)) => {
            log::error!("{error}");
            exit.into()
        }
    }
}
