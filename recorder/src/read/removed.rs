//! The list of segments that retention has removed, so that a missing one that is not listed is damage.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Name of the list in the folder of a recording: one JSON object a line.
pub const REMOVED_LIST: &str = "removed.jsonl";

/// A segment that was removed on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Its number.
    pub segment: u32,
    /// Number of its first block.
    pub first_block: u64,
    /// Number of the first block that was not its own.
    pub blocks_end: u64,
    /// Time of its last cut, nanoseconds since the epoch.
    pub last_time_ns: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// When it was removed.
    pub removed_ns: u64,
}

/// What the list in `folder` names; nothing without a list. A line that was cut off does not count: its segment was not
/// removed.
///
/// # Errors
/// Those of the file system.
pub fn removed(folder: &Path) -> io::Result<Vec<Removed>> {
    let bytes = match std::fs::read(folder.join(REMOVED_LIST)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Adds a line for each, and returns when they are on disk.
pub(crate) fn append<'a>(folder: &Path, removed: impl Iterator<Item = &'a Removed>) -> io::Result<()> {
    let path = folder.join(REMOVED_LIST);
    let is_new = !path.exists();
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o640).open(path)?;
    let mut lines = Vec::new();
    for removed in removed {
        serde_json::to_writer(&mut lines, removed)?;
        lines.push(b'\n');
    }
    // Behind a line that was cut off, on a line of its own.
    if file.seek(SeekFrom::End(0))? > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            lines.insert(0, b'\n');
        }
    }
    file.write_all(&lines)?;
    file.sync_all()?;
    if is_new {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
