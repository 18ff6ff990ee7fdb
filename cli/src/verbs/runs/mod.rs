//! `colo runs`.

pub(crate) mod args;
mod clean;
mod compare;
mod ls;
mod page;
mod show;

use std::env;
use std::path::PathBuf;

use self::args::{Dir, RunsVerb};
use crate::failure::Failure;

pub(crate) fn dispatch(verb: &RunsVerb) -> Result<u8, Failure> {
    match verb {
        RunsVerb::Ls(arguments) => ls::ls(arguments),
        RunsVerb::Show(arguments) => show::show(arguments),
        RunsVerb::Compare(arguments) => compare::compare(arguments),
        RunsVerb::Report(arguments) => page::page(arguments),
        RunsVerb::Clean(arguments) => clean::clean(arguments),
    }
}

/// Where runs are, unless somebody says otherwise.
fn root(dir: &Dir) -> PathBuf {
    let custom = || env::var_os(super::keeping::RUNS_VARIABLE).filter(|path| !path.is_empty());
    dir.dir.clone().or_else(|| custom().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("runs"))
}

/// Says what is wrong with a folder; the exit code.
fn said(faults: &[String]) -> node::Exit {
    for fault in faults {
        talk!("the folder is not as the run left it: {fault}");
    }
    if faults.is_empty() { node::Exit::Done } else { node::Exit::CheckFailed }
}
