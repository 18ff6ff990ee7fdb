//! Who may log on: the file of sessions, read again at each logon.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use node::{FolderError, OwnLock, own_folder};
use serde::Deserialize;

use super::codec::Message;
use crate::time::read_utc;

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
    /// Messages with a SendingTime too far off are rejected.
    #[serde(default = "yes")]
    pub(crate) check_latency: bool,
    /// How far SendingTime may be off, in seconds.
    #[serde(default = "max_latency")]
    pub(crate) max_latency: u64,
}

const FOLDER_MODE: u32 = 0o700;
/// In the folder of the states. No state has this name.
const LOCK: &str = "lock";
/// How far SendingTime may be off in every session, in seconds.
const MAX_LATENCY: u64 = 3_600;

fn yes() -> bool {
    true
}

fn max_latency() -> u64 {
    120
}

impl Entry {
    /// Why this message is too late, or too early, at this time; `None`: it is not.
    pub(crate) fn late(&self, message: &Message, now_ns: u64) -> Option<String> {
        let sent = message.get(52).and_then(read_utc);
        let is_good = match sent {
            None => false,
            Some(_) if !self.check_latency => true,
            Some(sent) => sent.abs_diff(now_ns / 1_000_000_000) <= self.max_latency,
        };
        let seconds = self.max_latency;
        (!is_good).then(|| match self.check_latency {
            true => format!("SendingTime (52) must be there and be at most {seconds} s off"),
            false => "SendingTime (52) must be there and be a time".to_owned(),
        })
    }
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
    let all = read(path)?;
    let found = all.iter().find(|entry| entry.client == client && entry.gateway == gateway);
    let found = found.ok_or_else(|| at(path, &format!("there is no session {client:?}/{gateway:?}")))?;
    adopt(path, found, &all).map_err(|error| at(path, &error))?;
    Ok(found.clone())
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
        if !(1..=MAX_LATENCY).contains(&entry.max_latency) {
            let what = format!("max_latency is {}; it must be from 1 to {MAX_LATENCY} s", entry.max_latency);
            return Err(at(&format!("{}/{}: {what}", entry.client, entry.gateway)));
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

/// Makes the folder of the states, which is this user's alone, and keeps other gateways out: two would count the messages of one
/// session.
pub(crate) fn claim(path: &Path) -> Result<OwnLock, String> {
    let folder = folder(path);
    let failed = |error: FolderError| format!("gateway.fix.sessions: the states of sessions: {error}");
    own_folder(&folder, FOLDER_MODE).map_err(failed)?;
    let lock = OwnLock::take(&folder.join(LOCK)).map_err(failed)?;
    lock.ok_or_else(|| {
        format!(
            "gateway.fix.sessions: another gateway has the sessions in `{}`: give this one a file of its own",
            folder.display()
        )
    })
}

/// The file of a session's state. No CompID has an `@`, so no two sessions have one file.
pub(crate) fn state(path: &Path, entry: &Entry) -> PathBuf {
    folder(path).join(format!("{}@{}.jsonl", entry.client, entry.gateway))
}

/// Gives a session the file that an earlier version made for it, under a name that several sessions may share. It stays where it is
/// if another session of `all` has that name too.
pub(crate) fn adopt(path: &Path, entry: &Entry, all: &[Entry]) -> io::Result<()> {
    let name = |entry: &Entry| format!("{}-{}.jsonl", entry.client, entry.gateway);
    let (old, new) = (folder(path).join(name(entry)), state(path, entry));
    if new.exists() || !old.exists() {
        return Ok(());
    }
    if all.iter().filter(|other| name(other) == name(entry)).count() > 1 {
        log::warn!(
            "FIX: `{}` may be of several sessions: {}/{} begins with number 1; move the file away",
            old.display(),
            entry.client,
            entry.gateway
        );
        return Ok(());
    }
    std::fs::rename(old, new)
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
        assert!(state(&path, &find(&path, "A", "B").unwrap()).ends_with("fix.json.d/A@B.jsonl"));
        for wrong in [
            r#"{"sessions":[{"client":"../A","gateway":"B","token":"1"}]}"#.to_owned(),
            format!(r#"{{"sessions":[{entry},{entry}]}}"#),
            format!(r#"{{"sessions":[{entry},{{"client":"C","gateway":"B","token":"1"}}]}}"#),
            r#"{"sessions":[{"client":"A","gateway":"B","tokn":"1"}]}"#.to_owned(),
            r#"{"sessions":[{"client":"A","gateway":"B","token":"1","max_latency":0}]}"#.to_owned(),
            r#"{"sessions":[{"client":"A@B","gateway":"C","token":"1"}]}"#.to_owned(),
        ] {
            write(&wrong);
            assert!(find(&path, "A", "B").is_err(), "{wrong}");
        }
    }

    fn entry(client: &str, gateway: &str) -> Entry {
        let text = format!(r#"{{"client":"{client}","gateway":"{gateway}","token":"{client}{gateway}"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_states_are_this_user_s_alone_and_one_gateway_s() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let parent = tempfile::tempdir().unwrap();
        // Both levels are missing.
        let path = parent.path().join("kept/fix.json");
        let lock = claim(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(mode(&folder(&path)), 0o700);
        assert_eq!(mode(&folder(&path).join(LOCK)), 0o600);
        assert!(claim(&path).unwrap_err().contains("another gateway has the sessions"));
        drop(lock);
        // As an earlier version made it, under a strange umask.
        std::fs::set_permissions(folder(&path), std::fs::Permissions::from_mode(0o777)).unwrap();
        drop(claim(&path).unwrap());
        assert_eq!(mode(&folder(&path)), 0o755, "no other user can put a file there");

        let (shared, victim) = (parent.path().join("shared"), parent.path().join("victim"));
        std::fs::create_dir(&shared).unwrap();
        std::fs::create_dir(&victim).unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
        symlink(&victim, shared.join("fix.json.d")).unwrap();
        let other = Some(61_234);
        if std::os::unix::fs::lchown(shared.join("fix.json.d"), other, other).is_err() {
            println!("skipped: a link of another user: needs root");
            return;
        }
        let path = shared.join("fix.json");
        assert!(claim(&path).unwrap_err().contains("is a link of user 61234"));
        let opened = super::super::store::Store::open(&state(&path, &entry("A", "B")));
        assert!(opened.unwrap_err().to_string().contains("is a link of user 61234"));
        assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0, "nothing is written there");
    }

    /// All pairs of CompIDs that these characters make.
    #[test]
    fn no_two_sessions_have_one_file() {
        let ids: Vec<String> = (1..=4_usize)
            .flat_map(|length| (0..4_usize.pow(length as u32)).map(move |number| (length, number)))
            .map(|(length, number)| {
                let letter = |place: usize| ['A', '-', '_', '.'][number / 4_usize.pow(place as u32) % 4];
                (0..length).map(letter).collect::<String>()
            })
            .filter(|id: &String| plain(id))
            .collect();
        let mut files = BTreeSet::new();
        for client in &ids {
            for gateway in &ids {
                assert!(
                    files.insert(state(Path::new("fix.json"), &entry(client, gateway))),
                    "{client} {gateway}"
                );
            }
        }
        assert!(files.len() > 10_000, "{}", files.len());
    }

    #[test]
    fn a_file_of_an_earlier_version_is_kept_where_it_can_be_of_one_session_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fix.json");
        std::fs::create_dir(super::folder(&path)).unwrap();
        let old = super::folder(&path).join("FUND-A-COLO.jsonl");
        std::fs::write(&old, "x").unwrap();
        let all = [entry("FUND-A", "COLO"), entry("FUND", "A-COLO")];
        adopt(&path, &all[0], &all).unwrap();
        assert!(old.exists() && !state(&path, &all[0]).exists(), "it may be of the other one");
        adopt(&path, &all[0], &all[..1]).unwrap();
        assert!(!old.exists() && state(&path, &all[0]).exists());
    }

    #[test]
    fn each_session_has_its_latency() {
        let at = |seconds: u64| Message {
            fields: vec![(52, crate::time::utc(seconds * 1_000_000_000)[..17].to_owned())],
        };
        let now = 1_800_000_000;
        let usual = entry("A", "B");
        let strict = Entry { max_latency: 2, ..usual.clone() };
        let none = Entry { check_latency: false, ..usual.clone() };
        for (off, is_late) in [(0, [false; 3]), (3, [false, true, false]), (121, [true, true, false])] {
            for (session, is_late) in [&usual, &strict, &none].into_iter().zip(is_late) {
                for sent in [now - off, now + off] {
                    let late = session.late(&at(sent), now * 1_000_000_000);
                    assert_eq!(late.is_some(), is_late, "{off} s, {session:?}");
                }
            }
        }
        assert!(none.late(&Message::default(), 0).is_some(), "without a SendingTime");
    }
}
