//! The journals and words that the processes share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use journal::tools::Floor;
use journal::{Clock, Journal, JournalFiles, JournalShape, Registry, Writer};

use crate::ipc::IpcError;
use crate::scratch::Scratch;

/// Seats by role; readers from [`seat::READERS`] on.
pub(super) mod seat {
    pub(crate) const WRITER: u32 = 0;
    pub(crate) const RELAY: u32 = 1;
    pub(crate) const PING: u32 = 2;
    pub(crate) const PONG: u32 = 3;
    pub(crate) const HOST: u32 = 4;
    pub(crate) const MANY: u32 = 5;
    pub(crate) const READERS: u32 = 8;
}

/// Words of the floor page.
pub(super) mod word {
    /// Bounced to the other process, which sleeps on it.
    pub(crate) const TO_PONG: usize = 0;
    /// Bounced back.
    pub(crate) const TO_PING: usize = 1;
    /// Not zero: the relay ends its round.
    pub(crate) const RELAY_STOP: usize = 2;
    /// How the reader of many journals polls: see `doorbell`.
    pub(crate) const MODE: usize = 3;
    /// The mode that it is in.
    pub(crate) const IN_MODE: usize = 4;
    /// Messages received.
    pub(crate) const HAD: usize = 5;
    /// Time of the last round of polling without news, in picoseconds.
    pub(crate) const ROUND: usize = 6;
}

/// Journals of the reader of many.
pub(super) const MANY: u32 = 80;

/// Name of the `number`-th of them.
pub(super) fn many(number: u32) -> String {
    format!("many-{number}")
}

/// Message ids.
pub(super) const NEWS: u16 = 1;
/// Ends a cell for the readers of its topic.
pub(super) const END: u16 = 2;

/// Longest silence of one side of a conversation.
pub(super) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Share {
    pub(super) registry: Arc<Registry>,
    pub(super) floor: Floor,
    pub(super) clock: Clock,
    pub(super) path: PathBuf,
    /// Removed when this is dropped, by the process that created it.
    _directory: Option<Scratch>,
}

impl Share {
    /// Creates everything, for this many readers.
    pub(super) fn create(readers: usize) -> Result<Share, IpcError> {
        let directory = Scratch::create().map_err(crate::ipc::system("make a folder in /dev/shm"))?;
        let path = directory.path().to_owned();
        let clock = Clock::calibrate();
        let seats = (seat::READERS + readers as u32).next_multiple_of(64);
        let registry = Registry::create(&path.join("registry"), seats, clock)?;
        let floor = Floor::create(&path.join("floor"))?;
        let news = ["news", "ping", "pong"].map(|name| (name.to_owned(), readers.max(1), 16 << 20));
        let all = news.into_iter().chain((0..MANY).map(|number| (many(number), 1, 256 << 10)));
        for (id, (name, topics, capacity)) in all.enumerate() {
            let shape = JournalShape {
                id: id as u32 + 1,
                name: name.clone(),
                capacity,
                seats,
                topics: topics as u32,
                page: 4096,
            };
            Journal::create(JournalFiles::new(&path, &path, &name), shape, clock.now())?;
        }
        Ok(Share { registry: registry.into(), floor, clock, path, _directory: Some(directory) })
    }

    /// Opens what another process created.
    pub(super) fn open(path: &Path) -> Result<Share, IpcError> {
        let registry_path = path.join("registry");
        let registry = Registry::open(&registry_path)?;
        Ok(Share {
            floor: Floor::open(&path.join("floor"))?,
            clock: registry.clock(&registry_path)?,
            registry: registry.into(),
            path: path.to_owned(),
            _directory: None,
        })
    }

    pub(super) fn journal(&self, name: &str) -> Result<Journal, IpcError> {
        Ok(Journal::open(JournalFiles::new(&self.path, &self.path, name))?)
    }

    /// A writer like a node's.
    pub(super) fn writer(&self, name: &str, seat: u32) -> Result<Writer, IpcError> {
        let mut writer = self.journal(name)?.writer(seat, self.clock)?;
        writer.wake_through(Arc::clone(&self.registry));
        Ok(writer)
    }
}
