//! Verifies that a journal is in a state that its writer can leave: a walk over all of it, of a living journal or of
//! files left behind.
//!
//! Every check fails only on states that no writer and no reader leaves behind, wherever they were killed; the report
//! says what was checked, and how often. Nothing in shared memory is changed.
//!
//! ```text
//! control page   header · lock · writer · head and intent · cursors · tables          words, read until they hold still
//! ring           from the oldest frame to the head: commit, length, time, epoch, topic, flags, filling
//!                behind the head: frames that a killed writer did not count yet, then a clear line
//! both           the frame count, the last time, cursors at the starts of frames
//! ```
//!
//! Not detectable: damage within the first eighth of a ring that wrapped, where a large frame may legitimately have
//! lost its start; damage to a payload, which only its reader understands; and, once frames are overwritten, a first
//! position or a count that agrees with the bytes that are gone, since frames may have any length.

mod counts;
mod frames;
mod page;
mod report;

use crate::error::OpenError;
use crate::files::{JournalFiles, LockFile, named_identity};
use crate::memory::Access;
use crate::ring::journal::Journal;

pub use report::{Check, CheckKind, Finding, VerifyReport};

impl Journal {
    /// Walks the whole journal, control page and ring.
    ///
    /// With a living writer the walk ends at the head as of its start; bytes that the writer overwrites before they are
    /// checked are counted in [`VerifyReport::overtaken`]. Takes a bit for each line of the ring, and time in
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
        report.looked(CheckKind::Header, 9);
        self.verify_names(&mut report);
        let page = page::verify(&self.control, &mut report);
        report.head = page.head;
        match self.ring(Access::Read) {
            Ok(ring) => {
                report.looked(CheckKind::Ring, 1);
                frames::verify(self, &ring, &page, &mut report);
            }
            Err(error) => report.expect(
                CheckKind::Ring,
                false,
                None,
                || error.to_string(),
                || format!("{} bytes that can be mapped", self.shape().capacity),
            ),
        }
        report
    }

    /// What lies beside the control file.
    fn verify_names(&self, report: &mut VerifyReport) {
        let Some(files) = self.files() else { return };
        let (name, identity) = (&self.shape().name, self.control.identity());
        report.expect(
            CheckKind::Header,
            files.is_named(name),
            None,
            || format!("name {name} in {}", files.control.display()),
            || format!("the files {name}.ctl and {name}.ring"),
        );
        let lock = files.lock_identity();
        // A journal that was made anew, or removed, has taken the lock file with it; the control file goes first.
        let is_ours = || matches!(named_identity(&files.control), Ok(Some(named)) if named == identity);
        match lock {
            LockFile::Forbidden => {}
            LockFile::Of(found) if found == identity => report.looked(CheckKind::Lock, 1),
            lock if is_ours() => report.expect(
                CheckKind::Lock,
                false,
                None,
                || match lock {
                    LockFile::Of(found) => format!("identity {found:#x}"),
                    LockFile::Missing => format!("no file {}", files.lock().display()),
                    _ => "no lock file of a journal".to_owned(),
                },
                || format!("a lock file of identity {identity:#x}, that of the control file"),
            ),
            _ => {}
        }
    }
}

/// Verifies the journal in these files; an error that prevents opening it is a finding too.
///
/// # Errors
/// [`OpenError::Io`] when the control file is missing or unreadable: then nothing was checked.
pub fn verify_files(files: &JournalFiles) -> Result<VerifyReport, OpenError> {
    match Journal::open_read_only(files.clone()) {
        Ok(journal) => Ok(journal.verify()),
        Err(error @ OpenError::Io { .. }) => Err(error),
        Err(error) => {
            let name = files.control.file_stem().unwrap_or_default().to_string_lossy();
            let mut report = VerifyReport::new(&name);
            report.expect(
                CheckKind::Header,
                false,
                None,
                || error.to_string(),
                || "the header of a journal of this version".to_owned(),
            );
            Ok(report)
        }
    }
}
