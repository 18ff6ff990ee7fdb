//! Reading a recording.

mod ahead;
mod blocks;
mod chunks;
mod ends;
mod frames;
mod here;
mod last;
mod newest;
mod removed;
mod scan;
mod source;
mod state;
mod synced;
mod unfinished;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use ahead::{Ahead, Piece};
pub use blocks::{Blocks, Found};
pub use chunks::Chunks;
pub use ends::index;
pub(crate) use frames::raw;
pub use frames::{FrameError, Frames, RecordedFrame};
pub use here::is_removed;
pub use newest::NEWEST;
pub(crate) use newest::note as note_newest;
pub(crate) use removed::append as list_removed;
pub use removed::{REMOVED_LIST, Removed, removed};
pub use scan::{Damage, Scan, scan};
pub use state::{Counts, State, StateError};
pub use synced::Syncs;
pub use unfinished::Unfinished;
pub use verify::{Finding, FindingKind, JournalReport, SegmentReport, Verification};

use crate::format::{Description, FileHead, Kind};
use crate::write::segment_name;

/// Why a folder cannot be read as a recording.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No segment is there.
    #[error("no segment is there (NNNNNNNN.seg or NNNNNNNN.seg.zst)")]
    Empty,
    /// Not one segment can be read.
    #[error("{}: {source}", .path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A segment belongs to another recording.
    #[error("{} belongs to another recording than the segments before it", .0.display())]
    Foreign(PathBuf),
    /// The first block is not a description.
    #[error("{}: its description cannot be read: {what}", .path.display())]
    Description {
        /// The segment.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// Its frames have another format than those of this build.
    #[error(
        "its frames have journal format {found}, this build reads {known}: use the colo of version {program} that wrote it"
    )]
    JournalFormat {
        /// The format that was found.
        found: u32,
        /// The one that this build reads.
        known: u32,
        /// Version of the program that wrote it.
        program: String,
    },
    /// Retention has removed all of it.
    #[error("all of its {0} segments were removed, as removed.jsonl lists them")]
    Removed(usize),
    /// It holds recordings of several instances.
    #[error("it holds recordings of several instances; name one: {}", folders(.0))]
    Several(Vec<PathBuf>),
    /// Nothing was recorded so early.
    #[error("it begins later than that: its first cut is of {}, {} ns", rfc3339(*.0), .0)]
    TooEarly(u64),
    /// The folder.
    #[error("{0}")]
    Folder(#[from] io::Error),
}

fn folders(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A file of a recording.
#[derive(Clone, Debug)]
pub struct SegmentFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its first line.
    pub head: FileHead,
    /// Number of the first block that is not its own.
    pub blocks_end: u64,
}

/// Where a recording ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Number of the block behind the last whole cut.
    pub next_block: u64,
    /// Chain of the block before that.
    pub chain: u64,
    /// Time of the cut: all journals are there up to it.
    pub time: u64,
    /// Bytes behind it that do not count: of a cut that was never finished.
    pub torn_bytes: u64,
}

/// The end of a recording is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LacksEnd {
    /// Number of the last segment.
    pub segment: u32,
    /// There is a file of it, which cannot be read.
    pub is_there: bool,
}

impl fmt::Display for LacksEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_there { "cannot be read" } else { "is not there" };
        write!(out, "segment {}, the newest that was begun, {what}: the end is missing", self.segment)
    }
}

/// Segments in a row that are named one by one when they are missing.
const MOST_MISSING: usize = 1_000;

/// A recording, closed or still written.
#[derive(Debug)]
pub struct Recording {
    folder: PathBuf,
    segments: Vec<SegmentFile>,
    description: Description,
    end: End,
    unreadable: Vec<(PathBuf, String)>,
    removed: BTreeMap<u32, Removed>,
    /// Number of the segment that was begun last, where that is known.
    newest: Option<u32>,
    /// Highest number that a file has, readable or not.
    highest_here: u32,
    /// Highest number that a file has, or had.
    highest: u32,
    /// It was asked for up to a time only: what lies behind that need not be there.
    is_bounded: bool,
    /// Of the segment in which it ends, if nothing there is damaged.
    tail: Option<scan::Tail>,
}

