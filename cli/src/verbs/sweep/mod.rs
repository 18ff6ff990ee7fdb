//! `colo sweep`.

pub(crate) mod args;
mod ls;
mod page;
pub(crate) mod plan;
mod run;
mod show;

use std::path::Path;

use ::sweep::Checked;

use self::args::{Sweep, SweepVerb};
use super::parameters;
use crate::failure::Failure;

/// The folder of sweeps, unless somebody says otherwise.
const SWEEPS: &str = "sweeps";

pub(crate) fn sweep(arguments: &Sweep) -> Result<u8, Failure> {
    match &arguments.verb {
        Some(SweepVerb::Show(arguments)) => show::show(arguments),
        Some(SweepVerb::Report(arguments)) => page::page(arguments),
        Some(SweepVerb::Ls(arguments)) => ls::ls(arguments),
        None => run::run(&arguments.run),
    }
}

/// A checked sweep, with its warnings said. Paths in `sets` start at `here`.
fn load(file: &Path, sets: &[String], here: &Path) -> Result<Checked, Failure> {
    let checked = ::sweep::load(file, sets, here, &parameters::faults)?;
    if !checked.warnings.diagnostics.is_empty() {
        let text = checked.warnings.render(std::io::IsTerminal::is_terminal(&std::io::stderr()));
        talk!("{}", text.trim_end());
    }
    Ok(checked)
}
