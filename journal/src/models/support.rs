//! Shared by the models: tiny journals, and frames that can be checked.

use std::sync::Arc;
#[cfg(loom)]
use std::time::Duration;

use crate::clock::Clock;
use crate::error::{ReadError, WriteError};
use crate::files::control::JournalShape;
#[cfg(loom)]
use crate::files::registry::Registry;
use crate::layout;
use crate::ring::journal::Journal;
use crate::ring::reader::{Frame, FrameHeader, Reader};
use crate::ring::writer::{Batch, Writer, Written};

/// Seat of the gated reader.
pub(super) const GATED: u32 = 0;
/// Seat of the loose reader.
pub(super) const LOOSE: u32 = 1;
/// Seat of the writer.
pub(super) const WRITER: u32 = 2;

/// A journal of `lines` lines with three seats and two topics.
pub(super) fn journal(id: u32, lines: u64) -> Arc<Journal> {
    let capacity = lines * layout::LINE_BYTES;
    let shape = JournalShape { id, name: format!("model{id}"), capacity, seats: 3, topics: 2, page: 4096 };
    Arc::new(Journal::on_heap(shape))
}

/// A registry of three seats.
#[cfg(loom)]
pub(super) fn registry() -> Arc<Registry> {
    let words = layout::registry::RECORDS + 3 * layout::registry::RECORD_WORDS;
    Arc::new(Registry::initialise(crate::memory::heap(words), 3, Clock::monotonic()))
}

pub(super) fn writer(journal: &Journal) -> Writer {
    journal.writer(WRITER, Clock::monotonic()).unwrap()
}

/// Writes frame `number`: every word of header and payload is derived from it.
pub(super) fn write(writer: &mut Writer, number: u16, payload: usize) -> Result<Written, WriteError> {
    writer.write(number, u32::from(number % 2), &vec![number as u8; payload])
}

/// Writes frame `number` as part of a batch.
pub(super) fn push(batch: &mut Batch<'_>, number: u16, payload: usize) -> Result<u64, WriteError> {
    batch.push(number, u32::from(number % 2), &vec![number as u8; payload])
}

/// Writes frame `number`, claimed with `room` bytes and filled in two pieces that end inside a word.
pub(super) fn claim(
    writer: &mut Writer,
    number: u16,
    payload: usize,
    room: usize,
) -> Result<Written, WriteError> {
    let mut claim = writer.claim(number, u32::from(number % 2), room)?;
    let first = payload.min(19);
    claim.put(&vec![number as u8; first])?;
    claim.put(&vec![number as u8; payload - first])?;
    Ok(claim.commit())
}

/// Bytes of each record of [`records`]: neither words nor units.
const RECORD: usize = 20;

/// Writes frame `number` as `count` records.
pub(super) fn records(writer: &mut Writer, number: u16, count: usize) -> Result<Written, WriteError> {
    let mut records = writer.claim_records(number, u32::from(number % 2), RECORD, count)?;
    for _ in 0..count {
        records.push(&[number as u8; RECORD])?;
    }
    Ok(records.commit().expect("at least one"))
}

/// Writes frame `number` as a copy of one that has the time `number` elsewhere.
pub(super) fn append(writer: &mut Writer, number: u16, payload: usize) -> Result<Written, WriteError> {
    let time = u64::from(number);
    let header = FrameHeader { time, topic: u32::from(number % 2), message_id: number, flags: 0 };
    writer.append(header, &vec![number as u8; payload])
}

/// Fills the next lines with frames that nobody sees.
pub(super) fn skip(writer: &mut Writer, lines: u64) -> Result<(), WriteError> {
    writer.skip_to(writer.position() + lines * layout::LINE_BYTES)
}

/// Fails unless all words of the frame belong to the same number. Returns it.
pub(super) fn check(frame: &Frame<'_>) -> u16 {
    let number = frame.message_id;
    assert_eq!(frame.topic, u32::from(number % 2), "torn: topic of another frame than {number}");
    assert!(frame.payload.iter().all(|&byte| byte == number as u8), "torn: {frame:?}");
    match frame.flags {
        0 => {}
        layout::frame::APPENDED => {
            assert_eq!(frame.time, u64::from(number), "torn: the time of another frame")
        }
        flags => {
            assert_eq!(usize::from(flags), RECORD, "torn: flags of another frame");
            assert!(
                !frame.payload.is_empty() && frame.payload.len().is_multiple_of(RECORD),
                "torn: {frame:?}"
            );
            let whole = frame.records().map(|(_, record)| record.len()).sum::<usize>();
            assert_eq!(whole, frame.payload.len());
        }
    }
    number
}

/// Reads up to `most` times; appends the numbers of the frames. `None` for a gap.
pub(super) fn read_some(reader: &mut Reader, most: usize, seen: &mut Vec<Option<u16>>) {
    for _ in 0..most {
        match reader.read() {
            Ok(Some(frame)) => seen.push(Some(check(&frame))),
            Ok(None) => {}
            Err(ReadError::Lapped(gap)) => {
                assert!(gap.bytes() > 0 && gap.bytes() % layout::LINE_BYTES == 0, "{gap:?}");
                seen.push(None);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Reads until there is nothing more.
pub(super) fn drain(reader: &mut Reader, seen: &mut Vec<Option<u16>>) {
    loop {
        let before = seen.len();
        read_some(reader, 1, seen);
        if seen.len() == before {
            return;
        }
    }
}

/// Longer than any model: in a model, time passes only by `futex::expire`.
#[cfg(loom)]
pub(super) const LONG: Duration = Duration::from_secs(1);
