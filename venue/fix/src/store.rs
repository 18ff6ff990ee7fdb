//! The two numbers that a session must not forget: a file of lines, each written before the message is sent, or after what was
//! received was acted upon.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use venue::{OwnLock, own_file};

/// The file is written anew when it has become so long, in bytes.
const LONGEST: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    file: File,
    /// No other program has this session.
    _lock: OwnLock,
    length: u64,
    /// Number of the next message that is expected.
    pub(crate) next_in: u64,
    /// Number of the next message that is sent.
    pub(crate) next_out: u64,
    /// There was no file: the numbers of both sides begin again.
    pub(crate) is_new: bool,
}

impl Store {
    pub(crate) fn open(path: &Path) -> Result<Store, String> {
        let failed = |error: io::Error| format!("matching.params.state, {}: {error}", path.display());
        let lock = OwnLock::take(&beside(path, ".lock")).map_err(|error| failed(error.into()))?;
        let lock = lock.ok_or_else(|| {
            failed(io::Error::other(
                "another program counts the messages of this session: give this one a file of its own",
            ))
        })?;
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let (mut next_in, mut next_out) = (1, 1);
        // Half a line at the end is of a process that was killed before it sent anything.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines() {
            let number = line.split_once(' ').and_then(|(_, number)| number.parse::<u64>().ok());
            match (line.split(' ').next(), number) {
                (Some("in"), Some(next)) => next_in = next,
                (Some("out"), Some(next)) => next_out = next,
                _ => {
                    return Err(format!(
                        "matching.params.state, {}: `{line}` is not understood; move the file away, which begins the numbers \
                         of both sides again",
                        path.display()
                    ));
                }
            }
        }
        let file = fresh(path, next_in, next_out).map_err(failed)?;
        let is_new = whole.is_empty();
        Ok(Store { path: path.to_owned(), file, _lock: lock, length: 0, next_in, next_out, is_new })
    }

    /// The number of the next message, which is used up.
    pub(crate) fn out(&mut self) -> io::Result<u64> {
        let number = self.next_out;
        self.line("out", number + 1)?;
        self.next_out += 1;
        Ok(number)
    }

    /// The next message has this number.
    pub(crate) fn jump_out(&mut self, number: u64) -> io::Result<()> {
        self.line("out", number)?;
        self.next_out = number;
        Ok(())
    }

    /// What came before this number was acted upon.
    pub(crate) fn done_with(&mut self, next: u64) -> io::Result<()> {
        self.line("in", next)
    }

    /// Both sides begin again.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        (self.next_in, self.next_out) = (1, 1);
        self.line("in", 1)?;
        self.line("out", 1)
    }

    fn line(&mut self, what: &str, number: u64) -> io::Result<()> {
        if self.length > LONGEST {
            self.file = fresh(&self.path, self.next_in, self.next_out)?;
            self.length = 0;
        }
        let line = format!("{what} {number}\n");
        self.file.write_all(line.as_bytes())?;
        self.length += line.len() as u64;
        Ok(())
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A file with these numbers alone takes the place of the one before.
fn fresh(path: &Path, next_in: u64, next_out: u64) -> io::Result<File> {
    let open =
        |path: &Path, options: &mut OpenOptions| own_file(path, options.write(true).create(true).mode(0o600));
    if next_in != 1 || next_out != 1 {
        let new = beside(path, ".new");
        let mut file = open(&new, OpenOptions::new().truncate(true))?;
        file.write_all(format!("in {next_in}\nout {next_out}\n").as_bytes())?;
        std::fs::rename(&new, path)?;
    }
    Ok(open(path, OpenOptions::new().append(true))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outlive_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.fix");
        let mut store = Store::open(&path).unwrap();
        assert!(store.is_new);
        assert_eq!((store.out().unwrap(), store.out().unwrap()), (1, 2));
        store.next_in = 5;
        store.done_with(5).unwrap();
        drop(store);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text + "out 9").unwrap();
        let mut store = Store::open(&path).unwrap();
        assert_eq!((store.next_in, store.next_out, store.is_new), (5, 3, false));
        store.length = LONGEST + 1;
        assert_eq!(store.out().unwrap(), 3);
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_eq!((store.next_in, store.next_out), (5, 4));
        store.reset().unwrap();
        drop(store);
        assert_eq!(Store::open(&path).unwrap().next_out, 1);
        std::fs::write(&path, "what\n").unwrap();
        assert!(Store::open(&path).unwrap_err().contains("what"));
    }

    #[test]
    fn a_session_is_one_program_s_and_its_file_is_reached_over_no_link_of_another_user() {
        use std::os::unix::fs::{PermissionsExt, lchown, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.fix");
        let store = Store::open(&path).unwrap();
        assert!(Store::open(&path).unwrap_err().contains("another program counts"));
        drop(store);
        drop(Store::open(&path).unwrap());
        let shared = folder.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
        symlink(folder.path().join("victim"), shared.join("desk.fix")).unwrap();
        let other = Some(61_234);
        if lchown(shared.join("desk.fix"), other, other).is_err() {
            println!("skipped: a link of another user: needs root");
            return;
        }
        assert!(Store::open(&shared.join("desk.fix")).unwrap_err().contains("is a link of user 61234"));
        assert!(!folder.path().join("victim").exists());
    }
}
