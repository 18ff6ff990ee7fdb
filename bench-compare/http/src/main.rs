//! A program of its own beside `compare`, so that it is built without the rivals of the journals.

mod measure;
mod servers;

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use measure::{CompareError, Settings};
use servers::Server;

/// colo's gateway beside the frameworks that one would write it with: `GET /health`, asked by wrk, in turns.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  colo up configs/gateway.toml --stay\n  compare-http 127.0.0.1:7700\n  compare-http 127.0.0.1:7700 --rounds 9 --format json\n\nExit codes: 0 measured, 1 failed, 2 usage."
)]
struct Args {
    #[command(subcommand)]
    serve: Option<Serve>,
    /// Where the gateway of a running platform listens
    gateway: Option<SocketAddr>,
    /// Turns of all
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Connections that wrk keeps
    #[arg(long, default_value_t = 360)]
    connections: u32,
    /// Threads of each server: as `gateway.threads` of the platform
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// text or json
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

#[derive(Debug, Subcommand)]
enum Serve {
    /// One of the servers, until standard input ends
    #[command(hide = true)]
    Serve {
        server: Server,
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(Serve::Serve { server, threads }) = args.serve {
        return match servers::serve(server, threads) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&CompareError::System("serve", error)),
        };
    }
    let Some(gateway) = args.gateway else {
        eprintln!("compare-http: which gateway? `compare-http ADDRESS`, as `colo status` shows it");
        return ExitCode::from(2);
    };
    let settings = Settings {
        gateway,
        rounds: args.rounds.max(1),
        seconds: args.seconds.max(1),
        connections: args.connections.max(1),
        threads: args.threads.max(1),
    };
    match measure::compare(&settings) {
        Ok(figures) if args.format == "json" => println!("{}", serde_json::json!({ "hello": figures })),
        Ok(figures) => print!("{}", measure::text(&figures)),
        Err(error) => return failed(&error),
    }
    ExitCode::SUCCESS
}

fn failed(error: &CompareError) -> ExitCode {
    eprintln!("compare-http: {error}");
    ExitCode::FAILURE
}
