//! Who may log on: the file of sessions, read again at each logon.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The client's CompID.
    pub(crate) client: String,
    /// Ours.
    pub(crate) gateway: String,
    /// The public number of the token that it trades with, of no other session's.
    pub(crate) token: String,
    /// The account of orders that name none.
    #[serde(default)]
    pub(crate) account: Option<u32>,
    /// SHA-256 of the certificate that takes the place of a password, in hexadecimal digits.
    #[serde(default)]
    pub(crate) certificate: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sessions {
    sessions: Vec<Entry>,
}

/// Both CompIDs in a file's name.
fn plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= 64 && !text.starts_with('.') && text.bytes().all(is_plain)
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("the file of sessions `{}`: {error}", path.display())
}

/// Finds a session.
pub(crate) fn find(path: &Path, client: &str, gateway: &str) -> Result<Entry, String> {
    let found = read(path)?.into_iter().find(|entry| entry.client == client && entry.gateway == gateway);
    found.ok_or_else(|| at(path, &format!("there is no session {client:?}/{gateway:?}")))
}

/// All of them, checked.
pub(crate) fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let at = |error: &dyn std::fmt::Display| at(path, error);
    let text = std::fs::read(path).map_err(|error| at(&error))?;
    let read: Sessions = serde_json::from_slice(&text).map_err(|error| at(&error))?;
    let (mut names, mut tokens) = (BTreeSet::new(), BTreeSet::new());
    for entry in &read.sessions {
        if !plain(&entry.client) || !plain(&entry.gateway) {
            let what = format!(
                "{}/{}: CompIDs have up to 64 letters, digits, -, _ and .",
                entry.client, entry.gateway
            );
            return Err(at(&what));
        }
        if !names.insert((&entry.client, &entry.gateway)) {
            return Err(at(&format!("{}/{} is there twice", entry.client, entry.gateway)));
        }
        if !tokens.insert(&entry.token) {
            return Err(at(&format!(
                "token {} is given to two sessions: reports would go to both",
                entry.token
            )));
        }
    }
    Ok(read.sessions)
}

/// Where the states of sessions are.
pub(crate) fn folder(path: &Path) -> PathBuf {
    let mut folder = path.as_os_str().to_owned();
    folder.push(".d");
    PathBuf::from(folder)
}

/// The file of a session's state.
pub(crate) fn state(path: &Path, entry: &Entry) -> PathBuf {
    folder(path).join(format!("{}-{}.jsonl", entry.client, entry.gateway))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_both_compids_and_a_file_that_is_wrong_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fix.json");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let entry = r#"{"client":"A","gateway":"B","token":"1"}"#;
        write(&format!(r#"{{"sessions":[{entry}]}}"#));
        assert_eq!(find(&path, "A", "B").unwrap().token, "1");
        assert!(find(&path, "B", "A").is_err());
        assert!(state(&path, &find(&path, "A", "B").unwrap()).ends_with("fix.json.d/A-B.jsonl"));
        for wrong in [
            r#"{"sessions":[{"client":"../A","gateway":"B","token":"1"}]}"#.to_owned(),
            format!(r#"{{"sessions":[{entry},{entry}]}}"#),
            format!(r#"{{"sessions":[{entry},{{"client":"C","gateway":"B","token":"1"}}]}}"#),
            r#"{"sessions":[{"client":"A","gateway":"B","tokn":"1"}]}"#.to_owned(),
        ] {
            write(&wrong);
            assert!(find(&path, "A", "B").is_err(), "{wrong}");
        }
    }
}
