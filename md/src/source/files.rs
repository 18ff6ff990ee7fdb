//! The files that a source reads: a folder, or each file by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::SourceError;

/// Paths of the recorded data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// A folder that holds the files; for a source of one file also that file.
    Path(PathBuf),
    /// Each file by its role: `orders`, `trades` (sse); `messages`, `orderbook` (lobster); `messages` (pitch,
    /// dbn).
    Named(BTreeMap<String, PathBuf>),
}

impl Files {
    /// Creates named files.
    pub fn named<'a>(files: impl IntoIterator<Item = (&'a str, PathBuf)>) -> Files {
        Files::Named(files.into_iter().map(|(role, path)| (role.to_owned(), path)).collect())
    }

    /// The named files in the order of `roles`; `None` for one that is not named. Every role up to `needed` must be
    /// named, and no others may be.
    pub(crate) fn roles<const N: usize>(
        named: &BTreeMap<String, PathBuf>,
        roles: [&str; N],
        needed: usize,
    ) -> Result<[Option<PathBuf>; N], SourceError> {
        let list = || roles.map(|role| format!("files.{role}")).join(", ");
        if let Some(foreign) = named.keys().find(|key| !roles.contains(&key.as_str())) {
            return Err(SourceError::Option {
                name: "files",
                found: format!("files.{foreign}"),
                expected: list(),
            });
        }
        if let Some(missing) = roles[..needed].iter().find(|role| !named.contains_key(**role)) {
            return Err(SourceError::Option {
                name: "files",
                found: format!("no files.{missing}"),
                expected: format!("{} named, or a folder", list()),
            });
        }
        Ok(roles.map(|role| named.get(role).cloned()))
    }

    /// The file of a source with one file: named `messages`, given itself, or the only one in the folder whose name
    /// `fits`. Among several, one whose name is exactly `usual` (before `.gz`, `.zst`) is chosen.
    pub(crate) fn only(
        &self,
        usual: &str,
        fits: impl Fn(&str) -> bool,
        expected: &str,
    ) -> Result<PathBuf, SourceError> {
        let folder = match self {
            Files::Named(named) => {
                let [file] = Files::roles(named, ["messages"], 1)?;
                return Ok(file.unwrap_or_default());
            }
            Files::Path(path) if !path.is_dir() => return Ok(path.clone()),
            Files::Path(path) => path,
        };
        let mut found: Vec<PathBuf> =
            list(folder)?.into_iter().filter(|path| fits(&unpacked_name(path))).collect();
        let exact: Vec<PathBuf> = found.iter().filter(|path| unpacked_name(path) == usual).cloned().collect();
        if exact.len() == 1 {
            return Ok(exact.into_iter().next().unwrap_or_default());
        }
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(SourceError::Folder {
                path: folder.clone(),
                found: "none of the files in this folder fits".to_owned(),
                advice: format!("expected {expected}, or name the file: files.messages = \"...\""),
            }),
            _ => Err(SourceError::Folder {
                path: folder.clone(),
                found: format!("several files fit: {}", names(&found)),
                advice: "name the one to replay: files.messages = \"...\"".to_owned(),
            }),
        }
    }
}

/// The files of a folder, by name.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let failed = |source| SourceError::Io { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The file's name in lower case, without `.gz` and `.zst`.
pub(crate) fn unpacked_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    name.to_owned()
}

/// File names for a message.
pub(crate) fn names<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let names: Vec<String> = files
        .into_iter()
        .filter_map(|file| file.file_name())
        .map(|name| name.to_string_lossy().into())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_found_or_the_message_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::Path(folder.path().to_owned());
        let only = || files.only("message.csv", |name| name.contains("message"), "a message file");
        assert!(only().unwrap_err().to_string().contains("a message file"));
        std::fs::write(folder.path().join("AAPL_message_10.csv"), "x").unwrap();
        assert_eq!(unpacked_name(&only().unwrap()), "aapl_message_10.csv");
        std::fs::write(folder.path().join("message_first.csv.gz"), "x").unwrap();
        let error = only().unwrap_err().to_string();
        assert!(error.contains("AAPL_message_10.csv, message_first.csv.gz"), "{error}");
        std::fs::write(folder.path().join("message.csv.gz"), "x").unwrap();
        assert_eq!(unpacked_name(&only().unwrap()), "message.csv");
    }

    #[test]
    fn a_role_that_is_missing_or_foreign_is_named() {
        let one = |role: &str| Files::named([(role, PathBuf::from("x"))]);
        let error = one("orders").only("m", |_| true, "m").unwrap_err().to_string();
        assert!(error.contains("files.orders") && error.contains("files.messages"), "{error}");
        assert_eq!(one("messages").only("m", |_| true, "m").unwrap(), PathBuf::from("x"));
    }
}
