//! The records of a DBN file, one by one, with guards against damage.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dbn::decode::{DbnDecoder, DbnMetadata, DecodeRecordRef};
use dbn::{MboMsg, Metadata, Record, RecordRef, Schema, StatusMsg, VersionUpgradePolicy};

use super::names::Names;
use crate::source::SourceError;
use crate::source::error::Fault;
use crate::source::input::{self, Content, Input};

pub(super) const EXPECTED: &str = "a Databento DBN file of schema mbo";
/// Metadata longer than this is damaged.
const LONGEST_METADATA: u64 = 64 << 20;
/// Bytes before the metadata: magic, version, length.
const PRELUDE: u64 = 8;
/// Unit of the lengths of records, in bytes.
const WORD: u64 = 4;
/// Of records, in bytes: all lengths are multiples of it.
const ALIGNMENT: u64 = 8;
/// From this version on, sizes in memory and in the file may differ.
const FIRST_RESHAPED_VERSION: u8 = 4;

/// A reader that counts its bytes, and ends before a record whose length is damaged: the decoder takes any length, and reads the
/// record behind one that is no multiple of its records' alignment at addresses where it must not.
struct Counting {
    inner: Input,
    bytes: u64,
    /// Where the next record begins, which says its length.
    next: u64,
    /// Of the record that begins there.
    damage: Option<String>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(damage) = &self.damage {
            return Err(io::Error::new(io::ErrorKind::InvalidData, damage.clone()));
        }
        let mut length = self.inner.read(buffer)?;
        while let Some(at) = self.next.checked_sub(self.bytes).map(|at| at as usize)
            && let Some(&words) = buffer.get(at).filter(|_| at < length)
        {
            let bytes = u64::from(words) * WORD;
            if bytes == 0 || !bytes.is_multiple_of(ALIGNMENT) {
                self.damage = Some(format!("a record claims a length of {bytes} bytes"));
                length = at;
                break;
            }
            self.next += bytes;
        }
        self.bytes += length as u64;
        match &self.damage {
            Some(damage) if length == 0 => Err(io::Error::new(io::ErrorKind::InvalidData, damage.clone())),
            _ => Ok(length),
        }
    }
}

/// Records and the file's metadata.
pub(super) struct Records {
    path: PathBuf,
    decoder: DbnDecoder<Counting>,
    /// Bytes of prelude, metadata and records returned so far.
    used: u64,
    number: u64,
}

/// One record.
pub(super) enum Item {
    Mbo(MboMsg),
    Status(StatusMsg),
    /// A record of another kind: system, symbol mapping.
    Other,
    Bad(Fault),
}

fn item(record: RecordRef<'_>) -> Item {
    let wrong = |expected: &str| {
        Item::Bad(Fault::new("length", format!("{} bytes", record.record_size()), expected.to_owned()))
    };
    if record.has::<MboMsg>() {
        let message = record.try_get::<MboMsg>();
        message
            .map_or_else(|_| wrong("56 bytes in a record of rtype mbo"), |message| Item::Mbo(message.clone()))
    } else if record.has::<StatusMsg>() {
        let message = record.try_get::<StatusMsg>();
        message.map_or_else(
            |_| wrong("40 bytes in a record of rtype status"),
            |message| Item::Status(message.clone()),
        )
    } else {
        Item::Other
    }
}

impl Records {
    pub(super) fn open(path: &Path) -> Result<Records, SourceError> {
        let head = input::head(path, EXPECTED)?;
        let format = |found: String| SourceError::Format {
            path: path.to_owned(),
            found,
            expected: EXPECTED.to_owned(),
        };
        if input::content(&head) != Content::Dbn {
            return Err(match input::check_content(path, Content::Dbn, EXPECTED) {
                Err(error) => error,
                Ok(()) => input::nothing_understood(path, EXPECTED),
            });
        }
        let damaged = |reason: String| SourceError::Damaged { path: path.to_owned(), row: 0, reason };
        let length = head.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let length = length.map_or(0, u64::from);
        if !(100..=LONGEST_METADATA).contains(&length) {
            return Err(damaged(format!("the metadata claims a length of {length} bytes")));
        }
        let reader =
            Counting { inner: input::open(path, EXPECTED)?, bytes: 0, next: PRELUDE + length, damage: None };
        let decoder = DbnDecoder::with_upgrade_policy(reader, VersionUpgradePolicy::AsIs)
            .map_err(|error| damaged(format!("the metadata cannot be read: {error}")))?;
        if let Some(schema) = decoder.metadata().schema.filter(|&schema| schema != Schema::Mbo) {
            return Err(format(format!("this is a DBN file of schema {schema}")));
        }
        Ok(Records { path: path.to_owned(), decoder, used: PRELUDE + length, number: 0 })
    }

    /// The next record and its number from 1.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Item)>, SourceError> {
        let number = self.number;
        match self.decoder.decode_record_ref() {
            Ok(Some(record)) => {
                self.used += record.record_size() as u64;
                self.number += 1;
                Ok(Some((self.number, item(record))))
            }
            Ok(None) => self.check_end().map(|()| None),
            Err(error) => {
                let path = self.path.clone();
                Err(SourceError::Damaged { path, row: number, reason: error.to_string() })
            }
        }
    }

    /// The decoder ends silently inside of a record; this reports an error.
    fn check_end(&self) -> Result<(), SourceError> {
        let bytes = self.decoder.get_ref().bytes;
        if self.metadata().version < FIRST_RESHAPED_VERSION && bytes != self.used {
            return Err(SourceError::Damaged {
                path: self.path.clone(),
                row: self.number,
                reason: format!(
                    "the file ends inside of a record ({} bytes too many)",
                    bytes.abs_diff(self.used)
                ),
            });
        }
        Ok(())
    }

    fn metadata(&self) -> &Metadata {
        self.decoder.metadata()
    }

    /// Names of instrument ids.
    pub(super) fn names(&self) -> Names {
        Names::of(self.metadata())
    }
}
