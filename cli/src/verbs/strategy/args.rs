//! The command line of `colo strategy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::args::InstanceArgument;
use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum StrategyVerb {
    /// Start a project of one's own: a strategy, its test, a platform file, a README.
    #[command(after_help = "\
Examples:
  colo strategy new my-strategy
  colo strategy new my-strategy --dir ~/work --sdk ~/src/colo
  colo strategy new my-strategy --git https://example.org/colo.git --rev v0.1.0

The project depends on the SDK of a checkout of colo. That is the one that this program was built in, or that the folder
lies in; --sdk names another, and --git a repository. From a checkout it takes the versions of all crates too (Cargo.lock).")]
    New(New),
    /// List the strategies of a platform that runs: state, program, what was set.
    #[command(
        visible_alias = "list",
        after_help = "\
Examples:
  colo strategy ls
  colo strategy ls demo --format json"
    )]
    Ls(Ls),
    /// Stop one strategy while the others trade.
    #[command(after_help = "\
Examples:
  colo strategy stop takers-3
  colo strategy stop takers-3 --keep-orders -i demo

Its working orders are cancelled unless --keep-orders is given; its positions stay in the ledger. It is not started again until
`colo strategy start` says so. Kept orders are cancelled by a second `stop` without --keep-orders.")]
    Stop(Stop),
    /// Start a strategy that was stopped, or has failed.
    #[command(after_help = "\
Examples:
  colo strategy start takers-3
  colo strategy start takers-3 quantity=5 -i demo

It has the positions, and the working orders that were kept, from the ledger.")]
    Start(Start),
    /// Replace a strategy by a new build of its program, or by another program.
    #[command(after_help = "\
Examples:
  colo strategy reload takers-3
  colo strategy reload takers-3 --program target/release/takers --fallback
  colo strategy reload takers-3 quantity=5

The new program is asked first whether it takes the parameters (--check-params); if not, nothing is stopped. If it does not get
ready within master.ready_timeout, the strategy stays stopped; with --fallback the program that it had is started again.")]
    Reload(Reload),
    /// Give a running strategy other parameters.
    #[command(after_help = "\
Examples:
  colo strategy set takers-3 quantity=5
  colo strategy set takers-3 quantity=5 'sides=[\"buy\"]' -i demo

All of its parameters are read again as at its start, with these over them, and given to the running strategy, which takes them
or says why not. What is taken holds for later starts in this instance too.")]
    Set(Set),
}

/// Which strategy of which instance.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Name of the strategy, as `colo strategy ls` shows it.
    pub(crate) name: String,
    /// Name of the instance; may be left out when there is only one.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// What becomes of the working orders.
#[derive(Debug, Args)]
pub(crate) struct OrdersArguments {
    /// Its working orders work on.
    #[arg(long, conflicts_with = "cancel")]
    pub(crate) keep_orders: bool,
    /// Its working orders are cancelled, as they are if nothing is said.
    #[arg(long)]
    pub(crate) cancel: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) orders: OrdersArguments,
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Parameters over those that it has; VALUE is JSON, or else text.
    #[arg(value_name = "KEY=VALUE", value_parser = strategy_sdk::parameter)]
    pub(crate) parameters: Vec<(String, Value)>,
}

#[derive(Debug, Args)]
pub(crate) struct Reload {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Parameters over those that it has; VALUE is JSON, or else text.
    #[arg(value_name = "KEY=VALUE", value_parser = strategy_sdk::parameter)]
    pub(crate) parameters: Vec<(String, Value)>,
    /// The new program; without it, the file that it has been started from, as it is now.
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    /// Start the program that it had if the new one does not get ready.
    #[arg(long, requires = "program")]
    pub(crate) fallback: bool,
    #[command(flatten)]
    pub(crate) orders: OrdersArguments,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Parameters over those that it has; VALUE is JSON, or else text.
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = strategy_sdk::parameter)]
    pub(crate) parameters: Vec<(String, Value)>,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The project's name: small letters, digits and dashes, as in my-strategy.
    pub(crate) name: String,
    /// Where its folder is made.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// The checkout of colo whose SDK it depends on.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sdk: Option<PathBuf>,
    /// The repository of colo whose SDK it depends on, instead of a checkout.
    #[arg(long, value_name = "URL", conflicts_with = "sdk")]
    pub(crate) git: Option<String>,
    /// Its tag, branch or commit.
    #[arg(long, value_name = "REV", requires = "git")]
    pub(crate) rev: Option<String>,
}
