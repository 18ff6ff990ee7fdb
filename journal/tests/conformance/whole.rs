//! The journal as a whole: its bounds, its counters, its sleeping readers.

use std::sync::Arc;
use std::time::Duration;

use journal::wait::{Parker, Wakeup, announce};
use journal::{OpenError, ReadError, Registry, WriteError, WriterState, layout};

use super::bed::{Bed, scaled};
use super::support::{clock, payload};

pub(super) fn impossible_requests(bed: &Bed) {
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
    // No frame starts inside a frame.
    writer.write(1, 0, &[0xff; 100]).unwrap();
    let mut inside = bed.journal.observe(bed.journal.first_position() + 64).unwrap();
    assert!(matches!(inside.read(), Err(ReadError::Corrupt { .. })));
}

pub(super) fn writers_life(bed: &Bed) {
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

pub(super) fn counters_count(bed: &Bed) {
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

pub(super) fn oldest_frame_is_found(bed: &Bed) {
    assert_eq!(bed.journal.oldest_frame().unwrap(), bed.journal.first_position());
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let mut starts = Vec::new();
    for number in 0..if cfg!(miri) { 250 } else { 3_000 } {
        starts.push(writer.write(1, 0, &payload(number, number as usize * 37 % 700)).unwrap().position);
    }
    let stat = bed.journal.stat();
    let oldest = bed.journal.oldest_frame().unwrap();
    // Marks are at most an eighth of the ring apart.
    assert!(
        starts.contains(&oldest) && (stat.oldest..=stat.oldest + bed.capacity() / 4 + 768).contains(&oldest)
    );
    let mut reader = bed.journal.observe(oldest).unwrap();
    let mut seen = Vec::new();
    while let Some(frame) = reader.read().unwrap() {
        seen.push(frame.position);
    }
    assert!(starts.ends_with(&seen) && seen.len() > 50, "{} frames", seen.len());
}

pub(super) fn sleeper_is_woken(bed: &Bed) {
    let registry = Arc::new(Registry::in_memory(64, clock()).unwrap());
    bed.journal.set_interest(5, Some(&[3])).unwrap();
    announce(&registry);
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
        // The reader may or may not be asleep by now: either way it must return.
        std::thread::sleep(Duration::from_millis(5));
        writer.write(1, 3, b"news").unwrap();
        assert!(sleeping.join().unwrap() <= 1);
    });
    assert!(bed.journal.stat().wakes <= 1);
    let before = bed.journal.stat().wakes;
    writer.write(1, 4, b"not asked for").unwrap();
    assert_eq!(bed.journal.stat().wakes, before);
}
