//! What need not be done by whoever records: preparing segments, closing, compressing and removing them.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::compress;
use super::retain::{self, Keep};
use super::segment::Unclosed;

/// What a recorder does with its segments.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// Level of zstd; `None` leaves closed segments as they are.
    pub compress: Option<i32>,
}

enum Task {
    Close(Box<Unclosed>),
    Prepare,
    Keep(Keep),
}

/// How often it is looked whether a segment is too old, while none is closed.
const LOOK: Duration = Duration::from_secs(30);

/// So many closed segments are compressed before the thread ends; it must not keep a recorder that stops.
const AT_THE_END: usize = 4;

/// A thread with the slow work.
#[derive(Debug)]
pub(crate) struct Background {
    folder: PathBuf,
    tasks: Option<Sender<Task>>,
    spares: Receiver<io::Result<PathBuf>>,
    thread: Option<JoinHandle<()>>,
    /// A spare was asked for and has not come yet.
    awaited: bool,
    /// One that came and was not taken.
    ready: Option<PathBuf>,
    /// Bytes of a segment.
    segment_bytes: u64,
    /// The last one could not be prepared, which is said once.
    failing: bool,
}

impl Background {
    /// Starts the thread; it prepares a segment at once.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(folder: PathBuf, policy: Policy) -> io::Result<Background> {
        let (tasks, inbox) = channel();
        let (outbox, spares) = channel();
        let (at, segment_bytes) = (folder.clone(), policy.segment_bytes);
        let thread = std::thread::Builder::new()
            .name("segments".to_owned())
            .spawn(move || work(&folder, &policy, &inbox, &outbox))?;
        let mut background = Background {
            folder: at,
            tasks: Some(tasks),
            spares,
            thread: Some(thread),
            awaited: false,
            ready: None,
            segment_bytes,
            failing: false,
        };
        background.prepare();
        Ok(background)
    }

    fn prepare(&mut self) {
        if let Some(tasks) = &self.tasks {
            self.awaited = tasks.send(Task::Prepare).is_ok();
        }
    }

    /// A prepared segment, if one is ready; the next is begun then.
    pub(crate) fn take_spare(&mut self) -> Option<PathBuf> {
        if let Some(ready) = self.ready.take() {
            self.prepare();
            return Some(ready);
        }
        if !self.awaited {
            self.prepare();
            return None;
        }
        let spare = self.spares.try_recv().ok()?;
        self.prepare();
        let was_failing = std::mem::replace(&mut self.failing, spare.is_err());
        let say = |error: &io::Error| match super::free(&self.folder) {
            Some(free) if error.raw_os_error() == Some(nix::errno::Errno::ENOSPC as i32) => log::warn!(
                "no segment could be prepared: {error}; it takes {} bytes, {free} are free",
                self.segment_bytes
            ),
            _ => log::warn!("no segment could be prepared: {error}"),
        };
        spare
            .inspect_err(|error| {
                if !was_failing {
                    say(error)
                }
            })
            .ok()
    }

    /// Waits until a segment is prepared.
    pub(crate) fn wait_for_spare(&mut self) {
        if self.ready.is_none()
            && self.awaited
            && let Ok(spare) = self.spares.recv()
        {
            self.awaited = false;
            self.ready = spare.ok();
        }
    }

    /// Removes from now on what is not to be kept.
    pub(crate) fn keep(&mut self, keep: Keep) {
        if let Some(tasks) = &self.tasks {
            let _sent = tasks.send(Task::Keep(keep));
        }
    }

    /// Closes a segment, and compresses it once there is nothing else to do: of what waits for that only the name is kept.
    pub(crate) fn close(&mut self, segment: Unclosed) {
        if let Some(tasks) = &self.tasks {
            // The thread ends only when this sender is gone.
            let _sent = tasks.send(Task::Close(Box::new(segment)));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that closes segments has panicked");
        }
        let _left = remove_unfinished(&self.folder);
    }
}

fn work(folder: &Path, policy: &Policy, inbox: &Receiver<Task>, outbox: &Sender<io::Result<PathBuf>>) {
    let mut spares = (0_u64..).map(|number| folder.join(format!("spare-{number}.tmp")));
    let mut keep: Option<Keep> = None;
    // Something has changed since old segments were removed last, and when that may be done again.
    let (mut is_due, mut next) = (false, Instant::now());
    // Closed, and not compressed yet.
    let mut plain: VecDeque<PathBuf> = VecDeque::new();
    loop {
        let wait = match (is_due && keep.is_some(), plain.is_empty()) {
            (_, false) => Duration::ZERO,
            (true, true) => next.saturating_duration_since(Instant::now()),
            (false, true) => LOOK,
        };
        let task = inbox.recv_timeout(wait);
        if matches!(task, Err(RecvTimeoutError::Disconnected)) {
            break;
        }
        // For a tenth of the time at most. Also if there always is something else to do: else a recording that is written
        // without a pause would keep everything.
        if task.is_err() && plain.is_empty() || is_due && keep.is_some() && next <= Instant::now() {
            let start = Instant::now();
            retain(folder, keep.as_mut());
            (is_due, next) = (false, Instant::now() + start.elapsed() * 10);
        }
        let Ok(task) = task else {
            compress_one(&mut plain, policy);
            continue;
        };
        match task {
            Task::Keep(wanted) => {
                keep = Some(wanted);
                is_due = true;
            }
            Task::Prepare => {
                let Some(spare) = spares.next() else { break };
                let prepared = prepare(&spare, policy.segment_bytes).inspect_err(|_| {
                    // It may hold what room there is left.
                    let _gone = std::fs::remove_file(&spare);
                });
                if outbox.send(prepared).is_err() {
                    break;
                }
            }
            Task::Close(segment) => {
                match segment.close() {
                    Ok(path) if policy.compress.is_some() => plain.push_back(path),
                    Ok(_) => {}
                    Err(error) => {
                        log::error!("a segment could not be closed; it can be read as it is: {error}");
                    }
                }
                is_due = true;
            }
        }
    }
    for _ in 0..AT_THE_END {
        compress_one(&mut plain, policy);
    }
    if !plain.is_empty() {
        log::warn!("{} segments stay as they are: there was no time to compress them", plain.len());
    }
}

