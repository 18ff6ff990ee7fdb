//! Removing old segments: those of this run and of the runs before it, the oldest first, but none that a recovery needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::format::Kind;
use crate::read::{Blocks, Found, OpenError, Recording, Removed, SegmentFile, index, list_removed, scan};
use crate::recover::latest;

/// How much of the recordings of an instance is kept.
#[derive(Clone, Debug)]
pub struct Keep {
    runs: PathBuf,
    bytes: Option<u64>,
    time: Duration,
    /// Folders of runs, as `runs`, of the instance's other recorders.
    others: Vec<PathBuf>,
    /// It was said that more is needed than may be kept.
    pub(super) was_over: bool,
}

impl Keep {
    /// Of the recordings in folders of `runs`: the newest segments up to `bytes`, and none whose last cut is older than
    /// `time`; zero: as old as they are.
    pub fn new(runs: PathBuf, bytes: Option<u64>, time: Duration) -> Keep {
        Keep { runs, bytes, time, others: Vec::new(), was_over: false }
    }

    /// The instance has other recorders, whose runs are in these folders: a recovery goes back to the earliest end of all, so
    /// what it needs as of then is kept too.
    pub fn beside(mut self, others: Vec<PathBuf>) -> Keep {
        self.others = others;
        self
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Segments removed.
    pub removed: u64,
    /// Bytes of their files.
    pub removed_bytes: u64,
    /// Bytes that are left.
    pub left_bytes: u64,
    /// These are more than were to be kept.
    pub is_over: bool,
}

/// A segment that may be removed or not.
#[derive(Debug)]
struct Candidate {
    folder: PathBuf,
    segment: SegmentFile,
    bytes: u64,
    is_needed: bool,
}

/// The present time, in nanoseconds since the epoch.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Removes what is too old or too much at the time `now`. `current` is the folder of the run that is recorded, whose last
/// segment is still written.
///
/// # Errors
/// Those of the file system; what is left then is whole.
pub fn retain(current: &Path, keep: &Keep, now: u64) -> io::Result<Retained> {
    let mut done = Retained::default();
    // The usual case costs no more than a look at the folders.
    if keep.time.is_zero() {
        done.left_bytes = bytes_of(&keep.runs)?;
        if keep.bytes.is_none_or(|bytes| done.left_bytes <= bytes) {
            return Ok(done);
        }
        done.left_bytes = 0;
    }
    let candidates = candidates(current, keep, &mut done)?;
    let limit = u64::try_from(keep.time.as_nanos()).unwrap_or(u64::MAX);
    let mut goes: BTreeMap<&Path, Vec<(&Candidate, Removed)>> = BTreeMap::new();
    for candidate in &candidates {
        let is_too_much = keep.bytes.is_some_and(|bytes| done.left_bytes > bytes);
        if candidate.is_needed || !is_too_much && limit == 0 {
            continue;
        }
        let last_time = last_time(&candidate.segment)?;
        let is_old = limit > 0 && now.saturating_sub(last_time) > limit;
        if !is_old && !is_too_much {
            continue;
        }
        let removed = Removed {
            segment: candidate.segment.head.number.get(),
            first_block: candidate.segment.head.first_block.get(),
            blocks_end: candidate.segment.blocks_end,
            last_time_ns: last_time,
            bytes: candidate.bytes,
            removed_ns: now,
        };
        done.left_bytes -= candidate.bytes;
        goes.entry(&candidate.folder).or_default().push((candidate, removed));
    }
    // Together: a sync for each segment would take longer than writing it does.
    for (folder, goes) in goes {
        // Listed first: a crash in between leaves segments that are listed and there, and can be read.
        list_removed(folder, goes.iter().map(|(_, removed)| removed))?;
        for (candidate, _) in &goes {
            std::fs::remove_file(&candidate.segment.path)?;
            done.removed += 1;
            done.removed_bytes += candidate.bytes;
        }
        File::open(folder)?.sync_all()?;
    }
    done.is_over = keep.bytes.is_some_and(|bytes| done.left_bytes > bytes);
    Ok(done)
}

/// Bytes of all segments of all runs.
fn bytes_of(runs: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for run in std::fs::read_dir(runs)?.flatten().filter(|run| run.path().is_dir()) {
        for file in std::fs::read_dir(run.path())?.flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".seg") || name.ends_with(".seg.zst") {
                // It may have been compressed meanwhile.
                bytes += file.metadata().map_or(0, |file| file.len());
            }
        }
    }
    Ok(bytes)
}

