//! Child processes that end with their owner.

use std::io;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command};

/// A child process that is killed and reaped when this is dropped.
///
/// ```
/// # use std::process::Command;
/// let child = bench_kit::OwnedChild::spawn(Command::new("sleep").arg("1000"))?;
/// let entry = format!("/proc/{}", child.id());
/// assert!(std::path::Path::new(&entry).exists());
/// drop(child);
/// assert!(!std::path::Path::new(&entry).exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OwnedChild(Child);

impl OwnedChild {
    /// Starts a process.
    ///
    /// # Errors
    /// The error of the system.
    pub fn spawn(command: &mut Command) -> io::Result<OwnedChild> {
        command.spawn().map(OwnedChild)
    }

    /// Kills the process and reaps it, if it still runs. Its output can be read afterwards.
    pub fn end(&mut self) {
        // A process that has ended already cannot be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Deref for OwnedChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for OwnedChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        self.end();
    }
}
