//! Any bytes as a stream of FIX.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gateway::fix_of_bytes(bytes));
