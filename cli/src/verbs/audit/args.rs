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

Reads the journals and nothing else: what went out and what the market answered stands in the drop copy once and unchanged; who \
follows the drop copy comes to the ledger's accounts; money, positions and charges, counted a second time in a simpler way, are the \
same; each order was sent once and ended once. Works beside a running platform, on what a dead one left, and on recordings.
Exit code 0 nothing differs, 4 something does (a row each), 5 what differs cannot be told: the journals do not reach back.")]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    #[command(flatten)]
    pub(crate) recording: RecordingArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
