//! Files that are foreign, incomplete, of another version, or in use; file systems that are full.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use journal::{CreateError, Journal, JournalFiles, JournalShape, OpenError, ReadError, Registry, layout};
use support::{SMALL, clock, peek, poke};

fn message(path: &Path, error: impl std::fmt::Display) -> String {
    let message = error.to_string();
    assert!(message.contains(&path.display().to_string()), "says which file: {message}");
    message
}

#[test]
fn a_foreign_file_is_refused() {
    let (_directory, files, _) = support::journal(SMALL);
    poke(&files.control, layout::control::MAGIC, u64::from_le_bytes(*b"NOTCOLO!"));
    let error = Journal::open(files.clone()).unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert!(message(&files.control, error).contains("is no colo journal control file"));
    let registry = files.control.with_file_name("registry");
    fs::write(&registry, vec![7; layout::registry_bytes(64) as usize]).unwrap();
    let error = Registry::open(&registry).unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert!(message(&registry, error).contains("is no colo registry"));
}

#[test]
fn another_version_is_refused_with_both_in_the_message() {
    let ours = layout::FORMAT_VERSION;
    for version in [0, ours + 1, 77] {
        let (_directory, files, _) = support::journal(SMALL);
        poke(&files.control, layout::control::VERSION, u64::from(version));
        let error = Journal::open(files.clone()).unwrap_err();
        let text = message(&files.control, error);
        assert!(text.contains(&format!("format {version}")), "{text}");
        assert!(text.contains(&format!("reads format {ours}")), "{text}");
    }
    // Same version, other offsets: a build between two versions.
    let (_directory, files, _) = support::journal(SMALL);
    poke(&files.control, layout::control::LAYOUT_HASH, 0x1234);
    let text = message(&files.control, Journal::open(files.clone()).unwrap_err());
    assert!(text.contains("0x0000000000001234") && text.contains("laid out otherwise"), "{text}");
    assert!(!text.contains("reads format"), "no version against itself: {text}");
    assert!(text.contains(&format!("{:#018x}", layout::layout_hash())), "{text}");
    let registry = files.control.with_file_name("registry");
    Registry::create(&registry, 64, clock()).unwrap();
    poke(&registry, layout::registry::VERSION, u64::from(ours) + 1);
    let text = message(&registry, Registry::open(&registry).unwrap_err());
    assert!(
        text.contains(&format!("format {}", ours + 1)) && text.contains(&format!("format {ours}")),
        "{text}"
    );
}

#[test]
fn positions_that_continue_too_low_begin_at_the_capacity_of_the_ring() {
    let directory = support::directory();
    for (first, expected) in [(0, SMALL), (64, SMALL), (SMALL, SMALL), (SMALL + 64, SMALL + 64)] {
        let origin = journal::Origin { first_position: first, ..journal::Origin::new(1) };
        let files = support::files(&directory, "t");
        let journal = Journal::create_from(files.clone(), support::shape("t", SMALL), origin).unwrap();
        assert_eq!((journal.first_position(), journal.head()), (expected, expected));
        for word in [layout::control::FIRST, layout::control::HEAD, layout::control::INTENT] {
            assert_eq!(peek(&files.control, word), expected);
        }
        for word in [layout::control::FRAMES, layout::control::LAST_TIME, layout::control::EPOCH] {
            assert_eq!(peek(&files.control, word), 0);
        }
        assert_eq!(fs::metadata(files.lock()).unwrap().len(), 16);
    }
}

/// Without the intent a loose reader would never find itself lapped.
#[test]
fn nobody_reads_or_writes_where_the_intent_lies_before_the_head() {
    let (_directory, files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    for _ in 0..160 {
        writer.write(1, 0, b"text").unwrap();
    }
    drop(writer);
    let first = journal.first_position();
    for intent in [0, first, journal.head() - 64] {
        poke(&files.control, layout::control::INTENT, intent);
        for error in [
            journal.observe(first).map(drop).unwrap_err(),
            journal.loose_at(5, first).map(drop).unwrap_err(),
            journal.gated(5).map(drop).unwrap_err(),
            journal.writer(0, clock()).map(drop).unwrap_err(),
            journal.oldest_frame().map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, OpenError::Damaged { .. }), "{intent}: {error}");
            message(&files.control, error);
        }
        assert!(!journal.verify().is_clean());
    }
    assert!(journal.stat().readers.is_empty(), "who could not read has no cursor");
}

