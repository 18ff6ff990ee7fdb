//! The command line of `colo recover`.

use std::path::PathBuf;

use clap::Args;

use super::point_in_time;
use crate::output::Format;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo recover FOLDER
  colo recover FOLDER --until 2026-11-22T21:55:00.5Z --format json

`colo up --recover FOLDER` brings that back. What stands behind the last whole cut was never acknowledged to anybody: it is
listed, and does not come back. Exit code 4 when a journal cannot come back because frames that its ring held are missing.")]
pub(crate) struct Recover {
    /// A recording, or the folder with them, of which the latest is taken; once for each recorder.
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// As of this time: nanoseconds since the epoch, or as in 2026-11-22T21:55:00.5Z.
    #[arg(long, value_name = "TIME", value_parser = point_in_time)]
    pub(crate) until: Option<u64>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
