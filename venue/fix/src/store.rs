//! The two numbers that a session must not forget: a file of lines.
//!
//! | line | written |
//! |---|---|
//! | `in N` | once messages before number N were acted upon |
//! | `out N` | before the message before number N is sent |
//! | `ahead BOOT N` | and on disk, before a message of this boot of the host is sent whose number is N or more, less [`AHEAD`] |
//!
//! The lines outlive a kill of the process. A power cut may lose the last of them, so after one the next number out is that of the
//! last `ahead`: the market sees a gap, asks for it, and it is filled. An `in` that is lost costs no more than messages that come twice.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use venue::{OwnLock, boot_id, own_file, replace_file};

/// The file is written anew when it has become so long, in bytes.
const LONGEST: u64 = 1 << 20;
/// So many numbers are set aside at once.
const AHEAD: u64 = 10_000;

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
    boot: String,
    /// Numbers below this are used up after a power cut.
    ahead: u64,
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
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let text = String::from_utf8_lossy(&bytes);
        let boot = boot_id().map_err(failed)?;
        let (mut next_in, mut next_out) = (1, 1);
        let mut ahead: Option<(&str, u64)> = None;
        // Half a line at the end is of a process that was killed before it sent anything.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines() {
            let number = line.rsplit_once(' ').and_then(|(_, number)| number.parse::<u64>().ok());
            let words: Vec<&str> = line.split(' ').collect();
            match (&words[..], number) {
                (["in", _], Some(next)) => next_in = next,
                (["out", _], Some(next)) => next_out = next,
                (&["ahead", of, _], Some(next)) => ahead = Some((of, next)),
                // A power cut may leave anything behind what was on disk.
                _ if ahead.is_some_and(|(of, _)| of != boot) => break,
                _ => {
                    return Err(format!(
                        "matching.params.state, {}: `{line}` is not understood; move the file away, which begins the numbers \
                         of both sides again",
                        path.display()
                    ));
                }
            }
        }
        if let Some((of, ahead)) = ahead
            && of != boot
        {
            log::warn!(
                "{}: the host has started anew since: the next message has number {}",
                path.display(),
                next_out.max(ahead)
            );
            next_out = next_out.max(ahead);
        }
        let is_new = whole.is_empty();
        let file = own_file(path, OpenOptions::new().append(true).create(true).mode(0o600));
        let file = file.map_err(|error| failed(error.into()))?;
        let mut store = Store {
            path: path.to_owned(),
            file,
            _lock: lock,
            length: 0,
            next_in,
            next_out,
            is_new,
            boot,
            ahead: 0,
        };
        if !is_new {
            store.compact().map_err(failed)?;
        }
        Ok(store)
    }

    /// The number of the next message, which is used up.
    pub(crate) fn out(&mut self) -> io::Result<u64> {
        let number = self.next_out;
        self.jump_out(number + 1)?;
        Ok(number)
    }

    /// The next message has this number.
    pub(crate) fn jump_out(&mut self, number: u64) -> io::Result<()> {
        if number > self.ahead {
            let ahead = number + AHEAD;
            self.line(&format!("ahead {}", self.boot), ahead)?;
            self.file.sync_data()?;
            self.ahead = ahead;
        }
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
        self.compact()
    }

    fn line(&mut self, what: &str, number: u64) -> io::Result<()> {
        if self.length > LONGEST {
            self.compact()?;
        }
        let line = format!("{what} {number}\n");
        self.file.write_all(line.as_bytes())?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Replaces the file by one with the numbers of now alone.
    fn compact(&mut self) -> io::Result<()> {
        let (next_in, next_out, boot) = (self.next_in, self.next_out, &self.boot);
        let ahead = next_out + AHEAD;
        let text = format!("in {next_in}\nout {next_out}\nahead {boot} {ahead}\n");
        self.file = replace_file(&self.path, 0o600, |file| file.write_all(text.as_bytes()))?;
        (self.length, self.ahead) = (0, ahead);
        Ok(())
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
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
    fn a_power_cut_leaves_no_number_out_that_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.fix");
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut store = Store::open(&path).unwrap();
        let mut on_disk = vec![(1, read())];
        for sent in 1..=3 * AHEAD {
            let ahead = store.ahead;
            assert_eq!(store.out().unwrap(), sent);
            if store.ahead != ahead {
                on_disk.push((sent + 1, read()));
            }
        }
        drop(store);
        assert!(on_disk.len() > 3, "{}", on_disk.len());
        let boot = boot_id().unwrap();
        // The last sync is on disk. Lines after it, up to the next sync, may be lost.
        for (place, (_, text)) in on_disk.iter().enumerate().skip(1) {
            let used = on_disk.get(place + 1).map_or(3 * AHEAD + 1, |(next, _)| *next - 1);
            // Behind it may be anything.
            let torn = text.replace(&boot, "another-boot") + "\0\0\0\nout 7";
            std::fs::write(&path, torn).unwrap();
            let store = Store::open(&path).unwrap();
            assert!(store.next_out >= used, "{} may be used up to {used}", store.next_out);
            drop(store);
            let again = Store::open(&path).unwrap();
            assert!(again.next_out >= used && again.next_out <= used + AHEAD, "{}", again.next_out);
            drop(again);
            std::fs::write(&path, text).unwrap();
            let next = on_disk[place].0;
            assert!(
                Store::open(&path).unwrap().next_out < next + 1,
                "a kill loses nothing, and skips nothing"
            );
        }
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
