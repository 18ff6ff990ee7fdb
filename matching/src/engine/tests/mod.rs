//! Tests of the engine as a whole.

mod fixture;
mod history;
mod invariants;
mod quotes;
mod requests;
