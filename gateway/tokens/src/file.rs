//! The file: JSON, for its owner's eyes, replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::Token;

/// All tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenFile {
    /// In the order in which they were made.
    #[serde(default)]
    pub tokens: Vec<Token>,
}

/// The file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read or written.
    #[error("the file of tokens `{path}`: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It holds something else.
    #[error("the file of tokens `{path}` is not as `colo token` writes it: {source}")]
    Format {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// Seconds since the epoch.
pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl TokenFile {
    /// Reads it; one that is not there has no tokens.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn load(path: &Path) -> Result<TokenFile, FileError> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| FileError::Format { path: path.to_owned(), source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(TokenFile::default()),
            Err(source) => Err(FileError::Io { path: path.to_owned(), source }),
        }
    }

    /// Changes it; of two who do so at once, one waits. Whoever reads meanwhile sees it before or after, never between.
    ///
    /// # Errors
    /// [`FileError`]; it is then as it was.
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut TokenFile) -> T) -> Result<T, FileError> {
        let at = |source| FileError::Io { path: path.to_owned(), source };
        // No link is followed: another user may have made it.
        let flags = nix::libc::O_NOFOLLOW;
        let private = |name: &Path| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600).custom_flags(flags).open(name)
        };
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let lock: File = private(&beside(".lock")).map_err(at)?;
        let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| at(error.into()))?;
        let mut tokens = TokenFile::load(path)?;
        let changed = change(&mut tokens);
        let text = serde_json::to_string_pretty(&tokens)
            .map_err(|source| FileError::Format { path: path.to_owned(), source })?;
        let new = beside(".new");
        let write = || -> std::io::Result<()> {
            let mut file = private(&new)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            // Else the old one may be back after a crash of the host: what was revoked would be let in again.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(at)?;
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{NewToken, Role};

    fn token(name: &str) -> Token {
        let made = NewToken::make().unwrap();
        Token {
            id: made.id,
            name: name.into(),
            role: Role::Viewer,
            accounts: Some(vec![7]),
            created: 1,
            expires: Some(10),
            sha256: made.sha256,
            signing_key: None,
            revoked: false,
        }
    }

    #[test]
    fn what_is_written_comes_back_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        assert_eq!(TokenFile::load(&path).unwrap(), TokenFile::default());
        let one = token("one");
        TokenFile::change(&path, |file| file.tokens.push(one.clone())).unwrap();
        TokenFile::change(&path, |file| file.tokens.push(token("two"))).unwrap();
        let read = TokenFile::load(&path).unwrap();
        assert_eq!((read.tokens.len(), &read.tokens[0]), (2, &one));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(one.is_good(9) && !one.is_good(10) && one.covers(7) && !one.covers(8));
        fs::write(&path, "{").unwrap();
        assert!(matches!(TokenFile::load(&path), Err(FileError::Format { .. })));
    }
}
