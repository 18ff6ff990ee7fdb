//! Models of frames that a gated reader keeps after reading them: SYNC: gate.

use super::scenes::{ROUND, gate};
use super::stage::{explore, spawn, yield_now};
use super::support::{GATED, check, drain, journal, write, writer};
#[cfg(loom)]
use super::sync::{is_dead, kill_after};
use crate::layout::control as at;
use crate::ring::journal::Journal;
use crate::ring::reader::{GatedReader, Reader};

/// Number of the frame at `position`; every frame is one line long.
fn number_at(journal: &Journal, position: u64) -> u16 {
    ((position - journal.first_position()) / 64) as u16 + 1
}

/// Fails unless the frames from `position` up to number `last` can be read there, each once.
fn check_from(journal: &Journal, position: u64, last: u16) {
    let mut again = journal.observe(position).unwrap();
    for number in number_at(journal, position)..=last {
        let frame = again.read().unwrap().expect("it was read before");
        assert_eq!(check(&frame), number);
    }
}

/// Reads the next frame, waiting for it if necessary, and publishes.
fn read_and_publish(reader: &mut GatedReader) -> u64 {
    loop {
        if let Some(frame) = reader.read().unwrap() {
            let position = frame.position;
            check(&frame);
            reader.publish();
            return position;
        }
        yield_now();
    }
}

/// The kept position, not the read position, limits the writer: the frame before the last one stays until it is
/// released.
#[test]
fn the_writer_never_touches_what_is_kept() {
    gate(
        "kept",
        |writer, number| write(writer, number, 0).map(drop),
        |journal, loans| {
            let mut reader = journal.gated(GATED).unwrap();
            // From now on the frames that were read stay.
            reader.keep(reader.position());
            for number in 1..=ROUND {
                let position = read_and_publish(&mut reader);
                assert_eq!(number_at(journal, position), number);
                if number > 1 {
                    loans[usize::from(number - 1)].look();
                    check_from(journal, position - 64, number);
                }
                reader.keep(position);
            }
        },
    );
}

/// The kept position is stored before the cursor moves past it: a thread that sees the cursor beyond it sees it too.
/// The writer declares nothing past it either; otherwise a reader that starts again would find it lost.
#[test]
fn what_is_kept_first_is_never_passed() {
    explore("kept first", 3, || {
        let journal = journal(1, 4);
        journal.admit_gated(GATED).unwrap();
        let mut writer = writer(&journal);
        for number in 1..=2 {
            write(&mut writer, number, 0).unwrap();
        }
        let writing =
            spawn(1, move || (3..=5).take_while(|&number| write(&mut writer, number, 0).is_ok()).count());
        let mut reader = journal.gated(GATED).unwrap();
        let first = reader.position();
        reader.keep(first);
        for _ in 0..2 {
            read_and_publish(&mut reader);
        }
        check_from(&journal, first, 2);
        assert_eq!(writing.join().unwrap(), 1, "a ring less one line");
        check_from(&journal, first, 3);
        assert_eq!(journal.oldest_frame().unwrap(), first);
    });
}

/// What the control page records for the reader's seat: the position to resume at, and the kept position.
fn left_behind(journal: &Journal) -> (u64, u64) {
    let cursor = journal.control.cursor(GATED);
    let position = journal.control.load(cursor + at::CURSOR_POSITION);
    match journal.control.load(cursor + at::CURSOR_KEPT) {
        0 => (position, position),
        kept => (position, kept.min(position)),
    }
}

/// Keeps the last frame that it has read. The reader is killed after `stores` stores; then another reader takes over
/// the cursor, finds the kept frames, misses nothing, and is dismissed at last: nothing holds up the writer. Returns
/// whether the first reader survived.
fn die_and_come_again(stores: Option<u32>) -> bool {
    let journal = journal(1, 4);
    journal.admit_gated(GATED).unwrap();
    let mut first_writer = writer(&journal);
    write(&mut first_writer, 1, 0).unwrap();
    write(&mut first_writer, 2, 0).unwrap();
    let writing = spawn(1, move || {
        let written = (3..=5).take_while(|&number| write(&mut first_writer, number, 0).is_ok()).count();
        (first_writer, written as u16 + 2)
    });
    let mut reader = journal.gated(GATED).unwrap();
    #[cfg(loom)]
    kill_after(stores);
    reader.keep(reader.position());
    for _ in 0..2 {
        let position = read_and_publish(&mut reader);
        reader.keep(position);
    }
    #[cfg(loom)]
    let lived = !is_dead();
    #[cfg(not(loom))]
    let lived = stores.is_none();
    drop(reader);
    #[cfg(loom)]
    kill_after(None);

    let (position, kept) = left_behind(&journal);
    let next = number_at(&journal, position);
    check_from(&journal, kept, next - 1);
    let mut again = journal.gated(GATED).unwrap();
    assert_eq!((again.position(), left_behind(&journal)), (position, (position, kept)));
    again.keep(journal.first_position());
    assert_eq!(left_behind(&journal), (position, kept), "what is kept grows only");
    let (mut first_writer, written) = writing.join().unwrap();
    check_from(&journal, kept, written);
    assert!(u64::from(written) * 64 + 64 <= kept - journal.first_position() + 4 * 64);
    let mut again = Reader::Gated(again);
    let mut seen = Vec::new();
    drain(&mut again, &mut seen);
    assert!(seen.into_iter().eq((next..=written).map(Some)));
    check_from(&journal, kept, written);
    drop(again);
    journal.dismiss(GATED).unwrap();
    for number in 20..30 {
        write(&mut first_writer, number, 0).unwrap();
    }
    // A seat that is taken anew begins without what its last reader kept.
    let anew = journal.gated(GATED).unwrap();
    assert_eq!(left_behind(&journal), (anew.position(), anew.position()));
    assert!(write(&mut first_writer, 30, 0).is_ok());
    lived
}

/// The reader is killed at each of its stores.
#[test]
#[cfg(loom)]
fn what_a_killed_reader_kept_is_there_for_its_successor() {
    let mut stores = 0;
    let lived = std::sync::Arc::new(std::sync::Mutex::new(false));
    while !*lived.lock().unwrap() {
        let outcome = std::sync::Arc::clone(&lived);
        explore(&format!("kept, reader killed after {stores} stores"), 2, move || {
            *outcome.lock().unwrap() = die_and_come_again(Some(stores));
        });
        stores += 1;
    }
    println!("model kept: {} moments of death", stores - 1);
    assert!(stores > 5, "a reader that keeps has more stores than {stores}");
}

#[test]
fn what_a_reader_kept_is_there_for_its_successor() {
    explore("kept, reader comes again", 2, || assert!(die_and_come_again(None)));
}