#[test]
fn truncated_files_are_refused() {
    for bytes in [0, 1, 7, 8, 1_000, 1_024, 4_096, 8_191, 8_192 + 8] {
        let (_directory, files, journal) = support::journal(SMALL);
        let whole = fs::metadata(&files.control).unwrap().len();
        assert_eq!(whole, layout::control_bytes(64, 16));
        fs::OpenOptions::new().write(true).open(&files.control).unwrap().set_len(bytes).unwrap();
        drop(journal);
        let error = Journal::open(files.clone()).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "{bytes}: {error}");
        message(&files.control, error);
    }
    for bytes in [0, 4_096, SMALL - 1, SMALL + 4_096] {
        let (_directory, files, journal) = support::journal(SMALL);
        fs::OpenOptions::new().write(true).open(&files.ring).unwrap().set_len(bytes).unwrap();
        for error in [
            journal.writer(0, clock()).map(drop).unwrap_err(),
            journal.gated(0).map(drop).unwrap_err(),
            journal.loose(0).map(drop).unwrap_err(),
            journal.loose_from_start().map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, OpenError::Damaged { .. }), "{bytes}: {error}");
            message(&files.ring, error);
        }
        assert!(journal.stat().readers.is_empty(), "who could not read has no cursor");
    }
    let directory = support::directory();
    let registry = directory.path().join("registry");
    for bytes in [0, 8, 4_096, layout::registry_bytes(64) - 1, layout::registry_bytes(64) + 4_096] {
        Registry::create(&registry, 64, clock()).unwrap();
        fs::OpenOptions::new().write(true).open(&registry).unwrap().set_len(bytes).unwrap();
        assert!(matches!(Registry::open(&registry), Err(OpenError::Damaged { .. })), "{bytes}");
    }
}

#[test]
fn a_header_that_contradicts_itself_is_refused() {
    use layout::control as at;
    let page = |shift: u64| 7 | shift << 32;
    let cases = [
        (at::CAPACITY, 0),
        (at::CAPACITY, SMALL + 64),
        (at::CAPACITY, 1 << 63),
        (at::TABLES, 64),
        (at::TABLES, 16 << 32),
        (at::TABLES, 65 | 16 << 32),
        (at::TABLES, 128 | 4_000 << 32),
        (at::TABLES, u64::MAX),
        (at::MAX_PAYLOAD, 1 << 40),
        (at::ID, page(0)),
        (at::ID, page(40)),
        (at::ID, page(200)),
        (at::NAME, 0),
        (at::NAME, u64::MAX),
        (at::NAME, u64::from_le_bytes(*b"../../et")),
    ];
    for (word, value) in cases {
        let (_directory, files, _) = support::journal(SMALL);
        poke(&files.control, word, value);
        let error = Journal::open(files.clone()).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "word {word} = {value:#x}: {error}");
        message(&files.control, error);
    }
    println!("{} contradictions refused", cases.len());
}

#[test]
fn what_is_not_there_or_forbidden_says_so() {
    let directory = support::directory();
    let files = support::files(&directory, "t");
    let error = Journal::open(files.clone()).unwrap_err();
    assert!(message(&files.control, error).starts_with("cannot open"));
    let journal = Journal::create(files.clone(), support::shape("t", SMALL), 1).unwrap();
    fs::remove_file(&files.ring).unwrap();
    message(&files.ring, journal.loose(0).unwrap_err());
    drop(journal);
    let journal = Journal::open_read_only(files.clone()).unwrap();
    for error in [
        journal.writer(0, clock()).map(drop).unwrap_err(),
        journal.gated(0).map(drop).unwrap_err(),
        journal.loose(0).map(drop).unwrap_err(),
        journal.admit_gated(0).unwrap_err(),
        journal.dismiss(0).unwrap_err(),
        journal.set_interest(0, None).unwrap_err(),
    ] {
        assert!(message(&files.control, error).contains("read-only"));
    }
    let missing = JournalFiles::new(Path::new("/nowhere"), Path::new("/nowhere"), "t");
    let error = Journal::create(missing.clone(), support::shape("t", SMALL), 1).unwrap_err();
    assert!(matches!(error, CreateError::Io { .. }), "{error}");
}

