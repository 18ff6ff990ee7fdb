//! What a part of the platform offers to the program that runs it.

use topology::NodeKind;

use crate::error::RunError;
use crate::node::Node;
use crate::steps::Steps;

/// A built-in service: one entry of the same shape from each crate that has one. A program that lists the entries runs
/// them without knowing any of them.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// Its row in the table of services, whose name it bears.
    pub kind: NodeKind,
    /// What it is, in a line of help.
    pub about: &'static str,
    /// What may be asked of it on the command line.
    pub flags: &'static [Flag],
    /// Runs it as this node until it is asked to stop, with the names of the flags that were given.
    pub run: fn(Node, &[&str]) -> Result<(), RunError>,
    /// Sets it up for somebody who turns it round by round, and many of them on one thread; `None`: it has a process of its
    /// own.
    pub steps: Option<MakeSteps>,
}

/// Sets a service up without running it.
pub type MakeSteps = fn(Node) -> Result<Box<dyn Steps>, RunError>;

/// A switch of the command line: `--closed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Without the dashes.
    pub name: &'static str,
    /// What it does, in a line of help.
    pub about: &'static str,
}
