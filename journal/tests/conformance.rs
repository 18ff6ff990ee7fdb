//! One suite for every backing: shm files, huge pages, plain memory. Each case gets a fresh journal.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use journal::{
    Gap, Journal, JournalFiles, JournalShape, Merge, OpenError, Parker, ReadError, Reader, Registry, Topics,
    Wakeup, WriteError, WriterState, announce, layout,
};
use support::{clock, payload};
use tempfile::TempDir;

/// A journal and what keeps it alive.
struct Bed {
    journal: Journal,
    files: Option<JournalFiles>,
    _directories: Vec<TempDir>,
}

impl Bed {
    /// As another process would see it, where there are files.
    fn opened(&self) -> Option<Journal> {
        self.files.clone().map(|files| Journal::open(files).unwrap())
    }

    fn capacity(&self) -> u64 {
        self.journal.shape().capacity
    }

    /// Writes frames of `bytes` bytes until the head has moved on by at least `distance`.
    fn advance(&self, writer: &mut journal::Writer, distance: u64, bytes: u64) {
        let target = writer.position() + distance;
        let body = vec![0xa5; support::payload_of_frame(bytes)];
        while writer.position() < target {
            writer.write(1, 0, &body).unwrap();
        }
    }
}

/// How many of so many: an interpreter takes milliseconds for a frame.
const fn scaled(count: u64) -> u64 {
    if cfg!(miri) { count / 50 } else { count }
}

/// Laps that are many.
const LAPS: u64 = if cfg!(miri) { 2 } else { 5 };

type Case = (&'static str, fn(&Bed));

const CASES: &[Case] = &[
    ("every field of a frame comes back", every_field_comes_back),
    ("sizes from nothing to the largest come back", sizes_come_back),
    ("full hands back and forgets nothing", full_hands_back),
    ("a gap is exact", a_gap_is_exact),
    ("a journal has one writer at a time", one_writer),
    ("a seat has one reader at a time", one_reader_a_seat),
    ("a cursor outlives its reader", a_cursor_outlives_its_reader),
    ("an admitted seat gets the first frame", admitted_before_it_exists),
    ("too late to admit", too_late_to_admit),
    ("a dismissed seat frees the gate", dismissed_frees_the_gate),
    ("a reader that turns loose frees the gate", loose_frees_the_gate),
    ("topics are filtered", topics_are_filtered),
    ("a merge is in order of time", merge_is_total),
    ("impossible requests are refused", impossible_requests),
    ("the writer's life shows", writers_life),
    ("counters count", counters_count),
    ("the oldest frame is found", oldest_frame_is_found),
    ("a sleeper is woken for its topic", sleeper_is_woken),
    ("drained means read to the head", drained),
];

fn run(backing: &str, mut bed: impl FnMut() -> Bed) {
    for (name, case) in CASES {
        println!("{backing}: {name}");
        case(&bed());
    }
    println!("{backing}: {} cases held", CASES.len());
}

fn shape(capacity: u64, page: u64) -> JournalShape {
    JournalShape { page, ..support::shape("t", capacity) }
}

#[test]
#[cfg_attr(miri, ignore = "miri maps no files")]
fn shm_files() {
    run("shm", || {
        let (directory, files, journal) = support::journal(support::SMALL);
        Bed { journal, files: Some(files), _directories: vec![directory] }
    });
}

#[test]
fn in_memory() {
    run("memory", || Bed {
        journal: Journal::in_memory(shape(support::SMALL, 4096)).unwrap(),
        files: None,
        _directories: Vec::new(),
    });
}

#[test]
#[cfg_attr(miri, ignore = "miri has no huge pages")]
fn huge_pages() {
    const PAGE: u64 = 2 << 20;
    let mount = match HugeMount::find() {
        Ok(mount) => mount,
        Err(reason) => return println!("skipped: {reason}"),
    };
    run("hugetlbfs", || {
        let (control, ring) = (support::directory(), tempfile::tempdir_in(&mount.path).unwrap());
        let files = JournalFiles::new(control.path(), ring.path(), "t");
        let journal = Journal::create(files.clone(), shape(PAGE, PAGE), 1).unwrap();
        Bed { journal, files: Some(files), _directories: vec![control, ring] }
    });
}

/// A huge-page file system for 2 MiB pages, mounted for this test if need be.
struct HugeMount {
    path: std::path::PathBuf,
    ours: Option<TempDir>,
}

impl HugeMount {
    fn find() -> Result<HugeMount, String> {
        let free = std::fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
            .unwrap_or(0);
        if free < 2 {
            return Err(format!("{free} free huge pages of 2 MiB, 2 are needed (sysctl vm.nr_hugepages=2)"));
        }
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let mounted = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let (path, kind) = (fields.next()?, fields.next()?);
            (kind == "hugetlbfs" && tempfile::tempdir_in(path).is_ok()).then(|| path.into())
        });
        if let Some(path) = mounted {
            return Ok(HugeMount { path, ours: None });
        }
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let done = Command::new("mount")
            .args(["-t", "hugetlbfs", "-o", "pagesize=2M", "none"])
            .arg(directory.path())
            .output()
            .map_err(|error| error.to_string())?;
        if !done.status.success() {
            return Err("no hugetlbfs that we may write to, and none can be mounted".to_owned());
        }
        Ok(HugeMount { path: directory.path().to_owned(), ours: Some(directory) })
    }
}

