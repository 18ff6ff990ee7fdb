//! What comes from outside, for fuzzers: any bytes, and nothing but an answer or an error.

use wire::{AccountId, InstrumentId};

use crate::http::body::{BatchBody, KillBody, OrderBody, ReplaceBody};
use crate::push::{Decoder, Incoming, message};

/// A client's message has as many bytes at most.
const LONGEST: usize = 64 << 10;

/// Frames of a WebSocket, cut as the first bytes say, and what they carry.
///
/// # Panics
/// A message is longer than what came, or than it may be.
pub fn frames(data: &[u8]) {
    let (cuts, stream) = data.split_at(data.len().min(16));
    let mut decoder = Decoder::new(LONGEST);
    let (mut left, mut heard, mut turn) = (stream, 0, 0);
    while !left.is_empty() {
        let cut = cuts.get(turn % 16).map_or(1, |cut| usize::from(*cut) + 1).min(left.len());
        decoder.add(&left[..cut]);
        (left, turn) = (&left[cut..], turn + 1);
        loop {
            let payload = match decoder.next() {
                Ok(None) => break,
                Ok(Some(Incoming::Text(text))) => {
                    let _ = message(&text);
                    text.len()
                }
                Ok(Some(Incoming::Binary(bytes) | Incoming::Ping(bytes))) => bytes.len(),
                Ok(Some(Incoming::Pong | Incoming::Close(_))) => 0,
                Err(_) => return,
            };
            heard += payload;
            assert!(payload <= LONGEST && heard <= stream.len(), "{heard} of {}", stream.len());
        }
    }
}

/// A body over HTTP, as whichever it may be.
pub fn body(data: &[u8]) {
    let order = |body: &OrderBody| {
        let _ = (body.order(InstrumentId(1), AccountId(9)), body.name(), body.at_once(), body.session());
    };
    if let Ok(body) = serde_json::from_slice::<OrderBody>(data) {
        order(&body);
    }
    if let Ok(body) = serde_json::from_slice::<BatchBody>(data) {
        body.orders.iter().for_each(order);
    }
    if let Ok(body) = serde_json::from_slice::<ReplaceBody>(data) {
        let _ = body.parts();
    }
    let _ = serde_json::from_slice::<KillBody>(data);
}

#[cfg(test)]
mod tests {
    /// Good ones, of which bytes are changed.
    const SEEDS: &[&[u8]] = &[
        b"0123456789abcdef\x81\x85\x00\x00\x00\x00hello\x89\x80\x00\x00\x00\x00\x88\x82\x00\x00\x00\x00\x03\xe8",
        b"0123456789abcdef\x01\xfe\x00\x90\x00\x00\x00\x00{\"subscribe\":[{\"channel\":\"orders\",\"from\":1}]}",
        br#"{"client_order_id":"a","account":9,"symbol":"SIM001","side":"buy","quantity":1,"price":"9.5","type":"stop-limit","trigger":1e3}"#,
        br#"{"orders":[{"symbol":"1","side":"sell","quantity":9223372036854775807,"price":99999999999}]}"#,
        br#"{"price":"-0.000000001","quantity":0}"#,
    ];

    #[test]
    fn a_hundred_thousand_of_garbage_are_answers_or_errors() {
        let mut seed = 20_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..100_000 {
            let mut data = SEEDS[random() % SEEDS.len()].to_vec();
            for _ in 0..random() % 6 {
                let place = random() % data.len();
                match random() % 4 {
                    0 => drop(data.remove(place)),
                    1 => data.insert(place, random() as u8),
                    _ => data[place] = random() as u8,
                }
                if data.is_empty() {
                    break;
                }
            }
            super::frames(&data);
            super::body(&data);
        }
    }
}
