//! A process that a rival needs besides its peers: this program, started as a helper.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::{CompareError, system};

/// A helper; it ends when this is dropped, and with the process that holds it.
#[derive(Debug)]
pub(crate) struct Helper(Child);

impl Helper {
    /// Starts one.
    pub(super) fn start(name: &str, room: &Path) -> Result<Helper, CompareError> {
        let program = std::env::current_exe().map_err(system("find this program"))?;
        let mut command = Command::new(program);
        command.args(["helper", name]).arg(room).stdin(Stdio::null()).stdout(Stdio::null());
        command.spawn().map(Helper).map_err(system("start the helper"))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // A process that has ended already cannot be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
