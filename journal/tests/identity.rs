//! Which files belong together, who may take a place, and what a writer believes of shared memory.
#![cfg(not(miri))] // Files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use journal::layout::{LINE_WORDS, control as at};
use journal::{Clock, Journal, JournalFiles, JournalShape, OpenError, Registry};
use support::{SMALL, peek, poke};

fn files(directory: &Path) -> JournalFiles {
    JournalFiles::new(directory, directory, "t")
}

fn shape() -> JournalShape {
    JournalShape { id: 1, name: "t".into(), capacity: SMALL, seats: 64, topics: 1, page: 4096 }
}

fn create(directory: &Path) -> Journal {
    Journal::create(files(directory), shape(), 1).unwrap()
}

fn bit(directory: &Path, bitmap: usize, seat: u32) -> bool {
    peek(&files(directory).control, bitmap) & 1 << seat != 0
}

#[test]
fn admitting_a_seat_leaves_a_living_reader_of_it_alone() {
    let directory = tempfile::tempdir().unwrap();
    let journal = create(directory.path());
    let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
    for _ in 0..10 {
        writer.write(1, 0, b"text").unwrap();
    }
    let cursor = at::CURSORS + 5 * LINE_WORDS;
    let mut loose = journal.loose(5).unwrap();
    let before = peek(&files(directory.path()).control, cursor);
    assert!(matches!(journal.admit_gated(5), Err(OpenError::SeatTaken { seat: 5, .. })));
    assert_eq!(peek(&files(directory.path()).control, cursor), before);
    assert!(!bit(directory.path(), at::GATED, 5) && bit(directory.path(), at::LOOSE, 5));
    assert!(loose.read().unwrap().is_none());
    // A gated reader has its place already.
    let mut gated = journal.gated(6).unwrap();
    journal.admit_gated(6).unwrap();
    writer.write(1, 0, b"next").unwrap();
    assert_eq!(gated.read().unwrap().unwrap().payload, b"next");
}

#[test]
fn a_handle_never_writes_the_ring_of_a_journal_that_was_made_over_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let old = create(directory.path());
    let opened = Journal::open(files(directory.path())).unwrap();
    let new = create(directory.path());
    let mut reader = new.gated(5).unwrap();
    for handle in [&old, &opened] {
        assert!(matches!(handle.writer(0, Clock::monotonic()), Err(OpenError::Replaced { .. })));
        assert!(matches!(handle.gated(5), Err(OpenError::Replaced { .. })));
        assert!(matches!(handle.loose(6), Err(OpenError::Replaced { .. })));
        assert!(matches!(handle.loose_from_start(), Err(OpenError::Replaced { .. })));
        assert!(matches!(handle.admit_gated(7), Err(OpenError::Replaced { .. })));
    }
    new.writer(0, Clock::monotonic()).unwrap().write(1, 0, b"new").unwrap();
    assert_eq!(reader.read().unwrap().unwrap().payload, b"new");
}

/// As of a folder that was put together by hand.
#[test]
fn a_lock_file_of_another_journal_is_refused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop((create(one.path()), create(other.path())));
    fs::copy(other.path().join("t.lock"), one.path().join("t.lock")).unwrap();
    let journal = Journal::open(files(one.path())).unwrap();
    let refused = journal.writer(0, Clock::monotonic()).unwrap_err();
    assert!(matches!(refused, OpenError::Replaced { .. }), "{refused}");
}

#[test]
fn a_copy_of_the_files_is_a_journal() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    create(one.path()).writer(0, Clock::monotonic()).unwrap().write(1, 0, b"text").unwrap();
    for name in ["t.ctl", "t.ring", "t.lock"] {
        fs::copy(one.path().join(name), other.path().join(name)).unwrap();
    }
    let journal = Journal::open(files(other.path())).unwrap();
    assert!(journal.verify().is_clean());
    journal.writer(0, Clock::monotonic()).unwrap().write(1, 0, b"more").unwrap();
    assert_eq!(journal.stat().frames, 2);
}

#[test]
fn a_creator_never_truncates_what_another_has_mapped() {
    let directory = tempfile::tempdir().unwrap();
    let leftovers: Vec<File> =
        ["t.ctl.new", "t.ring.new", "t.lock.new", "registry.new", "t.ctl", "t.ring", "registry"]
            .iter()
            .map(|name| {
                let file = File::create(directory.path().join(name)).unwrap();
                file.set_len(8_192).unwrap();
                file
            })
            .collect();
    drop(create(directory.path()));
    drop(Registry::create(&directory.path().join("registry"), 64, Clock::monotonic()).unwrap());
    for file in leftovers {
        assert_eq!(file.metadata().unwrap().len(), 8_192);
    }
}

