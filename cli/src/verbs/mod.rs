//! One module a verb.

pub(crate) mod account;
pub(crate) mod audit;
mod backtest;
pub(crate) mod bench;
pub(crate) mod book;
mod check;
mod deaths;
mod doctor;
mod down;
mod explain;
mod fit;
mod gateway;
pub(crate) mod instance;
mod instruments;
mod irregular;
pub(crate) mod journal;
mod keeping;
mod kill;
mod matching_verify;
mod md_send;
mod md_verify;
mod parameters;
mod recover;
pub(crate) mod replay;
mod report;
mod run;
pub(crate) mod runs;
mod seats;
mod service_manager;
pub(crate) mod settle;
mod status;
pub(crate) mod strategy;
pub(crate) mod sweep;
pub(crate) mod t2o;
pub(crate) mod token;
pub(crate) mod top;
pub(crate) mod trace;
mod tune;
mod up;
pub(crate) mod venue;

use std::path::Path;

use topology::Platform;

use clap::CommandFactory;

use crate::args::{Arguments, MatchingVerb, MdVerb, PlatformArguments, Verb};
use crate::failure::Failure;
use crate::output;

/// Does what the command line asks; the exit code.
pub(crate) fn dispatch(arguments: Arguments) -> Result<u8, Failure> {
    match arguments.verb {
        Verb::Up(arguments) => up::up(&arguments),
        Verb::Replay(arguments) => replay::replay(&arguments),
        Verb::Down(arguments) => down::down(&arguments),
        Verb::Runs(verb) => runs::dispatch(&verb),
        Verb::Sweep(arguments) => sweep::sweep(&arguments),
        Verb::Recover(arguments) => recover::recover(&arguments),
        Verb::Status(arguments) => status::status(&arguments),
        Verb::Top(arguments) => top::top(&arguments),
        Verb::Book(arguments) => book::book(&arguments),
        Verb::Strategy(verb) => strategy::dispatch(&verb),
        Verb::Account(verb) => account::dispatch(&verb),
        Verb::Kill(arguments) => kill::kill(&arguments),
        Verb::Revive(arguments) => kill::revive(&arguments),
        Verb::Settle(arguments) => settle::settle(&arguments),
        Verb::Audit(arguments) => audit::audit(&arguments),
        Verb::Venue(verb) => venue::dispatch(&verb),
        Verb::Token(verb) => token::dispatch(&verb),
        Verb::Run(arguments) => run::run(arguments),
        Verb::Journal(verb) => journal::dispatch(&verb),
        Verb::Trace(verb) => trace::dispatch(&verb),
        Verb::Md(MdVerb::Verify(arguments)) => md_verify::verify(&arguments),
        Verb::Md(MdVerb::Send(arguments)) => md_send::send(&arguments),
        Verb::Matching(MatchingVerb::Verify(arguments)) => matching_verify::verify(&arguments),
        Verb::Bench(what) => bench::bench(&what),
        Verb::T2o(verb) => t2o::run(&verb),
        Verb::Check(arguments) => check::check(&arguments),
        Verb::Explain(arguments) => explain::explain(&arguments),
        Verb::Doctor(arguments) => doctor::doctor(&arguments),
        Verb::Tune(arguments) => tune::tune(&arguments),
        Verb::Schema => {
            output::print_json(&topology::schema())?;
            Ok(node::Exit::Done.code())
        }
        Verb::Completions { shell } => {
            // Into memory first: on a standard output that is closed early it would panic.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "colo", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(node::Exit::Done.code())
        }
        Verb::Man { folder } => {
            let failed = |error| Failure::system("write to", &folder)(error);
            std::fs::create_dir_all(&folder).map_err(failed)?;
            clap_mangen::generate_to(Arguments::command(), &folder).map_err(failed)?;
            talk!("the man pages are in {}", folder.display());
            Ok(node::Exit::Done.code())
        }
    }
}

/// The checked platform that the arguments ask for, with its warnings said.
fn platform(arguments: &PlatformArguments) -> Result<Platform, Failure> {
    let mut sets = arguments.sets.clone();
    sets.extend(arguments.instance.name().map(|instance| format!("platform.instance=\"{instance}\"")));
    load(arguments.file.as_deref(), &sets)
}

/// The checked platform of a file, or the built-in one, with its warnings said.
fn load(file: Option<&Path>, sets: &[String]) -> Result<Platform, Failure> {
    let platform = match file {
        Some(file) => topology::load(file, sets)?,
        None => topology::parse("demo.toml (built in)", topology::DEMO, sets)
            .map_err(settings::LoadError::from)?,
    };
    platform.check_files().map_err(settings::LoadError::from)?;
    if !platform.warnings.diagnostics.is_empty() {
        let text = platform.warnings.render(std::io::IsTerminal::is_terminal(&std::io::stderr()));
        talk!("{}", text.trim_end());
    }
    Ok(platform)
}
