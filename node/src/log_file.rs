//! The log of a node: where a run's part of it begins, also when the log is cut meanwhile.
//!
//! A log that grows beyond its bound is cut to nothing, and its end is kept beside it in `NODE.log.1`. The first line there says
//! which bytes of all that was ever written to the log follow:
//!
//! ```text
//! NODE.log.1   --- bytes 1048600 to 2097152 of this log
//!              …
//! NODE.log     byte 2097152 and what follows it
//! ```
//!
//! A [`LogMark`] counts the same bytes, so it stays valid when the log is cut, and when it has regrown.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const BEGINS: &str = "--- bytes ";
const BETWEEN: &str = " to ";
const ENDS: &str = " of this log\n";
/// Longer than every first line.
const LONGEST_HEAD: u64 = 128;
/// Looks at a log while it is cut again and again.
const MOST_LOOKS: u32 = 8;

/// The end of a log at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogMark(u64);

/// A file with what was written behind a mark: all of it from where the file stands.
#[derive(Debug)]
pub struct LogPart {
    /// `NODE.log.1` or `NODE.log`.
    pub path: PathBuf,
    /// Stands at the first byte.
    pub file: File,
    /// Bytes from there to the end.
    pub bytes: u64,
}

impl LogMark {
    /// The end of `log` now; the beginning of one that does not exist.
    pub fn at_the_end_of(log: &Path) -> LogMark {
        let length = fs::metadata(log).map_or(0, |found| found.len());
        LogMark(cut_bytes(log).end + length)
    }

    /// The lines written to `log` behind this mark, oldest first, without those no longer kept. A log that was replaced by
    /// another one is new as a whole.
    ///
    /// # Errors
    /// The error of the system. A missing log is not an error.
    pub fn parts(self, log: &Path) -> io::Result<Vec<LogPart>> {
        for _ in 0..MOST_LOOKS {
            let before = identity(&kept_end(log));
            let parts = self.look(log)?;
            if identity(&kept_end(log)) == before {
                return Ok(parts);
            }
        }
        self.look(log)
    }

    fn look(self, log: &Path) -> io::Result<Vec<LogPart>> {
        let (kept, path) = (cut_bytes(log), kept_end(log));
        let mut parts = Vec::new();
        if self.0 < kept.end
            && let Some((mut file, length)) = open(&path)?
        {
            let head = length.saturating_sub(kept.end - kept.start);
            let from = head + self.0.saturating_sub(kept.start);
            file.seek(SeekFrom::Start(from))?;
            parts.push(LogPart { path, file, bytes: length.saturating_sub(from) });
        }
        if let Some((mut file, length)) = open(log)? {
            let from = self.0.saturating_sub(kept.end);
            let from = if from <= length { from } else { 0 };
            file.seek(SeekFrom::Start(from))?;
            parts.push(LogPart { path: log.to_owned(), file, bytes: length - from });
        }
        parts.retain(|part| part.bytes > 0);
        Ok(parts)
    }
}

/// Where the end of a log is kept that was cut.
pub fn kept_end(log: &Path) -> PathBuf {
    log.with_extension("log.1")
}

/// Cuts a log that is longer than `most` bytes to nothing, and keeps its last `most / 2` bytes, from a whole line on. Returns how many bytes
/// are dropped, where it is cut. The nodes append to their logs, so the log goes on at its start; lines that are written between
/// the copy and the cut are lost.
///
/// # Errors
/// The error of the system.
pub fn cut_log(log: &Path, most: u64) -> io::Result<Option<u64>> {
    if fs::metadata(log)?.len() <= most {
        return Ok(None);
    }
    let mut source = File::open(log)?;
    let length = source.metadata()?.len();
    let from = length.saturating_sub(most / 2);
    source.seek(SeekFrom::Start(from))?;
    let mut source = BufReader::new(source.take(length - from));
    let from = from + source.skip_until(b'\n')? as u64;
    let before = cut_bytes(log).end;
    let part = log.with_extension("log.1.part");
    let _ = fs::remove_file(&part);
    let mut end = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    write!(end, "{BEGINS}{}{BETWEEN}{}{ENDS}", before + from, before + length)?;
    io::copy(&mut source, &mut end)?;
    fs::rename(&part, kept_end(log))?;
    OpenOptions::new().write(true).open(log)?.set_len(0)?;
    Ok(Some(from))
}

