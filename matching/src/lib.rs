//! Order books, and the process that runs them.
#![forbid(unsafe_code)]

pub mod engine;
