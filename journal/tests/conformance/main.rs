//! One suite for every backing: shm files, huge pages, plain memory. Each case gets a fresh journal.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod bed;
mod frames;
mod seats;
mod whole;

use bed::{Bed, HugeMount};
use journal::{Journal, JournalFiles, JournalShape};

type Case = (&'static str, fn(&Bed));

const CASES: &[Case] = &[
    ("every field of a frame comes back", frames::every_field_comes_back),
    ("sizes from nothing to the largest come back", frames::sizes_come_back),
    ("full hands back and forgets nothing", frames::full_hands_back),
    ("a gap is exact", frames::a_gap_is_exact),
    ("a journal has one writer at a time", seats::one_writer),
    ("a seat has one reader at a time", seats::one_reader_a_seat),
    ("a cursor outlives its reader", seats::a_cursor_outlives_its_reader),
    ("an admitted seat gets the first frame", seats::admitted_before_it_exists),
    ("too late to admit", seats::too_late_to_admit),
    ("a dismissed seat frees the gate", seats::dismissed_frees_the_gate),
    ("a reader that turns loose frees the gate", seats::loose_frees_the_gate),
    ("topics are filtered", frames::topics_are_filtered),
    ("what comes next is shown and stays", frames::what_comes_next_is_shown_and_stays),
    ("a merge is in order of time", frames::merge_is_total),
    ("impossible requests are refused", whole::impossible_requests),
    ("the writer's life shows", whole::writers_life),
    ("counters count", whole::counters_count),
    ("the oldest frame is found", whole::oldest_frame_is_found),
    ("a sleeper is woken for its topic", whole::sleeper_is_woken),
    ("drained means read to the head", seats::drained),
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
