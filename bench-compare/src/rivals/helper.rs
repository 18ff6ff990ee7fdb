//! A process that a rival needs besides its peers: this program, started as a helper.

use std::path::Path;
use std::process::{Command, Stdio};

use bench_kit::OwnedChild;

use crate::error::{CompareError, system};

/// A helper; it ends when this is dropped, and with the process that holds it.
#[derive(Debug)]
pub(crate) struct Helper {
    _process: OwnedChild,
}

impl Helper {
    /// Starts one.
    pub(super) fn start(name: &str, room: &Path) -> Result<Helper, CompareError> {
        let program = std::env::current_exe().map_err(system("find this program"))?;
        let mut command = Command::new(program);
        command.args(["helper", name]).arg(room).stdin(Stdio::null()).stdout(Stdio::null());
        let process = OwnedChild::spawn(&mut command).map_err(system("start the helper"))?;
        Ok(Helper { _process: process })
    }
}
