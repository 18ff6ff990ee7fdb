//! From recordings back to journals in shared memory: the same frames at the same positions, and every reader where it
//! stood. What is then started finds what it would find if everything had been killed at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use journal::{History, Journal, Origin, Writer};
use topology::Topology;

use crate::format::{LINE, RecordedJournal};
use crate::read::{
    Ahead, Chunks, Counts, FrameError, OpenError, Piece, Recording, StateError, has_acknowledged, raw,
};

/// Why nothing can be recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// A folder is no recording.
    #[error("{}: {source}", .folder.display())]
    Open {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: OpenError,
    },
    /// A recording lacks what is needed.
    #[error("{}: {what}", .folder.display())]
    Unfit {
        /// The folder.
        folder: PathBuf,
        /// What it lacks.
        what: String,
    },
    /// A journal cannot be made again.
    #[error("journal `{journal}`: {what}")]
    Journal {
        /// Its name.
        journal: String,
        /// Why.
        what: String,
    },
}

/// A journal as it comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// What it was.
    pub journal: RecordedJournal,
    /// Position behind its last frame.
    pub end: u64,
    /// What it has held.
    pub counts: Counts,
    /// Its gated readers: seat, cursor, what they kept (zero: their cursor).
    pub cursors: Vec<(u16, u64, u64)>,
    recording: usize,
}

impl Recovered {
    /// Position of the oldest byte that its ring held, with the line behind the last frame, which its writer had touched.
    fn from(&self) -> u64 {
        (self.end + LINE as u64).saturating_sub(self.journal.capacity).max(self.journal.first_position)
    }
}

fn lost(from: u64, to: u64) -> String {
    format!(
        "positions {from} to {to} are missing: damaged, or removed; `colo journal verify --recording` says more"
    )
}

/// What is to be known of recordings whose messages have an earlier version than this build's, a sentence each.
pub fn older(recordings: &[Recording]) -> Vec<String> {
    let known = u32::from(wire::schema::VERSION);
    let older = recordings.iter().filter(|recording| recording.description().messages < known);
    let say = |recording: &Recording| {
        format!(
            "{}: its messages have version {}, this build's {known}: fields that came later are zero in them",
            recording.folder().display(),
            recording.description().messages
        )
    };
    older.map(say).collect()
}

/// What recordings of one run hold, up to one time.
#[derive(Debug)]
pub struct Recovery {
    recordings: Vec<Recording>,
    topology: Topology,
    time: u64,
    journals: BTreeMap<String, Recovered>,
}