impl Recording {
    /// Opens what is in `folder`. Only its last segment is read whole.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(folder: &Path) -> Result<Recording, OpenError> {
        Recording::open_until(folder, u64::MAX)
    }

    /// As [`Recording::open`], but as if it ended with the last cut that is not later than `time`, in nanoseconds since
    /// the epoch.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::TooEarly`], with the time of the first cut, when it begins later.
    pub fn open_until(folder: &Path, time: u64) -> Result<Recording, OpenError> {
        Recording::open_within(folder, time, u64::MAX)
    }

    /// As [`Recording::open`], but as if it ended with the last cut that lies before the block of this number. Without such a
    /// cut it holds nothing.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_before(folder: &Path, block: u64) -> Result<Recording, OpenError> {
        Recording::open_within(folder, u64::MAX, block)
    }

    fn open_within(folder: &Path, time: u64, block: u64) -> Result<Recording, OpenError> {
        let mut segments: Vec<SegmentFile> = Vec::new();
        let mut unreadable = Vec::new();
        let mut last_error = None;
        // Before the segments are listed: each that it names is there by then, or was removed. The list of those is read
        // behind, as it names each before it goes.
        let newest = newest::newest(folder);
        let mut found = paths(folder)?;
        let mut removed = removed_by_number(folder)?;
        add_passed(&mut found, folder, newest, &removed);
        let mut highest_here = 0;
        let mut highest = removed.keys().max().copied().max(newest).unwrap_or(0);
        for (number, mut path) in found {
            highest = highest.max(number);
            highest_here = highest_here.max(number);
            let head = match here::open(&path, number) {
                Ok((name, blocks)) => {
                    path = name;
                    blocks.head()
                }
                Err(error) if is_removed(&error) => {
                    removed = removed_by_number(folder)?;
                    continue;
                }
                Err(source) => {
                    unreadable.push((path.clone(), source.to_string()));
                    last_error = Some(OpenError::Segment { path, source });
                    continue;
                }
            };
            if let Some(before) = segments.last_mut() {
                if before.head.recording != head.recording {
                    return Err(OpenError::Foreign(path));
                }
                if before.head.number == head.number {
                    // Compressed, and not yet removed.
                    continue;
                }
                before.blocks_end = ends_before(before, &head, &removed)
                    .map_err(|source| OpenError::Segment { path: before.path.clone(), source })?;
            }
            segments.push(SegmentFile { path, head, blocks_end: u64::MAX });
        }
        if segments.is_empty() {
            let none = if removed.is_empty() { OpenError::Empty } else { OpenError::Removed(removed.len()) };
            return Err(last_error.unwrap_or(none));
        }
        let description = describe(&segments)?;
        let before = segments.iter().take_while(|segment| segment.head.first_block.get() < block).count();
        segments.truncate(before.max(1));
        if let Some(last) = segments.last_mut() {
            last.blocks_end = last.blocks_end.min(block);
        }
        let (mut end, mut tail) = (End::default(), None);
        for segment in segments.iter().rev() {
            let seen = scan::scan_until(segment, time)
                .map_err(|source| OpenError::Segment { path: segment.path.clone(), source })?;
            end.torn_bytes += seen.torn_bytes;
            if let Some(last) = seen.last_cut {
                end = End { torn_bytes: end.torn_bytes, ..last };
                tail = seen.damage.is_empty().then_some(seen.tail);
                break;
            }
        }
        if time != u64::MAX {
            if end.time == 0 {
                return Err(OpenError::TooEarly(first_cut(&segments)));
            }
            segments.retain(|segment| segment.head.first_block.get() < end.next_block);
        }
        let folder = folder.to_owned();
        let mut recording = Recording {
            folder,
            segments,
            description,
            end,
            unreadable,
            removed,
            newest,
            highest_here,
            highest,
            is_bounded: time != u64::MAX || block != u64::MAX,
            tail,
        };
        if end.next_block == 0
            && let Some(first) = recording.segments.first()
        {
            recording.end.next_block = first.head.first_block.get();
            recording.end.chain = first.head.chain.get();
        }
        if let Some(last) = recording.segments.last_mut() {
            last.blocks_end = last.blocks_end.min(end.next_block);
        }
        Ok(recording)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was noted of a segment when the recording was opened.
    fn tail_of(&self, segment: &SegmentFile) -> Option<&scan::Tail> {
        self.tail.as_ref().filter(|tail| tail.segment == segment.head.number.get())
    }

    /// Time of its first cut that is still there.
    pub fn begins(&self) -> u64 {
        first_cut(&self.segments)
    }

    /// Its random number.
    pub fn id(&self) -> u64 {
        self.segments.first().map_or(0, |segment| segment.head.recording.get())
    }

    /// Its files, in order.
    pub fn segments(&self) -> &[SegmentFile] {
        &self.segments
    }

    /// Number of the last segment.
    pub fn last_segment(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.head.number.get())
    }

    /// Files with the name of a segment that are none, or of another version, and what is wrong with them.
    pub fn unreadable(&self) -> &[(PathBuf, String)] {
        &self.unreadable
    }

    /// Segments that retention has removed, by number.
    pub fn removed(&self) -> impl Iterator<Item = &Removed> {
        self.removed.values()
    }

    /// The highest number of a segment that is there, readable or not, or was removed: the next one has a higher number.
    pub fn highest_number(&self) -> u32 {
        self.highest.max(self.last_segment())
    }

    /// Numbers of segments that are not there, although nobody has removed them on purpose.
    pub fn missing(&self) -> Vec<u32> {
        let mut missing = Vec::new();
        let mut next = 1;
        for segment in &self.segments {
            let number = segment.head.number.get();
            // What was lost in a row may be long where a head lies.
            let between = (next..number).filter(|number| !self.removed.contains_key(number));
            missing.extend(between.take(MOST_MISSING));
            next = number.saturating_add(1);
        }
        missing.extend(self.lacks_newest());
        missing
    }

    /// The number of the segment that was begun last, if neither it nor a later one is there, and it was not removed either: what
    /// it held is missing, and with it the end.
    pub fn lacks_newest(&self) -> Option<u32> {
        let is_there = |newest: u32| self.highest_here >= newest || self.removed.contains_key(&newest);
        self.newest.filter(|newest| !is_there(*newest))
    }

    /// The last segment, where it is not there, or cannot be read: the recording ends somewhere behind [`Recording::end`]. `None`
    /// also when it was opened only up to a time.
    pub fn lacks_end(&self) -> Option<LacksEnd> {
        if self.is_bounded {
            return None;
        }
        let missing = self.lacks_newest().map(|segment| LacksEnd { segment, is_there: false });
        let unreadable =
            self.highest_here > self.last_segment() && !self.removed.contains_key(&self.highest_here);
        missing.or(unreadable.then_some(LacksEnd { segment: self.highest_here, is_there: true }))
    }

    /// What it is of.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Where it ends.
    pub fn end(&self) -> End {
        self.end
    }
}

