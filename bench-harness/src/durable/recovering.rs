//! Journals brought back from a recording: how fast, and whether they are what they were.

use std::path::PathBuf;
use std::time::Instant;

use journal::{Clock, Journal, JournalFiles, LooseReader};
use pinning::{Host, HostSummary};
use recorder::recover::Recovery;
use recorder::write::Policy;
use serde::{Deserialize, Serialize};
use topology::Topology;
use topology::config::PinConfig;

use super::RECORD_BYTES;
use super::lane::{Recording, journal, write_batch};
use super::place::{Disk, Place};
use crate::ipc::{IpcError, system};
use crate::scratch::Scratch;

/// Records between two cuts of the recording.
const CUT: u64 = 20_000;
/// Bytes that are compared at once.
const COMPARED: usize = 1 << 20;

/// What to measure.
#[derive(Clone, Debug)]
pub struct RecoverSettings {
    /// Records, row by row.
    pub records: Vec<u64>,
    /// Records of a frame, row by row.
    pub frames: Vec<usize>,
    /// How often each recording is brought back.
    pub turns: usize,
    /// Folder on the disk.
    pub folder: PathBuf,
}

impl RecoverSettings {
    /// Some minutes. Ten million records take 4 GB of memory, and 2 GB of disk.
    pub fn full(folder: PathBuf) -> RecoverSettings {
        RecoverSettings {
            records: vec![100_000, 1_000_000, 10_000_000],
            frames: vec![1, 100],
            turns: 3,
            folder,
        }
    }

    /// Within half a minute.
    pub fn quick(folder: PathBuf) -> RecoverSettings {
        RecoverSettings { records: vec![100_000, 1_000_000], turns: 1, ..RecoverSettings::full(folder) }
    }
}

/// `colo bench recover`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecoverReport {
    /// Where.
    pub host: HostSummary,
    /// The disk.
    pub disk: Disk,
    /// Recording after recording.
    pub rows: Vec<RecoverRow>,
}

/// One recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoverRow {
    /// Its records.
    pub records: u64,
    /// Records of a frame.
    pub records_per_frame: usize,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes of all frames.
    pub bytes: u64,
    /// From the folder to a journal that can be read: median over the turns.
    pub seconds: f64,
    /// Records by seconds.
    pub records_per_s: f64,
    /// Every byte of every frame, every position, and the counts are those of the journal that was recorded.
    pub identical: bool,
}

/// Measures. As [`measure`](super::measure).
///
/// # Errors
/// [`IpcError`].
pub fn recover(
    settings: &RecoverSettings,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<RecoverReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let place = Place::create(&settings.folder)?;
    let cells =
        settings.records.iter().flat_map(|&records| settings.frames.iter().map(move |&of| (records, of)));
    let cells: Vec<(u64, usize)> = cells.collect();
    let mut rows = Vec::new();
    let all: u64 = cells.iter().map(|(records, _)| records).sum();
    let mut done = 0;
    for (records, per_frame) in cells {
        let name = format!("{records} records, {per_frame} a frame");
        let go_on = || {
            let goes = progress(&name, done as f64 / all as f64);
            if goes { Ok(()) } else { Err(IpcError::Stopped) }
        };
        rows.push(row(records, per_frame, settings.turns, &place, go_on)?);
        done += records;
    }
    Ok(RecoverReport { host: host.summary(), disk: place.disk(), rows })
}

fn row(
    records: u64,
    per_frame: usize,
    turns: usize,
    place: &Place,
    go_on: impl Fn() -> Result<(), IpcError>,
) -> Result<RecoverRow, IpcError> {
    let clock = Clock::monotonic();
    // All of it, and what a writer declares in advance.
    let frame = journal::layout::frame_bytes((per_frame * RECORD_BYTES) as u64);
    let bytes = records.div_ceil(per_frame as u64) * frame;
    let capacity = (bytes + bytes.div_ceil(7) + journal::layout::LINE_BYTES).next_power_of_two();
    let original = journal(1, "recorded", capacity)?;
    let folder = place.path();
    let policy = Policy { segment_bytes: 64 << 20, compress: None };
    let topology = serde_json::to_value(platform()).map_err(|error| IpcError::Platform(error.to_string()))?;
    let mut recording = Recording::create(&folder, &[&original], topology, policy, clock)?;
    let mut writer = original.writer(0, clock)?;
    let mut number = 0;
    while number < records {
        let cut = (number + CUT).min(records);
        while number < cut {
            write_batch(&mut writer, per_frame.min((cut - number) as usize), &mut number, || true)?;
        }
        go_on()?;
        if number < records {
            recording.cut(clock.now())?;
        } else {
            recording.last_cut(clock.now())?;
        }
    }
    drop(writer);
    drop(recording);
    let (mut seconds, mut identical) = (Vec::new(), true);
    for _ in 0..turns {
        go_on()?;
        let memory = Scratch::create().map_err(system("make a folder in /dev/shm"))?;
        let begun = Instant::now();
        let recovery = Recovery::open(std::slice::from_ref(&folder), None)?;
        let origin = recovery.origin("recorded", clock.now());
        let origin = origin.ok_or_else(|| IpcError::Platform("nothing was recorded".to_owned()))?;
        let files = JournalFiles::new(memory.path(), memory.path(), "recorded");
        let again = Journal::create_from(files, original.shape().clone(), origin)?;
        recovery.restore(&again)?;
        seconds.push(begun.elapsed().as_secs_f64());
        identical &= are_identical(&original, &again)?;
    }
    std::fs::remove_dir_all(&folder).map_err(system("remove a recording"))?;
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
    Ok(RecoverRow {
        records,
        records_per_frame: per_frame,
        record_bytes: RECORD_BYTES,
        bytes,
        seconds,
        records_per_s: records as f64 / seconds,
        identical,
    })
}

/// A platform of nothing: a recording has one.
fn platform() -> Topology {
    Topology {
        instance: "bench".to_owned(),
        deterministic: false,
        one_process: None,
        lock_memory: false,
        run_folder: None,
        nodes: Vec::new(),
        journals: Vec::new(),
        market: topology::Market::default(),
        pin: PinConfig::default(),
    }
}

/// Counts, and every byte from the first frame on.
fn are_identical(one: &Journal, other: &Journal) -> Result<bool, IpcError> {
    let (before, after) = (one.stat(), other.stat());
    let same = (before.frames, before.head, before.epoch, before.tally)
        == (after.frames, after.head, after.epoch, after.tally);
    if !same || before.frames == 0 {
        return Ok(false);
    }
    let (mut readers, mut bytes) =
        ([one.loose_from_start()?, other.loose_from_start()?], [Vec::new(), Vec::new()]);
    if readers[0].position() != readers[1].position() {
        return Ok(false);
    }
    let next = |reader: &mut LooseReader, bytes: &mut Vec<u8>| {
        bytes.clear();
        reader.read_bytes_until(COMPARED, u64::MAX, bytes)
    };
    loop {
        let found = [next(&mut readers[0], &mut bytes[0])?, next(&mut readers[1], &mut bytes[1])?];
        if found[0] != found[1] || bytes[0] != bytes[1] {
            return Ok(false);
        }
        if found[0].is_none() {
            return Ok(readers[0].position() == before.head);
        }
    }
}
