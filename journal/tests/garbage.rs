//! Damaged files, at random: the same treatment as the fuzz targets give, for a fixed number of cases.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

#[path = "support/garbage.rs"]
mod garbage;
mod support;

use std::cell::RefCell;

use garbage::{Reached, Template};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn garbage_is_answered_with_errors() {
    let directory = support::directory();
    let template = Template::new(directory.path());
    let sum = RefCell::new((0_u32, Reached::default()));
    let config = Config { cases: 3_000, failure_persistence: None, ..Config::default() };
    let cases = (
        proptest::collection::vec(prop_oneof![20 => 0..0xf0_u8, 1 => any::<u8>()], 3),
        proptest::collection::vec(any::<[u8; 11]>(), 0..40),
    );
    TestRunner::new(config)
        .run(&cases, |(mut data, changes)| {
            data.extend(changes.concat());
            let reached = template.exercise(&data);
            let (opened, total) = &mut *sum.borrow_mut();
            *opened += u32::from(reached.opened);
            total.frames += reached.frames;
            total.corrupt += reached.corrupt;
            total.written += reached.written;
            Ok(())
        })
        .unwrap();
    let (opened, total) = sum.into_inner();
    println!(
        "3000 damaged journals: {opened} could be opened, {} frames read, {} answers of damage, {} frames written",
        total.frames, total.corrupt, total.written
    );
    assert!(opened > 300 && total.frames > 1_000 && total.corrupt > 100 && total.written > 100);
}
