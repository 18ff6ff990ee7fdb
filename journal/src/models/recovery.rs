//! Models of a writer's death: it is killed after each of its stores in turn, and a successor takes over.

use std::sync::Arc;

use super::stage::explore;
use super::support::{
    GATED, LOOSE, append, claim, drain, journal, push, read_some, records, skip, write, writer,
};
use super::sync::{is_dead, kill_after, spawn};
use crate::layout::{frame, frame_bytes};
use crate::memory::Access;
use crate::ring::journal::Journal;
use crate::ring::reader::Reader;
use crate::ring::writer::Writer;

/// How the writer that is killed writes its frames 1 and 2.
type Way = fn(&mut Writer, usize);

fn one_by_one(writer: &mut Writer, payload: usize) {
    for number in 1..=2 {
        write(writer, number, payload).unwrap();
    }
}

fn in_a_batch(writer: &mut Writer, payload: usize) {
    let mut batch = writer.batch();
    for number in 1..=2 {
        push(&mut batch, number, payload).unwrap();
    }
    batch.commit();
}

fn in_claims(writer: &mut Writer, payload: usize) {
    for number in 1..=2 {
        claim(writer, number, payload, payload + 30).unwrap();
    }
}

fn as_records(writer: &mut Writer, payload: usize) {
    for number in 1..=2 {
        records(writer, number, 1 + payload / 8).unwrap();
    }
}

/// Two void frames between the two.
fn across_a_gap(writer: &mut Writer, payload: usize) {
    append(writer, 1, payload).unwrap();
    skip(writer, 1).unwrap();
    skip(writer, 2).unwrap();
    append(writer, 2, payload).unwrap();
}

/// Attaches, writes two frames, and is killed after `stores` stores; then a successor writes number 3. Returns whether
/// the first writer was killed.
fn die_and_go_on(journal: &Journal, stores: u32, payload: usize, way: Way) -> bool {
    kill_after(Some(stores));
    let mut first = writer(journal);
    way(&mut first, payload);
    let killed = is_dead();
    // A killed thread stores nothing more; only its lease is released.
    drop(first);
    kill_after(None);
    let mut second = writer(journal);
    write(&mut second, 3, payload).unwrap();
    killed
}

/// Runs `model` for a writer that is killed after 0, 1, 2, … stores, until it survives. A writer's actions are a
/// sequence of stores, so this covers every moment at which it can be killed.
fn at_every_store(name: &str, model: impl Fn(u32) -> bool + Sync + Send + Copy + 'static) {
    let mut stores = 0;
    loop {
        let lived = Arc::new(std::sync::Mutex::new(false));
        let outcome = Arc::clone(&lived);
        explore(&format!("{name}, killed after {stores} stores"), 2, move || {
            *outcome.lock().unwrap() = !model(stores);
        });
        if *lived.lock().unwrap() {
            break;
        }
        stores += 1;
    }
    println!("model {name}: {stores} moments of death");
    assert!(stores > 20, "a life of two frames has more stores than {stores}");
}

fn is_one_of(seen: &[Option<u16>], allowed: &[&[u16]]) -> bool {
    allowed.iter().any(|frames| seen.iter().copied().eq(frames.iter().map(|&n| Some(n))))
}

const EACH: &[&[u16]] = &[&[3], &[1, 3], &[1, 2, 3]];
const ALL_OR_NONE: &[&[u16]] = &[&[3], &[1, 2, 3]];

#[test]
fn no_frame_is_lost_or_doubled_when_a_writer_is_killed_anywhere() {
    killed_anywhere("recovery", 8, one_by_one, EACH);
}

#[test]
fn a_batch_whose_writer_is_killed_is_there_whole_or_not_at_all() {
    killed_anywhere("recovery of a batch", 16, in_a_batch, ALL_OR_NONE);
}

#[test]
fn a_claim_whose_writer_is_killed_is_there_whole_or_not_at_all() {
    killed_anywhere("recovery of claims", 16, in_claims, EACH);
}

#[test]
fn records_whose_writer_is_killed_are_there_whole_or_not_at_all() {
    killed_anywhere("recovery of records", 16, as_records, EACH);
}

#[test]
fn a_gap_whose_writer_is_killed_hides_no_frame() {
    killed_anywhere("recovery across a gap", 16, across_a_gap, EACH);
}

fn killed_anywhere(name: &str, lines: u64, way: Way, allowed: &'static [&'static [u16]]) {
    at_every_store(name, move |stores| {
        let journal = journal(1, lines);
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let writing = {
            let journal = Arc::clone(&journal);
            spawn(1, move || die_and_go_on(&journal, stores, 8, way))
        };
        let (mut by_gated, mut by_loose) = (Vec::new(), Vec::new());
        read_some(&mut gated, 1, &mut by_gated);
        read_some(&mut loose, 1, &mut by_loose);
        let killed = writing.join().unwrap();
        drain(&mut gated, &mut by_gated);
        drain(&mut loose, &mut by_loose);
        assert!(is_one_of(&by_gated, allowed), "{by_gated:?}");
        assert_eq!(by_gated, by_loose);
        let stat = journal.stat();
        assert_eq!(stat.frames, by_gated.len() as u64 + void_frames(&journal), "counted as often as written");
        assert_eq!(stat.head, gated.position());
        killed
    });
}

/// Void frames that are committed.
fn void_frames(journal: &Journal) -> u64 {
    let ring = journal.ring(Access::Read).unwrap();
    let (mut position, mut found) = (journal.first_position(), 0);
    while position < journal.head() {
        let header = ring.header(position);
        found += u64::from(header.flags & frame::VOID != 0);
        position += frame_bytes(u64::from(header.length));
    }
    found
}

/// A loose reader stands where the dead writer was about to wrap around.
#[test]
fn a_writer_killed_on_its_way_round_tears_nothing() {
    at_every_store("recovery on the way round", |stores| {
        let journal = journal(1, 4);
        let mut before = writer(&journal);
        for number in 11..=13 {
            write(&mut before, number, 0).unwrap();
        }
        drop(before);
        let first = journal.first_position();
        let writing = {
            let journal = Arc::clone(&journal);
            spawn(1, move || die_and_go_on(&journal, stores, 0, one_by_one))
        };
        let mut loose = Reader::Loose(journal.observe(first).unwrap());
        let mut seen = Vec::new();
        read_some(&mut loose, 2, &mut seen);
        let killed = writing.join().unwrap();
        drain(&mut loose, &mut seen);
        let order: Vec<u16> = seen.iter().flatten().map(|&n| if n > 10 { n - 10 } else { n + 3 }).collect();
        assert!(order.is_sorted_by(|a, b| a < b), "{seen:?}");
        assert_eq!(loose.position(), journal.head());
        killed
    });
}
