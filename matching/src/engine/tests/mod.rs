//! Tests of the engine as a whole.

mod crosses;
mod days;
mod fixture;
mod garbled;
mod history;
mod images;
mod invariants;
mod naive;
mod phases;
mod quotes;
mod reference;
mod requests;
