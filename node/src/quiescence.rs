//! Detects that no message is under way.

use std::io;
use std::time::Duration;

use journal::{Journal, OpenError};

use crate::instance::InstanceDir;

/// Longest wait between two groups that stop for what is under way. Cursors of the dead are not waited for longer. In
/// lock-step the last market event has as long as a node that was asked to stop.
pub const SETTLE: Duration = Duration::from_millis(500);

/// Watches gated readers of an instance's journals.
///
/// A gated reader publishes a cursor only after it has handled the frames before it, and has committed the messages
/// that they caused. So when, in two looks one after the other, every gated cursor stands at its journal's head and no
/// head has moved between the looks, then at the moment between them nothing was under way: no reader that could move a
/// head had anything to handle. (The double collect of distributed termination detection.)
///
/// Causes other than frames are not seen: timers, and sources.
#[derive(Debug)]
pub struct Quiescence {
    journals: Vec<Journal>,
    heads: Vec<u64>,
}

impl Quiescence {
    /// Watches the journals whose names `wanted` accepts.
    ///
    /// # Errors
    /// [`OpenError`], or the directory cannot be listed.
    pub fn watch(instance: &InstanceDir, wanted: impl Fn(&str) -> bool) -> Result<Quiescence, OpenError> {
        let names = instance.journal_names().map_err(|source: io::Error| OpenError::Io {
            action: "list",
            path: instance.journals(),
            source,
        })?;
        let journals = names
            .iter()
            .filter(|name| wanted(name))
            // The ring is not mapped for this, so its file system does not matter.
            .map(|name| Journal::open_read_only(instance.journal(name, None)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Quiescence { heads: Vec::with_capacity(journals.len()), journals })
    }

    /// Watches nothing.
    pub fn none() -> Quiescence {
        Quiescence { journals: Vec::new(), heads: Vec::new() }
    }

    /// True when no frame that a gated reader must handle is under way.
    pub fn is_quiet(&mut self) -> bool {
        self.heads.clear();
        for journal in &self.journals {
            if !journal.is_drained() {
                return false;
            }
            self.heads.push(journal.head());
        }
        self.journals
            .iter()
            .zip(&self.heads)
            .all(|(journal, head)| journal.is_drained() && journal.head() == *head)
    }

    /// The watched journals.
    pub fn journals(&self) -> &[Journal] {
        &self.journals
    }
}