impl Recovery {
    /// Opens the recordings of one run, one for each of its recorders; each folder is a recording, or holds those of an
    /// instance, of which the latest is taken. `until`: as of that time, in nanoseconds since the epoch.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn open(folders: &[PathBuf], until: Option<u64>) -> Result<Recovery, RecoverError> {
        let folders = found(folders)?;
        let open = |folder: &PathBuf, time: u64| {
            Recording::open_until(folder, time)
                .map_err(|source| RecoverError::Open { folder: folder.clone(), source })
        };
        let mut recordings = Vec::new();
        for folder in &folders {
            let recording = open(folder, until.unwrap_or(u64::MAX))?;
            // What is not there, or cannot even be opened, may hold the end of the run.
            if let Some(newest) = recording.lacks_newest().filter(|_| until.is_none()) {
                return Err(RecoverError::Unfit {
                    folder: folder.clone(),
                    what: format!(
                        "segment {newest}, the newest that was begun, is not there; put it back, or recover as of a time \
                         before it (--until)"
                    ),
                });
            }
            if let Some((path, what)) = recording.unreadable().first().filter(|_| until.is_none()) {
                return Err(RecoverError::Unfit {
                    folder: folder.clone(),
                    what: format!(
                        "{} cannot be read: {what}; recover as of a time before it (--until), or take the file away",
                        path.display()
                    ),
                });
            }
            recordings.push(recording);
        }
        // Each recorder has cuts of its own: all are taken as of the earliest end.
        let mut time = recordings.iter().map(|recording| recording.end().time).min().unwrap_or_default();
        if let Some(until) = until.filter(|_| folders.len() > 1) {
            // What one has of the last cut before `until` is no earlier end: it goes on behind that. Else each look at the
            // same recordings with the time of the one before would go further back.
            let ends =
                folders.iter().map(|folder| Recording::open(folder).map_or(until, |found| found.end().time));
            time = ends.min().unwrap_or(until).min(until);
        }
        if recordings.iter().any(|recording| recording.end().time > time) {
            recordings = folders.iter().map(|folder| open(folder, time)).collect::<Result<_, _>>()?;
        }
        let unfit = |recording: &Recording, what: String| RecoverError::Unfit {
            folder: recording.folder().to_owned(),
            what,
        };
        let known = u32::from(wire::schema::VERSION);
        for recording in &recordings {
            let (messages, program) = (recording.description().messages, &recording.description().program);
            if messages > known {
                let what = format!(
                    "its messages have version {messages}, this build knows {known}: use the colo of version \
                     {program} that wrote it"
                );
                return Err(unfit(recording, what));
            }
        }
        let Some(first) = recordings.first() else {
            return Err(RecoverError::Unfit {
                folder: PathBuf::new(),
                what: "no recording was named".to_owned(),
            });
        };
        let wiring = first.description().topology.clone();
        let topology: Topology = serde_json::from_value(wiring.clone())
            .map_err(|error| unfit(first, format!("its platform is not understood: {error}")))?;
        let mut journals = BTreeMap::new();
        for (index, recording) in recordings.iter().enumerate() {
            if recording.description().topology != wiring {
                return Err(unfit(
                    recording,
                    "it is of another platform than the recordings before it".to_owned(),
                ));
            }
            let state = recording
                .state(node::class_of)
                .map_err(|error: StateError| unfit(recording, error.to_string()))?;
            let ends = recording.ends().map_err(|error: FrameError| unfit(recording, error.to_string()))?;
            for (place, journal) in recording.description().journals.iter().enumerate() {
                let mine = state.cursors.iter().filter(|(number, ..)| *number == journal.number);
                let recovered = Recovered {
                    journal: journal.clone(),
                    end: ends[place].unwrap_or(journal.first_position),
                    counts: state.counts[place],
                    cursors: mine.map(|&(_, seat, position, keeps)| (seat, position, keeps)).collect(),
                    recording: index,
                };
                journals.insert(journal.name.clone(), recovered);
            }
        }
        Ok(Recovery { recordings, topology, time, journals })
    }

    /// The platform.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Everything up to this time comes back.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The journals, by name.
    pub fn journals(&self) -> impl Iterator<Item = &Recovered> {
        self.journals.values()
    }

    /// The recording that a journal is in.
    pub fn recording_of(&self, recovered: &Recovered) -> &Recording {
        &self.recordings[recovered.recording]
    }

    /// What is to be known of recordings of an earlier version, a sentence each.
    pub fn older(&self) -> Vec<String> {
        older(&self.recordings)
    }

    /// The recordings.
    pub fn recordings(&self) -> &[Recording] {
        &self.recordings
    }

    /// Where a journal of that name has to begin, so that [`Recovery::restore`] can fill it; `None` if it was not
    /// recorded.
    pub fn origin(&self, journal: &str, now: u64) -> Option<Origin> {
        let recovered = self.journals.get(journal)?;
        Some(Origin {
            first_position: self.start(recovered),
            incarnation: recovered.journal.incarnation + 1,
            max_payload: recovered.journal.max_payload,
            ..Origin::new(now)
        })
    }

    /// Position of the first frame that is brought back. All from there on fit into the ring, with the line behind the last
    /// that a writer touches: so the first frame is known to whoever begins there, as the next recorder does.
    fn start(&self, recovered: &Recovered) -> u64 {
        let least = recovered.from();
        let mut chunks = self.chunks(recovered, least);
        let mut bytes = Vec::new();
        loop {
            match chunks.next(&mut bytes) {
                Ok(Some(_)) => {}
                // Read as far as there is something: what is missing is said when the journal is filled.
                Err(FrameError::Missing { .. }) => {}
                Ok(None) | Err(FrameError::Disk { .. } | FrameError::Relabelled { .. }) => {
                    return recovered.end;
                }
            }
            let rest = from_position(&bytes, least);
            if let Some((frame, _)) = raw::frame(rest) {
                return frame.position;
            }
        }
    }

    fn chunks<'a>(&'a self, recovered: &'a Recovered, from: u64) -> Chunks<'a> {
        self.recordings[recovered.recording].chunks(&recovered.journal, from)
    }

    /// Why a journal would not come back as it was: frames that its ring held are missing. Reads them all.
    pub fn fault(&self, recovered: &Recovered) -> Option<String> {
        let journal = &recovered.journal;
        if journal.loose {
            return None;
        }
        let from = recovered.from();
        let mut chunks = self.chunks(recovered, from);
        let mut bytes = Vec::new();
        let mut first = recovered.end > from;
        loop {
            match chunks.next(&mut bytes) {
                Ok(Some(position)) if first && position > from => return Some(lost(from, position)),
                Ok(Some(_)) => first = false,
                Ok(None) if first => return Some(lost(from, recovered.end)),
                Ok(None) => return None,
                Err(error) => return Some(error.to_string()),
            }
        }
    }

    /// Fills a journal that was made with its origin: frames, counts, cursors. How many frames it was.
    ///
    /// # Errors
    /// [`RecoverError::Journal`].
    pub fn restore(&self, journal: &Journal) -> Result<u64, RecoverError> {
        let name = &journal.shape().name;
        let wrong = |what: String| RecoverError::Journal { journal: name.clone(), what };
        let Some(recovered) = self.journals.get(name) else { return Ok(0) };
        let mut writer = journal
            .restoring_writer(journal::Clock::monotonic())
            .map_err(|error| wrong(error.to_string()))?;
        let before = writer.frames();
        self.refill(recovered, &mut writer).map_err(wrong)?;
        let frames = writer.frames() - before;
        let Counts { epoch, frames: ever, tally } = recovered.counts;
        writer.finish_restoring(History { epoch, frames: ever, tally });
        for &(seat, position, keeps) in &recovered.cursors {
            journal.restore_cursor(u32::from(seat), position, keeps).map_err(|error| {
                let held = format!("{} to {}", journal.stat().oldest, journal.head());
                wrong(format!(
                    "the cursor of seat {seat} ({position}, keeps {keeps}): {error}; it holds {held}"
                ))
            })?;
        }
        Ok(frames)
    }

    /// Writes the frames; why not, in words.
    fn refill(&self, recovered: &Recovered, writer: &mut Writer) -> Result<(), String> {
        let from = recovered.from();
        let chunks = self.chunks(recovered, from);
        std::thread::scope(|scope| {
            let ahead = Ahead::start(scope, chunks).map_err(|error| error.to_string())?;
            let mut first = true;
            while let Some(read) = ahead.next() {
                let bytes = match read {
                    Ok(Piece { position, .. }) if first && position > from && !recovered.journal.loose => {
                        return Err(lost(from, position));
                    }
                    Ok(piece) => piece.bytes,
                    Err((error @ FrameError::Missing { .. }, bytes)) if recovered.journal.loose => {
                        log::warn!("{error}");
                        bytes
                    }
                    Err((error @ FrameError::Missing { .. }, _)) => {
                        return Err(format!(
                            "{error}; `--until` with an earlier time goes on from before that"
                        ));
                    }
                    Err((error, _)) => return Err(error.to_string()),
                };
                first = false;
                writer.restore(from_position(&bytes, from)).map_err(|error| error.to_string())?;
                ahead.give_back(bytes);
            }
            Ok(())
        })
    }
}