/// The segments of a folder by number; of one that is there twice the compressed one last, as it may be cut.
fn paths(folder: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_suffix(".seg").or_else(|| name.strip_suffix(".seg.zst"));
        if let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) {
            found.push((number, name.len(), path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(number, _, path)| (number, path)).collect())
}

/// Time of the first cut that is there, or of the first segment.
fn first_cut(segments: &[SegmentFile]) -> u64 {
    let Some(first) = segments.first() else { return 0 };
    let mut time = None;
    if let Ok(mut blocks) = first.blocks() {
        while time.is_none()
            && let Ok(Found::Block(size)) = blocks.find()
        {
            // The description closes what it begins, and has no time.
            let cut = blocks.block().filter(|block| block.head.closes_cut() && block.head.time.get() > 0);
            time = cut.map(|block| block.head.time.get());
            blocks.pass(size);
        }
    }
    time.unwrap_or(first.head.created.get())
}

fn rfc3339(nanos: u64) -> impl fmt::Display {
    humantime::format_rfc3339_nanos(
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(nanos),
    )
}

/// What retention has removed of the recording in a folder.
fn removed_by_number(folder: &Path) -> io::Result<BTreeMap<u32, Removed>> {
    Ok(removed::removed(folder)?.into_iter().map(|removed| (removed.segment, removed)).collect())
}

