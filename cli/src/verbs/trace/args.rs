//! The command line of `colo trace`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use settings::ByteSize;

use crate::args::InstanceArgument;
use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceVerb {
    /// Follow a running platform for a while.
    Record(Record),
    /// Show what was recorded, or what lies in the journals of an instance, running or dead.
    Export(Export),
}

/// The file.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The file to write; one that is there is replaced.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// End when the file has this size, as in 512MiB.
    #[arg(long, value_name = "BYTES", default_value = "1GiB")]
    pub(crate) max_bytes: ByteSize,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo trace record --out colo.pftrace --for 10s
  colo trace record demo --out colo.pftrace --for 1m --max-bytes 256MiB --format json

Open the file at https://ui.perfetto.dev, which reads it in the browser and sends it nowhere. Ctrl-C ends the recording, and the
file has what came until then. Nothing waits for this reader: where a writer overtakes it, the trace says so.
docs/trace.md says what each track, slice and arrow means.")]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// How long.
    #[arg(long = "for", value_name = "SPAN", default_value = "10s", value_parser = humantime::parse_duration)]
    pub(crate) span: Duration,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo trace export --out colo.pftrace
  colo trace export demo --out colo.pftrace
  colo trace export ./recordings --out colo.pftrace --from -10s
  colo trace export ./orders ./market --out colo.pftrace --format json

A recording is given by its folder, or the folder with several, of which the latest is taken; those of several recorders of one
run make one trace.")]
pub(crate) struct Export {
    /// An instance, or recordings; may be left out when there is only one instance.
    #[arg(value_name = "INSTANCE|RECORDING")]
    pub(crate) sources: Vec<String>,
    /// Only frames from here on: a time (2026-11-21T06:30:00.25Z, or 06:30:00.25, both UTC), or so far before the last frame (-2s).
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Up to here.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}
