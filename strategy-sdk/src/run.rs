//! From a command line to a running strategy, and its exit code.

use std::env;
use std::io::Write;
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
    if factory.options().check_params {
        return says_whether_parameters_fit(&factory);
    }
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

/// Begins the one line that a program answers with to `--check-params`; what is wrong follows.
pub const PARAMETERS_SAID: &str = "colo parameters:";

/// The answer to `--check-params`: one line on standard output.
fn says_whether_parameters_fit(factory: &Factory) -> Exit {
    let parameters = factory.options().parameters.iter().cloned().collect();
    let fault = match factory.check("", serde_json::Value::Object(parameters)) {
        Some(Err(fault)) => fault,
        Some(Ok(())) | None => String::new(),
    };
    let line = format!("{PARAMETERS_SAID} {}\n", fault.replace('\n', " "));
    // Nobody listens any more: then nobody wants to know.
    let _ = std::io::stdout().write_all(line.as_bytes());
    if fault.is_empty() { Exit::Done } else { Exit::Usage }
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

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sizes {
        size: u32,
    }

    struct Picky;

    impl Strategy for Picky {
        type Parameters = Sizes;

        fn create(sizes: Sizes) -> Result<Picky, ParameterError> {
            match sizes.size {
                0 => Err(ParameterError::new("size", "0 is none")),
                13 => panic!("thirteen"),
                _ => Ok(Picky),
            }
        }
    }

    #[test]
    fn a_program_says_whether_its_parameters_fit() {
        let asked = |name: &str, value: u32| {
            let parameters = vec![(name.to_owned(), value.into())];
            run::<Picky>(&Options { check_params: true, parameters, ..Options::default() })
        };
        assert_eq!(asked("size", 1), Exit::Done);
        assert_eq!(asked("width", 1), Exit::Usage);
        assert_eq!(asked("size", 0), Exit::Usage);
        assert_eq!(asked("size", 13), Exit::Usage);
    }
}
