//! The command line of `colo replay`.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use topology::config::Speed;

use crate::args::{OutArguments, point_in_time};
use crate::output::Format;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo replay /var/colo/demo                         the latest recording there, the whole platform anew
  colo replay REC --speed 10 --format json           ten times as fast as it was
  colo replay REC --platform new.toml                another platform at the same market
  colo replay REC --strategy takers-1 --check        does it send what it sent? exit code 4 when it does not
  colo replay REC --strategy takers-1 --check --program target/release/my-taker
  colo replay REC --strategy takers-1 --param max_position=5 --orders sent.jsonl
  colo replay REC --strategy takers-1 --from 2026-11-22T21:55:00Z --to 2026-11-22T21:56:00Z

The whole platform runs in lock-step, so that two replays give the same orders; its own recorders are left out. One strategy
alone is given all that it read, one frame after the other, and nothing else runs. Its time is that of the recording; a
strategy that reads another clock, random numbers without a seed or threads of its own cannot repeat what it did.
Exit code 4 also when the recording is not whole; 5 when it leaves open in which order reports that waited for the disk were read.")]
pub(crate) struct Replay {
    /// A recording, or the folder with them, of which the latest is taken.
    #[arg(value_name = "RECORDING")]
    pub(crate) folder: PathBuf,
    /// This strategy alone, with what it read.
    // It leaves no folder of a run.
    #[arg(long, value_name = "NAME", conflicts_with = "out")]
    pub(crate) strategy: Option<String>,
    /// Compare what the strategy sends with what it sent, and end with the first difference.
    #[arg(long, requires = "strategy")]
    pub(crate) check: bool,
    /// Another program for the strategy.
    #[arg(long, value_name = "PATH", requires = "strategy")]
    pub(crate) program: Option<PathBuf>,
    /// Another value of a parameter of the strategy. May be given many times.
    #[arg(long = "param", value_name = "KEY=VALUE", requires = "strategy", value_parser = parameter)]
    pub(crate) parameters: Vec<(String, Value)>,
    /// Write what the strategy sends to this file, one JSON object a line.
    #[arg(long, value_name = "FILE", requires = "strategy")]
    pub(crate) orders: Option<PathBuf>,
    /// Another platform file than that of the recording; its source of market data becomes the recording.
    #[arg(long, value_name = "FILE", conflicts_with = "strategy")]
    pub(crate) platform: Option<PathBuf>,
    /// Change one key of that file. May be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "platform")]
    pub(crate) sets: Vec<String>,
    /// "max", or how many recorded seconds go by in one second.
    #[arg(long, default_value = "max", value_parser = speed)]
    pub(crate) speed: Speed,
    /// From this time on: nanoseconds since the epoch, or as in 2026-11-22T21:55:00.5Z. A strategy begins with the
    /// positions and orders that it had then.
    #[arg(long, value_name = "TIME", value_parser = point_in_time)]
    pub(crate) from: Option<u64>,
    /// Up to this time.
    #[arg(long, value_name = "TIME", value_parser = point_in_time)]
    pub(crate) to: Option<u64>,
    /// Name of the instance that is made for it; else that of the recording with "-replay" behind it.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    #[command(flatten)]
    pub(crate) out: OutArguments,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

fn speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed::MAX);
    }
    let wrong = || format!("`{text}` is no speed: write max, or a number above zero");
    let factor: f64 = text.parse().map_err(|_| wrong())?;
    if factor.is_finite() && factor > 0.0 { Ok(Speed::Times(factor)) } else { Err(wrong()) }
}

fn parameter(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    // What is no number, truth value or list is text.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}
