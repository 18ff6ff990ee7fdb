//! Reading `/sys` and `/proc` below a root that tests replace.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cpuset::{CpuSet, MAX_CPUS};

/// Limit of a file's length, so that a garbled tree cannot fill the memory. No file that is read here is longer.
const LONGEST_FILE: u64 = 4 << 20;

/// `/sys` and `/proc` below `root`.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("/{0} is not there")]
    Missing(String),
    #[error("/{0} may not be read by this user")]
    Denied(String),
    #[error("/{0} cannot be read: {1}")]
    Failed(String, io::Error),
    #[error("/{0} holds `{1}`, which is not {2}")]
    Garbled(String, String, &'static str),
}

impl Unreadable {
    /// The file exists, but its content is not valid.
    pub(crate) fn garbled(path: &str, content: &str, wanted: &'static str) -> Unreadable {
        let content = content.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Unreadable::Garbled(path.to_owned(), content, wanted)
    }

    /// Whether the file does not exist, which is valid for most files.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Unreadable::Missing(_))
    }
}

impl Tree {
    pub(crate) fn new(root: &Path) -> Tree {
        Tree { root: root.to_owned() }
    }

    /// Whether this is the running host, so that system calls and files describe the same machine.
    pub(crate) fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The location of `path` (with or without a leading slash) below the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The file's text without surrounding white space. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn text(&self, path: &str) -> Result<String, Unreadable> {
        let name = path.trim_start_matches('/').to_owned();
        let mut bytes = Vec::new();
        let read =
            File::open(self.path(path)).and_then(|file| file.take(LONGEST_FILE).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unreadable::Missing(name),
                io::ErrorKind::PermissionDenied => Unreadable::Denied(name),
                _ => Unreadable::Failed(name, error),
            }),
        }
    }

    /// The file's text, if it exists and is not empty.
    pub(crate) fn some_text(&self, path: &str) -> Option<String> {
        self.text(path).ok().filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, path: &str) -> Result<i64, Unreadable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unreadable::garbled(path, &text, "a number"))
    }

    /// A number that identifies something: `-1`, which some hosts print for «unknown», is an error.
    pub(crate) fn index(&self, path: &str) -> Result<usize, Unreadable> {
        let number = self.number(path)?;
        usize::try_from(number)
            .map_err(|_| Unreadable::garbled(path, &number.to_string(), "a number from 0 up"))
    }

    pub(crate) fn cpus(&self, path: &str) -> Result<CpuSet, Unreadable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unreadable::garbled(path, &text, "a list of CPUs"))
    }

    /// Names in a folder, sorted; none when it cannot be listed.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The numbers of the entries `prefixN` of a folder (`cpu0`, `node1`, …), ascending.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<usize> {
        let mut numbers: Vec<usize> = self
            .names(folder)
            .iter()
            .filter_map(|name| name.strip_prefix(prefix))
            .filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            .filter_map(|rest| rest.parse().ok())
            .filter(|&number| number < MAX_CPUS)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// The entries of a folder whose names are numbers (`/proc/PID`), ascending.
    pub(crate) fn numbered_all(&self, folder: &str) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.names(folder).iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether the reading process has a capability.
    pub(crate) fn has_capability(&self, bit: u32) -> bool {
        let status = self.text("proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> bit & 1 == 1)
    }

    /// The number behind `key` in a file of `key value` or `key: value` lines.
    pub(crate) fn field(&self, path: &str, key: &str) -> Result<u64, Unreadable> {
        let text = self.text(path)?;
        let line = text.lines().find_map(|line| {
            let rest = line.trim_start().strip_prefix(key)?;
            rest.starts_with([':', ' ', '\t'])
                .then(|| rest.trim_start_matches([':', ' ', '\t']).trim().to_owned())
        });
        let Some(value) = line else {
            return Err(Unreadable::Missing(format!("{} with a line `{key}`", path.trim_start_matches('/'))));
        };
        let first = value.split_whitespace().next().unwrap_or_default();
        first.parse().map_err(|_| Unreadable::garbled(path, &value, "a number"))
    }
}

/// Linux capabilities, as bits of `CapEff`.
pub(crate) const CAP_DAC_OVERRIDE: u32 = 1;
pub(crate) const CAP_IPC_LOCK: u32 = 14;
pub(crate) const CAP_SYS_NICE: u32 = 23;

/// The word in square brackets of `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (word, _) = text.split_once('[')?.1.split_once(']')?;
    (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || b"_+".contains(&byte)))
        .then_some(word)
}

#[cfg(test)]
mod tests {
    use super::{Tree, chosen};

    #[test]
    fn a_file_answers_or_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("n"), "-1\n").unwrap();
        std::fs::write(folder.path().join("m"), "MemTotal:   12 kB\nMemTotalX: 3\n").unwrap();
        let tree = Tree::new(folder.path());
        assert_eq!(tree.number("n").unwrap(), -1);
        assert!(tree.index("/n").unwrap_err().to_string().contains("/n holds `-1`"));
        assert!(tree.text("absent").unwrap_err().is_missing());
        assert!(tree.text("n/below").unwrap_err().is_missing());
        assert_eq!(tree.field("m", "MemTotal").unwrap(), 12);
        assert!(tree.field("m", "Mem").unwrap_err().is_missing());
        assert!(!tree.is_live());
    }

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("never"), None);
        assert_eq!(chosen("] odd ["), None);
    }
}
