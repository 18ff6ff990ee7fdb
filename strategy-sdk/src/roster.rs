//! Which strategies a program holds, and how one of them is made for its seat.

use node::{Exit, Node};
use wire::{SnapshotBegin, StrategyId};

use crate::options::Options;
use crate::process::{Driven, NodePort};
use crate::run::{self, StrategyError};
use crate::section::Section;
use crate::session::{Session, Setup};
use crate::strategy::Strategy;

/// The strategies of a program that holds more than one kind.
///
/// A program of a single strategy needs none of this: [`main`](crate::main) runs it, in a process of its own or many of
/// them in a host. This is for programs whose strategies the platform file tells apart by name.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    kinds: Vec<(String, Maker)>,
    /// What every name stands for, in a program of one strategy.
    any: Option<Maker>,
    options: Options,
}

type Maker = fn(&mut Node, &Options, Option<u32>) -> Result<Made, StrategyError>;

/// A strategy in a session of its own.
pub(crate) struct Made {
    pub(crate) driven: Box<dyn Driven>,
    pub(crate) seat: StrategyId,
    /// Nanoseconds; zero: none.
    pub(crate) budget: u64,
}

impl Roster {
    /// An empty one, for processes with these options.
    pub fn new(options: Options) -> Roster {
        Roster { kinds: Vec::new(), any: None, options }
    }

    /// Adds a strategy: `name` is what the platform file says behind `builtin:`.
    #[must_use]
    pub fn with<S: Strategy>(mut self, name: &str) -> Roster {
        self.kinds.push((name.to_owned(), make::<S>));
        self
    }

    /// This strategy, by whatever name.
    pub(crate) fn only<S: Strategy>(options: Options) -> Roster {
        Roster { kinds: Vec::new(), any: Some(make::<S>), options }
    }

    /// Joins the platform as the node that options or environment name, and runs it to its end: one strategy, or a
    /// host with its many. What goes wrong is logged.
    pub fn run(self) -> Exit {
        run::guarded(self)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The strategy of this node. `ledger`: seat of the one that will say what it holds.
    pub(crate) fn make(&self, node: &mut Node, ledger: Option<u32>) -> Result<Made, StrategyError> {
        let section: Section = node.section()?;
        let name = section.builtin().unwrap_or_default();
        let named = self.kinds.iter().find(|(known, _)| known == name).map(|(_, maker)| *maker);
        match named.or(self.any) {
            Some(maker) => maker(node, &self.options, ledger),
            None => Err(StrategyError::Unknown { node: node.name().to_owned(), name: name.to_owned() }),
        }
    }
}

fn make<S: Strategy>(node: &mut Node, options: &Options, ledger: Option<u32>) -> Result<Made, StrategyError> {
    let name = node.name().to_owned();
    let section: Section = node.section()?;
    let parameters = section
        .parameters(options)
        .map_err(|source| StrategyError::Parameters { node: name.clone(), source })?;
    let strategy =
        S::create(parameters).map_err(|source| StrategyError::Parameter { node: name.clone(), source })?;
    let interest = section.interest(options, strategy.interest());
    let seat = u16::try_from(node.seat()).map(StrategyId).unwrap_or(SnapshotBegin::EVERYBODY);
    let output = node.take_output("orders")?;
    let setup = Setup {
        name,
        strategy: seat,
        generation: node.generation(),
        epoch: output.epoch(),
        interest,
        deterministic: node.is_deterministic(),
        ledger: ledger.is_some(),
    };
    let port = NodePort { output, handle: node.handle(), ledger };
    let session = Session::new(strategy, setup, Box::new(port));
    Ok(Made { driven: Box::new(session), seat, budget: section.budget() })
}
