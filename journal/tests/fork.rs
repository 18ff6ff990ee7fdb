//! A child of a fork can neither use nor end what its parent has opened, and keeps nothing of it.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/child.rs"]
mod child;
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use journal::process::ProcessIdentity;
use journal::wait::{Doorbell, Parker};
use journal::{
    FrameHeader, GatedReader, Journal, JournalFiles, Latest, LooseReader, Merge, OpenError, Reader, Registry,
    Writer, WriterState,
};
use support::{SMALL, clock};

/// Anything that takes longer hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Runs `body` in a child of a fork, which ends without a destructor of the test's; returns the text that it returns.
fn in_child(body: impl FnOnce() -> String) -> String {
    let mut ends = [0; 2];
    // SAFETY: the call fills two integers.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: both descriptors were just made, and belong to nothing else.
    let (mut reads, mut writes) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    // SAFETY: the child runs on one thread. glibc's allocator works in children of processes with several threads.
    let process = unsafe { libc::fork() };
    if process == 0 {
        drop(reads);
        let text = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        let _ = writes.write_all(text.unwrap_or("the child panicked".to_owned()).as_bytes());
        drop(writes);
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    assert!(process > 0);
    drop(writes);
    let mut text = String::new();
    reads.read_to_string(&mut text).unwrap();
    // SAFETY: waits for a child of ours.
    unsafe { libc::waitpid(process, std::ptr::null_mut(), 0) };
    text
}

/// One of each handle, and the calls of theirs that report errors.
struct Handles {
    journal: Journal,
    writer: Writer,
    gated: GatedReader,
    loose: LooseReader,
    observer: LooseReader,
    merge: Merge,
    registry: Arc<Registry>,
    latest: Latest,
}

const HEADER: FrameHeader = FrameHeader { time: 1, topic: 0, message_id: 1, flags: 0 };

impl Handles {
    /// Dropped by a child, and used on by the parent.
    fn open(directory: &Path, files: JournalFiles) -> ManuallyDrop<Handles> {
        let journal = Journal::open(files).unwrap();
        let registry = Arc::new(Registry::create(&directory.join("registry"), 64, clock()).unwrap());
        let mut writer = journal.writer(0, clock()).unwrap();
        writer.wake_through(Arc::clone(&registry));
        let (gated, loose) = (journal.gated(1).unwrap(), journal.loose(2).unwrap());
        let observer = journal.loose_from_start().unwrap();
        let merge = Merge::new(vec![Reader::Gated(journal.gated(3).unwrap())]);
        let latest = Latest::open_or_create(&directory.join("latest"), 4, 64).unwrap();
        assert!(latest.set(0, &[7; 64]));
        writer.write(1, 0, b"before the fork").unwrap();
        ManuallyDrop::new(Handles { journal, writer, gated, loose, observer, merge, registry, latest })
    }

    /// Every call, and how it ended: the error's text, or none.
    fn call_everything(&mut self, directory: &Path) -> Vec<(&'static str, Option<String>)> {
        fn of<T, E: ToString>(outcome: Result<T, E>) -> Option<String> {
            outcome.err().map(|error| error.to_string())
        }
        let refused_if = |refused: bool| refused.then(|| "is a fork of it".to_owned());
        let Handles { journal, writer, gated, loose, observer, merge, registry, latest } = self;
        vec![
            ("Journal::writer", of(journal.writer(0, clock()))),
            ("Journal::restoring_writer", of(journal.restoring_writer(clock()))),
            ("Journal::check_process", of(journal.check_process())),
            ("Journal::tail", of(journal.tail())),
            ("Journal::admit_gated", of(journal.admit_gated(9))),
            ("Journal::dismiss", of(journal.dismiss(1))),
            ("Journal::gated", of(journal.gated(1))),
            ("Journal::loose", of(journal.loose(2))),
            ("Journal::observe", of(journal.observe(0))),
            ("Journal::set_interest", of(journal.set_interest(1, None))),
            ("Journal::set_durable_interest", of(journal.set_durable_interest(1, true))),
            ("Journal::restore_cursor", of(journal.restore_cursor(9, journal.first_position(), 0))),
            ("Journal::oldest_frame", of(journal.oldest_frame())),
            ("Journal::uncounted", of(journal.uncounted(|_| {}))),
            ("Writer::write", of(writer.write(1, 0, b"x"))),
            ("Writer::write_at", of(writer.write_at(1, 1, 0, b"x"))),
            ("Writer::claim", of(writer.claim(1, 0, 8).map(|claim| claim.commit()))),
            ("Writer::claim_records", of(writer.claim_records(1, 0, 8, 2).map(|records| records.commit()))),
            ("Writer::append", of(writer.append(HEADER, b"x"))),
            ("Writer::skip_to", of(writer.skip_to(writer.position() + 64))),
            ("Writer::restore", of(writer.restore(&[0; 64]))),
            ("Writer::batch", of(writer.batch().push(1, 0, b"x"))),
            ("Writer::has_room", refused_if(!writer.has_room(64))),
            ("GatedReader::read", of(gated.read())),
            ("GatedReader::read_batch", of(gated.read_batch(1, |_| {}))),
            ("GatedReader::peek_time", of(gated.peek_time())),
            ("GatedReader::read_bytes", of(gated.read_bytes(64))),
            ("GatedReader::read_frames", of(gated.read_frames(1, 64))),
            ("LooseReader::read", of(loose.read())),
            ("LooseReader::read_batch", of(loose.read_batch(1, |_| {}))),
            ("LooseReader::peek_time", of(loose.peek_time())),
            ("LooseReader::read_bytes_until", of(loose.read_bytes_until(64, u64::MAX, &mut Vec::new()))),
            ("LooseReader::read_frames", of(observer.read_frames(1, 64, &mut Vec::new()))),
            ("observer's read", of(observer.read())),
            ("Merge::next", of(merge.next())),
            ("Registry::clock", of(registry.clock(directory))),
            ("Registry::check_process", of(registry.check_process())),
            ("Parker::new", refused_if(Parker::new(Arc::clone(registry), 5).is_none())),
            ("Doorbell::install", refused_if(Doorbell::install(Arc::clone(registry), 5, [1]).is_none())),
            ("Latest::set", refused_if(!latest.set(0, &[9; 64]))),
            ("Latest::get", of(latest.get(0, &mut [0; 64]))),
        ]
    }

    /// The calls that report nothing.
    fn call_the_silent_ones(&mut self) {
        let Handles { writer, gated, loose, registry, .. } = self;
        writer.count(1);
        for reader_keeps in [64, 1 << 40] {
            gated.keep(reader_keeps);
        }
        gated.publish();
        gated.make_durable(Some(Arc::clone(registry)));
        gated.rewind();
        gated.owe(64);
        gated.owe_nothing();
        loose.publish();
        registry.set_phase(9);
        registry.set_name(5, "a child");
        Doorbell::remove(registry, 5);
        journal::wait::wake(registry, 5);
        if let Some(seat) = registry.occupy(5) {
            seat.set_state(3);
            seat.set_heartbeat(3);
            seat.set_process(ProcessIdentity::current());
            seat.add(0, 1);
            seat.count_answer(0);
        }
    }
}

/// The bytes of all files of the folder.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

fn every_call_of_a_child_is_refused_and_changes_nothing() {
    let (directory, files, _) = support::journal(SMALL);
    let mut handles = Handles::open(directory.path(), files);
    let before = contents(directory.path());
    assert_eq!(before.len(), 5, "control page, ring, lock, registry, latest values");
    let report = in_child(|| {
        let calls = handles.call_everything(directory.path());
        handles.call_the_silent_ones();
        let allowed = calls
            .iter()
            .filter(|(_, refusal)| !refusal.as_ref().is_some_and(|text| text.contains("is a fork of it")));
        let allowed: Vec<String> = allowed.map(|call| format!("{call:?}")).collect();
        // As at the end of a script, or of a program with destructors.
        // SAFETY: this process uses them no more.
        unsafe { ManuallyDrop::drop(&mut handles) };
        format!("{} calls, allowed: {allowed:?}", calls.len())
    });
    assert_eq!(report, "41 calls, allowed: []");
    let changed: Vec<_> = before.iter().zip(contents(directory.path())).filter(|(a, b)| *a != b).collect();
    assert!(changed.is_empty(), "{} files have changed", changed.len());
}

fn a_parent_goes_on_behind_the_end_of_its_child() {
    let (directory, files, other) = support::journal(SMALL);
    let mut handles = Handles::open(directory.path(), files);
    let mut claim = handles.writer.claim(2, 0, 64).unwrap();
    claim.put(b"begun").unwrap();
    let report = in_child(|| {
        let refused = claim.put(b"and more").unwrap_err().to_string();
        claim.commit();
        refused
    });
    assert!(report.contains(&format!("process {} opened this", std::process::id())), "{report}");
    in_child(|| {
        // SAFETY: this process uses them no more.
        unsafe { ManuallyDrop::drop(&mut handles) };
        String::new()
    });
    assert!(matches!(other.stat().writer, WriterState::Attached(_)), "the journal is not left");
    assert!(
        matches!(other.writer(0, clock()), Err(OpenError::WriterExists { .. })),
        "the writer's lock is held"
    );
    assert!(matches!(other.gated(1), Err(OpenError::SeatTaken { .. })), "the seat's lock is held");
    handles.writer.write(1, 0, b"behind it").unwrap();
    let read: Vec<Vec<u8>> =
        std::iter::from_fn(|| handles.gated.read().unwrap().map(|frame| frame.payload.to_vec())).collect();
    assert_eq!(read, [b"before the fork".to_vec(), b"behind it".to_vec()]);
}

fn a_child_opens_handles_of_its_own() {
    let (_directory, files, journal) = support::journal(SMALL);
    let writer = journal.writer(0, clock()).unwrap();
    let report = in_child(|| {
        let own = Journal::open(files.clone()).unwrap();
        let refused = own.writer(0, clock()).unwrap_err().to_string();
        let mut reader = own.gated(5).unwrap();
        reader.read().unwrap();
        // Its own children are refused in turn.
        let below = in_child(|| reader.read().unwrap_err().to_string());
        assert!(below.contains(&format!("process {} opened this", std::process::id())), "{below}");
        refused
    });
    assert!(report.contains(&format!("written by process {}", std::process::id())), "{report}");
    drop(writer);
    // The child has ended, and with it its seat.
    journal.gated(5).unwrap();
}

/// Takes the writer and a seat, makes a child that outlives it, and waits to be killed.
fn forking_child(directory: &Path, bare: u32) {
    let journal = Journal::open(JournalFiles::new(directory, directory, "t")).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut reader = journal.gated(1).unwrap();
    // SAFETY: the child of either call runs on one thread, and needs nothing of this process.
    let process = unsafe {
        match bare {
            0 => libc::fork(),
            _ => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32,
        }
    };
    if process == 0 {
        let refused =
            [writer.write(1, 0, b"x").unwrap_err().to_string(), reader.read().unwrap_err().to_string()];
        // One process drops its handles, another one holds them as long as it lives.
        let (writer, reader) = (ManuallyDrop::new(writer), ManuallyDrop::new(reader));
        if bare == 0 {
            drop((ManuallyDrop::into_inner(writer), ManuallyDrop::into_inner(reader)));
        }
        // SAFETY: a process id.
        let own = unsafe { libc::syscall(libc::SYS_getpid) };
        fs::write(directory.join("text"), format!("{own} {}", refused.join("\n"))).unwrap();
        fs::rename(directory.join("text"), directory.join("helper")).unwrap();
    }
    std::thread::sleep(Duration::from_secs(600));
}

/// The child of the child, which ends with this.
struct Helper(i32);

impl Drop for Helper {
    fn drop(&mut self) {
        // SAFETY: a process that this test has started.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }
}

/// A process has taken the roles, made a child, and was killed.
fn outlived(directory: &Path, bare: u32) -> Helper {
    let parent = child::start("forking_child", directory, bare);
    let note = directory.join("helper");
    assert!(child::wait(WATCHDOG, || note.exists()));
    let text = fs::read_to_string(note).unwrap();
    let (process, refused) = text.split_once(' ').unwrap();
    assert_eq!(refused.matches("is a fork of it").count(), 2, "{refused}");
    parent.kill();
    let helper = Helper(process.parse().unwrap());
    // SAFETY: looks whether the process is there.
    assert_eq!(unsafe { libc::kill(helper.0, 0) }, 0, "the helper lives");
    helper
}

fn a_child_that_outlives_its_parent_keeps_no_role() {
    let (directory, _, journal) = support::journal(SMALL);
    let _helper = outlived(directory.path(), 0);
    assert!(matches!(journal.stat().writer, WriterState::Dead(_)), "killed, not left");
    journal.writer(0, clock()).unwrap();
    journal.gated(1).unwrap();
}

/// Such a child runs no handler, so it keeps the locks; the message names it, and not the process that has ended.
fn a_child_of_the_bare_system_call_is_refused_and_named() {
    let (directory, _, journal) = support::journal(SMALL);
    let helper = outlived(directory.path(), 1);
    let error = journal.writer(0, clock()).unwrap_err();
    assert!(error.to_string().contains(&format!("written by process {};", helper.0)), "{error}");
    drop(helper);
    assert!(child::wait(WATCHDOG, || journal.writer(0, clock()).is_ok()));
}

fn a_fork_beside_threads_that_open_and_close_leaks_no_lock() {
    let (ends, end) = channel();
    let thread = std::thread::spawn(move || {
        let (directory, _, _) = support::journal(SMALL);
        let work = |seat: u32| {
            let files = JournalFiles::new(directory.path(), directory.path(), "t");
            move || {
                let journal = Journal::open(files).unwrap();
                for _ in 0..400 {
                    drop(journal.gated(seat).unwrap());
                }
            }
        };
        let mut leaked = Vec::new();
        std::thread::scope(|threads| {
            threads.spawn(work(1));
            threads.spawn(work(2));
            for _ in 0..100 {
                leaked.push(in_child(|| {
                    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
                    let paths = links.filter_map(|link| fs::read_link(link.path()).ok());
                    let locks = paths.filter(|path| path.extension().is_some_and(|end| end == "lock"));
                    locks.map(|path| path.display().to_string()).collect()
                }));
            }
        });
        ends.send(leaked).unwrap();
    });
    let leaked = end.recv_timeout(WATCHDOG).expect("a fork waits for ever");
    // It has removed its folder then.
    thread.join().unwrap();
    assert_eq!(leaked.len(), 100);
    assert!(leaked.iter().all(String::is_empty), "{leaked:?}");
}

fn main() {
    child::main(
        &[("forking_child", forking_child)],
        &[
            (
                "every_call_of_a_child_is_refused_and_changes_nothing",
                every_call_of_a_child_is_refused_and_changes_nothing,
            ),
            ("a_parent_goes_on_behind_the_end_of_its_child", a_parent_goes_on_behind_the_end_of_its_child),
            ("a_child_opens_handles_of_its_own", a_child_opens_handles_of_its_own),
            (
                "a_child_that_outlives_its_parent_keeps_no_role",
                a_child_that_outlives_its_parent_keeps_no_role,
            ),
            (
                "a_child_of_the_bare_system_call_is_refused_and_named",
                a_child_of_the_bare_system_call_is_refused_and_named,
            ),
            (
                "a_fork_beside_threads_that_open_and_close_leaks_no_lock",
                a_fork_beside_threads_that_open_and_close_leaks_no_lock,
            ),
        ],
    );
}