#[test]
fn two_creators_of_one_name_leave_one_whole_journal_or_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| drop(Journal::create(files(directory.path()), shape(), 1)));
            }
        });
        match Journal::open(files(directory.path()))
            .and_then(|journal| journal.writer(0, Clock::monotonic()).map(drop))
        {
            Ok(()) | Err(OpenError::Replaced { .. } | OpenError::Io { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    drop(create(directory.path()));
    assert!(Journal::open(files(directory.path())).unwrap().verify().is_clean());
    let left: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_reader_of_the_group_cannot_refuse_a_successor() {
    let directory = tempfile::tempdir().unwrap();
    let journal = create(directory.path());
    let mode = |name: &str| fs::metadata(directory.path().join(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("t.ctl"), mode("t.ring"), mode("t.lock")), (0o640, 0o640, 0o600));
    // Everything that somebody who may only read can hold: shared and exclusive locks of both kinds.
    let held: Vec<File> = ["t.ctl", "t.ring"]
        .iter()
        .flat_map(|name| {
            let open =
                || OpenOptions::new().read(true).custom_flags(0).open(directory.path().join(name)).unwrap();
            let (flocked, ranged) = (open(), open());
            flocked.try_lock().unwrap();
            lock_whole(&ranged);
            [flocked, ranged]
        })
        .collect();
    let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
    let mut reader = journal.gated(5).unwrap();
    writer.write(1, 0, b"text").unwrap();
    assert!(reader.read().unwrap().is_some());
    drop(held);
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    let directory = tempfile::tempdir().unwrap();
    drop(create(directory.path()));
    for name in ["t.ctl", "t.ring", "t.lock"] {
        let path = directory.path().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    drop(create(directory.path()));
    let mode = |name: &str| fs::metadata(directory.path().join(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("t.ctl"), mode("t.ring"), mode("t.lock")), (0o640, 0o640, 0o600));
}

#[test]
fn a_time_from_the_future_does_not_fix_the_stamps_of_a_successor() {
    let directory = tempfile::tempdir().unwrap();
    let journal = create(directory.path());
    let clock = Clock::monotonic();
    journal.writer(0, clock).unwrap().write(1, 0, b"text").unwrap();
    let year = 365 * 24 * 3_600 * 1_000_000_000;
    poke(&files(directory.path()).control, at::LAST_TIME, clock.now() + year);
    let mut writer = journal.writer(0, clock).unwrap();
    let written = writer.write(1, 0, b"text").unwrap();
    assert!(written.time < clock.now() + year / 2, "{}", written.time);
    drop(writer);
    // A little ahead, as a clock of another core may be: then times do not go back.
    let ahead = clock.now() + 500_000_000;
    poke(&files(directory.path()).control, at::LAST_TIME, ahead);
    assert_eq!(journal.writer(0, clock).unwrap().write(1, 0, b"text").unwrap().time, ahead);
}

#[test]
fn a_writer_does_not_read_back_what_it_declared() {
    let directory = tempfile::tempdir().unwrap();
    let journal = create(directory.path());
    let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
    let mut reader = journal.loose(5).unwrap();
    writer.write(1, 0, b"text").unwrap();
    assert!(reader.read().unwrap().is_some());
    poke(&files(directory.path()).control, at::INTENT, 1 << 62);
    let mut read = 0;
    for _ in 0..2 * SMALL / 64 {
        writer.write(1, 0, b"text").unwrap();
        read += u64::from(matches!(reader.read(), Ok(Some(_))));
    }
    assert!(read > SMALL / 64, "{read}");
    assert!(journal.verify().is_clean());
}

#[test]
fn a_cursor_beyond_the_head_opens_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let journal = create(directory.path());
    let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
    let _reader = journal.gated(5).unwrap();
    poke(&files(directory.path()).control, at::CURSORS + 5 * LINE_WORDS, 1 << 62);
    for _ in 0..3 * SMALL / 64 {
        let _ = writer.write(1, 0, b"text");
        let intent = peek(&files(directory.path()).control, at::INTENT);
        assert!(intent <= writer.position() + SMALL, "{intent}");
    }
}

/// Takes a shared open-file-description lock on all of a file, as a process may that can only read it.
fn lock_whole(file: &std::fs::File) {
    let range = nix::libc::flock {
        l_type: nix::libc::F_RDLCK as nix::libc::c_short,
        l_whence: nix::libc::SEEK_SET as nix::libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_OFD_SETLK(&range)).unwrap();
}
