//! What reading costs from C beside the same in Rust, in turns: `cargo test --release -p colo-c --test costs -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[path = "support/library.rs"]
mod library;

use library::library;

use journal::{Clock, Frame, Journal, JournalFiles, JournalShape, Reader};

/// As often as each is measured.
const TURNS: u32 = 9;
/// Readings in one turn.
const ROUNDS: u32 = 5;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The nanoseconds a frame of reading all of it in Rust.
fn in_rust(mut reader: Reader) -> (f64, u64) {
    let (mut frames, mut sum) = (0_u64, 0_u64);
    let mut see = |frame: &Frame<'_>| {
        frames += 1;
        sum = sum.wrapping_add(u64::from_le_bytes(frame.payload[..8].try_into().unwrap()));
    };
    let start = Instant::now();
    // By kind outside of the loop, as a program knows what its reader is.
    match &mut reader {
        Reader::Gated(reader) => {
            while let Some(frame) = reader.read().unwrap() {
                see(&frame);
            }
        }
        Reader::Loose(reader) => {
            while let Some(frame) = reader.read().unwrap() {
                see(&frame);
            }
        }
    }
    (start.elapsed().as_secs_f64() * 1e9 / frames as f64, sum)
}

#[test]
#[ignore = "measures: --release, on a quiet host"]
fn next_in_c_beside_next_in_rust() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let program = folder.path().join("costs");
    let built = Command::new("cc")
        .args(["-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/costs.c"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return println!("skipped: no cc");
    }
    let files = JournalFiles::new(folder.path(), folder.path(), "t");
    let shape =
        JournalShape { id: 1, name: "t".into(), capacity: 1 << 20, seats: 1_024, topics: 4, page: 4096 };
    let journal = Journal::create(files, shape, 1).unwrap();
    (0..1_024).for_each(|seat| journal.admit_gated(seat).unwrap());
    let mut writer = journal.writer(0, Clock::calibrate()).unwrap();
    while writer.write(1, 0, &[7; 128]).is_ok() {}
    let mut seat = 0;
    let mut seats = || {
        seat += ROUNDS;
        seat - ROUNDS
    };
    let names = ["loose next", "gated next", "loose batch of 64"];
    let mut rust = vec![Vec::new(); 2];
    let mut c = vec![Vec::new(); 3];
    let mut sums = Vec::new();
    for _ in 0..TURNS {
        for (kind, times) in rust.iter_mut().enumerate() {
            let first = seats();
            for round in 0..ROUNDS {
                let reader = match kind {
                    0 => Reader::Loose(journal.loose_from_start().unwrap()),
                    _ => Reader::Gated(journal.gated(first + round).unwrap()),
                };
                let (time, sum) = in_rust(reader);
                times.push(time);
                sums.push(sum);
            }
        }
        for (kind, word) in ["next", "gated", "batch"].into_iter().enumerate() {
            let output = Command::new(&program)
                .arg(folder.path())
                .args([word, &seats().to_string(), &ROUNDS.to_string()])
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                c[kind].push(words[0].parse().unwrap());
                sums.push(words[2].parse().unwrap());
            }
        }
    }
    assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "both read the same");
    for (kind, name) in names.into_iter().enumerate() {
        let rust = rust.get(kind).map_or("-".to_owned(), |times| format!("{:.1}", median(times.clone())));
        println!("{name}: Rust {rust} ns, C {:.1} ns a frame of 128 bytes", median(c[kind].clone()));
    }
}
