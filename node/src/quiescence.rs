//! Detects that no message is under way.

use std::io;
use std::time::Duration;

use journal::{Journal, JournalFiles, OpenError, Tail};

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
/// A head follows the commit of its frame a moment later, and a polling reader may already have answered: so a look also
/// sees that nothing is committed behind the head.
///
/// Causes other than frames are not seen: timers, and sources.
#[derive(Debug)]
pub struct Quiescence {
    journals: Vec<Journal>,
    tails: Vec<Tail>,
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
        Quiescence::of(names.iter().filter(|name| wanted(name)).map(|name| instance.find_journal(name)))
    }

    fn of(files: impl Iterator<Item = JournalFiles>) -> Result<Quiescence, OpenError> {
        let journals = files.map(Journal::open_read_only).collect::<Result<Vec<_>, _>>()?;
        let tails = journals.iter().map(Journal::tail).collect::<Result<Vec<_>, _>>()?;
        Ok(Quiescence { heads: Vec::with_capacity(journals.len()), journals, tails })
    }

    /// Watches nothing.
    pub fn none() -> Quiescence {
        Quiescence { journals: Vec::new(), tails: Vec::new(), heads: Vec::new() }
    }

    /// True when no frame that a gated reader must handle is under way.
    pub fn is_quiet(&mut self) -> bool {
        self.heads.clear();
        for tail in &self.tails {
            let Some(head) = tail.drained() else { return false };
            self.heads.push(head);
        }
        self.tails.iter().zip(&self.heads).all(|(tail, head)| tail.drained() == Some(*head))
    }

    /// The watched journals.
    pub fn journals(&self) -> &[Journal] {
        &self.journals
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use journal::{Clock, JournalShape, layout};

    use super::*;

    #[test]
    fn a_frame_that_the_head_does_not_count_yet_is_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let files = JournalFiles::new(folder.path(), folder.path(), "market");
        let shape = JournalShape {
            id: 1,
            name: "market".into(),
            capacity: 1 << 16,
            seats: 64,
            topics: 8,
            page: 4096,
        };
        let journal = Journal::create(files.clone(), shape, 1).unwrap();
        journal.admit_gated(1).unwrap();
        let mut quiescence = Quiescence::of([files.clone()].into_iter()).unwrap();
        assert!(quiescence.is_quiet(), "nothing is written");
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        let before = journal.head();
        writer.write(7, 3, b"news").unwrap();
        assert!(!quiescence.is_quiet(), "nobody has read it");

        // As if the writer had lost its CPU between the two steps.
        let control = File::options().write(true).open(&files.control).unwrap();
        let head = (layout::control::HEAD * layout::WORD_BYTES) as u64;
        control.write_all_at(&before.to_ne_bytes(), head).unwrap();
        assert_eq!(journal.head(), before);
        assert!(journal.is_drained(), "by its head alone");
        assert!(!quiescence.is_quiet(), "it can be read");
    }
}
