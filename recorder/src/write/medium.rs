//! What a segment is written to: a file; in tests a disk with faults.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// An open file.
pub(super) trait Medium: Debug + Send {
    /// All bytes are on disk when this returns.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    fn sync_all(&self) -> io::Result<()>;
}

/// Makes a medium of each file that is opened for a segment.
pub(super) trait Disk: Debug + Send {
    fn medium(&self, file: File) -> Box<dyn Medium>;
}

/// Files as they are.
#[derive(Debug)]
pub(super) struct Files;

impl Disk for Files {
    fn medium(&self, file: File) -> Box<dyn Medium> {
        Box::new(file)
    }
}

impl Medium for File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        File::set_len(self, bytes)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }
}
