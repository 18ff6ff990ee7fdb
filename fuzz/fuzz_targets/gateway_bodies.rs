//! Any bytes as the body of a request to the gateway.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gateway::fuzzing::body(data));
