//! Checking a whole recording: every byte of it, and what ties its files together.

use std::io;

use serde::Serialize;

use super::blocks::Found;
use super::frames::{demand_version, raw};
use super::{Recording, SegmentFile, is_removed, scan};
use crate::format::{BlockHead, Kind};

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Bytes that were on disk are not what was written.
    Damage,
    /// A file that is no segment, or one of another version.
    Unreadable,
    /// A segment is not there, and retention has not removed it.
    Missing,
    /// Frames of a journal are not there.
    Frames,
    /// A message has what the version does not have that the recording says it is of. Named once of each journal.
    Relabelled,
    /// No finding: a loose recorder was overtaken.
    Gap,
    /// No finding: a cut that was never finished.
    Torn,
    /// No finding: retention has removed a segment.
    Removed,
    /// No finding: its messages are newer than this build knows.
    Messages,
}

impl FindingKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::Damage => "damage",
            FindingKind::Unreadable => "unreadable",
            FindingKind::Missing => "missing",
            FindingKind::Frames => "frames",
            FindingKind::Relabelled => "relabelled",
            FindingKind::Gap => "gap",
            FindingKind::Torn => "torn",
            FindingKind::Removed => "removed",
            FindingKind::Messages => "messages",
        }
    }

    /// False for what a recording may have: it is named, and no fault.
    pub fn is_fault(self) -> bool {
        use FindingKind::{Damage, Frames, Missing, Relabelled, Unreadable};
        matches!(self, Damage | Unreadable | Missing | Frames | Relabelled)
    }
}

/// Something that is to be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// Number of the segment, if it is in one.
    pub segment: Option<u32>,
    /// Offset in the segment that is not compressed.
    pub offset: Option<u64>,
    /// The journal, if it is about one.
    pub journal: Option<String>,
    /// Position in that journal.
    pub position: Option<u64>,
    /// What was found, in words.
    pub found: String,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentReport {
    /// Its number.
    pub segment: u32,
    /// Whole blocks.
    pub blocks: u64,
    /// It has an index and an end.
    pub closed: bool,
}

/// One journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalReport {
    /// Its name.
    pub journal: String,
    /// Frames that are there.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Position of the first; null without any.
    pub oldest: Option<u64>,
    /// Position behind the last.
    pub end: Option<u64>,
}

/// What a recording is found to be.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verification {
    /// Its files.
    pub segments: Vec<SegmentReport>,
    /// Its journals.
    pub journals: Vec<JournalReport>,
    /// Faults, and what is to be named.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// True without any fault.
    pub fn is_clean(&self) -> bool {
        !self.findings.iter().any(|finding| finding.kind.is_fault())
    }

    fn add(&mut self, kind: FindingKind, segment: Option<u32>, offset: Option<u64>, found: String) {
        self.findings.push(Finding { kind, segment, offset, journal: None, position: None, found });
    }
}

