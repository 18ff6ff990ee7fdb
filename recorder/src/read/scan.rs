//! Reading a segment whole: where it ends, and what is damaged.

use std::collections::BTreeMap;
use std::io;

use zerocopy::FromBytes;

use super::blocks::Found;
use super::{End, SegmentFile};
use crate::format::{BlockHead, Kind, LINE};

/// A place that cannot be read, although it was on disk before what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the segment.
    pub segment: u32,
    /// Offset of the first byte, in the segment that is not compressed.
    pub offset: u64,
    /// Bytes up to what can be read again.
    pub bytes: u64,
    /// Number of the first block that is missing, and how many are.
    pub first_block: u64,
    /// How many blocks are missing.
    pub blocks: u64,
    /// What was found, in words.
    pub what: String,
}

/// What a segment holds.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The end of its last whole cut.
    pub last_cut: Option<End>,
    /// Bytes of a cut that was never finished, behind it.
    pub torn_bytes: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// Blocks of frames, frames and their bytes.
    pub blocks: u64,
    /// Frames in them.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// By the journal's number: position behind its last frame, or behind its last gap.
    pub ends: BTreeMap<u16, u64>,
    /// What its whole cuts hold.
    pub(super) tail: Tail,
    /// What the cut at hand adds to that.
    pending: Vec<Pending>,
    /// It has an index and an end.
    pub is_closed: bool,
    /// Offset of an index or end that is damaged: the blocks before it are whole, and are read one after another.
    pub damaged_index: Option<u64>,
    /// Number of the block behind the last one that was found.
    pub next_block: u64,
    /// Chain of that last one; `None` if nothing whole precedes it.
    pub chain: Option<u64>,
    /// Offset behind it.
    pub offset: u64,
}

/// What a recovery asks of the segment in which a recording ends: noted when it is scanned, instead of passing it again.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// Number of the segment.
    pub(super) segment: u32,
    /// As [`Scan::ends`].
    pub(super) ends: BTreeMap<u16, u64>,
    /// Offset of the last block of cursors.
    pub(super) state: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    End(u16, u64),
    State(u64),
}

/// Reads all blocks of a segment that count.
///
/// # Errors
/// Those of the file system.
pub fn scan(segment: &SegmentFile) -> io::Result<Scan> {
    scan_until(segment, u64::MAX)
}

