//! Damaged recordings of all kinds are read without a panic and without a loop. The same runs in the fuzzer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/garbage.rs"]
mod garbage;

use std::path::Path;

use garbage::Template;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: u64 = 1_000;

#[test]
fn no_bytes_make_the_reader_panic_or_loop() {
    let memory = tempfile::tempdir_in("/dev/shm");
    let folder = memory.or_else(|_| tempfile::tempdir()).unwrap();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let template = Template::new(&vectors, folder.path());
    // Undamaged, so that what follows is known to read something.
    assert!(template.exercise(&[1]) > 10);
    let mut found = 0;
    for case in 0..CASES {
        let mut random = ChaCha8Rng::seed_from_u64(case);
        let mut data = vec![0; 1 + 8 * random.random_range(1..6_usize)];
        random.fill_bytes(&mut data);
        found += u64::from(template.exercise(&data) > 0);
    }
    println!("{CASES} damaged recordings, {found} of them with frames");
    assert!(found > CASES / 10, "{found}");
}
