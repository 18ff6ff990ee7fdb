//! Detects that no message is under way.

use std::io;
use std::time::Duration;

use journal::{Journal, JournalFiles, OpenError, Tail};
use topology::Stream;

use crate::instance::InstanceDir;

/// Longest wait for what is under way while market data still comes: it may come faster than it is handled, and is handled in
/// full once its source has stopped.
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
        self.is_drained(|_| true)
    }

    /// The same of those readers alone whose seats count: the dead handle nothing. Those must have read what master has announced,
    /// too, although master does not wait for them: td cancels what the dead leave.
    pub fn is_quiet_among(&mut self, counts: impl Fn(u32) -> bool) -> bool {
        let before = self.announced(&counts);
        before.is_some() && self.is_drained(&counts) && self.announced(&counts) == before
    }

    fn is_drained(&mut self, counts: impl Fn(u32) -> bool) -> bool {
        self.heads.clear();
        for tail in &self.tails {
            let Some(head) = tail.drained_by(&counts) else { return false };
            self.heads.push(head);
        }
        self.tails.iter().zip(&self.heads).all(|(tail, head)| tail.drained_by(&counts) == Some(*head))
    }

    /// The end of what master has announced, if all whose seats count have read it.
    fn announced(&self, counts: impl Fn(u32) -> bool) -> Option<u64> {
        let is_events = |journal: &&Journal| Some(journal.shape().name.as_str()) == Stream::Events.journal();
        let Some(events) = self.journals.iter().find(is_events) else { return Some(0) };
        let head = events.head();
        let readers = events.stat().readers;
        readers
            .iter()
            .filter(|reader| counts(reader.seat))
            .all(|reader| reader.position >= head)
            .then_some(head)
    }

    /// How far those readers whose seats count have read, all together: it changes as long as one of them reads.
    pub fn read_by(&self, counts: impl Fn(u32) -> bool) -> u64 {
        self.tails.iter().fold(0, |sum, tail| sum.wrapping_add(tail.read_by(&counts)))
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
    fn of_those_who_count_all_is_handled_also_where_master_does_not_wait_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let made = |id: u32, name: &str| {
            let files = JournalFiles::new(folder.path(), folder.path(), name);
            let shape =
                JournalShape { id, name: name.into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
            (Journal::create(files.clone(), shape, 1).unwrap(), files)
        };
        let ((orders, orders_files), (events, events_files)) =
            (made(1, "td.orders"), made(2, "master.events"));
        let mut quiescence = Quiescence::of([orders_files, events_files].into_iter()).unwrap();
        let (lives, dead) = (3, 5);
        let mut reader = orders.gated(lives).unwrap();
        orders.admit_gated(dead).unwrap();
        let mut listener = events.loose(lives).unwrap();
        let mut writer = orders.writer(0, Clock::monotonic()).unwrap();
        let mut master = events.writer(0, Clock::monotonic()).unwrap();
        writer.write(7, 0, b"order").unwrap();
        let counts = |seat: u32| seat == lives;
        assert!(!quiescence.is_quiet_among(counts));
        let before = quiescence.read_by(counts);
        while reader.read().unwrap().is_some() {}
        assert!(quiescence.read_by(counts) > before);
        assert!(quiescence.is_quiet_among(counts) && !quiescence.is_quiet(), "the dead one has not read it");
        master.write(7, 0, b"died").unwrap();
        assert!(!quiescence.is_quiet_among(counts), "it may have to cancel something");
        while listener.read().unwrap().is_some() {}
        assert!(quiescence.is_quiet_among(counts));
    }

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