impl Drop for HugeMount {
    fn drop(&mut self) {
        if self.ours.is_some() {
            let _ = Command::new("umount").arg(&self.path).status();
        }
    }
}

fn every_field_comes_back(bed: &Bed) {
    let reading = bed.opened();
    let journal = reading.as_ref().unwrap_or(&bed.journal);
    let mut gated = Reader::Gated(journal.gated(3).unwrap());
    let mut loose = Reader::Loose(journal.loose(4).unwrap());
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    for number in 0..scaled(2_000) as u16 {
        let body = payload(u64::from(number), usize::from(number % 200));
        let written = writer.write(number, u32::from(number % 16), &body).unwrap();
        for reader in [&mut gated, &mut loose] {
            assert!(reader.has_news());
            assert_eq!(reader.peek_time().unwrap(), Some(written.time));
            let frame = reader.read().unwrap().expect("committed");
            assert_eq!((frame.position, frame.time), (written.position, written.time));
            assert_eq!((frame.message_id, frame.topic), (number, u32::from(number % 16)));
            assert_eq!((frame.flags, frame.epoch), (0, 1));
            assert_eq!(frame.payload, body);
            assert_eq!(reader.read(), Ok(None));
            assert!(!reader.has_news());
        }
    }
}

fn sizes_come_back(bed: &Bed) {
    let most = layout::max_payload(bed.capacity()) as usize;
    let mut gated = bed.journal.gated(0).unwrap();
    let mut loose = bed.journal.loose(1).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let (small, between, large) = if cfg!(miri) { (17, 4, 33) } else { (1, 50, 1) };
    let sizes = (0..=100).step_by(small).chain((101..most).step_by(most / between));
    let sizes = sizes.chain((most - 70..=most).rev().step_by(large));
    for size in sizes {
        let body = payload(size as u64, size);
        writer.write(1, 0, &body).unwrap();
        assert_eq!(gated.read().unwrap().unwrap().payload, body);
        assert_eq!(loose.read().unwrap().unwrap().payload, body);
        gated.publish();
    }
    let too_large = vec![0; most + 1];
    let refused = WriteError::TooLarge { size: most + 1, max: most as u64 };
    assert_eq!(writer.write(1, 0, &too_large), Err(refused));
}

fn full_hands_back(bed: &Bed) {
    let mut reader = bed.journal.gated(5).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let mut written = 0_u16;
    while let Ok(done) = writer.write(written, 0, &[7; 96]) {
        assert_eq!(done.position, bed.journal.first_position() + u64::from(written) * 128);
        written += 1;
    }
    // A ring less one line, which the successor's commit word needs.
    assert_eq!(u64::from(written), bed.capacity() / 128 - 1);
    let full = WriteError::Full { needed: 128, free: 64 };
    assert_eq!(writer.write(written, 0, &[7; 96]), Err(full));
    assert!(writer.write(written, 0, &[7; 32]).is_ok(), "what fits is taken");
    assert_eq!(writer.write(0, 0, &[]), Err(WriteError::Full { needed: 64, free: 0 }));
    assert_eq!(bed.journal.stat().full, 3);
    for number in 0..=written {
        assert_eq!(reader.read().unwrap().unwrap().message_id, number);
    }
    assert_eq!(reader.read(), Ok(None));
    assert!(writer.write(written, 0, &[7; 96]).is_ok(), "room again");
}

