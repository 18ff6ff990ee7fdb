//! Orders out over FIX 4.4: an initiator in matching's seat.
//!
//! ```toml
//! [matching]
//! fill = "external"
//! program = "target/release/colo-fix-out"
//! params = { connect = "127.0.0.1:9878", sender = "DESK1", target = "COLO", state = "desk.fix" }
//! ```
//!
//! ```text
//!   Command ─► words ─► Session ─► TCP          TCP ─► Session (numbers, gaps) ─► words ─► News
//! ```
//!
//! What a session must not forget, its two sequence numbers, is in a file; what became of orders is the driver's matter. An order is
//! never sent again by itself: a ResendRequest of the market is answered with a gap fill, and the driver asks for the order.
#![forbid(unsafe_code)]

mod config;
mod session;
mod store;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    venue::main(|setup| session::Session::new(config::Config::read(&setup.params)?))
}
