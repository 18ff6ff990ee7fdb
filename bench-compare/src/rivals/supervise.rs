//! What a platform's supervisor does when one of its processes dies.

use std::os::fd::AsFd as _;

use journal::process::{PidFd, ProcessIdentity};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::error::{CompareError, system};

/// Calls `then`, once, when the process has died.
pub(super) fn on_death(
    process: ProcessIdentity,
    then: impl FnOnce() + Send + 'static,
) -> Result<(), CompareError> {
    let handle = PidFd::open(process).map_err(system("watch a reader"))?;
    std::thread::spawn(move || {
        let mut waiting = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waiting, PollTimeout::NONE).is_ok() {
            then();
        }
    });
    Ok(())
}
