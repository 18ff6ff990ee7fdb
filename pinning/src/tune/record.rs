//! Applies changes, with a record from which each can be undone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::change::{Change, Outcome};
use super::propose::Proposal;
use crate::host::tree::{Tree, Unreadable};

/// Why changing or undoing stopped.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say what each field is.
pub enum TuneError {
    /// The record cannot be used.
    #[error("{} cannot be written: {source}; changes that could not be undone are not made", path.display())]
    Record { path: PathBuf, source: io::Error },
    /// Another process holds the record.
    #[error("{} is in use: another tune runs; wait for it", path.display())]
    Busy { path: PathBuf },
    /// The record is foreign or damaged.
    #[error("{}, line {line}, is no change ({reason}); mend the line by hand, or delete the file to give up undoing", path.display())]
    Garbled { path: PathBuf, line: usize, reason: String },
    /// Nothing was applied.
    #[error("{} is not there: nothing was applied that could be undone", path.display())]
    Nothing { path: PathBuf },
}

/// The record: one change per line in JSON, in the order in which they were made.
struct Record {
    path: PathBuf,
    file: Flock<File>,
    changes: Vec<Change>,
}

/// Opens the record and locks it. Another tune may delete it in between: then the locked file is no longer the one at
/// `path`, and a third process could create and lock a new one. In that case the lock is released and the file opened
/// again.
fn lock(path: &Path, mut open: impl FnMut() -> io::Result<File>) -> Result<Flock<File>, TuneError> {
    let record = |source| TuneError::Record { path: path.to_owned(), source };
    loop {
        let file = open().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => TuneError::Nothing { path: path.to_owned() },
            _ => record(source),
        })?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|_| TuneError::Busy { path: path.to_owned() })?;
        let locked = file.metadata().map_err(record)?;
        match fs::metadata(path) {
            Ok(named) if (named.dev(), named.ino()) == (locked.dev(), locked.ino()) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(record(error)),
        }
    }
}

impl Record {
    fn open(path: &Path, options: &OpenOptions) -> Result<Record, TuneError> {
        let record = |source| TuneError::Record { path: path.to_owned(), source };
        let mut file = lock(path, || options.open(path))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(record)?;
        let mut changes = Vec::new();
        let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
        // Text after the last line break is a line that was cut short before its change was made.
        for (number, line) in complete.lines().enumerate() {
            changes.push(serde_json::from_str(line).map_err(|error| TuneError::Garbled {
                path: path.to_owned(),
                line: number + 1,
                reason: error.to_string(),
            })?);
        }
        let mut record = Record { path: path.to_owned(), file, changes };
        if complete.len() + 1 < text.len() {
            record.save()?;
        }
        Ok(record)
    }

    /// Rewrites the record and waits until it is on disk.
    fn save(&mut self) -> Result<(), TuneError> {
        let mut text = String::new();
        for change in &self.changes {
            let line = serde_json::to_string(change)
                .map_err(io::Error::other)
                .map_err(|source| self.error(source))?;
            text.push_str(&line);
            text.push('\n');
        }
        let file = &mut *self.file;
        let write = file
            .rewind()
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.set_len(text.len() as u64))
            .and_then(|()| file.sync_all());
        write.map_err(|source| self.error(source))
    }

    fn delete(&self) -> Result<(), TuneError> {
        fs::remove_file(&self.path).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> TuneError {
        TuneError::Record { path: self.path.clone(), source }
    }
}

impl Proposal {
    /// Makes the changes, each after it is recorded in the file `record`. A change that the kernel refuses is removed
    /// from the record, and the others continue. An existing record is extended.
    pub fn apply(&self, record: &Path) -> Result<Vec<Outcome>, TuneError> {
        if let Some(folder) = record.parent() {
            fs::create_dir_all(folder)
                .map_err(|source| TuneError::Record { path: record.to_owned(), source })?;
        }
        let mut options = OpenOptions::new();
        let mut record = Record::open(record, options.read(true).write(true).create(true).truncate(false))?;
        let tree = Tree::new(&self.root);
        let outcomes = self.changes.iter().map(|change| make(&tree, change, &mut record)).collect();
        if record.changes.is_empty() {
            record.delete()?;
        }
        outcomes
    }
}

fn make(tree: &Tree, change: &Change, record: &mut Record) -> Result<Outcome, TuneError> {
    make_with(change, record, || change.current(tree), || change.write(tree, &change.after))
}

/// `current` and `write` read and write the file.
fn make_with(
    change: &Change,
    record: &mut Record,
    mut current: impl FnMut() -> Result<String, Unreadable>,
    write: impl FnOnce() -> io::Result<()>,
) -> Result<Outcome, TuneError> {
    let failed = |reason: String| Outcome::Failed { change: change.clone(), reason };
    // The value may have changed since the proposal.
    match current() {
        Ok(now) if change.same(&now, &change.before) => {}
        Ok(now) => return Ok(failed(format!("it was {}, and is {now} now", change.before))),
        Err(error) => return Ok(failed(error.to_string())),
    }
    record.changes.push(change.clone());
    record.save()?;
    let written = write();
    let now = match current() {
        Ok(now) => now,
        // It may have the old value or the new one: only a recorded change can be undone.
        Err(error) => {
            let what =
                written.err().map_or_else(|| "written".to_owned(), |e| format!("writing it failed ({e})"));
            return Ok(failed(format!(
                "{what}, and it cannot be read back: {error}; the record keeps it for --undo"
            )));
        }
    };
    if change.same(&now, &change.before) {
        record.changes.pop();
        record.save()?;
        return Ok(failed(
            written.err().map_or_else(|| "the kernel kept the old value".to_owned(), |e| e.to_string()),
        ));
    }
    let done = Change { after: now, ..change.clone() };
    if done != *change {
        record.changes.pop();
        record.changes.push(done.clone());
        record.save()?;
    }
    Ok(Outcome::Done { change: done })
}

