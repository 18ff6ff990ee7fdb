//! A history of all operations of a writer and readers of both kinds, compared with the model that keeps every frame:
//! the model of the property tests, with the fuzzer's choice of steps.

#![no_main]

#[path = "../../journal/tests/support/mod.rs"]
mod support;
#[path = "../../journal/tests/support/world.rs"]
mod world;

use journal::{Journal, layout};
use libfuzzer_sys::fuzz_target;
use support::SMALL;
use world::{Body, Step, World};

/// Steps of one history.
const MOST: usize = 300;

/// Decodes a step of four bytes: operation, participant, amount.
fn step(&[kind, who, low, high]: &[u8; 4]) -> Step {
    let most = layout::max_payload(SMALL) as usize;
    let (seat, topic, amount) =
        (u32::from(who & 3) % 3, u32::from(who >> 2 & 3), u16::from_le_bytes([low, high]));
    let length = match high >> 6 {
        0 => usize::from(amount) % (most + 1),
        1 => most,
        // Around the ends of lines.
        _ => (usize::from(low % 32) * 64 + usize::from(high & 7)).saturating_sub(34),
    };
    let body = match who >> 4 & 3 {
        0 => Body::Random,
        laps => Body::Forged(u64::from(laps) - 1),
    };
    let keep = who >> 6 & 3 != 0;
    // Lengths derived from the first, of a batch's frames or a claim's pieces.
    let lengths = (0..usize::from(kind >> 4))
        .map(|n| (length + n * usize::from(low)) % if n % 3 == 0 { 700 } else { 70 });
    match kind & 15 {
        0 | 1 => Step::Batch { frames: lengths.map(|length| (length, topic)).collect(), body, keep },
        2 | 3 => Step::Claim { room: length, pieces: lengths.collect(), body, keep },
        4 => Step::Write { length, body, topic },
        5 if keep => Step::Write { length, body, topic },
        5 => Step::Append { length, body, back: u64::from(amount) },
        6 if topic < 2 => Step::Records {
            size: 1 + length % 300,
            most: 1 + usize::from(high),
            pushed: usize::from(low),
            keep,
        },
        6 => Step::Skip { lines: u64::from(amount) % if keep { 40 } else { 2_100 } },
        7 => Step::WriteUntilFull { length },
        8 => Step::JoinGated(seat),
        9 => Step::ReadGated(seat, usize::from(low)),
        10 => Step::ReadBatch(seat, usize::from(low)),
        11 if keep => Step::LeaveGated(seat),
        11 => Step::Dismiss(seat),
        12 if keep => Step::Keep(seat, usize::from(low)),
        12 => Step::Narrow(seat, topic),
        13 => Step::JoinLoose(seat),
        14 => Step::ReadLoose(seat, usize::from(low)),
        _ if keep => Step::FindOldest,
        _ => Step::NewWriter,
    }
}

fuzz_target!(|data: &[u8]| {
    let mut world = World::new(Journal::in_memory(support::shape("fuzz", SMALL)).expect("a good shape"));
    for bytes in data.as_chunks().0.iter().take(MOST) {
        world.run(&step(bytes));
    }
    world.verify();
});