/// Which bytes of all that was written to the log its kept end has. Empty where there is none, or one without a head.
fn cut_bytes(log: &Path) -> Range<u64> {
    let read = || {
        let mut head = String::new();
        BufReader::new(File::open(kept_end(log)).ok()?.take(LONGEST_HEAD)).read_line(&mut head).ok()?;
        let (start, end) = head.strip_prefix(BEGINS)?.strip_suffix(ENDS)?.split_once(BETWEEN)?;
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        (start <= end).then_some(start..end)
    };
    read().unwrap_or(0..0)
}

/// Which file has this name now: each cut makes a new one.
fn identity(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    match File::open(path) {
        Ok(file) => {
            let length = file.metadata()?.len();
            Ok(Some((file, length)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: u64 = 200;

    /// A node that appends numbered lines, as fast as its log may grow between two looks of master.
    struct Node {
        folder: tempfile::TempDir,
        lines: u32,
    }

    impl Node {
        fn new() -> Node {
            Node { folder: tempfile::tempdir().unwrap(), lines: 0 }
        }

        fn log(&self) -> PathBuf {
            self.folder.path().join("td.log")
        }

        fn writes(&mut self, lines: u32) {
            let mut log = OpenOptions::new().append(true).create(true).open(self.log()).unwrap();
            for _ in 0..lines {
                self.lines += 1;
                writeln!(log, "line {:04}", self.lines).unwrap();
            }
        }

        fn behind(&self, mark: LogMark) -> Vec<String> {
            let mut text = String::new();
            for mut part in mark.parts(&self.log()).unwrap() {
                let before = text.len();
                part.file.read_to_string(&mut text).unwrap();
                assert_eq!(part.bytes, (text.len() - before) as u64);
            }
            text.lines().map(str::to_owned).collect()
        }
    }

    /// The last lines of those that were written behind the mark, and none else, whatever was cut when.
    #[test]
    fn a_mark_finds_what_was_written_behind_it_whenever_the_log_was_cut() {
        // Lines before the mark, then before each further look of master.
        for before in [0, 1, 7, 25, 60] {
            for after in
                [&[0][..], &[3], &[30], &[30, 2], &[5, 40, 1], &[30, 30, 0], &[21, 21, 21, 21], &[90, 1]]
            {
                let mut node = Node::new();
                for _ in 0..before {
                    node.writes(1);
                    cut_log(&node.log(), BOUND).unwrap();
                }
                node.writes(0);
                let (mark, first) = (LogMark::at_the_end_of(&node.log()), node.lines + 1);
                let mut cuts = 0;
                for lines in after {
                    node.writes(*lines);
                    cuts += u32::from(cut_log(&node.log(), BOUND).unwrap().is_some());
                }
                let found = node.behind(mark);
                let expected: Vec<String> =
                    (first..=node.lines).map(|line| format!("line {line:04}")).collect();
                let at = format!("{before} before, {after:?} behind, {cuts} cuts: {found:?}");
                assert!(expected.ends_with(&found), "{at}");
                // Nothing that is kept is missing: all of it without a cut, else half a bound at least.
                let least =
                    if cuts == 0 { expected.len() } else { expected.len().min(BOUND as usize / 2 / 10 - 1) };
                assert!(found.len() >= least, "{least}: {at}");
            }
        }
    }

    #[test]
    fn a_log_that_is_replaced_is_new_as_a_whole_and_a_missing_one_is_empty() {
        let mut node = Node::new();
        assert!(node.behind(LogMark::at_the_end_of(&node.log())).is_empty());
        node.writes(10);
        let mark = LogMark::at_the_end_of(&node.log());
        fs::remove_file(node.log()).unwrap();
        assert!(node.behind(mark).is_empty());
        node.writes(2);
        assert_eq!(node.behind(mark), ["line 0011", "line 0012"]);
    }

    #[test]
    fn a_kept_end_without_a_head_belongs_to_no_mark() {
        let mut node = Node::new();
        fs::write(kept_end(&node.log()), "line of an earlier version\n").unwrap();
        let mark = LogMark::at_the_end_of(&node.log());
        node.writes(3);
        assert_eq!(node.behind(mark).len(), 3);
    }

    #[test]
    fn a_log_within_its_bound_is_not_cut() {
        let mut node = Node::new();
        node.writes(20);
        assert_eq!(fs::metadata(node.log()).unwrap().len(), BOUND);
        assert_eq!(cut_log(&node.log(), BOUND).unwrap(), None);
        node.writes(1);
        assert_eq!(cut_log(&node.log(), BOUND).unwrap(), Some(120), "from a whole line on");
        assert_eq!(fs::metadata(node.log()).unwrap().len(), 0);
        assert!(cut_log(Path::new("/nonexistent/td.log"), BOUND).is_err());
    }
}
