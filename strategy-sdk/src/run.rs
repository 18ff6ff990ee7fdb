//! From a command line to a running strategy, and its exit code.

use std::env;
use std::process::ExitCode;

use node::{Exit, INSTANCE_VARIABLE, NODE_VARIABLE, Node};

use crate::error::StrategyError;
use crate::factory::Factory;
use crate::options::Options;
use crate::panic::catch;
use crate::process::Strategies;
use crate::strategy::Strategy;

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

/// Joins the platform and runs the strategy to its end, for programs that have a command line of their own. Errors
/// are logged.
///
/// Where the platform file has the strategies hosted, this is the host, and runs as many of them as it says there.
///
/// A panic of the strategy ends here, with [`Exit::Failed`]: nothing that it wrote is half written, and td cancels
/// its orders. In a host it ends that strategy, and the others go on.
pub fn run<S: Strategy>(options: &Options) -> Exit {
    run_all(Factory::of::<S>(options.clone()))
}

/// What happens around each sleep of a process: for runtimes with a lock that others of its threads want meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// The thread is about to sleep.
    pub before: fn(),
    /// It has woken up; called once for each `before`.
    pub after: fn(),
}

/// As [`run`], with `rest` around each sleep.
pub fn run_resting<S: Strategy>(options: &Options, rest: Rest) -> Exit {
    run_all(Factory::of::<S>(options.clone()).resting(rest))
}

/// Runs the node's strategies to their end. Errors are logged.
pub(crate) fn run_all(factory: Factory) -> Exit {
    let name = given(&factory.options().node, NODE_VARIABLE).unwrap_or_else(|| "?".to_owned());
    match catch(|| try_run(factory)) {
        Ok(Ok(())) => Exit::Done,
        Ok(Err(error)) => {
            log::error!("{error}");
            error.exit()
        }
        Err(panic) => {
            log::error!("strategy `{name}` panicked: {panic}");
            Exit::Failed
        }
    }
}

fn try_run(factory: Factory) -> Result<(), StrategyError> {
    let needed = |given: Option<String>, what, option, variable| {
        given.ok_or(StrategyError::Missing { what, option, variable })
    };
    let options = factory.options();
    let instance =
        needed(given(&options.instance, INSTANCE_VARIABLE), "instance", "--instance", INSTANCE_VARIABLE)?;
    let name = needed(given(&options.node, NODE_VARIABLE), "node", "--node", NODE_VARIABLE)?;
    let mut node = Node::join(&instance, &name)?;
    let mut strategies = Strategies::new(&mut node, factory)?;
    node.run(&mut strategies).map_err(|source| StrategyError::Run { node: name, source })
}

/// From the command line, else from the environment.
fn given(option: &Option<String>, variable: &str) -> Option<String> {
    option.clone().or_else(|| env::var(variable).ok()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoParameters, ParameterError};

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
}
