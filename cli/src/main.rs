//! colo
fn main() {}