/// The same, up to the last cut that is not later than `time`.
pub(super) fn scan_until(segment: &SegmentFile, time: u64) -> io::Result<Scan> {
    let mut blocks = segment.blocks()?;
    let mut next = segment.head.first_block.get();
    let tail = Tail { segment: segment.head.number.get(), ..Tail::default() };
    let mut scan = Scan { next_block: next, offset: LINE as u64, tail, ..Scan::default() };
    let mut chain = Some(segment.head.chain.get());
    // What may be damage or the torn end, until a later cut decides.
    let mut open: Option<Damage> = None;
    let mut has_index = false;
    loop {
        match blocks.find()? {
            Found::Block(size) => {
                let Some(block) = blocks.block() else { break };
                let head = block.head;
                if head.number.get() >= segment.blocks_end
                    && head.kind() != Some(Kind::Index)
                    && head.kind() != Some(Kind::End)
                {
                    break;
                }
                if head.time.get() > time {
                    break;
                }
                let is_end = head.kind() == Some(Kind::End);
                if is_end && let Some(damage) = open.take_if(|damage| head.cut.get() == damage.first_block) {
                    // All that counts was there before the index was written.
                    scan.damaged_index = Some(damage.offset);
                    scan.is_closed = true;
                    return Ok(scan);
                }
                if let Some(damage) = open.take_if(|damage| head.cut.get() > damage.first_block) {
                    // A later cut was begun, so all before it was on disk.
                    scan.damage.push(sized(damage, blocks.offset(), head.number.get()));
                } else if open.is_some() {
                    blocks.pass(size);
                    continue;
                }
                if head.number.get() != next {
                    let what = format!("block {} follows block {}", head.number, next.saturating_sub(1));
                    let first_block = next.min(head.number.get());
                    if head.number.get() > next
                        && scan.damage.last().is_none_or(|damage| damage.first_block != next)
                    {
                        scan.damage.push(Damage {
                            segment: segment.head.number.get(),
                            offset: blocks.offset(),
                            bytes: 0,
                            first_block,
                            blocks: head.number.get() - next,
                            what,
                        });
                    }
                    chain = None;
                }
                if chain.is_some_and(|chain| head.chained(chain, block.payload) != head.chain.get()) {
                    scan.damage.push(Damage {
                        segment: segment.head.number.get(),
                        offset: blocks.offset(),
                        bytes: size as u64,
                        first_block: head.number.get(),
                        blocks: 1,
                        what: "the block is whole, but does not continue the chain of the one before"
                            .to_owned(),
                    });
                }
                match head.kind() {
                    // Both carry numbers and the chain on, for themselves alone.
                    Some(Kind::Index) => {
                        (next, chain) = (next.saturating_add(1), Some(head.chain.get()));
                        has_index = true;
                    }
                    Some(Kind::End) => {
                        scan.is_closed = true;
                        return Ok(scan);
                    }
                    kind => {
                        chain = Some(head.chain.get());
                        next = head.number.get().saturating_add(1);
                        (scan.next_block, scan.chain) = (next, chain);
                        scan.offset = blocks.offset() + size as u64;
                        if kind == Some(Kind::Cursors) {
                            scan.pending.push(Pending::State(blocks.offset()));
                        }
                        count(&mut scan, &head, kind, block.payload);
                    }
                }
                blocks.pass(size);
            }
            Found::Nothing => {
                let offset = blocks.offset();
                if offset >= blocks.length() {
                    break;
                }
                open.get_or_insert_with(|| Damage {
                    segment: segment.head.number.get(),
                    offset,
                    bytes: 0,
                    first_block: next,
                    blocks: 0,
                    what: "no whole block".to_owned(),
                });
                chain = None;
                if !blocks.resync()? {
                    break;
                }
            }
        }
    }
    // A file is cut to its length once its end is on disk.
    let ends_it = |damage: &Damage| damage.offset + 2 * LINE as u64 == blocks.length();
    if has_index && let Some(damage) = open.filter(ends_it) {
        scan.damaged_index = Some(damage.offset);
        scan.is_closed = true;
    }
    Ok(scan)
}

fn sized(damage: Damage, offset: u64, number: u64) -> Damage {
    Damage { bytes: offset - damage.offset, blocks: number.saturating_sub(damage.first_block), ..damage }
}

fn count(scan: &mut Scan, head: &BlockHead, kind: Option<Kind>, payload: &[u8]) {
    if kind == Some(Kind::Frames) {
        scan.blocks += 1;
        scan.frames += u64::from(head.frames.get());
        scan.bytes += u64::from(head.length.get());
        note(scan, head.journal.get(), head.position.get().saturating_add(head.length.get().into()));
    }
    if kind == Some(Kind::Gap)
        && let Ok(bytes) = u64::read_from_bytes(payload)
    {
        note(scan, head.journal.get(), head.position.get().saturating_add(bytes));
    }
    scan.torn_bytes += head.size() as u64;
    if head.closes_cut() {
        scan.torn_bytes = 0;
        let (next_block, chain) = (head.number.get().saturating_add(1), head.chain.get());
        scan.last_cut = Some(End { next_block, chain, time: head.time.get(), torn_bytes: 0 });
        for pending in scan.pending.drain(..) {
            match pending {
                Pending::End(journal, end) => _ = scan.tail.ends.insert(journal, end),
                Pending::State(offset) => scan.tail.state = Some(offset),
            }
        }
    }
}

fn note(scan: &mut Scan, journal: u16, end: u64) {
    scan.ends.insert(journal, end);
    scan.pending.push(Pending::End(journal, end));
}
