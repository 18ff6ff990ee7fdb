//! Tests of the exchange: a slow model and the engine, side by side.

mod agree;
mod desk;
mod determinism;
mod generate;
mod images;
mod ledger;
mod model;
mod operation;
mod rules;
mod seen;
mod venue;
