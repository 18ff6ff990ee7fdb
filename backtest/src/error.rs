//! Why a backtest does not begin or go on.

use master::MasterError;
use node::{Exit, JoinError};
use observe::ViewError;

/// A backtest failed. What fails in a node is in the report instead.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// The instance could not be made.
    #[error(transparent)]
    Instance(#[from] MasterError),
    /// A node did not get its seat.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The instance could not be looked at.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A node could not be set up.
    #[error("node `{node}` does not start: {reason}")]
    Node {
        /// Which node.
        node: String,
        /// Its error.
        reason: String,
        /// The exit code of it.
        exit: Exit,
    },
    /// The platform is not one for a single process.
    #[error("{0}")]
    Unfit(String),
    /// The report could not be made.
    #[error("the report: {0}")]
    Report(String),
}

impl BacktestError {
    /// The exit code of the process.
    pub fn exit(&self) -> u8 {
        match self {
            BacktestError::Instance(error) => error.exit(),
            BacktestError::Join(error) => error.exit().code(),
            BacktestError::Node { exit, .. } => exit.code(),
            BacktestError::Unfit(_) => Exit::Usage.code(),
            BacktestError::View(_) | BacktestError::Report(_) => Exit::Failed.code(),
        }
    }
}
