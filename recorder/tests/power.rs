//! What is left when the power goes, and when bits flip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use recorder::read::{Blocks, Found, Recording, scan};
use support::{Held, clock, frames, gatherer, journal, recorder, write};

/// A recording of one segment, and after each cut: bytes of the segment that were on disk, and how many frames.
fn scripted(folder: &Path) -> (Vec<Held>, Vec<(u64, usize)>) {
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let mut recorder = recorder(folder, &[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    let (mut held, mut cuts) = (Vec::new(), Vec::new());
    for cut in 0..40_u64 {
        for number in 0..=cut % 7 {
            held.push(write(&mut writer, 1, 0, &vec![cut as u8; (number * 90) as usize]));
        }
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        cuts.push((recorder.used(), held.len()));
    }
    // As if the process had been killed: the segment is not closed.
    std::mem::forget(recorder);
    (held, cuts)
}

#[test]
fn what_was_acknowledged_survives_a_cut_at_every_line_of_what_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let (held, cuts) = scripted(folder.path());
    let path = folder.path().join("00000001.seg");
    let whole = fs::read(&path).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut losses = 0;
    for pair in cuts.windows(2) {
        let ((safe, acknowledged), (end, _)) = (pair[0], pair[1]);
        for line in (safe..end).step_by(64) {
            let mut left = whole.clone();
            // Lost: from here on, one sector of it, or any lines of it.
            left[end as usize..].fill(0);
            match losses % 3 {
                0 => left[line as usize..].fill(0),
                1 => left[line as usize..((line + 512).min(end)) as usize].fill(0),
                _ => {
                    left[line as usize..line as usize + 64].fill(0);
                    for other in (safe..end).step_by(64) {
                        if random.random_bool(0.5) {
                            left[other as usize..other as usize + 64].fill(0xee);
                        }
                    }
                }
            }
            losses += 1;
            fs::write(&path, &left).unwrap();
            let recording = Recording::open(folder.path()).unwrap();
            assert_eq!(frames(&recording, "orders"), (held[..acknowledged].to_vec(), Vec::new()));
            let seen = scan(&recording.segments()[0]).unwrap();
            assert!(seen.damage.is_empty(), "{:?}: what was never acknowledged is not damage", seen.damage);
        }
    }
    assert!(losses > 200, "{losses}");
}

#[test]
fn every_flipped_bit_is_found_and_named_and_the_rest_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (held, cuts) = scripted(folder.path());
    let path = folder.path().join("00000001.seg");
    let whole = fs::read(&path).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut blocks = Blocks::open(&path).unwrap();
    let mut sizes = Vec::new();
    while let Found::Block(size) = blocks.find().unwrap() {
        let head = blocks.block().unwrap().head;
        sizes.push((blocks.offset(), 64 + u64::from(head.length.get()), head.position.get()));
        blocks.pass(size);
    }
    assert_eq!(sizes.len(), cuts.len() + 1);
    // Not the description, whose loss is another test's, nor the last cut, which cannot be told from a torn one.
    for &(offset, bytes, position) in &sizes[1..sizes.len() - 1] {
        let mut flipped = whole.clone();
        let at = offset + random.random_range(0..bytes);
        flipped[at as usize] ^= 1 << random.random_range(0..8);
        fs::write(&path, &flipped).unwrap();
        let recording = Recording::open(folder.path()).unwrap();
        let seen = scan(&recording.segments()[0]).unwrap();
        assert_eq!(seen.damage.len(), 1, "bit at {at} of the block at {offset}: {:?}", seen.damage);
        assert_eq!((seen.damage[0].offset, seen.damage[0].blocks), (offset, 1));
        let (found, missing) = frames(&recording, "orders");
        let first = held[0].0;
        let lost = held.iter().filter(|frame| !found.contains(frame)).count();
        assert!(lost > 0 && found.iter().all(|frame| held.contains(frame)));
        if position == first {
            assert!(missing.is_empty(), "nothing says where a journal began that was not seen");
        } else {
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert_eq!(missing[0].0, position);
        }
    }
}
