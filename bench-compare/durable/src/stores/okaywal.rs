//! OkayWAL: a write-ahead log.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use okaywal::{Configuration, Entry, EntryId, LogManager, LogVoid, SegmentReader, WriteAheadLog};

use super::{Facts, Record, Store, said};

pub(crate) const FACTS: Facts = Facts {
    name: "okaywal",
    version: "0.3.1",
    setup: "an entry a batch, a chunk a record, `commit`; segments of 128 MiB are reserved, and no checkpoint runs",
    open,
};

/// Bytes that are reserved for a segment.
const ROOM: u32 = 128 << 20;

/// Bytes before a checkpoint: more than a turn writes.
const BEFORE_CHECKPOINT: u64 = 8 << 30;

fn open(folder: &Path) -> Result<Box<dyn Store>, String> {
    let log = configured(folder).open(LogVoid).map_err(said("open"))?;
    Ok(Box::new(Log(log)))
}

fn configured(folder: &Path) -> Configuration {
    Configuration::default_for(folder.join("log"))
        .preallocate_bytes(ROOM)
        .checkpoint_after_bytes(BEFORE_CHECKPOINT)
}

struct Log(WriteAheadLog);

impl Store for Log {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        let mut entry = self.0.begin_entry().map_err(said("begin an entry"))?;
        for record in records {
            entry.write_chunk(record).map_err(said("write a chunk"))?;
        }
        entry.commit().map_err(said("commit"))?;
        Ok(())
    }

    fn held(self: Box<Self>, folder: &Path) -> Result<Option<u64>, String> {
        self.0.shutdown().map_err(said("shut down"))?;
        let counts = Counting::default();
        let found = Arc::clone(&counts.0);
        let log = configured(folder).open(counts).map_err(said("open again"))?;
        log.shutdown().map_err(said("shut down"))?;
        Ok(Some(found.load(Ordering::Relaxed)))
    }
}

/// Counts what is recovered.
#[derive(Debug, Default)]
struct Counting(Arc<AtomicU64>);

impl LogManager for Counting {
    fn recover(&mut self, entry: &mut Entry<'_>) -> io::Result<()> {
        if let Some(chunks) = entry.read_all_chunks()? {
            self.0.fetch_add(chunks.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn checkpoint_to(
        &mut self,
        _last: EntryId,
        _entries: &mut SegmentReader,
        _log: &WriteAheadLog,
    ) -> io::Result<()> {
        Ok(())
    }
}