/// A file system of its own, of the requested size.
struct SmallTmpfs(tempfile::TempDir);

impl SmallTmpfs {
    fn mount(size: &str) -> Result<SmallTmpfs, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(directory.path())
            .output()
            .map_err(|error| format!("no mount: {error}"))?;
        let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.status.success() {
            Ok(SmallTmpfs(directory))
        } else {
            Err(format!("cannot mount a tmpfs: {why}"))
        }
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_file_system_is_an_error_when_the_journal_is_made() {
    let tmpfs = match SmallTmpfs::mount("1M") {
        Ok(tmpfs) => tmpfs,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let directory = tmpfs.0.path();
    let left = || fs::read_dir(directory).unwrap().count();
    let files = JournalFiles::new(directory, directory, "t");
    // The ring does not fit.
    let error = Journal::create(files.clone(), support::shape("t", 2 << 20), 1).unwrap_err();
    assert!(matches!(error, CreateError::NoSpace { bytes: 2_097_152, .. }), "{error}");
    assert_eq!(left(), 0, "nothing is left behind");
    // The ring fits, the control page does not.
    let shape = JournalShape { seats: 1_024, topics: 4_096, ..support::shape("t", 512 << 10) };
    let error = Journal::create(files.clone(), shape, 1).unwrap_err();
    assert!(matches!(error, CreateError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("ctl"), "{error}");
    assert_eq!(left(), 0);
    let error = Registry::create(&directory.join("registry"), 1_024, clock()).unwrap_err();
    assert!(matches!(error, CreateError::NoSpace { .. }), "{error}");
    assert_eq!(left(), 0);
    // An existing journal is not harmed by one that does not fit.
    let journal = Journal::create(files.clone(), support::shape("t", 512 << 10), 1).unwrap();
    journal.writer(0, clock()).unwrap().write(1, 0, b"kept").unwrap();
    assert!(Journal::create(files.clone(), support::shape("t", 512 << 10), 1).is_err());
    let journal = Journal::open(files).unwrap();
    assert_eq!(journal.loose_from_start().unwrap().read().unwrap().unwrap().payload, b"kept");
    assert_eq!(left(), 3);
}

/// Something that no writer leaves stands where a frame should be: each way to read reports it, and again when called
/// again.
#[test]
fn a_damaged_frame_is_handed_to_no_reader() {
    let most = layout::max_payload(SMALL);
    for (word, value) in [
        (layout::frame::COMMIT, 7),
        (layout::frame::COMMIT, u64::MAX),
        (layout::frame::SHAPE, most + 1),
        (layout::frame::SHAPE, u64::from(u32::MAX)),
    ] {
        let (_directory, files, journal) = support::journal(SMALL);
        let (mut gated, mut bulk, mut loose) =
            (journal.gated(0).unwrap(), journal.gated(1).unwrap(), journal.loose(2).unwrap());
        let mut writer = journal.writer(3, clock()).unwrap();
        writer.write(1, 0, b"whole").unwrap();
        let damaged = writer.write(1, 0, b"to be damaged").unwrap().position;
        poke(&files.ring, (damaged % SMALL) as usize / 8 + word, value);
        assert_eq!(gated.read().unwrap().unwrap().payload, b"whole");
        assert_eq!(loose.read().unwrap().unwrap().payload, b"whole");
        for round in 0..3 {
            let mut handed = 0;
            let outcomes = [
                gated.read().map(drop),
                gated.peek_time().map(drop),
                bulk.read_batch(10, |_| handed += 1).map(drop),
                loose.read().map(drop),
                loose.peek_time().map(drop),
            ];
            for outcome in outcomes {
                assert!(
                    matches!(outcome, Err(ReadError::Corrupt { position, .. }) if position == damaged),
                    "{outcome:?}"
                );
            }
            assert_eq!(handed, usize::from(round == 0), "what comes before the damage is good");
        }
    }
}

/// Frames in bulk end before the damage: what is whole is neither refused with it nor passed over.
#[test]
fn whole_frames_are_handed_out_before_the_damage_behind_them() {
    let (_directory, files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(3, clock()).unwrap();
    let first = writer.write(1, 0, b"whole").unwrap().position;
    writer.write(1, 0, b"whole too").unwrap();
    let damaged = writer.write(1, 0, b"to be damaged").unwrap().position;
    poke(&files.ring, (damaged % SMALL) as usize / 8 + layout::frame::COMMIT, 7);
    let corrupt =
        |error: ReadError| matches!(error, ReadError::Corrupt { position, .. } if position == damaged);
    let chunk = gated.read_bytes(1 << 20).unwrap().expect("two frames");
    assert_eq!((chunk.position, chunk.frames, chunk.bytes.len()), (first, 2, 128));
    let mut copy = Vec::new();
    assert_eq!(loose.read_bytes_until(1 << 20, u64::MAX, &mut copy), Ok(Some((first, 2))));
    assert_eq!(copy.len(), 128);
    for _ in 0..2 {
        assert!(corrupt(gated.read_bytes(1 << 20).map(drop).unwrap_err()));
        assert!(corrupt(loose.read_bytes_until(1 << 20, u64::MAX, &mut copy).map(drop).unwrap_err()));
    }
    assert_eq!(copy.len(), 128, "nothing is appended to what was there");
}

/// Asked for so many frames, a reader hands out no more.
#[test]
fn frames_in_bulk_are_at_most_as_many_as_were_asked_for() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(3, clock()).unwrap();
    for number in 0..10_u8 {
        writer.write(1, 0, &[number; 40]).unwrap();
    }
    let mut copy = Vec::new();
    for expected in [4, 4, 2] {
        let chunk = gated.read_frames(4, 1 << 20).unwrap().expect("some are left");
        assert_eq!((chunk.frames, chunk.bytes.len() as u64), (expected, expected * 128));
        let (_, frames) = loose.read_frames(4, 1 << 20, &mut copy).unwrap().expect("some are left");
        assert_eq!(frames, expected);
    }
    assert!(gated.read_frames(4, 1 << 20).unwrap().is_none());
    assert_eq!(loose.read_frames(4, 1 << 20, &mut copy), Ok(None));
    assert_eq!(gated.read_frames(0, 1 << 20).unwrap(), None);
    assert_eq!(copy.len(), 1_280);
}

/// A cursor is accepted only where a reader can have stood.
#[test]
fn a_cursor_that_is_no_position_is_damage() {
    let (_directory, files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(3, clock()).unwrap();
    drop(journal.gated(5).unwrap());
    writer.write(1, 0, &[]).unwrap();
    let word = layout::control::CURSORS + 5 * layout::LINE_WORDS + layout::control::CURSOR_POSITION;
    let good = peek(&files.control, word);
    for bad in [0, good - 64, good + 1, good + 10 * SMALL, layout::MAX_POSITION, u64::MAX] {
        poke(&files.control, word, bad);
        assert!(matches!(journal.gated(5), Err(OpenError::Damaged { .. })), "{bad}");
        assert!(matches!(journal.admit_gated(5), Err(OpenError::Damaged { .. })), "{bad}");
    }
    poke(&files.control, word, good);
    assert!(journal.gated(5).unwrap().read().unwrap().is_some());
}

/// The ring goes into place before the control file that promises it.
#[test]
fn no_control_file_is_seen_without_its_ring() {
    let directory = support::directory();
    let files = support::files(&directory, "t");
    // Nothing can be renamed over a folder.
    fs::create_dir(&files.ring).unwrap();
    let made = Journal::create(files.clone(), support::shape("t", SMALL), 1);
    assert!(matches!(made, Err(CreateError::Io { .. })), "{made:?}");
    assert!(!files.control.exists());
}
