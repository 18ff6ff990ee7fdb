//! Bounds the nodes' logs: a log that grows beyond `master.log_bytes` begins again, and its end is kept beside it.
//!
//! The nodes append to their logs, so a log that is cut to nothing goes on at its start. Lines that are written between the
//! copy and the cut are lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use topology::NodeKind;

use crate::supervise::Master;

impl Master {
    /// Looks at the length of every log.
    pub(crate) fn bound_logs(&mut self) {
        let most = self.config.log_bytes.0;
        if most == 0 {
            return;
        }
        let directory = &self.instance.directory;
        let names = self.nodes.iter().map(|node| node.spec.name.as_str());
        for name in names.chain(std::iter::once(NodeKind::Master.as_str())) {
            let path = directory.log(name);
            match bound(&path, most) {
                Ok(None) => {}
                Ok(Some(dropped)) => log::warn!(
                    "the log of `{name}` had grown beyond {most} bytes and begins again; {} has its end, {dropped} bytes before \
                     that are dropped. master.log_bytes says how long a log may be",
                    kept(&path).display()
                ),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => log::warn!("cannot bound {}: {error}", path.display()),
            }
        }
    }
}

/// Where the end of a log is kept.
fn kept(log: &Path) -> std::path::PathBuf {
    log.with_extension("log.1")
}

/// Cuts a log that is longer than `most` bytes to nothing, and keeps its last `most / 2` bytes. Returns how many bytes are dropped, where it
/// is cut.
fn bound(log: &Path, most: u64) -> io::Result<Option<u64>> {
    if fs::metadata(log)?.len() <= most {
        return Ok(None);
    }
    let mut source = File::open(log)?;
    let length = source.metadata()?.len();
    let from = length.saturating_sub(most / 2);
    source.seek(SeekFrom::Start(from))?;
    let part = log.with_extension("log.1.part");
    let _ = fs::remove_file(&part);
    let mut end = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    copy_lines(&mut source.take(length - from), &mut end)?;
    fs::rename(&part, kept(log))?;
    OpenOptions::new().write(true).open(log)?.set_len(0)?;
    Ok(Some(from))
}

/// Copies from the first whole line on.
fn copy_lines(source: &mut impl Read, end: &mut impl Write) -> io::Result<()> {
    let mut source = io::BufReader::new(source);
    io::BufRead::skip_until(&mut source, b'\n')?;
    io::copy(&mut source, end).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_too_long_begins_again_and_its_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("td.log");
        let mut writer = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let lines: String = (0..100).map(|number| format!("line {number:04}\n")).collect();
        writer.write_all(lines.as_bytes()).unwrap();
        assert_eq!(bound(&log, 1_000).unwrap(), None);
        assert_eq!(fs::metadata(&log).unwrap().len(), 1_000);
        writer.write_all(b"line 0100\n").unwrap();
        assert_eq!(bound(&log, 1_000).unwrap(), Some(510));
        // The node has the file open and writes on.
        writer.write_all(b"line 0101\n").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "line 0101\n");
        let end = fs::read_to_string(kept(&log)).unwrap();
        assert_eq!((end.lines().next(), end.lines().last()), (Some("line 0052"), Some("line 0100")));
        // The end of an earlier time is replaced.
        writer.write_all(lines.as_bytes()).unwrap();
        assert!(bound(&log, 1_000).unwrap().is_some());
        assert!(fs::read_to_string(kept(&log)).unwrap().ends_with("line 0099\n"));
        assert!(bound(&folder.path().join("none.log"), 1_000).is_err());
    }
}
