//! The floor: a prepared file, and writes into it that are on disk when they return.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::O_DSYNC;

use super::{Facts, Record, Store, said};

/// Bytes of the file; written from the start again when it is full.
const ROOM: u64 = 64 << 20;

pub(crate) const FACTS: Facts = Facts {
    name: "bare",
    version: "–",
    setup: "one write of the batch's bytes and nothing else, `O_DSYNC`, into a file of zeros",
    open,
};

fn open(folder: &Path) -> Result<Box<dyn Store>, String> {
    let path = folder.join("file");
    std::fs::write(&path, vec![0; ROOM as usize]).map_err(said("prepare a file"))?;
    File::open(&path).and_then(|file| file.sync_all()).map_err(said("sync a file"))?;
    let file =
        OpenOptions::new().write(true).custom_flags(O_DSYNC).open(path).map_err(said("open a file"))?;
    Ok(Box::new(Bare { file, at: 0, bytes: Vec::new() }))
}

struct Bare {
    file: File,
    at: u64,
    bytes: Vec<u8>,
}

impl Store for Bare {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        self.bytes.clear();
        self.bytes.extend_from_slice(records.as_flattened());
        if self.at + self.bytes.len() as u64 > ROOM {
            self.at = 0;
        }
        self.file.write_all_at(&self.bytes, self.at).map_err(said("write"))?;
        self.at += self.bytes.len() as u64;
        Ok(())
    }

    fn held(self: Box<Self>, _folder: &Path) -> Result<Option<u64>, String> {
        Ok(None)
    }
}
