//! A journal of known content, in files that nobody else uses.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use journal::{Clock, Journal, JournalFiles, JournalShape, Writer};
use wire::AnyMessage;
use wire::schema::{MessageType, TABLE};

/// Numbers that look random and are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Bytes that are a message of this kind.
    fn message(&mut self, id: u16, size: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..size).map(|_| self.next() as u8).collect();
        while AnyMessage::decode(id, &bytes).is_err() {
            // An enumeration took an impossible value: all of them allow 1.
            let place = self.below(size);
            bytes[place] = 1;
        }
        bytes
    }
}

/// A journal, and what was written to it: position, message id.
pub(crate) struct Written {
    folder: tempfile::TempDir,
    pub(crate) frames: Vec<(u64, u16)>,
}

impl Written {
    /// `count` messages of all kinds in a ring of 64 KiB. Their writer is gone.
    pub(crate) fn new(seed: u64, count: usize) -> Written {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut written = Written { folder, frames: Vec::new() };
        let shape =
            JournalShape { id: 7, name: "test".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        Journal::create(written.files(), shape, 1).expect("a journal");
        let mut writer = written.writer();
        written.write(&mut writer, seed, count);
        written
    }

    fn files(&self) -> JournalFiles {
        JournalFiles::new(self.folder.path(), self.folder.path(), "test")
    }

    /// Another writer.
    pub(crate) fn writer(&self) -> Writer {
        let journal = Journal::open(self.files()).expect("the journal");
        journal.writer(0, Clock::monotonic()).expect("a writer")
    }

    /// `count` messages more.
    pub(crate) fn write(&mut self, writer: &mut Writer, seed: u64, count: usize) {
        let mut numbers = Numbers(seed);
        // Those that take 4 KiB come once: many of them would fill the ring.
        let (small, large): (Vec<&MessageType>, Vec<&MessageType>) =
            TABLE.iter().partition(|message| message.record.size <= 1_024);
        for number in 0..count {
            let kind = match number.checked_sub(50).and_then(|number| large.get(number)) {
                Some(kind) => kind,
                None => small[numbers.below(small.len())],
            };
            let MessageType { id, record } = *kind;
            let payload = numbers.message(id, record.size);
            let frame = writer.write(id, numbers.below(8) as u32, &payload).expect("nobody gates");
            self.frames.push((frame.position, id));
        }
    }

    pub(crate) fn path(&self, extension: &str) -> PathBuf {
        self.folder.path().join(format!("test.{extension}"))
    }

    pub(crate) fn text(&self, extension: &str) -> String {
        self.path(extension).display().to_string()
    }

    /// Where the frames end.
    pub(crate) fn head(&self) -> u64 {
        Journal::open_read_only(self.files()).expect("the journal").head()
    }

    pub(crate) fn overwrite(&self, extension: &str, offset: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(self.path(extension)).expect("the file");
        file.write_all_at(bytes, offset).expect("written");
    }
}
