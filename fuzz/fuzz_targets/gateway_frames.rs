//! Any bytes as the frames of a client's WebSocket.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gateway::fuzzing::frames(data));