/// All segments, the oldest first. Names of runs sort by time.
fn candidates(current: &Path, keep: &Keep, done: &mut Retained) -> io::Result<Vec<Candidate>> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&keep.runs)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let current = current.canonicalize()?;
    let this = Recording::open(&current).map_err(|error| io::Error::other(error.to_string()))?;
    // Before this run can be recovered, the ones before it may be all that there is.
    let needed = needed(&this, &keep.others)?;
    let mut candidates = Vec::new();
    for folder in folders {
        let is_current = folder.canonicalize()? == current;
        let opened;
        let recording = if is_current {
            &this
        } else {
            opened = match Recording::open(&folder) {
                Ok(recording) => recording,
                // Not ours to judge.
                Err(OpenError::Folder(error)) => return Err(error),
                Err(_) => continue,
            };
            &opened
        };
        let is_held = !is_current && is_written(&folder);
        let open = if is_current { first_open(recording)? } else { u32::MAX };
        for segment in recording.segments() {
            let number = segment.head.number.get();
            let bytes = segment.path.metadata()?.len();
            done.left_bytes += bytes;
            let is_needed = match &needed {
                None => true,
                Some(needed) if is_current => number >= open || needed.contains(&number),
                Some(_) => is_held,
            };
            let (folder, segment) = (folder.clone(), segment.clone());
            candidates.push(Candidate { folder, segment, bytes, is_needed });
        }
    }
    Ok(candidates)
}

/// Numbers of the segments that a recovery may need, of this recording and of those of the other recorders; `None`: all of them.
fn needed(this: &Recording, others: &[PathBuf]) -> io::Result<Option<BTreeSet<u32>>> {
    let end = |runs: &PathBuf| Recording::open(&latest(runs)).map_or(0, |recording| recording.end().time);
    let earliest = others.iter().map(end).min().unwrap_or(u64::MAX);
    if earliest >= this.end().time {
        return this.needed();
    }
    // As of then, and as of any later time: the other may catch up.
    let then = match Recording::open_until(this.folder(), earliest) {
        Ok(then) => then,
        Err(OpenError::TooEarly(_)) => return Ok(None),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let Some(mut needed) = then.needed()? else { return Ok(None) };
    let numbers = this.segments().iter().map(|segment| segment.head.number.get());
    needed.extend(numbers.filter(|number| *number > then.last_segment()));
    Ok(Some(needed))
}

/// Number of the first segment that may not be closed yet: behind the last with an index, and the last of all.
fn first_open(recording: &Recording) -> io::Result<u32> {
    let mut open = recording.last_segment();
    for segment in recording.segments().iter().rev().skip(1) {
        if index(segment)?.is_some() {
            break;
        }
        open = segment.head.number.get();
    }
    Ok(open)
}

/// Whether a recorder writes there at present.
fn is_written(folder: &Path) -> bool {
    node::OwnLock::is_held(&folder.join(super::LOCK))
}

/// Time of a segment's last cut.
fn last_time(segment: &SegmentFile) -> io::Result<u64> {
    let mut blocks = Blocks::open(&segment.path)?;
    blocks.seek(blocks.length().saturating_sub(2 * crate::format::LINE as u64));
    if blocks.find()? != Found::Nothing
        && let Some(block) = blocks.block().filter(|block| block.head.kind() == Some(Kind::End))
    {
        return Ok(block.head.time.get());
    }
    let last = scan(segment)?.last_cut;
    Ok(last.map_or(segment.head.created.get(), |last| last.time))
}
