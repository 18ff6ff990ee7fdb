//! The limits that a platform file is checked against are those of the journals.
//!
//! `topology` may not use `journal`; this crate uses both.

use journal::layout;

const _: () = assert!(topology::MAX_SEATS == layout::MAX_SEATS as usize);
const _: () = assert!(topology::MAX_TOPICS == layout::MAX_TOPICS);
const _: () = assert!(topology::MIN_CAPACITY == layout::MIN_CAPACITY);
const _: () = assert!(topology::MAX_CAPACITY == layout::MAX_CAPACITY);
const _: () = assert!(topology::LONGEST_JOURNAL == layout::MAX_NAME);
