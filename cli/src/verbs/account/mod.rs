//! `colo account`: what people change about accounts, and how they stand.

pub(crate) mod args;
mod change;
mod ends;
mod list;
mod rows;
mod show;
mod slips;

use args::AccountVerb;
use node::{Exit, InstanceDir};
use wire::AccountAction;

pub(crate) use change::{By, Report, change, send};
pub(crate) use ends::{Ends, Waiting};

use crate::failure::Failure;

pub(super) fn dispatch(verb: &AccountVerb) -> Result<u8, Failure> {
    match verb {
        AccountVerb::Open(arguments) => change::open(arguments),
        AccountVerb::Deposit(arguments) => change::transfer(arguments, AccountAction::Deposit),
        AccountVerb::Withdraw(arguments) => change::transfer(arguments, AccountAction::Withdraw),
        AccountVerb::Freeze(arguments) => change::simple(arguments, AccountAction::Freeze),
        AccountVerb::Unfreeze(arguments) => change::simple(arguments, AccountAction::Unfreeze),
        AccountVerb::Close(arguments) => change::simple(arguments, AccountAction::Close),
        AccountVerb::Limit(arguments) => change::limit(arguments),
        AccountVerb::Fee(arguments) => change::fee(arguments),
        AccountVerb::Margin(arguments) => change::margin(arguments),
        AccountVerb::Rate(arguments) => change::rate(arguments),
        AccountVerb::List(arguments) => list::list(arguments),
        AccountVerb::Show(arguments) => show::show(arguments),
    }
}

/// No account of this number is open.
fn unknown(instance: &InstanceDir, account: u32) -> Failure {
    let message = format!(
        "instance `{}` has no account {account}; `colo account list` lists those that there are",
        instance.name()
    );
    Failure::new(Exit::Usage, message)
}
