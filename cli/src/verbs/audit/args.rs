//! The command line of `colo audit`.

use clap::Args;

use crate::args::InstanceArgument;
use crate::output::Format;
use crate::verbs::journal::args::RecordingArgument;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo audit
  colo audit demo --format json
  colo audit --recording FOLDER

Reads the journals, and what the program of a market outside knows (`matching.venue`), by code that shares nothing with what it \
checks: what went out is what strategies asked for and \
within all limits; what the market answered stands in the drop copy and in the reports once and unchanged; marks are prices of the market; \
switches fell and positions were closed by force when they had to and not otherwise; money, positions, margin and charges, counted a second \
time in a simpler way, are the same. Works beside a running platform, on what a dead one left, and on recordings. docs/accounts.md lists \
the parts.
Exit code 0 nothing differs, 4 something does (a row each), 5 nothing differs in what could be looked at, which is not all: the journals do not reach back.")]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    #[command(flatten)]
    pub(crate) recording: RecordingArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
