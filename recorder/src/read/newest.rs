//! Which segment was begun last: without that nobody could tell that the end of a recording is not there.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Name of the file that says it, in the folder of a recording: decimal digits and a line end.
pub const NEWEST: &str = "newest";

/// What it says; `None` where it is not there, or says nothing.
pub(super) fn newest(folder: &Path) -> Option<u32> {
    std::fs::read_to_string(folder.join(NEWEST)).ok()?.trim().parse().ok()
}

/// Says that this segment was begun, when its file is there: so the number never names one that never was. Written in place,
/// in one piece of one sector.
pub(crate) fn note(folder: &Path, number: u32) -> io::Result<()> {
    let path = folder.join(NEWEST);
    let is_new = !path.exists();
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o640).open(path)?;
    file.write_all(format!("{number:010}\n").as_bytes())?;
    file.sync_all()?;
    if is_new { File::open(folder)?.sync_all() } else { Ok(()) }
}