/// Of whole frames, those from a position on.
fn from_position(mut bytes: &[u8], position: u64) -> &[u8] {
    while let Some((_, size)) = raw::frame(bytes).filter(|(frame, _)| frame.position < position) {
        bytes = &bytes[size..];
    }
    bytes
}

/// The recordings in these folders: see [`only`].
fn found(folders: &[PathBuf]) -> Result<Vec<PathBuf>, RecoverError> {
    let find = |folder: &PathBuf| {
        only(folder).map_err(|source| RecoverError::Open { folder: folder.clone(), source })
    };
    folders.iter().map(find).collect()
}

/// The time just before the first cut that holds a frame of the journal behind `position`: what is recovered as of then is
/// the last that holds none. `None` when nothing behind it is recorded.
///
/// # Errors
/// [`RecoverError`]; also when none of the recordings has such a journal.
pub fn time_before(folders: &[PathBuf], name: &str, position: u64) -> Result<Option<u64>, RecoverError> {
    let mut times = Vec::new();
    let mut known = Vec::new();
    for folder in found(folders)? {
        let recording = Recording::open(&folder)
            .map_err(|source| RecoverError::Open { folder: folder.clone(), source })?;
        let Some(journal) = recording.description().journal(name) else {
            known.extend(recording.description().journals.iter().map(|journal| journal.name.clone()));
            continue;
        };
        let time = first_cut_behind(&recording, journal, position);
        let time = time.map_err(|error| RecoverError::Unfit { folder, what: error.to_string() })?;
        let begins = recording.begins();
        if let Some(least) =
            time.filter(|&time| time <= begins).and_then(|_| least(&recording, journal, begins))
        {
            let what = format!(
                "position {position} lies before all that a recovery can go back to: the first cut of the recording, of {} ({begins} \
                 ns), has it up to position {least}; name that or a later one",
                humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(begins))
            );
            return Err(RecoverError::Journal { journal: name.to_owned(), what });
        }
        times.push(time);
    }
    if times.is_empty() {
        let what = format!("it was not recorded; there are: {}", known.join(", "));
        return Err(RecoverError::Journal { journal: name.to_owned(), what });
    }
    Ok(times.into_iter().flatten().min().map(|time| time.saturating_sub(1)))
}