fn a_gap_is_exact(bed: &Bed) {
    let mut reader = bed.journal.loose(9).unwrap();
    let from = reader.position();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.advance(&mut writer, LAPS * bed.capacity(), 192);
    let gap = Gap { from, resumed_at: writer.position() };
    assert_eq!(reader.read(), Err(ReadError::Lapped(gap)));
    assert_eq!((reader.position(), reader.lost_bytes()), (writer.position(), gap.bytes()));
    assert_eq!(reader.read(), Ok(None));
    writer.write(2, 0, b"next").unwrap();
    assert_eq!(reader.read().unwrap().unwrap().payload, b"next");
    reader.publish();
    let view = bed.journal.stat().readers[0];
    assert_eq!((view.seat, view.gated, view.position), (9, false, writer.position()));
    assert_eq!((view.lost, view.gaps, view.frames), (gap.bytes(), 1, 1));
}

fn one_writer(bed: &Bed) {
    let other = bed.opened();
    let journal = other.as_ref().unwrap_or(&bed.journal);
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    writer.write(1, 0, b"a").unwrap();
    match journal.writer(1, clock()) {
        Err(OpenError::WriterExists { pid, .. }) => assert_eq!(pid, std::process::id()),
        other => panic!("{other:?}"),
    }
    let position = writer.position();
    drop(writer);
    let writer = journal.writer(1, clock()).unwrap();
    assert_eq!((writer.position(), writer.epoch()), (position, 2));
}

fn one_reader_a_seat(bed: &Bed) {
    let other = bed.opened();
    let journal = other.as_ref().unwrap_or(&bed.journal);
    let taken = |error: Result<(), OpenError>| matches!(error, Err(OpenError::SeatTaken { seat: 5, .. }));
    let reader = bed.journal.gated(5).unwrap();
    assert!(taken(journal.gated(5).map(drop)));
    assert!(taken(journal.loose(5).map(drop)));
    assert!(taken(journal.dismiss(5)));
    assert!(journal.gated(6).is_ok());
    drop(reader);
    let reader = journal.loose(5).unwrap();
    assert!(taken(bed.journal.gated(5).map(drop)));
    drop(reader);
    assert!(bed.journal.dismiss(5).is_ok());
}

fn a_cursor_outlives_its_reader(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let mut reader = bed.journal.gated(5).unwrap();
    for number in 0..10 {
        writer.write(number, 0, &[]).unwrap();
    }
    for number in 0..4 {
        assert_eq!(reader.read().unwrap().unwrap().message_id, number);
    }
    // Number 3 was handed out but not finished.
    drop(reader);
    let mut reader = bed.journal.gated(5).unwrap();
    assert_eq!(reader.read().unwrap().unwrap().message_id, 3);
    reader.publish();
    drop(reader);
    let mut held = 0;
    while writer.write(99, 0, &[0; 992]).is_ok() {
        held += 1;
    }
    assert_eq!(held, (bed.capacity() - 6 * 64 - 64) / 1024, "the writer waits for who is away");
    let mut reader = bed.journal.gated(5).unwrap();
    assert_eq!(reader.read().unwrap().unwrap().message_id, 4);
}

fn admitted_before_it_exists(bed: &Bed) {
    bed.journal.admit_gated(5).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    while writer.write(1, 0, &[0; 4000]).is_ok() {}
    let mut reader = bed.journal.gated(5).unwrap();
    assert_eq!(reader.position(), bed.journal.first_position());
    assert!(reader.read().unwrap().is_some());
    reader.publish();
    let moved = reader.position();
    drop(reader);
    bed.journal.admit_gated(5).unwrap();
    assert_eq!(bed.journal.gated(5).unwrap().position(), moved, "a cursor that is there stays");
}

fn too_late_to_admit(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.advance(&mut writer, 2 * bed.capacity(), if cfg!(miri) { 2_048 } else { 64 });
    assert!(matches!(bed.journal.admit_gated(5), Err(OpenError::TooLate { seat: 5, .. })));
    assert!(bed.journal.stat().readers.is_empty());
    bed.advance(&mut writer, 2 * bed.capacity(), if cfg!(miri) { 2_048 } else { 64 });
    assert_eq!(bed.journal.gated(5).unwrap().position(), writer.position());
}

