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
  colo strategy new my-strategy --git https://example.org/colo.git --rev v0.1.0

The project depends on the SDK of a checkout of colo. That is the one that this program was built in, or that the folder
lies in; --sdk names another, and --git a repository. From a checkout it takes the versions of all crates too (Cargo.lock).")]
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
    /// The repository of colo whose SDK it depends on, instead of a checkout.
    #[arg(long, value_name = "URL", conflicts_with = "sdk")]
    pub(crate) git: Option<String>,
    /// Its tag, branch or commit.
    #[arg(long, value_name = "REV", requires = "git")]
    pub(crate) rev: Option<String>,
}
