//! The latest values under a writer that never pauses, and one that is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use journal::{Clock, Journal, JournalFiles, JournalShape, Latest, LatestError};

/// As large as a quote.
const SIZE: usize = 368;
const SLOTS: u32 = 3;
/// The child's folder; without it the test that the child runs does nothing.
const FOLDER: &str = "COLO_TEST_LATEST";

/// All words are the number, so that any mixture shows.
fn value(number: u64) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|word| *word = number.to_le_bytes());
    bytes
}

/// The number of a value, if it is one.
fn number(bytes: &[u8]) -> Option<u64> {
    let words = bytes.as_chunks::<8>().0;
    words.iter().all(|word| *word == words[0]).then(|| u64::from_le_bytes(words[0]))
}

fn take(latest: &Latest, slot: u32) -> Result<u64, LatestError> {
    let mut bytes = [0; SIZE];
    let set = latest.get(slot, &mut bytes)?;
    let number = number(&bytes).expect("torn");
    assert_eq!(number, set, "the value of another number");
    Ok(number)
}

#[test]
fn what_was_set_is_read_by_others_and_stays_for_a_successor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.latest");
    let latest = Latest::open_or_create(&path, SLOTS, SIZE).unwrap();
    let reader = Latest::open_read_only(&path).unwrap();
    assert_eq!(take(&reader, 1), Err(LatestError::Empty));
    assert_eq!(take(&reader, SLOTS), Err(LatestError::NoSuchSlot { slot: SLOTS, slots: SLOTS }));
    for number in 1..=5 {
        assert!(latest.set(1, &value(number)));
        assert_eq!(take(&reader, 1), Ok(number));
    }
    assert_eq!(take(&reader, 2), Err(LatestError::Empty), "its neighbour");
    assert!(!latest.set(SLOTS, &value(1)) && !latest.set(1, &[0; 8]) && !reader.set(1, &value(6)));
    drop(latest);
    let successor = Latest::open_or_create(&path, SLOTS, SIZE).unwrap();
    assert!(successor.set(1, &value(6)));
    assert_eq!(take(&reader, 1), Ok(6));
}

#[test]
fn a_file_of_another_shape_or_kind_is_refused_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.latest");
    drop(Latest::open_or_create(&path, SLOTS, SIZE).unwrap());
    let wrong = Latest::open_or_create(&path, SLOTS + 1, SIZE).unwrap_err().to_string();
    assert!(wrong.contains("3 slots of 368 bytes, but should have 4 of 368"), "{wrong}");
    assert!(
        Latest::open_or_create(&folder.path().join("y"), 1, 12)
            .unwrap_err()
            .to_string()
            .contains("multiple of 8")
    );
    for (bytes, part) in [(vec![0; 16], "too few"), (vec![7; 8_192], "")] {
        std::fs::write(&path, bytes).unwrap();
        let wrong = Latest::open_read_only(&path).unwrap_err().to_string();
        assert!(wrong.contains(part), "{wrong}");
    }
    assert!(Latest::open_read_only(&folder.path().join("none")).is_err());
}

#[test]
fn a_busy_writer_tears_nothing_and_nothing_is_older_than_the_frame_that_was_read() {
    let watchdog = support::Watchdog::start("a busy writer", Duration::from_secs(120));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.latest");
    let files = JournalFiles::new(folder.path(), folder.path(), "told");
    let shape =
        JournalShape { id: 1, name: "told".into(), capacity: 1 << 16, seats: 64, topics: 4, page: 4096 };
    let journal = Journal::create(files, shape, 0).unwrap();
    let latest = Latest::open_or_create(&path, SLOTS, SIZE).unwrap();
    let mut reader = journal.loose(5).unwrap();
    let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
    let until = Instant::now() + Duration::from_millis(700);
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writing = thread::spawn(move || {
        let mut number = 0_u64;
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            number += 1;
            assert!(latest.set(2, &value(number)));
            writer.write(7, 2, &number.to_le_bytes()).unwrap();
        }
        number
    });
    let (mut heard, mut newer, mut gaps, mut busy) = (0_u64, 0_u64, 0_u64, 0_u64);
    let read = Latest::open_read_only(&path).unwrap();
    // A busy host may give the two their cores in turns.
    while Instant::now() < until || heard <= 100 {
        let told = match reader.read() {
            Ok(Some(frame)) => u64::from_le_bytes(frame.payload.try_into().unwrap()),
            Ok(None) => continue,
            Err(_) => {
                gaps += 1;
                continue;
            }
        };
        match take(&read, 2) {
            Ok(got) => {
                assert!(got >= told, "{got} is older than {told}");
                newer += u64::from(got > told);
            }
            Err(LatestError::Busy) => busy += 1,
            Err(error) => panic!("{error}"),
        }
        heard += 1;
    }
    drop(stop);
    let last = writing.join().unwrap();
    println!("{last} set, {heard} heard and read, {newer} of them newer, {busy} busy, lapped {gaps} times");
    assert_eq!(take(&read, 2), Ok(last));
    watchdog.stop();
}

/// Not a test by itself: what the killed child runs.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let latest = Latest::open_or_create(&Path::new(&folder).join("x.latest"), SLOTS, SIZE).unwrap();
    let mut bytes = [0; SIZE];
    let mut next = latest.get(0, &mut bytes).unwrap_or(0);
    loop {
        next += 1;
        assert!(latest.set(0, &value(next)));
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_writer_leaves_a_whole_value_and_its_successor_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.latest");
    let read = {
        drop(Latest::open_or_create(&path, SLOTS, SIZE).unwrap());
        Latest::open_read_only(&path).unwrap()
    };
    let mut before = 0;
    for round in 0..20 {
        let mut writer = start(folder.path());
        let deadline = Instant::now() + Duration::from_secs(60);
        while take(&read, 0).unwrap_or(0) <= before {
            assert!(Instant::now() < deadline, "the child sets nothing");
            thread::yield_now();
        }
        thread::sleep(Duration::from_micros(137 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let left = take(&read, 0).unwrap();
        assert!(left > before, "{left} after {before}");
        before = left;
    }
    println!("20 writers killed, {before} values set");
}
