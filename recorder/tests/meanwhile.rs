//! A recording is read while its recorder compresses and removes segments.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use recorder::read::{FindingKind, REMOVED_LIST, Recording};
use recorder::write::{Policy, Recorder};
use support::{Held, clock, description, frames, gatherer, journal, write};

/// A run with many compressed segments.
fn run(folder: &Path) -> Vec<Held> {
    let orders = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&orders]);
    let policy = Policy { segment_bytes: 1 << 17, compress: Some(1) };
    let mut recorder = Recorder::open(folder, &description(&[&orders]), policy, clock().now()).unwrap();
    let mut writer = orders.writer(0, clock()).unwrap();
    let mut held = Vec::new();
    for number in 0..3_000_u64 {
        held.push(write(&mut writer, 1, 0, &[number as u8; 200]));
        if number % 40 == 0 {
            gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        }
    }
    gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
    held
}

/// Puts the plain segments back in the place of the compressed ones; those, to be put back again.
fn as_before_compression(folder: &Path, aside: &Path) -> Vec<PathBuf> {
    let mut taken = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "zst") {
            let bytes = zstd::decode_all(fs::File::open(&path).unwrap()).unwrap();
            fs::write(path.with_extension(""), bytes).unwrap();
            fs::rename(&path, aside.join(path.file_name().unwrap())).unwrap();
            taken.push(path);
        }
    }
    taken
}

#[test]
fn segments_that_are_compressed_while_they_are_read_are_read_on() {
    let (folder, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let held = run(folder.path());
    let taken = as_before_compression(folder.path(), aside.path());
    assert!(taken.len() > 3, "{}", taken.len());
    let recording = Recording::open(folder.path()).unwrap();
    for path in taken {
        fs::rename(aside.path().join(path.file_name().unwrap()), &path).unwrap();
        fs::remove_file(path.with_extension("")).unwrap();
    }
    assert_eq!(frames(&recording, "orders"), (held.clone(), Vec::new()));
    let verified = recording.verify().unwrap();
    assert!(verified.is_clean(), "{:?}", verified.findings);
    let orders = recording.description().journal("orders").unwrap();
    assert_eq!(recording.last_frame(orders).unwrap(), held.last().map(|last| (last.0, last.1)));
    recording.syncs().unwrap();
    assert!(recording.segments().iter().all(|segment| segment.file_bytes().is_some()));
}

#[test]
fn a_segment_that_is_removed_while_it_is_read_is_named_as_removed_and_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let held = run(folder.path());
    let recording = Recording::open(folder.path()).unwrap();
    let gone = &recording.segments()[1];
    let line = format!(
        r#"{{"segment":{},"first_block":{},"blocks_end":{},"last_time_ns":1,"bytes":1,"removed_ns":2}}"#,
        gone.head.number, gone.head.first_block, gone.blocks_end
    );
    fs::write(folder.path().join(REMOVED_LIST), line + "\n").unwrap();
    fs::remove_file(&gone.path).unwrap();
    let (there, missing) = frames(&recording, "orders");
    assert!(there.len() < held.len() && there.last() == held.last());
    assert_eq!(missing.len(), 1, "{missing:?}");
    let verified = recording.verify().unwrap();
    assert!(verified.is_clean(), "{:?}", verified.findings);
    let removed: Vec<_> =
        verified.findings.iter().filter(|finding| finding.kind == FindingKind::Removed).collect();
    assert_eq!(removed.len(), 1, "{:?}", verified.findings);
    assert_eq!(removed[0].segment, Some(gone.head.number.get()));
    // Not listed: then it is damage.
    fs::remove_file(folder.path().join(REMOVED_LIST)).unwrap();
    assert!(!recording.verify().unwrap().is_clean());
}