fn compress_one(plain: &mut VecDeque<PathBuf>, policy: &Policy) {
    let Some((path, level)) = plain.pop_front().zip(policy.compress) else { return };
    match compress::compress(&path, level) {
        // Retention was quicker.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => log::error!("a segment could not be compressed; it can be read as it is: {error}"),
        Ok(_) => {}
    }
}

fn retain(folder: &Path, keep: Option<&mut Keep>) {
    let Some(keep) = keep else { return };
    match retain::retain(folder, keep, retain::now()) {
        Ok(done) => {
            if done.removed > 0 {
                log::info!("removed {} old segments of {} bytes", done.removed, done.removed_bytes);
            }
            // Said once, not after each segment.
            if done.is_over && !std::mem::replace(&mut keep.was_over, true) {
                log::warn!(
                    "the recordings take {} bytes, more than keep_bytes: a recovery needs all of what is left",
                    done.left_bytes
                );
            }
        }
        Err(error) => log::warn!("old segments could not be removed: {error}"),
    }
}

/// Removes what was begun and never became a part of the recording.
pub(super) fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tmp") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Zeros, on disk: writing into them later changes no metadata, so a sync of that is one write.
fn prepare(path: &Path, bytes: u64) -> io::Result<PathBuf> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(path)?;
    nix::fcntl::posix_fallocate(&file, 0, bytes as i64)?;
    let zeros = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let some = left.min(zeros.len() as u64);
        file.write_all(&zeros[..some as usize])?;
        left -= some;
    }
    file.sync_all()?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::convert::Infallible;

    use super::*;
    use crate::format::{Description, Kind};
    use crate::read::Recording;
    use crate::write::Recorder;

    const POLICY: Policy = Policy { segment_bytes: 1 << 16, compress: None };

    /// Some segments, with a state each.
    fn record(folder: &Path) {
        let description = Description {
            instance: "t".into(),
            recorder: "r".into(),
            program: "0".into(),
            messages: u32::from(wire::schema::VERSION),
            journal_format: journal::layout::FORMAT_VERSION,
            topology: serde_json::Value::Null,
            journals: Vec::new(),
        };
        let mut recorder = Recorder::open(folder, &description, POLICY, 1).unwrap();
        for time in 2..5 {
            let batch = recorder.begin_cut(time).unwrap();
            let Ok(_) = batch.block(Kind::Cursors, 0, |bytes| {
                bytes.extend_from_slice(&[0; 24]);
                Ok::<_, Infallible>((0, 0))
            });
            recorder.close_cut().unwrap();
            recorder.begin_segment(time).unwrap();
        }
    }

    #[test]
    fn old_segments_go_although_there_always_is_something_else_to_do() {
        let runs = tempfile::tempdir().unwrap();
        let (old, new) = (runs.path().join("1"), runs.path().join("2"));
        record(&old);
        record(&new);
        let (tasks, inbox) = channel();
        let (outbox, _spares) = channel();
        tasks.send(Task::Keep(Keep::new(runs.path().to_owned(), Some(1), Duration::ZERO))).unwrap();
        tasks.send(Task::Prepare).unwrap();
        drop(tasks);
        work(&new, &POLICY, &inbox, &outbox);
        assert!(Recording::open(&old).is_err(), "nothing of it is needed");
        assert!(Recording::open(&new).unwrap().state(|_, _| 0).is_ok());
    }

    #[test]
    fn segments_that_close_faster_than_they_are_compressed_keep_nothing_waiting() {
        const SEGMENTS: usize = 12;
        let folder = tempfile::tempdir().unwrap();
        record(folder.path());
        let description = Recording::open(folder.path()).unwrap().description().clone();
        let mut recorder = Recorder::open(folder.path(), &description, POLICY, 10).unwrap();
        let (tasks, inbox) = channel();
        let (outbox, spares) = channel();
        for time in 11..11 + SEGMENTS as u64 {
            recorder.begin_cut(time).unwrap();
            recorder.close_cut().unwrap();
            let (next, chain, time) = recorder.whole;
            let closed = recorder.segment.take().unwrap().finish(next, chain, time);
            tasks.send(Task::Close(Box::new(closed))).unwrap();
            recorder.begin_segment(time).unwrap();
        }
        tasks.send(Task::Prepare).unwrap();
        drop(tasks);
        work(folder.path(), &Policy { compress: Some(3), ..POLICY }, &inbox, &outbox);
        assert!(spares.recv().unwrap().is_ok());
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let compressed = names.filter(|name| name.to_string_lossy().ends_with(".zst")).count();
        assert_eq!(compressed, AT_THE_END, "all were closed before one was compressed");
        drop(recorder);
        let recording = Recording::open(folder.path()).unwrap();
        assert!(recording.verify().unwrap().is_clean());
        assert!(recording.segments().len() > SEGMENTS);
    }
}
