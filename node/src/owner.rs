//! A process that is to end with the one that started it.

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use crate::stop::StopFlag;

/// From now on the end of `owner`, which must be this process's parent, is a SIGTERM for this process, whatever ended it.
pub fn end_with(owner: u32, stop: &StopFlag) {
    if let Err(error) = prctl::set_pdeathsig(Signal::SIGTERM) {
        log::warn!("this process does not follow process {owner}: {error}");
    }
    // It may have ended before.
    if u32::try_from(getppid().as_raw()) != Ok(owner) {
        stop.set();
    }
}
