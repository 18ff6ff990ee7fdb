//! `colo strategy`: what an author, or who runs a platform, does with one strategy.

pub(crate) mod args;
mod change;
mod ls;
mod new;

use args::StrategyVerb;

use crate::failure::Failure;

pub(super) fn dispatch(verb: &StrategyVerb) -> Result<u8, Failure> {
    match verb {
        StrategyVerb::New(arguments) => new::new(arguments),
        StrategyVerb::Ls(arguments) => ls::ls(arguments),
        StrategyVerb::Stop(arguments) => change::stop(arguments),
        StrategyVerb::Start(arguments) => change::start(arguments),
        StrategyVerb::Reload(arguments) => change::reload(arguments),
        StrategyVerb::Set(arguments) => change::set(arguments),
    }
}
