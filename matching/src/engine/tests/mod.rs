//! Tests of the engine as a whole.

mod fixture;
mod invariants;
mod requests;
