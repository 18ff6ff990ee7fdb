//! Who may write and read, which readers hold up the writer, and what outlives a process.

use journal::{OpenError, ReadError};

use super::bed::{Bed, LAPS};
use super::support::clock;

pub(super) fn one_writer(bed: &Bed) {
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

pub(super) fn one_reader_a_seat(bed: &Bed) {
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

pub(super) fn a_cursor_outlives_its_reader(bed: &Bed) {
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

pub(super) fn admitted_before_it_exists(bed: &Bed) {
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

pub(super) fn too_late_to_admit(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.advance(&mut writer, 2 * bed.capacity(), if cfg!(miri) { 2_048 } else { 64 });
    assert!(matches!(bed.journal.admit_gated(5), Err(OpenError::TooLate { seat: 5, .. })));
    assert!(bed.journal.stat().readers.is_empty());
    bed.advance(&mut writer, 2 * bed.capacity(), if cfg!(miri) { 2_048 } else { 64 });
    assert_eq!(bed.journal.gated(5).unwrap().position(), writer.position());
}

pub(super) fn dismissed_frees_the_gate(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.journal.admit_gated(5).unwrap();
    bed.journal.set_interest(5, None).unwrap();
    while writer.write(1, 0, &[0; 4000]).is_ok() {}
    bed.journal.dismiss(5).unwrap();
    bed.advance(&mut writer, LAPS * bed.capacity(), 4096);
    assert!(bed.journal.stat().readers.is_empty());
}

pub(super) fn loose_frees_the_gate(bed: &Bed) {
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.journal.admit_gated(5).unwrap();
    let mut reader = bed.journal.loose_at(5, 0).unwrap();
    assert_eq!(reader.position(), bed.journal.first_position());
    bed.advance(&mut writer, LAPS * bed.capacity(), 4096);
    assert!(matches!(reader.read(), Err(ReadError::Lapped(_))));
    let views = bed.journal.stat().readers;
    assert_eq!(views.iter().map(|view| (view.seat, view.gated)).collect::<Vec<_>>(), [(5, false)]);
}

pub(super) fn drained(bed: &Bed) {
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
