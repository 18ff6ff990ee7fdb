//! Is a journal what its writer left? A walk over all of it, of a living journal or of files that the dead left.
//!
//! Every check fails only on what no writer and no reader leaves behind, wherever they were killed; a report says what
//! was looked at, and how often. Nothing in shared memory is changed.
//!
//! ```text
//! control page   header · writer · head and intent · cursors · tables          words, read until they hold still
//! ring           from the oldest frame to the head: commit, length, time, epoch, topic, flags, filling
//!                behind the head: frames that a killed writer did not count yet, then a clear line
//! both           the frame count, the last time, cursors at the starts of frames
//! ```
//!
//! What cannot be seen: damage within the first eighth of a ring that went round, where a large frame may have lost its
//! start rightly, and damage to a payload, which only its reader understands.

mod frames;
mod page;
mod report;

use crate::error::OpenError;
use crate::files::JournalFiles;
use crate::journal::Journal;
use crate::memory::Access;

pub use report::{Check, Finding, VerifyReport};

impl Journal {
    /// Walks the whole journal, control page and ring.
    ///
    /// Beside a living writer the walk ends where the head was when it began; what the writer overwrites before it was
    /// looked at is counted in [`VerifyReport::overtaken`]. Takes a bit for each line of the ring, and time in
    /// proportion to it.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// journal.writer(0, Clock::monotonic())?.write(7, 3, b"hello")?;
    /// let report = journal.verify();
    /// assert!(report.is_clean(), "{:?}", report.findings);
    /// assert_eq!((report.frames, report.bytes), (1, 64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> VerifyReport {
        let mut report = VerifyReport::new(&self.shape().name);
        // Opening it has compared eight words and the file's length.
        report.looked("header", 9);
        let page = page::verify(&self.control, &mut report);
        report.head = page.head;
        match self.ring(Access::Read) {
            Ok(ring) => {
                report.looked("ring", 1);
                frames::verify(self, &ring, &page, &mut report);
            }
            Err(error) => report.expect(
                "ring",
                false,
                None,
                || error.to_string(),
                || format!("{} bytes that can be mapped", self.shape().capacity),
            ),
        }
        report
    }
}

/// Verifies the journal in these files; what keeps it from being opened is a finding too.
///
/// # Errors
/// [`OpenError::Io`] when the control file is not there or may not be read: then nothing was looked at.
pub fn verify_files(files: &JournalFiles) -> Result<VerifyReport, OpenError> {
    match Journal::open_read_only(files.clone()) {
        Ok(journal) => Ok(journal.verify()),
        Err(error @ OpenError::Io { .. }) => Err(error),
        Err(error) => {
            let name = files.control.file_stem().unwrap_or_default().to_string_lossy();
            let mut report = VerifyReport::new(&name);
            report.expect(
                "header",
                false,
                None,
                || error.to_string(),
                || "the header of a journal of this version".to_owned(),
            );
            Ok(report)
        }
    }
}