fn dismissed_frees_the_gate(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.journal.admit_gated(5).unwrap();
    bed.journal.set_interest(5, None).unwrap();
    while writer.write(1, 0, &[0; 4000]).is_ok() {}
    bed.journal.dismiss(5).unwrap();
    bed.advance(&mut writer, LAPS * bed.capacity(), 4096);
    assert!(bed.journal.stat().readers.is_empty());
}

fn loose_frees_the_gate(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.journal.admit_gated(5).unwrap();
    let mut reader = bed.journal.loose_at(5, 0).unwrap();
    assert_eq!(reader.position(), bed.journal.first_position());
    bed.advance(&mut writer, LAPS * bed.capacity(), 4096);
    assert!(matches!(reader.read(), Err(ReadError::Lapped(_))));
    let views = bed.journal.stat().readers;
    assert_eq!(views.iter().map(|view| (view.seat, view.gated)).collect::<Vec<_>>(), [(5, false)]);
}

fn topics_are_filtered(bed: &Bed) {
    let mut gated = Reader::Gated(bed.journal.gated(0).unwrap());
    let mut loose = Reader::Loose(bed.journal.loose(1).unwrap());
    for reader in [&mut gated, &mut loose] {
        reader.set_topics(Topics::only([3, 15]));
    }
    let mut writer = bed.journal.writer(2, clock()).unwrap();
    for number in 0..scaled(5_000) as u16 {
        let topic = u32::from(number % 16);
        let written = writer.write(number, topic, &[1; 40]).unwrap();
        for reader in [&mut gated, &mut loose] {
            let wanted = matches!(topic, 3 | 15);
            assert_eq!(reader.peek_time().unwrap(), wanted.then_some(written.time));
            assert_eq!(reader.read().unwrap().map(|frame| frame.message_id), wanted.then_some(number));
            // Unwanted frames are finished too: the writer is never held up by them.
            assert_eq!(reader.read(), Ok(None));
        }
    }
}

fn merge_is_total(bed: &Bed) {
    let other = Journal::in_memory(JournalShape { id: 8, ..support::shape("o", support::SMALL) }).unwrap();
    let mut writers = [bed.journal.writer(0, clock()).unwrap(), other.writer(0, clock()).unwrap()];
    let mut expected = Vec::new();
    for number in 0..100_u16 {
        let which = usize::from(number % 7 % 2);
        let written = writers[which].write(number, u32::from(number % 16), &[]).unwrap();
        expected.push((written.time, [7, 8][which], number));
    }
    expected.sort_unstable();
    let mut readers = vec![
        Reader::Loose(bed.journal.loose_from_start().unwrap()),
        Reader::Gated({
            other.admit_gated(3).unwrap();
            other.gated(3).unwrap()
        }),
    ];
    readers[0].set_topics(Topics::only(0..16));
    let mut merge = Merge::new(readers);
    let mut seen = Vec::new();
    while let Some((reader, frame)) = merge.next().unwrap() {
        seen.push((frame.time, [7, 8][reader], frame.message_id));
    }
    assert_eq!(seen, expected);
}

fn impossible_requests(bed: &Bed) {
    let seats = bed.journal.shape().seats;
    assert!(matches!(bed.journal.gated(seats), Err(OpenError::NoSuchSeat { .. })));
    assert!(matches!(bed.journal.loose(u32::MAX), Err(OpenError::NoSuchSeat { .. })));
    assert!(matches!(bed.journal.writer(seats, clock()), Err(OpenError::NoSuchSeat { .. })));
    assert!(matches!(bed.journal.set_interest(seats, None), Err(OpenError::NoSuchSeat { .. })));
    for position in [1, 63, u64::MAX, u64::MAX - 63, layout::MAX_POSITION] {
        assert!(matches!(bed.journal.observe(position), Err(OpenError::NoSuchPosition { .. })), "{position}");
    }
    let mut before = bed.journal.observe(0).unwrap();
    assert_eq!(before.read(), Ok(None), "zeros are no frame");
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let refused = WriteError::NoSuchTopic { topic: 16, topics: 16 };
    assert_eq!(writer.write(1, 16, &[]), Err(refused));
    // Inside a frame no frame starts.
    writer.write(1, 0, &[0xff; 100]).unwrap();
    let mut inside = bed.journal.observe(bed.journal.first_position() + 64).unwrap();
    assert!(matches!(inside.read(), Err(ReadError::Corrupt { .. })));
}

