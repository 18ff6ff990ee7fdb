//! Why a strategy's process does not start, or ends.

use node::{Exit, JoinError, RunError};

use crate::history::HistoryError;
use crate::section::ParametersError;
use crate::strategy::ParameterError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum StrategyError {
    #[error("no {what} is given: use {option} NAME, or set {variable}; master does so for what it starts")]
    Missing { what: &'static str, option: &'static str, variable: &'static str },
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(
        "strategy `{node}` is `builtin:{name}` in the platform file, and this program holds no strategy of that name"
    )]
    Unknown { node: String, name: String },
    #[error("parameters of strategy `{node}`: {source}")]
    Parameters { node: String, source: ParametersError },
    #[error("parameters of strategy `{node}`: {source}")]
    Parameter { node: String, source: ParameterError },
    #[error("strategy `{node}`: {source}")]
    History { node: String, source: Box<HistoryError> },
    #[error("strategy `{node}`: {source}")]
    Run { node: String, source: RunError },
}

impl StrategyError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            StrategyError::Missing { .. }
            | StrategyError::Unknown { .. }
            | StrategyError::Parameters { .. }
            | StrategyError::History { .. }
            | StrategyError::Parameter { .. } => Exit::Usage,
            StrategyError::Join(error) => error.exit(),
            StrategyError::Run { source, .. } => source.exit(),
        }
    }
}
