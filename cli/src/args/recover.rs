//! The command line of `colo recover`.

use std::path::PathBuf;

use clap::Args;
use recorder::recover::{RecoverError, time_before};

use super::point_in_time;
use crate::output::Format;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo recover FOLDER
  colo recover FOLDER --until 2026-11-22T21:55:00.5Z --format json
  colo recover FOLDER --until td.orders@131072

`colo up --recover FOLDER` brings that back. What stands behind the last whole cut was never acknowledged to anybody: it is
listed, and does not come back. Exit code 4 when a journal cannot come back because frames that its ring held are missing.")]
pub(crate) struct Recover {
    /// A recording, or the folder with them, of which the latest is taken; once for each recorder.
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// As of this time: nanoseconds since the epoch, or as in 2026-11-22T21:55:00.5Z; or JOURNAL@POSITION: as of the last cut
    /// that holds no frame of that journal behind the position.
    #[arg(long, value_name = "TIME|JOURNAL@POSITION", value_parser = until)]
    pub(crate) until: Option<Until>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// How much of a recording comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Everything up to this time, in nanoseconds since the epoch.
    Time(u64),
    /// Nothing of this journal behind the position.
    Position(String, u64),
}

impl Until {
    /// The same as a time of these recordings; `None`: all of them.
    pub(crate) fn time(wanted: Option<&Until>, folders: &[PathBuf]) -> Result<Option<u64>, RecoverError> {
        match wanted {
            None => Ok(None),
            Some(Until::Time(time)) => Ok(Some(*time)),
            Some(Until::Position(journal, position)) => time_before(folders, journal, *position),
        }
    }
}

/// A time, or `JOURNAL@POSITION`.
pub(crate) fn until(text: &str) -> Result<Until, String> {
    let Some((journal, position)) = text.split_once('@') else { return point_in_time(text).map(Until::Time) };
    match position.parse() {
        Ok(position) if !journal.is_empty() => Ok(Until::Position(journal.to_owned(), position)),
        _ => Err("no position: write JOURNAL@POSITION, as in td.orders@131072".to_owned()),
    }
}
