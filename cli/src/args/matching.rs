//! Arguments of the verbs about the exchange.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum MatchingVerb {
    /// Send a recorded day's orders through the exchange, and compare its trades with the market's.
    #[command(after_help = "\
Examples:
  colo matching verify --source sse --orders entrust.csv.gz --trades trade.csv.gz --snapshots snapshot.csv.gz
  colo matching verify --source sse --orders orders.csv --trades trades.csv --columns applseqnum --format json
  colo matching verify --source sse --orders orders.csv --trades trades.csv --columns columns.toml --symbol 600519
  colo matching verify --source lobster --messages message.csv
  colo matching verify --source pitch --messages pitch.txt.gz --format json

sse compares every trade (both orders, price, quantity, order in time), both auctions, every cancel, and with
--snapshots every ten-level snapshot of continuous trading. lobster and pitch name only the resting order of
a trade: that one is compared.

--columns bizindex and --columns applseqnum take only that layout's headers; by default either is recognised.
For others write a TOML file:
  [orders]
  time = \"T\"           # likewise sequence, stock, kind, order, price, quantity, side
  [trades]
  time = \"T\"           # likewise sequence, stock, buy, sell, price, quantity, aggressor

Exit code 4 when anything differs.")]
    Verify(MatchingVerify),
}

/// A feed whose orders can be sent through the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderSource {
    /// Shanghai Level 2: an orders file and a trades file.
    Sse,
    /// LOBSTER: a message file.
    Lobster,
    /// BATS PITCH, the text form.
    Pitch,
}

#[derive(Debug, Args)]
pub(crate) struct MatchingVerify {
    /// Which format.
    #[arg(long, value_enum)]
    pub(crate) source: OrderSource,
    /// The orders file, plain, .gz or .zst (sse).
    #[arg(long, value_name = "FILE", required_if_eq("source", "sse"))]
    pub(crate) orders: Option<PathBuf>,
    /// The trades file (sse).
    #[arg(long, value_name = "FILE", required_if_eq("source", "sse"))]
    pub(crate) trades: Option<PathBuf>,
    /// The exchange's own ten-level snapshots (sse).
    #[arg(long, value_name = "FILE")]
    pub(crate) snapshots: Option<PathBuf>,
    /// The headers of both files (sse): bizindex, applseqnum, or a TOML file that names them.
    #[arg(long, value_name = "NAME")]
    pub(crate) columns: Option<String>,
    /// The message file (lobster, pitch).
    #[arg(long, value_name = "FILE", required_if_eq_any([("source", "lobster"), ("source", "pitch")]))]
    pub(crate) messages: Option<PathBuf>,
    /// Only this security, such as 600519; may be given many times.
    #[arg(long = "symbol", value_name = "NAME")]
    pub(crate) symbols: Vec<String>,
    /// List all differences, up to 10,000 of each security, and not the first alone.
    #[arg(long)]
    pub(crate) all: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
