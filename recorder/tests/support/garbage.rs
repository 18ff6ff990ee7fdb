//! The recording of `tests/vectors`, damaged as some bytes say, and everything done with it that the crate can do.

use std::fs;
use std::path::{Path, PathBuf};

use recorder::read::{FrameError, Recording, index, scan};
use recorder::recover::Recovery;

/// More frames than all segments could have are a loop.
const MOST_FRAMES: u64 = 1 << 20;

/// The files of the vectors.
pub(crate) struct Template {
    files: Vec<(String, Vec<u8>)>,
    folder: PathBuf,
}

impl Template {
    /// With a folder to put damaged recordings into.
    pub(crate) fn new(vectors: &Path, folder: &Path) -> Template {
        let mut files = Vec::new();
        for entry in fs::read_dir(vectors).expect("the vectors") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, fs::read(&path).expect("a file")));
        }
        files.sort();
        Template { files, folder: folder.to_owned() }
    }

    /// Damages the recording and reads it; how many frames were found.
    pub(crate) fn exercise(&self, data: &[u8]) -> u64 {
        let (&mode, rest) = data.split_first().unwrap_or((&0, &[]));
        let mut files = self.files.clone();
        match mode % 4 {
            // Any bytes at all.
            0 => {
                let which = usize::from(mode >> 2) % files.len();
                files[which].1 = rest.to_vec();
            }
            // Fields changed; half of the time the checksums are made right again.
            _ => {
                for change in rest.chunks_exact(8) {
                    apply(&mut files, change);
                }
                if mode & 4 == 0 {
                    files
                        .iter_mut()
                        .filter(|(name, _)| name.ends_with(".seg"))
                        .for_each(|(_, bytes)| seal(bytes));
                }
            }
        }
        for (name, bytes) in &files {
            fs::write(self.folder.join(name), bytes).expect("written");
        }
        read_all(&self.folder)
    }
}

/// File, what to do, offset, value.
fn apply(files: &mut [(String, Vec<u8>)], change: &[u8]) {
    let which = usize::from(change[0]) % files.len();
    let bytes = &mut files[which].1;
    let at = usize::from(u16::from_le_bytes([change[2], change[3]]));
    let value = u64::from(u32::from_le_bytes([change[4], change[5], change[6], change[7]]));
    if bytes.is_empty() {
        return;
    }
    let at = at % bytes.len();
    match change[1] % 6 {
        0 => bytes[at] ^= 1 << (value % 8),
        1 => bytes[at] = value as u8,
        // A whole word, small or near the end of what there is.
        2 => put(bytes, at / 8 * 8, value),
        3 => put(bytes, at / 8 * 8, u64::MAX - value),
        4 => bytes.truncate(at),
        _ => bytes.resize(bytes.len() + (value % 4_096) as usize, change[4]),
    }
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    let end = bytes.len().min(at + 8);
    bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
}

/// Makes the checksums of the head and of all blocks right.
fn seal(bytes: &mut [u8]) {
    if bytes.len() >= 64 {
        let crc = crc32c::crc32c(&bytes[..60]);
        bytes[60..64].copy_from_slice(&crc.to_le_bytes());
    }
    for at in (64..bytes.len()).step_by(64) {
        let Some(head) = bytes.get(at..at + 64).filter(|head| head.starts_with(b"CBLK")) else { continue };
        let length = u32::from_le_bytes([head[12], head[13], head[14], head[15]]) as usize;
        if let Some(covered) = bytes.get(at + 8..(at + 64).saturating_add(length)) {
            let crc = crc32c::crc32c(covered);
            bytes[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
        }
    }
}

/// Errors are right, panics and loops are not.
fn read_all(folder: &Path) -> u64 {
    let mut frames = 0;
    for until in [u64::MAX, 1_795_242_600_000_007_000] {
        let Ok(recording) = Recording::open_until(folder, until) else { continue };
        let _verified = recording.verify();
        let _ends = recording.ends();
        let _state = recording.state(|id, _| usize::from(id));
        let _unfinished = recording.unfinished();
        let _missing = recording.missing();
        for segment in recording.segments() {
            let _index = index(segment);
            let _scan = scan(segment);
        }
        for journal in &recording.description().journals {
            let _last = recording.last_frame(journal);
            for (position, time) in
                [(0, 0), (65_664, 0), (0, 1_795_242_600_000_006_000), (u64::MAX, u64::MAX)]
            {
                frames += count(&recording, journal, position, time);
            }
        }
    }
    let _recovery = Recovery::open(&[folder.to_owned()], None);
    frames
}

fn count(
    recording: &Recording,
    journal: &recorder::format::RecordedJournal,
    position: u64,
    time: u64,
) -> u64 {
    let mut reader = recording.frames_since(journal, position, time);
    let mut frames = 0;
    loop {
        match reader.next() {
            Ok(Some(_)) => frames += 1,
            Ok(None) | Err(FrameError::Disk { .. } | FrameError::Relabelled { .. }) => return frames,
            Err(FrameError::Missing { .. }) => {}
        }
        assert!(frames < MOST_FRAMES, "a loop");
    }
}
