//! A program of more than one strategy.

use node::{Exit, Node, RunError, Runner, Steps, Stepwise};

use crate::factory::Factory;
use crate::options::Options;
use crate::process::Strategies;
use crate::run;
use crate::strategy::Strategy;

/// The strategies of a program that holds more than one kind.
///
/// A program of a single strategy does not need it: [`main`](crate::main) runs that one, in a process of its own or many
/// of them in a host. A roster is for programs whose strategies the platform file tells apart by name.
#[derive(Clone, Debug, Default)]
pub struct Roster(Factory);

impl Roster {
    /// An empty one, for a process with these options.
    pub fn new(options: Options) -> Roster {
        Roster(Factory::new(options))
    }

    /// Adds a strategy: `name` is what follows `builtin:` in the platform file.
    #[must_use]
    pub fn with<S: Strategy>(mut self, name: &str) -> Roster {
        self.0.add::<S>(name);
        self
    }

    /// Sets up the strategy of this node, or its host, for somebody who turns it round by round.
    ///
    /// # Errors
    /// [`RunError`]: the strategy could not be made, with the exit code of that.
    pub fn steps(self, mut node: Node) -> Result<Box<dyn Steps>, RunError> {
        let strategies = Strategies::new(&mut node, self.0)
            .map_err(|error| RunError::Component { message: error.to_string(), exit: error.exit() })?;
        Stepwise.run(node, strategies)
    }

    /// Joins the platform as the node that options or environment name, and runs it to its end: one strategy, or a host
    /// with its members. Errors are logged.
    pub fn run(self) -> Exit {
        run::run_all(self.0)
    }
}
