//! Any bytes as messages of a DIFF client.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gateway::diff_of_bytes(bytes));
