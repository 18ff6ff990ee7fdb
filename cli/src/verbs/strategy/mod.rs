//! `colo strategy`: what an author does with one strategy.

pub(crate) mod args;
mod new;

use args::StrategyVerb;

use crate::failure::Failure;

pub(super) fn dispatch(verb: &StrategyVerb) -> Result<u8, Failure> {
    match verb {
        StrategyVerb::New(arguments) => new::new(arguments),
    }
}
