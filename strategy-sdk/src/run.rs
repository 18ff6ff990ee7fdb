//! From a command line to a running strategy, and its exit code.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use node::{Exit, INSTANCE_VARIABLE, JoinError, NODE_VARIABLE, Node, RunError};
use topology::NodeKind;

use crate::options::Options;
use crate::process::Strategies;
use crate::roster::Roster;
use crate::section::ParametersError;
use crate::strategy::{ParameterError, Strategy};

/// The whole `main` of a strategy's program: starts the log, reads the command line, runs.
pub fn main<S: Strategy>() -> ExitCode {
    node::start_log();
    match Options::from_arguments() {
        Ok(options) => run::<S>(&options).into(),
        Err(error) => {
            // A closed terminal is no reason to fail.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code()))
        }
    }
}

/// Joins the platform and runs the strategy to its end, for programs that have a command line of their own. What
/// goes wrong is logged.
///
/// Where the platform file has the strategies hosted, this is the host, and runs as many of them as it says there.
///
/// A panic of the strategy ends here, with [`Exit::Failed`]: nothing that it wrote is half written, and td cancels
/// its orders. In a host it ends that strategy, and the others go on.
pub fn run<S: Strategy>(options: &Options) -> Exit {
    guarded(Roster::only::<S>(options.clone()))
}

pub(crate) fn guarded(roster: Roster) -> Exit {
    let name = given(&roster.options().node, NODE_VARIABLE).unwrap_or_else(|| "?".to_owned());
    match catch_unwind(AssertUnwindSafe(|| try_run(roster))) {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(error)) => {
            log::error!("{error}");
            error.exit()
        }
        Err(panic) => {
            log::error!("strategy `{name}` panicked: {}", panic_message(panic.as_ref()));
            Exit::Failed
        }
    }
}

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
    Run { node: String, source: RunError },
}

impl StrategyError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            StrategyError::Missing { .. }
            | StrategyError::Unknown { .. }
            | StrategyError::Parameters { .. }
            | StrategyError::Parameter { .. } => Exit::Usage,
            StrategyError::Join(error) => error.exit(),
            StrategyError::Run { source, .. } => source.exit(),
        }
    }
}

fn try_run(roster: Roster) -> Result<(), StrategyError> {
    let needed = |given: Option<String>, what, option, variable| {
        given.ok_or(StrategyError::Missing { what, option, variable })
    };
    let options = roster.options();
    let instance =
        needed(given(&options.instance, INSTANCE_VARIABLE), "instance", "--instance", INSTANCE_VARIABLE)?;
    let name = needed(given(&options.node, NODE_VARIABLE), "node", "--node", NODE_VARIABLE)?;
    let mut node = Node::join(&instance, &name)?;
    let mut strategies = if node.kind() == NodeKind::Host {
        Strategies::hosted(&mut node, roster)?
    } else {
        let ledger = ledger_of(&node);
        // It may hold the process as any other call may.
        let handle = node.handle();
        handle.enters(&handle, handle.now());
        let made = roster.make(&mut node, ledger)?;
        Strategies::alone(&mut node, made)?
    };
    node.run(&mut strategies).map_err(|source| StrategyError::Run { node: name, source })
}

/// Seat of the ledger that will say what the strategies of this node hold.
pub(crate) fn ledger_of(node: &Node) -> Option<u32> {
    let state = node.inputs_of("state").next()?;
    node.inputs().get(state.0).map(|input| input.peer().1)
}

/// From the command line, else from the environment.
fn given(option: &Option<String>, variable: &str) -> Option<String> {
    option.clone().or_else(|| env::var(variable).ok()).filter(|value| !value.is_empty())
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(without a message)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoParameters, Options};

    struct Panics;

    impl Strategy for Panics {
        type Parameters = NoParameters;

        fn create(_parameters: NoParameters) -> Result<Panics, ParameterError> {
            Ok(Panics)
        }
    }

    #[test]
    fn without_master_the_exit_says_so() {
        let options = Options {
            instance: Some("nobody-runs-this".into()),
            node: Some("strategy-1".into()),
            ..Options::default()
        };
        assert_eq!(run::<Panics>(&options), Exit::NoMaster);
        let options = Options { instance: Some("NOT A NAME".into()), ..options };
        assert_eq!(run::<Panics>(&options), Exit::Usage);
    }

    #[test]
    fn a_panic_is_told_by_its_message() {
        let message = |panic: Box<dyn std::any::Any + Send>| panic_message(panic.as_ref()).to_owned();
        let panicked = |work: fn()| message(catch_unwind(work).unwrap_err());
        assert_eq!(panicked(|| std::panic::resume_unwind(Box::new("text"))), "text");
        assert_eq!(panicked(|| std::panic::resume_unwind(Box::new(format!("{}", 1)))), "1");
        assert_eq!(panicked(|| std::panic::resume_unwind(Box::new(7))), "(without a message)");
    }
}
