//! After set-up nothing faults: the kernel counts.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use support::clock;

/// Page faults of this thread that needed no disk.
fn faults() -> i64 {
    // SAFETY: a plain structure that the call fills; zeros are a valid value of it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage.ru_minflt
    }
}

#[test]
fn the_first_large_frame_needs_no_new_page() {
    let (_directory, _files, journal) = support::journal(8 << 20);
    let mut loose = journal.loose(1).unwrap();
    let mut gated = journal.gated(2).unwrap();
    let mut writer = journal.writer(63, clock()).unwrap();
    let payload = vec![7; writer.max_payload() as usize];
    let before = faults();
    writer.write(1, 0, &payload).unwrap();
    assert_eq!(loose.read().unwrap().map(|frame| frame.payload.len()), Some(payload.len()));
    assert_eq!(gated.read().unwrap().map(|frame| frame.payload.len()), Some(payload.len()));
    let faults = faults() - before;
    println!("{faults} faults for a frame of {} pages", payload.len() / 4096);
    // The stack may grow by a page.
    assert!(faults < 8, "{faults} page faults");
}
