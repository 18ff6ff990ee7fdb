//! Nonces of signed requests: each is good once, also over restarts of the gateway.
//!
//! ```text
//!   header    8 bytes: when the file was begun, in milliseconds since the epoch
//!   entries   8 bytes each for: the token's number, when the request was signed, a hash of token and nonce
//! ```
//!
//! An entry is written before its request is acted upon. The file lies in the instance's folder, which is in memory, so that it
//! outlives a gateway that is killed. A request signed before the file was begun is refused: a gateway of an earlier platform may have
//! seen it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::auth::SKEW_MS;

/// Nonces that are remembered at most; beyond, signed requests are refused until older ones have run out.
const MOST: usize = 200_000;
/// The file is rewritten when it has as many entries more than are remembered.
const SPARE: usize = 50_000;
const HEADER: usize = 8;
const ENTRY: usize = 24;

type Key = (u64, u64);

#[derive(Debug)]
struct Known {
    file: File,
    /// When each was signed, by token and hash.
    signed: HashMap<Key, u64>,
    /// Entries in the file.
    written: usize,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Nonces {
    path: PathBuf,
    /// Requests signed before are refused.
    begun: u64,
    known: Mutex<Known>,
}

/// So far back a request is too old anyway.
fn oldest(now_ms: u64) -> u64 {
    now_ms.saturating_sub(2 * SKEW_MS)
}

fn hash(token: u64, nonce: &str) -> u64 {
    let text = format!("{token:016x}{nonce}");
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn entry(key: Key, signed: u64) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    for (place, word) in bytes.chunks_exact_mut(8).zip([key.0, signed, key.1]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Writes a file of its own, which takes the place of the one at `path`.
fn write(path: &Path, begun: u64, signed: &HashMap<Key, u64>) -> io::Result<File> {
    let mut bytes = begun.to_le_bytes().to_vec();
    signed.iter().for_each(|(key, signed)| bytes.extend_from_slice(&entry(*key, *signed)));
    node::replace_file(path, 0o600, |file| file.write_all(&bytes))
}

impl Nonces {
    /// Reads the file, or begins one.
    ///
    /// # Errors
    /// The error of the system: without the file, requests could be replayed.
    pub(crate) fn open(path: &Path, now_ms: u64) -> io::Result<Nonces> {
        let mut bytes = Vec::new();
        match File::open(path) {
            Ok(mut file) => drop(file.read_to_end(&mut bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let begun = if bytes.len() < HEADER { now_ms } else { word(&bytes) };
        // A gateway that was killed may have left a part of an entry, which it did not act upon.
        let entries = bytes.get(HEADER..).unwrap_or_default().chunks_exact(ENTRY);
        let signed: HashMap<Key, u64> = entries
            .map(|entry| ((word(entry), word(&entry[16..])), word(&entry[8..])))
            .filter(|(_, signed)| *signed >= oldest(now_ms))
            .collect();
        let file = write(path, begun, &signed)?;
        let written = signed.len();
        Ok(Nonces { path: path.to_owned(), begun, known: Mutex::new(Known { file, signed, written }) })
    }

    /// Takes the nonce of a request of this token, signed at this time.
    ///
    /// # Errors
    /// Why the request must not be acted upon.
    pub(crate) fn take(&self, token: u64, nonce: &str, signed: u64, now_ms: u64) -> Result<(), String> {
        if signed < self.begun {
            return Err("x-colo-time is before this platform began: sign the request again".to_owned());
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.signed.len() >= MOST {
            return Err("too many signed requests within a minute".to_owned());
        }
        let key = (token, hash(token, nonce));
        if known.signed.contains_key(&key) {
            return Err("this x-colo-nonce was used before".to_owned());
        }
        let written = if known.written >= known.signed.len() + SPARE {
            known.signed.retain(|_, signed| *signed >= oldest(now_ms));
            known.signed.insert(key, signed);
            write(&self.path, self.begun, &known.signed).map(|file| {
                (known.file, known.written) = (file, known.signed.len());
            })
        } else {
            known.signed.insert(key, signed);
            known.written += 1;
            known.file.write_all(&entry(key, signed))
        };
        written.map_err(|error| {
            // A part of the entry may be there: the next one rewrites the file.
            known.written = known.signed.len() + SPARE;
            log::error!("`{}`: {error}: a signed request is refused", self.path.display());
            "the gateway cannot note this x-colo-nonce".to_owned()
        })
    }

    /// Forgets nonces that are too old anyway.
    pub(crate) fn forget(&self, now_ms: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.signed.retain(|_, signed| *signed >= oldest(now_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_nonce_is_good_once_for_each_token_over_any_number_of_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nonces");
        for restart in 0..5_u64 {
            let nonces = Nonces::open(&path, NOW + restart).unwrap();
            for before in 0..restart {
                for token in [1, 2] {
                    assert!(nonces.take(token, &format!("n{before}"), NOW + before, NOW + restart).is_err());
                }
            }
            for token in [1, 2] {
                assert_eq!(nonces.take(token, &format!("n{restart}"), NOW + restart, NOW + restart), Ok(()));
            }
            // Killed while it wrote.
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(&[7; 5]).unwrap();
        }
    }

    #[test]
    fn a_request_signed_before_the_platform_began_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let nonces = Nonces::open(&folder.path().join("nonces"), NOW).unwrap();
        assert!(nonces.take(1, "a", NOW - 1, NOW).is_err());
        assert_eq!(nonces.take(1, "a", NOW, NOW), Ok(()));
    }

    #[test]
    fn the_file_stays_small_and_what_is_too_old_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nonces");
        let nonces = Nonces::open(&path, NOW).unwrap();
        for number in 0..3 * SPARE as u64 {
            let now = NOW + number;
            assert_eq!(nonces.take(1, &number.to_string(), now, now), Ok(()));
            if number % 1_000 == 0 {
                nonces.forget(now);
            }
        }
        let most = HEADER + (2 * SPARE + 2 * SKEW_MS as usize) * ENTRY;
        let length = std::fs::metadata(&path).unwrap().len() as usize;
        assert!(length <= most, "{length} bytes, {most} at most");
        let now = NOW + 3 * SPARE as u64;
        let again = Nonces::open(&path, now).unwrap();
        let last = 3 * SPARE as u64 - 1;
        assert!(again.take(1, &last.to_string(), NOW + last, now).is_err());
    }
}
