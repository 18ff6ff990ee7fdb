//! The state of a program in matching's seat, from outside: read from what it notes. Nothing is asked of the process, so it need not live.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use node::InstanceDir;

use crate::driver::{Driver, Effects};
use crate::memory::{self, Memory, MemoryError};
use crate::unbooked::Settlement;

/// What such a program knows.
///
/// # Errors
/// The file cannot be read, or is not there: then no program takes orders out.
pub fn look(instance: &InstanceDir) -> Result<Driver, MemoryError> {
    let mut driver: Option<Driver> = None;
    let mut effects = Effects::default();
    Memory::look(&instance.venue(), |prefix, input| {
        driver.get_or_insert_with(|| Driver::new(prefix)).take(&input, &mut effects);
        effects = Effects::default();
    })?;
    Ok(driver.unwrap_or_else(|| Driver::new("")))
}

/// Writes what an operator decides. The program takes it up while it runs, or when it starts.
///
/// # Errors
/// The error of the system.
pub fn decide(instance: &InstanceDir, settlement: &Settlement) -> io::Result<()> {
    let options = || {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        options
    };
    let mut file = options().open(instance.venue_decisions())?;
    // One write: several operators do not mix their lines.
    file.write_all(format!("{}\n", memory::settled(settlement)).as_bytes())
}
