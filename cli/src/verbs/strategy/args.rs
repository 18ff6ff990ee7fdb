//! The command line of `colo strategy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum StrategyVerb {
    /// Start a project of one's own: a strategy, its test, a platform file, a README.
    #[command(after_help = "\
Examples:
  colo strategy new my-strategy
  colo strategy new my-strategy --dir ~/work --sdk ~/src/colo

The project depends on the SDK of a checkout of colo. That is the one that this program was built in, or that the folder
lies in; --sdk names another.")]
    New(New),
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
}
