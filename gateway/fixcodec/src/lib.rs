//! What both ends of a FIX session share: the tag=value encoding, the rules of sequence numbers, and times as text. Pure.
#![forbid(unsafe_code)]

pub mod codec;
pub mod sequence;
pub mod time;
