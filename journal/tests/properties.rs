//! Random interleavings of a writer and several readers of both kinds, compared with a model that keeps every frame.
#![cfg(not(miri))] // An hour of choosing and shrinking; the scenes of `models` are what it plays.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;
#[path = "support/world.rs"]
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;

use journal::{Journal, layout};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use support::SMALL;
use world::{Body, Step, World};

fn step() -> impl Strategy<Value = Step> {
    let most = layout::max_payload(SMALL) as usize;
    let length = prop_oneof![4 => 0..=130_usize, 2 => 0..=most, 1 => Just(most), 1 => Just(32_usize)];
    let body = prop_oneof![Just(Body::Random), (0..=2_u64).prop_map(Body::Forged)];
    let body_too = body.clone();
    let seat = 0..3_u32;
    let topic = 0..4_u32;
    let frames = proptest::collection::vec((length.clone(), topic.clone()), 0..12);
    let pieces = proptest::collection::vec(prop_oneof![3 => 0..70_usize, 1 => 0..=most], 0..6);
    prop_oneof![
        4 => (frames, body.clone(), prop::bool::weighted(0.8))
            .prop_map(|(frames, body, keep)| Step::Batch { frames, body, keep }),
        4 => (length.clone(), pieces, body.clone(), prop::bool::weighted(0.8))
            .prop_map(|(room, pieces, body, keep)| Step::Claim { room, pieces, body, keep }),
        4 => (seat.clone(), 0..60_usize).prop_map(|(seat, most)| Step::ReadBatch(seat, most)),
        12 => (length.clone(), body, topic)
            .prop_map(|(length, body, topic)| Step::Write { length, body, topic }),
        3 => (1..=300_usize, 1..80_usize, 0..80_usize, prop::bool::weighted(0.8))
            .prop_map(|(size, most, pushed, keep)| Step::Records { size, most, pushed, keep }),
        2 => (length.clone(), body_too, 0..5_000_u64)
            .prop_map(|(length, body, back)| Step::Append { length, body, back }),
        1 => prop_oneof![4 => 0..40_u64, 1 => 0..2_100_u64].prop_map(|lines| Step::Skip { lines }),
        1 => length.prop_map(|length| Step::WriteUntilFull { length }),
        1 => Just(Step::NewWriter),
        2 => seat.clone().prop_map(Step::JoinGated),
        8 => (seat.clone(), 1..40_usize).prop_map(|(seat, count)| Step::ReadGated(seat, count)),
        1 => seat.clone().prop_map(Step::LeaveGated),
        1 => seat.clone().prop_map(Step::Dismiss),
        1 => (seat.clone(), 0..4_u32).prop_map(|(seat, topic)| Step::Narrow(seat, topic)),
        1 => (seat.clone(), 0..200_usize).prop_map(|(seat, back)| Step::Keep(seat, back)),
        2 => seat.clone().prop_map(Step::JoinLoose),
        6 => (seat, 1..40_usize).prop_map(|(seat, count)| Step::ReadLoose(seat, count)),
        1 => Just(Step::FindOldest),
    ]
}

fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Runs random histories; prints how often each event happened, and fails if one never did.
fn histories(backing: &str, mut run: impl FnMut(&[Step]) -> World) {
    let config = config(150);
    let cases = config.cases;
    let tally = RefCell::new(BTreeMap::<&str, u64>::new());
    let run = RefCell::new(&mut run);
    TestRunner::new(config)
        .run(&proptest::collection::vec(step(), 1..400), |steps| {
            let world = (run.borrow_mut())(&steps);
            for (what, count) in world.tally {
                *tally.borrow_mut().entry(what).or_default() += count;
            }
            Ok(())
        })
        .unwrap();
    let tally = tally.into_inner();
    println!("{backing}: {cases} histories: {tally:?}");
    // Events that random histories reach less often have tests of their own.
    let common =
        ["writes", "batches", "batches over the wrap", "batches dropped", "batch full", "full in a batch"];
    let claims =
        ["claims", "claims cut short", "claims dropped", "full at a claim", "bulk reads", "keeps", "gaps"];
    let copies = [
        "records",
        "records for which there was less room",
        "frames appended",
        "void frames",
        "full in a gap",
    ];
    for what in common.into_iter().chain(claims).chain(copies) {
        assert!(tally.get(what).is_some_and(|&count| count > 0), "there were no {what}");
    }
}

#[test]
fn files_behave_as_the_model() {
    histories("files", |steps| {
        let (_directory, _files, journal) = support::journal(SMALL);
        let mut world = World::new(journal);
        steps.iter().for_each(|step| world.run(step));
        world.verify();
        world
    });
}

#[test]
fn memory_behaves_as_the_model() {
    histories("memory", |steps| {
        let mut world = World::new(Journal::in_memory(support::shape("t", SMALL)).unwrap());
        steps.iter().for_each(|step| world.run(step));
        world.verify();
        world
    });
}

/// Every distance between a frame's start and the wrap, and every size around it: frames that end before, at and
/// behind the last line.
#[test]
fn every_wrap_edge() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut world = World::new(journal);
    world.run(&Step::JoinGated(0));
    world.run(&Step::JoinLoose(0));
    let mut edges = 0;
    for lines_before in 1..=130_u64 {
        for length in [0, 32, 33, 96, 97, lines_before as usize * 64 - 32, lines_before as usize * 64 - 31] {
            // Fill up to `lines_before` lines before the wrap.
            let mut distance = SMALL - (world.head + lines_before * 64) % SMALL;
            while distance > 0 {
                let bytes = distance.min(4096);
                world.run(&Step::Write {
                    length: support::payload_of_frame(bytes),
                    body: Body::Forged(1),
                    topic: 0,
                });
                distance -= bytes;
                world.run(&Step::ReadGated(0, 1));
            }
            if length as u64 > layout::max_payload(SMALL) {
                continue;
            }
            world.run(&Step::Write { length, body: Body::Forged(1), topic: 1 });
            world.run(&Step::Write { length: 8, body: Body::Random, topic: 1 });
            world.run(&Step::ReadGated(0, 100));
            world.run(&Step::ReadLoose(0, 1_000));
            assert_eq!(world.loose[&0].position(), world.head);
            edges += 1;
        }
    }
    println!("{edges} edges");
    assert!(edges > 800);
}