/// Time of the first cut with a frame of the journal behind a position.
fn first_cut_behind(
    recording: &Recording,
    journal: &RecordedJournal,
    position: u64,
) -> Result<Option<u64>, FrameError> {
    let mut chunks = recording.chunks(journal, position.saturating_add(1));
    let mut bytes = Vec::new();
    loop {
        match chunks.next(&mut bytes) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(FrameError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
        if !from_position(&bytes, position.saturating_add(1)).is_empty() {
            return Ok(Some(chunks.time()));
        }
    }
}

/// Position of the last frame of the journal in the first cut, of this time.
fn least(recording: &Recording, journal: &RecordedJournal, begins: u64) -> Option<u64> {
    let mut chunks = recording.chunks(journal, 0);
    let (mut bytes, mut least) = (Vec::new(), None);
    while let Ok(Some(_)) = chunks.next(&mut bytes)
        && chunks.time() <= begins
    {
        let mut rest = bytes.as_slice();
        while let Some((frame, size)) = raw::frame(rest) {
            least = Some(frame.position);
            rest = &rest[size..];
        }
    }
    least
}

/// The recording in a folder, or the latest of those of one instance in it.
///
/// # Errors
/// [`OpenError::Several`]: which of several instances' is meant, nobody can know.
pub fn only(folder: &Path) -> Result<PathBuf, OpenError> {
    let mut instances = Vec::new();
    runs_below(folder, &mut instances);
    instances.sort();
    instances.dedup();
    if instances.len() > 1 {
        return Err(OpenError::Several(instances));
    }
    Ok(latest(folder))
}

/// Folders below `folder` that hold recordings.
fn runs_below(folder: &Path, instances: &mut Vec<PathBuf>) {
    let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for inner in entries().filter(|path| path.is_dir()) {
        let is_run =
            std::fs::read_dir(&inner).into_iter().flatten().flatten().any(|entry| is_segment(&entry.path()));
        if is_run {
            instances.push(folder.to_owned());
        } else {
            runs_below(&inner, instances);
        }
    }
}

fn is_segment(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".seg") || path.to_string_lossy().ends_with(".seg.zst")
}

/// The folder of a recording, of several in a folder, or of several instances' in one: of the latest.
pub fn latest(folder: &Path) -> PathBuf {
    let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten();
    if entries().any(|entry| is_segment(&entry.path())) {
        return folder.to_owned();
    }
    let inner = entries().filter(|entry| entry.path().is_dir()).map(|entry| latest(&entry.path()));
    let recordings = inner.filter(|path| {
        std::fs::read_dir(path).into_iter().flatten().flatten().any(|entry| is_segment(&entry.path()))
    });
    // Names of runs sort by time. One that ended before its first cut was on disk has acknowledged nothing: what counts is
    // still the run that it went on with.
    let mut runs: Vec<PathBuf> = recordings.collect();
    runs.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    let counts = |path: &&PathBuf| match Recording::open(path) {
        Ok(recording) => recording.has_state().is_ok_and(|has_state| has_state),
        // One that is damaged is no reason to go back to an earlier one without a word.
        Err(OpenError::Description { .. }) => has_acknowledged(path),
        Err(_) => false,
    };
    runs.iter().rev().find(counts).or(runs.last()).cloned().unwrap_or_else(|| folder.to_owned())
}
