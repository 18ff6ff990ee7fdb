//! `colo-gateway`: the gateway's process. Master starts it through `colo run gateway`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gateway::bench::{BenchArguments, PeerKind, bench, serve};
use node::{Exit, Node};

/// The way in from outside: HTTP and WebSocket beside the journals of a running platform.
#[derive(Debug, Parser)]
#[command(name = "colo-gateway", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Print the OpenAPI document and end.
    #[arg(long)]
    openapi: bool,
    /// Name of the instance.
    #[arg(value_name = "INSTANCE", env = node::INSTANCE_VARIABLE, required_unless_present_any = ["openapi"])]
    instance: Option<String>,
    /// Name of the node.
    #[arg(short, long, env = node::NODE_VARIABLE, default_value = "gateway")]
    node: String,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure it: `colo bench gateway` calls this.
    Bench(BenchArguments),
    /// A server to compare it with.
    #[command(hide = true)]
    Peer { kind: PeerKind },
}

impl Verb {
    fn run(&self) -> Result<(), String> {
        match self {
            Verb::Bench(arguments) => bench(arguments).map_err(|error| error.to_string()),
            Verb::Peer { kind } => serve(*kind).map_err(|error| error.to_string()),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    node::start_log();
    if let Some(verb) = &arguments.verb {
        return match verb.run() {
            Ok(()) => Exit::Done.into(),
            Err(error) => {
                log::error!("{error}");
                Exit::Failed.into()
            }
        };
    }
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