fn writers_life(bed: &Bed) {
    assert_eq!(bed.journal.stat().writer, WriterState::Never);
    assert_eq!(bed.journal.writer_process(), None);
    let writer = bed.journal.writer(0, clock()).unwrap();
    match bed.journal.stat().writer {
        WriterState::Attached(process) => assert_eq!(process.pid, std::process::id()),
        other => panic!("{other:?}"),
    }
    drop(writer);
    assert_eq!(bed.journal.stat().writer, WriterState::Closed);
}

fn counters_count(bed: &Bed) {
    let frames = scaled(1_000);
    for round in 1..=3 {
        let mut writer = bed.journal.writer(0, clock()).unwrap();
        let mut last = 0;
        for _ in 0..frames {
            last = writer.write(1, 0, &[0; 33]).unwrap().time;
        }
        let stat = bed.journal.stat();
        assert_eq!((stat.frames, stat.epoch, stat.last_time), (round * frames, round, last));
        assert_eq!(stat.head, bed.journal.first_position() + round * frames * 128);
        assert!(stat.head - stat.oldest <= bed.capacity());
    }
}

fn oldest_frame_is_found(bed: &Bed) {
    assert_eq!(bed.journal.oldest_frame().unwrap(), bed.journal.first_position());
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let mut starts = Vec::new();
    for number in 0..if cfg!(miri) { 250 } else { 3_000 } {
        starts.push(writer.write(1, 0, &payload(number, number as usize * 37 % 700)).unwrap().position);
    }
    let stat = bed.journal.stat();
    let expected = starts.iter().copied().find(|&start| start >= stat.oldest).unwrap();
    assert_eq!(bed.journal.oldest_frame().unwrap(), expected);
    let mut reader = bed.journal.observe(expected).unwrap();
    let mut seen = Vec::new();
    while let Some(frame) = reader.read().unwrap() {
        seen.push(frame.position);
    }
    assert!(starts.ends_with(&seen) && seen.len() > 50, "{} frames", seen.len());
}

fn sleeper_is_woken(bed: &Bed) {
    let registry = Arc::new(Registry::in_memory(64, clock()).unwrap());
    bed.journal.set_interest(5, Some(&[3])).unwrap();
    announce();
    let mut reader = bed.journal.loose(5).unwrap();
    let parker = Parker::new(Arc::clone(&registry), 5).unwrap();
    assert!(Parker::new(Arc::clone(&registry), 64).is_none());
    assert_eq!(parker.park(Duration::from_millis(1), || false), Some(Wakeup::TimedOut));
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    writer.wake_through(registry);
    std::thread::scope(|scope| {
        let sleeping = scope.spawn(move || {
            let mut wakes = 0;
            loop {
                if reader.read().unwrap().is_some() {
                    return wakes;
                }
                let wakeup = parker.park(Duration::from_secs(60), || reader.has_news());
                assert_ne!(wakeup, Some(Wakeup::TimedOut));
                wakes += u32::from(wakeup == Some(Wakeup::Woken));
            }
        });
        // Sometimes it sleeps by now, sometimes not: either way it must come back.
        std::thread::sleep(Duration::from_millis(5));
        writer.write(1, 3, b"news").unwrap();
        assert!(sleeping.join().unwrap() <= 1);
    });
    assert!(bed.journal.stat().wakes <= 1);
    let before = bed.journal.stat().wakes;
    writer.write(1, 4, b"not asked for").unwrap();
    assert_eq!(bed.journal.stat().wakes, before);
}

fn drained(bed: &Bed) {
    assert!(bed.journal.is_drained(), "nobody is behind");
    let mut reader = bed.journal.gated(5).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    writer.write(1, 0, &[]).unwrap();
    assert!(!bed.journal.is_drained());
    assert!(reader.read().unwrap().is_some());
    assert!(!bed.journal.is_drained(), "handed out is not finished");
    assert_eq!(reader.read(), Ok(None));
    assert!(bed.journal.is_drained());
}