/// Adds the segments that were compressed while the folder was listed, of which the list has neither name.
fn add_passed(
    found: &mut Vec<(u32, PathBuf)>,
    folder: &Path,
    newest: Option<u32>,
    removed: &BTreeMap<u32, Removed>,
) {
    let highest = found.iter().map(|(number, _)| *number).max().max(newest).unwrap_or(0);
    let known: BTreeSet<u32> = found.iter().map(|(number, _)| *number).collect();
    let passed = (1..highest).filter(|number| !known.contains(number) && !removed.contains_key(number));
    for number in passed.take(MOST_MISSING) {
        let path = folder.join(format!("{}.zst", segment_name(number)));
        if path.exists() {
            found.push((number, path));
        }
    }
    // Not by name: of one that is there twice the order holds.
    found.sort_by_key(|(number, _)| *number);
}

/// Number of the first block behind those of `segment`, when `next` is the next segment that is there. If some between
/// them are not, only the list of removed ones knows; else the segment ends with its last whole cut.
fn ends_before(segment: &SegmentFile, next: &FileHead, removed: &BTreeMap<u32, Removed>) -> io::Result<u64> {
    let follower = segment.head.number.get().saturating_add(1);
    if next.number.get() == follower {
        return Ok(next.first_block.get());
    }
    if let Some(removed) = removed.get(&follower) {
        return Ok(removed.first_block);
    }
    let bounded = SegmentFile { blocks_end: next.first_block.get(), ..segment.clone() };
    let last = scan::scan(&bounded)?.last_cut;
    Ok(last.map_or(segment.head.first_block.get(), |last| last.next_block))
}

/// The description: of the first segment in which it is whole.
fn describe(segments: &[SegmentFile]) -> Result<Description, OpenError> {
    let mut first_error = None;
    for segment in segments {
        match describe_segment(segment) {
            Ok(description) if description.journal_format != journal::layout::FORMAT_VERSION => {
                return Err(OpenError::JournalFormat {
                    found: description.journal_format,
                    known: journal::layout::FORMAT_VERSION,
                    program: description.program,
                });
            }
            Ok(description) => return Ok(description),
            Err(error) => drop(first_error.get_or_insert(error)),
        }
    }
    Err(first_error.unwrap_or(OpenError::Empty))
}

/// Whether something was acknowledged of a recording whose description cannot be read: of two whole cuts behind a description the
/// first was on disk before the second was written.
pub(crate) fn has_acknowledged(folder: &Path) -> bool {
    let files = paths(folder).unwrap_or_default();
    let mut cuts = 0;
    for mut blocks in files.iter().filter_map(|(_, path)| Blocks::open(path).ok()) {
        while matches!(blocks.find(), Ok(Found::Block(_))) || blocks.resync().unwrap_or(false) {
            let Some(block) = blocks.block() else { break };
            let is_cut = block.head.closes_cut() && block.head.kind() != Some(Kind::Description);
            cuts += u32::from(is_cut && block.head.time.get() > 0);
            if cuts == 2 {
                return true;
            }
            let size = block.head.size();
            blocks.pass(size);
        }
    }
    false
}

fn describe_segment(segment: &SegmentFile) -> Result<Description, OpenError> {
    let path = &segment.path;
    let wrong = |what: String| OpenError::Description { path: path.to_owned(), what };
    let mut blocks =
        segment.blocks().map_err(|source| OpenError::Segment { path: path.to_owned(), source })?;
    // A block that is not found whole is damaged, whatever can be read of it.
    let found = blocks.find().map_err(|error| wrong(error.to_string()))?;
    match blocks.block().filter(|_| found != Found::Nothing) {
        Some(block) if block.head.kind() == Some(Kind::Description) => {
            serde_json::from_slice(block.payload).map_err(|error| wrong(error.to_string()))
        }
        _ => Err(wrong("the first block is none, or is damaged".to_owned())),
    }
}