impl Recording {
    /// Reads all of it and names whatever is not as a recorder leaves it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn verify(&self) -> io::Result<Verification> {
        let report = |journal: &crate::format::RecordedJournal| JournalReport {
            journal: journal.name.clone(),
            frames: 0,
            bytes: 0,
            oldest: None,
            end: None,
        };
        let journals = self.description().journals.iter().map(report).collect();
        let mut found = Verification { journals, ..Verification::default() };
        self.verify_files(&mut found);
        // By journal: what lay between is named already.
        let mut known_gap = vec![false; found.journals.len()];
        for (place, segment) in self.segments().iter().enumerate() {
            let before = place.checked_sub(1).map_or(0, |before| self.segments()[before].head.number.get());
            if before.saturating_add(1) != segment.head.number.get() {
                known_gap.fill(true);
            }
            let result = self
                .verify_segment(place, segment, &mut found)
                .and_then(|()| self.verify_frames(segment, &mut known_gap, &mut found));
            if let Err(error) = &result
                && is_removed(error)
            {
                let number = Some(segment.head.number.get());
                found.add(FindingKind::Removed, number, None, error.to_string());
                known_gap.fill(true);
                continue;
            }
            if let Err(error) = result {
                // Of a compressed one, a frame of zstd: the others are read all the same.
                let number = Some(segment.head.number.get());
                found.add(FindingKind::Damage, number, None, format!("it cannot be read on: {error}"));
            }
        }
        Ok(found)
    }

    fn verify_files(&self, found: &mut Verification) {
        for (path, what) in self.unreadable() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.add(FindingKind::Unreadable, None, None, format!("{name}: {what}"));
        }
        for number in self.missing() {
            let what = "the segment is not there, and removed.jsonl does not list it".to_owned();
            found.add(FindingKind::Missing, Some(number), None, what);
        }
        for removed in self.removed() {
            let what = format!("removed by retention: {} bytes", removed.bytes);
            found.add(FindingKind::Removed, Some(removed.segment), None, what);
        }
        let (messages, known) = (self.description().messages, u32::from(wire::schema::VERSION));
        if messages > known {
            let what = format!("its messages have version {messages}, this build knows {known}");
            found.add(FindingKind::Messages, None, None, what);
        }
    }

    fn verify_segment(
        &self,
        place: usize,
        segment: &SegmentFile,
        found: &mut Verification,
    ) -> io::Result<()> {
        let number = Some(segment.head.number.get());
        let is_last = place + 1 == self.segments().len();
        // What stands behind the end shows whether the last one is torn or damaged.
        let blocks_end = if is_last { u64::MAX } else { segment.blocks_end };
        let seen = scan(&SegmentFile { blocks_end, ..segment.clone() })?;
        for damage in &seen.damage {
            let what = format!("{}: {} bytes, {} blocks", damage.what, damage.bytes, damage.blocks);
            found.add(FindingKind::Damage, number, Some(damage.offset), what);
        }
        if let Some(offset) = seen.damaged_index {
            let what = "its index is damaged: no frame is missing, and the segment is read from its start"
                .to_owned();
            found.add(FindingKind::Damage, number, Some(offset), what);
        }
        found.segments.push(SegmentReport {
            segment: segment.head.number.get(),
            blocks: seen.next_block.saturating_sub(segment.head.first_block.get()),
            closed: seen.is_closed,
        });
        if is_last {
            let mut blocks = segment.blocks()?;
            blocks.seek(self.end_offset(segment)?);
            let behind = blocks.used_behind()?;
            if behind > 0 && !seen.is_closed {
                let what = format!("{behind} bytes of a cut that was never finished");
                found.add(FindingKind::Torn, number, Some(blocks.offset()), what);
            }
            return Ok(());
        }
        if seen.next_block < segment.blocks_end {
            let what = format!(
                "blocks {} to {} are missing at its end",
                seen.next_block,
                segment.blocks_end.saturating_sub(1)
            );
            found.add(FindingKind::Damage, number, Some(seen.offset), what);
            return Ok(());
        }
        let next = &self.segments()[place + 1].head;
        let continues = next.number.get() == segment.head.number.get().saturating_add(1);
        if continues && seen.chain.is_some_and(|chain| chain != next.chain.get()) {
            let what = "it does not continue the chain of the segment before".to_owned();
            found.add(FindingKind::Damage, Some(next.number.get()), Some(0), what);
        }
        Ok(())
    }

    /// Offset behind the last block that counts.
    fn end_offset(&self, segment: &SegmentFile) -> io::Result<u64> {
        let mut offset = crate::format::LINE as u64;
        self.walk(segment, None, |at, head, _| offset = at + head.size() as u64)?;
        Ok(offset)
    }

    fn verify_frames(
        &self,
        segment: &SegmentFile,
        known_gap: &mut [bool],
        found: &mut Verification,
    ) -> io::Result<()> {
        let number = segment.head.number.get();
        let ends = segment.blocks_end.min(self.end().next_block);
        let mut blocks = segment.blocks()?;
        loop {
            let size = match blocks.find()? {
                Found::Block(size) => size,
                Found::Nothing if blocks.resync()? => continue,
                Found::Nothing => return Ok(()),
            };
            let Some(block) = blocks.block() else { return Ok(()) };
            let (head, offset) = (block.head, blocks.offset());
            if head.number.get() >= ends {
                return Ok(());
            }
            blocks.pass(size);
            let kind = head.kind().filter(|kind| matches!(kind, Kind::Frames | Kind::Gap));
            let Some(kind) = kind else { continue };
            let place = usize::from(head.journal.get()).wrapping_sub(1);
            let Some(known_gap) = known_gap.get_mut(place) else {
                let what =
                    format!("a block of journal {}, which the description does not have", head.journal);
                found.add(FindingKind::Damage, Some(number), Some(offset), what);
                continue;
            };
            let payload = blocks.payload_of(offset, &head);
            let block = blocks_frames(&head, kind, payload);
            let is_named = |name: &str| {
                let mut known = found.findings.iter().filter(|known| known.kind == FindingKind::Relabelled);
                known.any(|known| known.journal.as_deref() == Some(name))
            };
            let name = &found.journals[place].journal;
            let relabelled = match kind {
                Kind::Frames if !is_named(name) => {
                    demand_version(payload.unwrap_or_default(), name, self.description().messages).err()
                }
                _ => None,
            };
            let journal = &mut found.journals[place];
            let finding = |kind, what: String| Finding {
                kind,
                segment: Some(number),
                offset: Some(offset),
                journal: Some(journal.journal.clone()),
                position: Some(head.position.get()),
                found: what,
            };
            let mut findings = Vec::new();
            match journal.end {
                Some(end) if end != head.position.get() && !(*known_gap && end < head.position.get()) => {
                    let what = format!("the frames before ended at {end}");
                    findings.push(finding(FindingKind::Frames, what));
                }
                _ => {}
            }
            *known_gap = false;
            match block {
                Content::Gap(bytes) => {
                    findings.push(finding(
                        FindingKind::Gap,
                        format!("the recorder was overtaken: {bytes} bytes"),
                    ));
                    journal.end = Some(head.position.get().saturating_add(bytes));
                }
                Content::Frames { frames, fault } => {
                    findings.extend(fault.map(|what| finding(FindingKind::Damage, what)));
                    findings
                        .extend(relabelled.map(|error| finding(FindingKind::Relabelled, error.to_string())));
                    journal.frames += frames;
                    journal.bytes += u64::from(head.length.get());
                    journal.oldest.get_or_insert(head.position.get());
                    journal.end = Some(head.position.get().saturating_add(head.length.get().into()));
                }
            }
            found.findings.extend(findings);
        }
    }
}

enum Content {
    Gap(u64),
    Frames { frames: u64, fault: Option<String> },
}

/// Frames in a row, from the block's position on, as many as it says.
fn blocks_frames(head: &BlockHead, kind: Kind, payload: Option<&[u8]>) -> Content {
    let payload = payload.unwrap_or_default();
    if kind == Kind::Gap {
        let bytes = payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        return Content::Gap(bytes);
    }
    let (mut frames, mut at) = (0, 0);
    let mut fault = None;
    while let Some((frame, size)) = raw::frame(&payload[at..]) {
        if fault.is_none() && frame.position != head.position.get().saturating_add(at as u64) {
            fault = Some(format!("a frame says that its position is {}", frame.position));
        }
        frames += 1;
        at += size;
    }
    if fault.is_none() && (at != payload.len() || frames != u64::from(head.frames.get())) {
        fault = Some(format!(
            "{frames} frames of {at} bytes, where {} of {} should be",
            head.frames,
            payload.len()
        ));
    }
    Content::Frames { frames, fault }
}
