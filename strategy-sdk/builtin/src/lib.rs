//! The strategies that `colo` has built in: the examples of the SDK, so that what a reader of its documentation sees is what
//! runs.
//!
//! They are a crate of their own because they lie on the path of every message, and the program that parses command lines does
//! not: where the build is to be short, it is compiled for that.

#![forbid(unsafe_code)]

use node::Exit;
use strategy_sdk::{Options, Roster};

#[path = "../../examples/market_maker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod market_maker;
#[path = "../../examples/noise.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod noise;
#[path = "../../examples/round_trips.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod round_trips;
#[path = "../../examples/taker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod taker;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Builtin {
    /// Answers quotes with immediate-or-cancel orders, sides alternating.
    Taker,
    /// Quotes both sides around the middle.
    MarketMaker,
    /// Trades at random, so that a market of strategies moves.
    Noise,
    /// Sends orders that cannot trade, and times them: `colo bench orders`.
    RoundTrips,
}

/// All of them, by the names that platform files have for them.
pub fn roster(options: Options) -> Roster {
    Roster::new(options)
        .with::<taker::Taker>("taker")
        .with::<market_maker::MarketMaker>("market-maker")
        .with::<noise::Noise>("noise")
        .with::<round_trips::RoundTrips>("round-trips")
}

/// Joins a platform and runs one of them to its end.
pub fn run(strategy: Builtin, options: &Options) -> Exit {
    match strategy {
        Builtin::Taker => strategy_sdk::run::<taker::Taker>(options),
        Builtin::MarketMaker => strategy_sdk::run::<market_maker::MarketMaker>(options),
        Builtin::Noise => strategy_sdk::run::<noise::Noise>(options),
        Builtin::RoundTrips => strategy_sdk::run::<round_trips::RoundTrips>(options),
    }
}
