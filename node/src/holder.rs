//! The text of an instance's lock file: the mark of colo, and the process that holds the lock.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use journal::process::{ProcessIdentity, pid_namespace};

/// Mode of the lock file: for this user alone, since a lock needs no more than a descriptor to read by.
pub(crate) const LOCK_MODE: u32 = 0o600;
/// First word of a lock file.
pub(crate) const MARK: &str = "colo-lock";
/// The holder of an instance, according to its lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id in its own namespace.
    pub process: ProcessIdentity,
    /// The pid namespace that it runs in.
    pub namespace: u64,
}

impl Holder {
    pub(crate) fn current() -> Holder {
        Holder { process: ProcessIdentity::current(), namespace: pid_namespace() }
    }

    /// False when its process id is of another namespace.
    pub fn is_of_this_namespace(&self) -> bool {
        self.namespace == pid_namespace()
    }

    /// True when its process is known to have ended, or to be about to: the kernel takes a killed one down when it has a CPU.
    pub(crate) fn is_ending(self) -> bool {
        self.is_of_this_namespace() && (!self.process.is_alive() || self.process.is_killed())
    }

    fn parse(text: &str) -> Option<Holder> {
        let mut words = text.strip_prefix(MARK)?.split_ascii_whitespace();
        let mut word = |name: &str| words.next()?.strip_prefix(name)?.parse::<u64>().ok();
        let (pid, start, namespace) = (word("pid=")?, word("start=")?, word("pidns=")?);
        let process = ProcessIdentity { pid: u32::try_from(pid).ok()?, start };
        Some(Holder { process, namespace })
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.process.pid)?;
        if self.is_of_this_namespace() { Ok(()) } else { f.write_str(" of another pid namespace") }
    }
}

/// Writes the holder of the lock.
pub(crate) fn mark(lock: &File) -> io::Result<()> {
    let Holder { process, namespace } = Holder::current();
    let text = format!("{MARK} pid={} start={} pidns={namespace}\n", process.pid, process.start);
    lock.write_all_at(text.as_bytes(), 0)?;
    lock.set_len(text.len() as u64)
}

pub(crate) fn read_holder(lock: &File) -> Option<Holder> {
    let mut text = [0; 128];
    let bytes = lock.read_at(&mut text, 0).ok()?;
    Holder::parse(std::str::from_utf8(text.get(..bytes)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_says_whose_it_is() {
        let holder = Holder { process: ProcessIdentity { pid: 7, start: 8 }, namespace: 9 };
        assert_eq!(Holder::parse("colo-lock pid=7 start=8 pidns=9\n"), Some(holder));
        assert_eq!(holder.to_string(), "process 7 of another pid namespace");
        for other in
            ["", "7\n", "colo-lock", "colo-lock pid=x start=8 pidns=9", "colo-lock start=8 pid=7 pidns=9"]
        {
            assert_eq!(Holder::parse(other), None, "{other}");
        }
    }
}
