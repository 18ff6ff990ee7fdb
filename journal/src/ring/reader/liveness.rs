//! Checks whether a journal still has a writer.

use crate::files::control::{Control, WriterState};
use crate::process::ProcessIdentity;

/// Nothing is left to read, and there is no writer. This does not end the journal: when another writer attaches,
/// positions continue, and the same reader reads on.
///
/// ```
/// # use journal::{Clock, Journal, JournalShape, NoWriter};
/// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
/// # let journal = Journal::in_memory(shape)?;
/// let mut reader = journal.gated(5)?;
/// assert_eq!(reader.check_writer(), Err(NoWriter::NotYet));
/// let mut writer = journal.writer(0, Clock::monotonic())?;
/// writer.write(7, 3, b"the last word")?;
/// drop(writer);
/// assert_eq!(reader.check_writer(), Ok(()), "something is left to read");
/// assert_eq!(reader.read()?.expect("it is").payload, b"the last word");
/// assert_eq!(reader.check_writer(), Err(NoWriter::Closed));
/// // A successor's frames need no action by the reader.
/// journal.writer(0, Clock::monotonic())?.write(7, 3, b"hello again")?;
/// assert_eq!(reader.read()?.expect("the successor's").payload, b"hello again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A writer that was killed is distinguished from one that closed the journal. Here the writer is this program, started
/// a second time:
///
/// ```standalone_crate
/// use journal::{Clock, Journal, JournalFiles, JournalShape, NoWriter};
/// # let directory = tempfile::tempdir()?;
/// # let path = std::env::var_os("SHARED").map_or(directory.path().to_owned(), Into::into);
/// let files = JournalFiles::new(&path, &path, "orders");
/// if std::env::var_os("SHARED").is_some() {
///     let journal = Journal::open(files)?;
///     journal.writer(0, Clock::monotonic())?.write(7, 3, b"alas")?;
///     let _writer = journal.writer(0, Clock::monotonic())?;
///     std::process::abort();
/// }
/// let shape = JournalShape { id: 1, name: "orders".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
/// let journal = Journal::create(files, shape, 1)?;
/// let mut reader = journal.gated(5)?;
/// let mut child = std::process::Command::new(std::env::current_exe()?).env("SHARED", &path).spawn()?;
/// child.wait()?;
/// assert_eq!(reader.read()?.expect("committed before it died").payload, b"alas");
/// match reader.check_writer() {
///     Err(NoWriter::Died(process)) => println!("process {} is gone: hold orders until its successor is up", process.pid),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWriter {
    /// The journal has never had a writer.
    #[error("nobody has written this journal yet")]
    NotYet,
    /// The writer closed the journal: nothing is missing.
    #[error("the journal's writer has left in good order")]
    Closed,
    /// The writer ended without closing the journal. Everything that it committed can be read; the rest was never
    /// written.
    #[error("the journal's writer, process {}, has died", .0.pid)]
    Died(ProcessIdentity),
}

/// `has_news` is called last, so that frames committed just before the writer ended are not overlooked.
pub(super) fn check(control: &Control, has_news: impl FnOnce() -> bool) -> Result<(), NoWriter> {
    let gone = match control.writer_state() {
        WriterState::Attached(_) => return Ok(()),
        WriterState::Never => NoWriter::NotYet,
        WriterState::Closed => NoWriter::Closed,
        WriterState::Dead(process) => NoWriter::Died(process),
    };
    if has_news() { Ok(()) } else { Err(gone) }
}
