//! Requests of any bytes to the exchange of a platform: what it answers and publishes must fit together after each.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| matching::exchange_of_bytes(bytes));
