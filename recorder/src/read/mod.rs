//! Reading a recording.

mod blocks;
mod chunks;
mod ends;
mod frames;
mod scan;
mod source;
mod state;

use std::io;
use std::path::{Path, PathBuf};

pub use blocks::{Blocks, Found};
pub use chunks::Chunks;
pub use ends::index;
pub(crate) use frames::raw;
pub use frames::{FrameError, Frames, RecordedFrame};
pub use scan::{Damage, Scan, scan};
pub use state::{Counts, State, StateError};

use crate::format::{Description, FileHead, Kind};

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
    /// Nothing was recorded so early.
    #[error("it begins later than that")]
    TooEarly,
    /// The folder.
    #[error("{0}")]
    Folder(#[from] io::Error),
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

/// A recording, closed or still written.
#[derive(Debug)]
pub struct Recording {
    folder: PathBuf,
    segments: Vec<SegmentFile>,
    description: Description,
    end: End,
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
    /// [`OpenError`]; [`OpenError::TooEarly`] when it begins later.
    pub fn open_until(folder: &Path, time: u64) -> Result<Recording, OpenError> {
        let mut segments: Vec<SegmentFile> = Vec::new();
        let mut last_error = None;
        for path in paths(folder)? {
            let head = match Blocks::open(&path) {
                Ok(blocks) => blocks.head(),
                Err(source) => {
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
                before.blocks_end = head.first_block.get();
            }
            segments.push(SegmentFile { path, head, blocks_end: u64::MAX });
        }
        let Some(first) = segments.first() else {
            return Err(last_error.unwrap_or(OpenError::Empty));
        };
        let description = describe(&first.path)?;
        let mut end = End::default();
        for segment in segments.iter().rev() {
            let seen = scan::scan_until(segment, time)
                .map_err(|source| OpenError::Segment { path: segment.path.clone(), source })?;
            end.torn_bytes += seen.torn_bytes;
            if let Some(last) = seen.last_cut {
                end = End { torn_bytes: end.torn_bytes, ..last };
                break;
            }
        }
        if time != u64::MAX {
            if end.time == 0 {
                return Err(OpenError::TooEarly);
            }
            segments.retain(|segment| segment.head.first_block.get() < end.next_block);
        }
        let mut recording = Recording { folder: folder.to_owned(), segments, description, end };
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
fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
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
    Ok(found.into_iter().map(|(_, _, path)| path).collect())
}

fn describe(path: &Path) -> Result<Description, OpenError> {
    let wrong = |what: String| OpenError::Description { path: path.to_owned(), what };
    let mut blocks =
        Blocks::open(path).map_err(|source| OpenError::Segment { path: path.to_owned(), source })?;
    blocks.find().map_err(|error| wrong(error.to_string()))?;
    match blocks.block() {
        Some(block) if block.head.kind() == Some(Kind::Description) => {
            serde_json::from_slice(block.payload).map_err(|error| wrong(error.to_string()))
        }
        _ => Err(wrong("the first block is none, or is damaged".to_owned())),
    }
}