/// Restores the changes in `record` on the host below `root`, last change first. Values that were changed since are
/// left. Changes that cannot be restored stay in the record; when there are none, the record is deleted.
pub fn undo(root: &Path, record: &Path) -> Result<Vec<Outcome>, TuneError> {
    let mut record = Record::open(record, OpenOptions::new().read(true).write(true))?;
    let tree = Tree::new(root);
    let mut outcomes = Vec::new();
    let mut kept = Vec::new();
    while let Some(change) = record.changes.last().cloned() {
        let outcome = put_back(&tree, &change);
        record.changes.pop();
        if matches!(outcome, Outcome::Failed { .. }) {
            kept.push(change);
        }
        outcomes.push(outcome);
        let left = record.changes.len();
        record.changes.extend(kept.iter().rev().cloned());
        record.save()?;
        record.changes.truncate(left);
    }
    if kept.is_empty() {
        record.delete()?;
    }
    Ok(outcomes)
}

fn put_back(tree: &Tree, change: &Change) -> Outcome {
    let back = Change { before: change.after.clone(), after: change.before.clone(), ..change.clone() };
    let failed = |reason: String| Outcome::Failed { change: back.clone(), reason };
    match change.current(tree) {
        // The change was never made, or is undone already.
        Ok(now) if change.same(&now, &change.before) => return Outcome::Done { change: back },
        Ok(now) if !change.same(&now, &change.after) => return Outcome::Left { change: back, found: now },
        Ok(_) => {}
        Err(error) => return failed(error.to_string()),
    }
    let written = change.write(tree, &change.before);
    match change.current(tree) {
        Ok(now) if change.same(&now, &change.before) => Outcome::Done { change: back },
        Ok(now) => {
            failed(written.err().map_or_else(|| format!("the kernel made it {now}"), |e| e.to_string()))
        }
        Err(error) => failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::change::Value;

    /// Another tune undoes all and deletes the record after this one has opened it and before it locks it; a third one
    /// may have created it anew.
    #[test]
    fn the_lock_is_on_the_file_that_the_path_names() {
        for is_new in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("tune.jsonl");
            let create =
                || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut opened = 0;
            let locked = lock(&path, || {
                opened += 1;
                let file = create()?;
                if opened == 1 {
                    fs::remove_file(&path)?;
                    if is_new {
                        create()?;
                    }
                }
                Ok(file)
            })
            .unwrap();
            assert_eq!((locked.metadata().unwrap().ino(), opened), (fs::metadata(&path).unwrap().ino(), 2));
            let second = lock(&path, create);
            assert!(matches!(second, Err(TuneError::Busy { .. })), "two tunes hold the record");
        }
    }

    #[test]
    fn a_record_that_is_deleted_before_it_is_locked_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tune.jsonl");
        fs::write(&path, "").unwrap();
        let locked = lock(&path, || {
            let file = File::open(&path)?;
            fs::remove_file(&path)?;
            Ok(file)
        });
        assert!(matches!(locked, Err(TuneError::Nothing { .. })));
    }

    #[test]
    fn a_change_that_cannot_be_read_back_stays_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tune.jsonl");
        let change = Change {
            check: "memory-ksm".to_owned(),
            file: "sys/kernel/mm/ksm/run".to_owned(),
            value: Value::Plain,
            before: "1".to_owned(),
            after: "0".to_owned(),
        };
        for is_written in [true, false] {
            let mut options = OpenOptions::new();
            let mut record =
                Record::open(&path, options.read(true).write(true).create(true).truncate(false)).unwrap();
            let mut looks = 0;
            let current = || {
                looks += 1;
                match looks {
                    1 => Ok("1".to_owned()),
                    _ => Err(Unreadable::Failed(change.file.clone(), io::ErrorKind::InvalidData.into())),
                }
            };
            let write = || if is_written { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) };
            let outcome = make_with(&change, &mut record, current, write).unwrap();
            assert!(
                matches!(&outcome, Outcome::Failed { reason, .. } if reason.contains("--undo")),
                "{outcome:?}"
            );
            assert_eq!(record.changes, std::slice::from_ref(&change), "whoever undoes must know of it");
            drop(record);
            assert!(fs::read_to_string(&path).unwrap().contains("ksm"));
            // Undone on a host where the change was made.
            let file = folder.path().join(&change.file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "0\n").unwrap();
            undo(folder.path(), &path).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
            assert!(!path.exists());
        }
    }
}
