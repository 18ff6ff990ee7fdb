//! A host with a page cache and a disk of its own: a write that fails with EIO may be in the one and not in the other. The
//! recorder dies and is started again, the power goes: what was said to be on disk is there.
//!
//! `COLO_POWER_CUTS` says how many power cuts, `COLO_SEED` from which seed on.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex};

use super::tests::support::{Held, clock, description, frames, gatherer, journal, policy, write};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::medium::Medium;
use super::*;
use crate::gather::Gatherer;

/// What the disk itself holds, by file; files as the system shows them are the page cache.
#[derive(Debug)]
struct Platter {
    files: BTreeMap<u64, Vec<u8>>,
    /// So many writes fail.
    fail: u32,
    random: ChaCha8Rng,
}

impl Platter {
    fn put(&mut self, file: u64, bytes: &[u8], offset: u64) {
        let held = self.files.entry(file).or_default();
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        held.resize(held.len().max(end), 0);
        held[start..end].copy_from_slice(bytes);
    }
}

#[derive(Clone, Debug)]
struct Host(Arc<Mutex<Platter>>);

#[derive(Debug)]
struct OnHost {
    file: File,
    host: Host,
}

impl Disk for Host {
    fn medium(&self, file: File) -> Box<dyn Medium> {
        Box::new(OnHost { file, host: self.clone() })
    }
}

impl OnHost {
    fn number(&self) -> u64 {
        self.file.metadata().unwrap().ino()
    }
}

impl Medium for OnHost {
    /// Of a write that fails the page cache has as much as it likes, the disk any sectors.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut platter = self.host.0.lock().unwrap();
        if platter.fail == 0 {
            platter.put(self.number(), bytes, offset);
            return FileExt::write_all_at(&self.file, bytes, offset);
        }
        platter.fail -= 1;
        let cached = match platter.random.random_range(0..3) {
            0 => platter.random.random_range(0..=bytes.len()),
            _ => bytes.len(),
        };
        FileExt::write_all_at(&self.file, &bytes[..cached], offset)?;
        for (index, sector) in bytes[..cached].chunks(512).enumerate() {
            if platter.random.random_bool(0.4) {
                platter.put(self.number(), sector, offset + index as u64 * 512);
            }
        }
        Err(io::Error::from_raw_os_error(nix::libc::EIO))
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut platter = self.host.0.lock().unwrap();
        platter.files.entry(self.number()).or_default().resize(bytes as usize, 0);
        self.file.set_len(bytes)
    }

    /// Reports no error twice, as Linux does, and writes nothing again.
    fn sync_all(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Host {
    fn new(seed: u64) -> Host {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Host(Arc::new(Mutex::new(Platter { files: BTreeMap::new(), fail: 0, random })))
    }

    /// What was only in the page cache is lost.
    fn loses_power(&self, folder: &Path) {
        let platter = self.0.lock().unwrap();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let held = platter.files.get(&entry.metadata().unwrap().ino());
            if let Some(held) = held {
                std::fs::write(entry.path(), held).unwrap();
            }
        }
    }
}

/// What a recorder's successor finds in shared memory.
type Known = Arc<Mutex<Option<u64>>>;

/// A recorder that takes up where the one before was killed, as the process does it.
fn started(folder: &Path, journal: &journal::Journal, host: &Host, known: &Known) -> (Recorder, Gatherer) {
    let on_disk = *known.lock().unwrap();
    let ends = match Recording::open_before(folder, on_disk.unwrap_or(u64::MAX)) {
        Ok(found) => found.ends().unwrap(),
        Err(_) => Vec::new(),
    };
    let known = Arc::clone(known);
    let note = Note(Box::new(move |block| *known.lock().unwrap() = Some(block)));
    let described = description(&[journal]);
    let from = (on_disk, Some(note));
    let recorder =
        Recorder::open_on(folder, &described, policy(), clock().now(), from, Box::new(host.clone())).unwrap();
    let mut gatherer = gatherer(&[journal]);
    gatherer.pass_recorded(&ends).unwrap();
    (recorder, gatherer)
}

/// As `kill -9`: nothing is closed.
fn killed((mut recorder, gatherer): (Recorder, Gatherer)) {
    recorder.segment = None;
    drop((recorder, gatherer));
}

#[test]
fn what_was_said_to_be_on_disk_survives_errors_deaths_and_the_end_of_the_power() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (cuts, first) = (number("COLO_POWER_CUTS", 60), number("COLO_SEED", 0));
    let (mut failed, mut deaths, mut said_to_be_there, mut lost, mut doubled) = (0_u64, 0_u64, 0, 0, 0);
    for seed in first..first + cuts {
        let mut random = ChaCha8Rng::seed_from_u64(1_000 + seed);
        let folder = tempfile::tempdir().unwrap();
        let (host, known) = (Host::new(seed), Known::default());
        let journal = journal(1, "orders", 1 << 16);
        let mut writer = journal.writer(0, clock()).unwrap();
        let mut held: Vec<Held> = Vec::new();
        let mut life = started(folder.path(), &journal, &host, &known);
        for _ in 0..random.random_range(4..24) {
            for _ in 0..random.random_range(1..8) {
                let payload = vec![held.len() as u8; random.random_range(0..400)];
                held.push(write(&mut writer, 1, 0, &payload));
            }
            let fails = if random.random_bool(0.4) { random.random_range(1..4) } else { 0 };
            host.0.lock().unwrap().fail = fails;
            let (recorder, gatherer) = &mut life;
            let result = gatherer.cut(recorder, clock().now(), |_, _| ());
            assert_eq!(result.is_err(), fails > 0, "seed {seed}");
            failed += u64::from(fails > 0);
            if random.random_bool(0.4) {
                killed(life);
                host.0.lock().unwrap().fail = 0;
                life = started(folder.path(), &journal, &host, &known);
                deaths += 1;
            }
        }
        let said = journal.durable().unwrap();
        if random.random_bool(0.5) {
            killed(life);
        } else {
            drop(life);
        }
        host.loses_power(folder.path());
        let recording = Recording::open(folder.path()).unwrap();
        let (found, missing) = frames(&recording, "orders");
        assert_eq!(missing, [], "seed {seed}");
        let acknowledged = held.iter().take_while(|frame| frame.0 < said).count();
        let there: BTreeSet<u64> = found.iter().map(|frame| frame.0).collect();
        let missed = held[..acknowledged].iter().filter(|frame| !there.contains(&frame.0)).count();
        said_to_be_there += acknowledged;
        lost += missed;
        doubled += found.len() - there.len();
        assert_eq!((missed, found.len()), (0, there.len()), "seed {seed}: lost and doubled");
        assert_eq!(found[..], held[..found.len()], "seed {seed}");
    }
    println!(
        "{cuts} power cuts from seed {first} on, {failed} failed writes, {deaths} deaths of the recorder: {said_to_be_there} \
         messages were acknowledged, {lost} of them lost, {doubled} doubled"
    );
    let least = cuts + cuts / 2;
    assert!(failed > least && deaths > least, "{failed} errors, {deaths} deaths: this shows nothing");
}
