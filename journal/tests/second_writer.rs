//! A journal has one writer: a second process is refused while the first lives.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/child.rs"]
mod child;
mod support;

use std::path::Path;
use std::time::Duration;

use journal::{Journal, JournalFiles, OpenError, layout};
use support::{SMALL, clock, peek};

/// Holds the writer until it is killed.
fn writing_child(directory: &Path, _: u32) {
    let journal = Journal::open(JournalFiles::new(directory, directory, "t")).unwrap();
    let _writer = journal.writer(0, clock()).unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

fn a_second_writer_is_refused_with_the_pid_of_the_first() {
    let (directory, files, journal) = support::journal(SMALL);
    let holding = child::start("writing_child", directory.path(), 0);
    let attached = || journal.writer_process().is_some();
    assert!(child::wait(Duration::from_secs(30), attached));
    let pid = journal.writer_process().unwrap().pid;
    assert_eq!(pid, peek(&files.control, layout::control::WRITER) as u32);
    let error = journal.writer(1, clock()).unwrap_err();
    assert!(
        matches!(error, OpenError::WriterExists { pid: found, .. } if found == pid && pid != std::process::id())
    );
    assert!(error.to_string().contains(&format!("process {pid}")), "{error}");
    holding.kill();
    journal.writer(1, clock()).unwrap();
}

fn main() {
    child::main(
        &[("writing_child", writing_child)],
        &[(
            "a_second_writer_is_refused_with_the_pid_of_the_first",
            a_second_writer_is_refused_with_the_pid_of_the_first,
        )],
    );
}
