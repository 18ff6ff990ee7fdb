//! What the measuring process and the reader of the events share.

use std::path::{Path, PathBuf};

use journal::tools::Floor;
use journal::{Clock, Journal, JournalFiles, JournalShape};

use crate::ipc::IpcError;

/// The journal's name.
const JOURNAL: &str = "events";

/// Words of the page.
pub(super) mod word {
    /// The reader: is at its gate.
    pub(crate) const READY: usize = 0;
    /// The reader: events read so far.
    pub(crate) const READ: usize = 1;
    /// The reader: trades among them.
    pub(crate) const TRADES: usize = 2;
    /// The reader: sum of their quantities.
    pub(crate) const TRADED: usize = 3;
    /// The reader: cancels among them.
    pub(crate) const CANCELS: usize = 4;
    /// The writer: 1 once events come, 2 once the reader may end.
    pub(crate) const STATE: usize = 8;
}

/// Values of [`word::STATE`].
pub(super) mod state {
    /// Nothing comes yet: the reader sleeps, however long the measurements before take.
    pub(crate) const WAIT: u64 = 0;
    /// Events come.
    pub(crate) const READ: u64 = 1;
    /// The reader may end.
    pub(crate) const END: u64 = 2;
}

/// The journal and the page of words.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) words: Floor,
    pub(super) journal: Journal,
}

impl Share {
    pub(super) fn create(directory: &Path, capacity: u64, clock: Clock) -> Result<Share, IpcError> {
        let shape =
            JournalShape { id: 0, name: JOURNAL.to_owned(), capacity, seats: 64, topics: 8, page: 4096 };
        let journal = Journal::create(files(directory), shape, clock.now())?;
        Ok(Share { words: Floor::create(&words(directory))?, journal })
    }

    pub(super) fn open(directory: &Path) -> Result<Share, IpcError> {
        Ok(Share { words: Floor::open(&words(directory))?, journal: Journal::open(files(directory))? })
    }

    /// Tells the reader what to do.
    pub(super) fn tell(&self, state: u64) {
        self.words.set(word::STATE, state);
        self.words.wake(word::STATE);
    }
}

fn files(directory: &Path) -> JournalFiles {
    JournalFiles::new(directory, directory, JOURNAL)
}

fn words(directory: &Path) -> PathBuf {
    directory.join("words")
}
