//! Models of the latest values: SYNC: latest.

use std::sync::Arc;

use super::stage::{explore, spawn};
use crate::latest::{Latest, LatestError};
use crate::sync::{AtomicU64, Ordering};

/// Two words, so that a mixture of two values can be told from either.
fn value(number: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&number.to_le_bytes());
    high.copy_from_slice(&(number * 3).to_le_bytes());
    bytes
}

/// A copy is a value that was set, and the one of its number.
fn take(latest: &Latest) -> u64 {
    let mut copy = [0; 16];
    match latest.get(0, &mut copy) {
        Ok(number) => {
            assert_eq!(copy, value(number), "torn, or of another number");
            number
        }
        Err(LatestError::Empty) => 0,
        // A model's writer sets a few values: the reader's attempts outnumber them by far.
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_copy_is_whole_while_the_value_is_set_three_times() {
    explore("latest", 3, || {
        let latest = Arc::new(Latest::on_heap(1, 16));
        let writer = Arc::clone(&latest);
        let writing = spawn(1, move || (1..=3).for_each(|number| assert!(writer.set(0, &value(number)))));
        let first = take(&latest);
        assert!(take(&latest) >= first, "a later copy is older");
        writing.join().unwrap();
        assert_eq!(take(&latest), 3);
    });
}

/// As md does: sets the value, then commits a frame that says so. `told` stands for the commit word.
#[test]
fn who_was_told_of_a_value_reads_it_or_a_later_one() {
    explore("latest told", 3, || {
        let latest = Arc::new(Latest::on_heap(1, 16));
        let told = Arc::new(AtomicU64::new(0));
        let (writer, teller) = (Arc::clone(&latest), Arc::clone(&told));
        let writing = spawn(1, move || {
            for number in 1..=2 {
                writer.set(0, &value(number));
                // SYNC: commit.
                teller.store(number, Ordering::Release);
            }
        });
        // SYNC: commit.
        let heard = told.load(Ordering::Acquire);
        assert!(take(&latest) >= heard, "older than what was heard");
        writing.join().unwrap();
    });
}
