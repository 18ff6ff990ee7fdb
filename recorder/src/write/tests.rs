//! Disks with faults, which no test can have from outside: a write that fails with EIO after it has written a part, and
//! one that takes long.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../tests/support/mod.rs"]
pub(super) mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{clock, description, frames, gatherer, journal, policy, write};

use super::medium::Medium;
use super::*;
use crate::gather::GatherError;

/// What the disk does next.
#[derive(Debug, Default)]
struct Faults {
    /// So many writes fail, after the first half of their bytes.
    fail: u32,
    /// Every write takes so long.
    slow: Duration,
    /// Syncs and changes of length fail too.
    dead: bool,
    /// The largest write.
    largest: usize,
}

#[derive(Debug)]
struct Faulty {
    file: File,
    faults: Arc<Mutex<Faults>>,
}

#[derive(Debug)]
struct FaultyDisk {
    faults: Arc<Mutex<Faults>>,
}

impl Disk for FaultyDisk {
    fn medium(&self, file: File) -> Box<dyn Medium> {
        Box::new(Faulty { file, faults: Arc::clone(&self.faults) })
    }
}

fn eio() -> io::Error {
    io::Error::from_raw_os_error(nix::libc::EIO)
}

impl Medium for Faulty {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut faults = self.faults.lock().unwrap();
        faults.largest = faults.largest.max(bytes.len());
        let (fails, slow) = (faults.fail > 0 || faults.dead, faults.slow);
        faults.fail = faults.fail.saturating_sub(1);
        drop(faults);
        std::thread::sleep(slow);
        if fails {
            Medium::write_all_at(&self.file, &bytes[..bytes.len() / 2], offset)?;
            return Err(eio());
        }
        Medium::write_all_at(&self.file, bytes, offset)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        if self.faults.lock().unwrap().dead { Err(eio()) } else { File::set_len(&self.file, bytes) }
    }

    fn sync_all(&self) -> io::Result<()> {
        if self.faults.lock().unwrap().dead { Err(eio()) } else { File::sync_all(&self.file) }
    }
}

fn on_faulty(folder: &Path, journal: &journal::Journal, faults: &Arc<Mutex<Faults>>) -> Recorder {
    let disk = Box::new(FaultyDisk { faults: Arc::clone(faults) });
    let mut recorder =
        Recorder::open_on(folder, &description(&[journal]), policy(), clock().now(), (None, None), disk)
            .unwrap();
    recorder.say_when_synced(clock());
    recorder
}

