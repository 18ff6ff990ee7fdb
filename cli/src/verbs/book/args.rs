//! The command line of `colo book`.

use clap::Args;

use crate::output::Format;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo book SIM001
  colo book SIM001 --instance exchange --follow --depth 20
  colo book 1 --format json | jq '.bids[0]'

Where strategies trade with each other (matching.fill = \"exchange\"), the whole book is followed in `matching.market`, with
the number of orders at each price, the phase, and what an auction would trade. Elsewhere the ladder is that of the latest
quote, of ten levels: in `md.quotes`, or where nobody wants those, the one that md keeps behind `md.best`.")]
pub(crate) struct Book {
    /// The instrument: its symbol or its number.
    pub(crate) instrument: String,
    /// Name of the instance; may be left out when there is only one.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    /// Levels of each side.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) depth: u32,
    /// Draw it anew until Ctrl-C; where standard output is no terminal, print it again when it has changed.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Text for people, or one JSON object (with --follow: one a line).
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