#[test]
fn after_an_error_of_the_disk_the_next_segment_has_all_that_the_broken_one_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let faults = Arc::new(Mutex::new(Faults::default()));
    let mut recorder = on_faulty(folder.path(), &journal, &faults);
    let mut gatherer = gatherer(&[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut held = Vec::new();
    let mut broken = Vec::new();
    for round in 0..12_u64 {
        held.push(write(&mut writer, 1, 0, &[round as u8; 100]));
        let (segment, durable) = (recorder.segment(), journal.durable());
        // In turns: the cut itself; and the head of the segment after it; and the description behind that.
        let fail = (round % 4) as u32;
        faults.lock().unwrap().fail = fail;
        for _ in 0..fail {
            let error = gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap_err();
            let GatherError::Write(error) = error else { panic!("{error}") };
            let WriteError::Disk { source, .. } = &error else { panic!("{error}") };
            assert_eq!(source.raw_os_error(), Some(nix::libc::EIO), "{error}");
            assert!(!error.is_full() && error.to_string().contains(".seg"), "it names the file: {error}");
            assert_eq!(journal.durable(), durable, "nothing is said to be on disk that is not");
            assert!(journal.head() > durable.unwrap(), "its writer holds it for us");
        }
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        assert_eq!(journal.durable(), Some(journal.head()));
        match fail {
            0 => assert_eq!(recorder.segment(), segment),
            _ => {
                assert!(recorder.segment() > segment, "it does not write behind an error");
                broken.push(segment);
            }
        }
        assert_eq!(frames(&Recording::open(folder.path()).unwrap(), "orders"), (held.clone(), Vec::new()));
    }
    drop(recorder);
    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!(frames(&recording, "orders"), (held.clone(), Vec::new()));
    let faults: Vec<_> =
        recording.verify().unwrap().findings.into_iter().filter(|found| found.kind.is_fault()).collect();
    assert!(faults.is_empty() && broken.len() == 9, "{broken:?}: {faults:?}");
    // The times go on too, but for the last, which nothing follows.
    let orders = recording.description().journal("orders").unwrap();
    for (position, time, ..) in &held[..held.len() - 1] {
        assert!(recording.synced(orders, *position).unwrap() > Some(*time));
    }
}

#[test]
fn a_disk_that_is_gone_for_good_is_an_error_each_time_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let faults = Arc::new(Mutex::new(Faults::default()));
    let mut recorder = on_faulty(folder.path(), &journal, &faults);
    let mut gatherer = gatherer(&[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    let kept = write(&mut writer, 1, 0, b"kept");
    gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
    faults.lock().unwrap().dead = true;
    write(&mut writer, 1, 0, b"not kept");
    for _ in 0..50 {
        assert!(gatherer.cut(&mut recorder, clock().now(), |_, _| ()).is_err());
    }
    recorder.write_idle(clock().now());
    drop(recorder);
    assert_eq!(frames(&Recording::open(folder.path()).unwrap(), "orders"), (vec![kept], Vec::new()));
}

/// The batch is what gathered while the disk was busy: it must not grow with the disk's slowness.
#[test]
fn a_slow_disk_holds_the_writer_up_and_takes_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    let capacity = 1 << 21;
    let journal = journal(1, "orders", capacity);
    let slow = Faults { slow: Duration::from_millis(3), ..Faults::default() };
    let faults = Arc::new(Mutex::new(slow));
    let mut recorder = on_faulty(folder.path(), &journal, &faults);
    let mut gatherer = gatherer(&[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    let (mut held, mut full, mut tries) = (Vec::new(), 0_u64, 0_u64);
    let recorded = std::thread::scope(|scope| {
        let recording = scope.spawn(|| {
            let mut frames = 0;
            while frames < 20_000 {
                frames += gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap().frames;
                std::thread::yield_now();
            }
            frames
        });
        while held.len() < 20_000 {
            tries += 1;
            match writer.write(1, 0, &[held.len() as u8; 900]) {
                Ok(written) => held.push((written.position, written.time, 1, 0, vec![held.len() as u8; 900])),
                Err(_) => {
                    full += 1;
                    std::thread::yield_now();
                }
            }
        }
        recording.join().unwrap()
    });
    assert_eq!(recorded, 20_000);
    assert!(full > 0 && tries > 20_000, "the ring was never full: this shows nothing");
    let largest = faults.lock().unwrap().largest;
    assert!(largest as u64 <= capacity + (1 << 16), "{largest} bytes in one write, of a ring of {capacity}");
    assert!(recorder.batch.room() as u64 <= 4 * capacity, "{} bytes of memory", recorder.batch.room());
    drop(recorder);
    assert_eq!(frames(&Recording::open(folder.path()).unwrap(), "orders"), (held, Vec::new()));
}

#[test]
fn a_disk_without_room_for_two_segments_is_named_with_what_is_needed_and_what_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("00000001.seg");
    let full = io::Error::from_raw_os_error(nix::errno::Errno::ENOSPC as i32);
    let error = WriteError::of_segment(path.clone(), full, 1 << 20);
    assert!(error.is_full());
    let WriteError::NoRoom { need, free, .. } = &error else { panic!("{error}") };
    assert_eq!(*need, 2 << 20);
    let said = error.to_string();
    assert!(said.contains("take 2097152 bytes") && said.contains(&format!("{free} are free")), "{said}");
    // Room on the disk is not what a limit for files lacks.
    let limited = io::Error::from_raw_os_error(nix::errno::Errno::EFBIG as i32);
    let error = WriteError::of_segment(path, limited, 1 << 20);
    assert!(error.is_full() && !error.to_string().contains("free"), "{error}");
}
